// Scales of blocks (faro/block_scales.hpp): from the largest number of a block to its scale as it is stored,
// to the factor that quantises, and back to the value that a number is multiplied by.
//
//     bits of |largest|  --scale_of-->  a byte  --factor_of-->  numbers are multiplied, and rounded
//                                               --value_of-->   numbers are multiplied by it again
//
// The largest is found among the bits of magnitudes: those of a NaN are above all others. Factors of powers
// of two are exact. A scale that is no number has factor 0, so that what is beside a NaN does not depend on
// the order in which it is met.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "kernels/number_lanes.hpp"
#include "kernels/small_floats.hpp"
#include "kernels/values.hpp"

namespace faro::kernels {

/// What is the same for all blocks.
struct BlockParams {
  bool ceil = false;
  float global_scale = 1;
};

/// Scales of e8m0: 2^(byte - 127), 255 is no number.
template <typename ElementType>
struct PowerScaled {
  using Element = ElementType;
  static constexpr int kBlock = 32;
  static constexpr float kLargest = to_float(Element{static_cast<typename Element::Bits>(Element::kLargest)});
  static constexpr std::uint8_t kNoNumber = 255;
  static constexpr std::uint8_t kMostScale = 254;

  static constexpr std::uint8_t scale_of(std::uint32_t largest, const BlockParams& params) {
    using namespace detail;
    if (largest > kFloatInfinity) return kNoNumber;
    if (!params.ceil) {
      constexpr std::uint32_t kLargestPower =
          (std::bit_cast<std::uint32_t>(kLargest) >> kFloatMantissa) - kFloatBias;
      const std::uint32_t power = largest >> kFloatMantissa;
      return static_cast<std::uint8_t>(power > kLargestPower ? power - kLargestPower : 0);
    }
    const std::uint32_t quotient = std::bit_cast<std::uint32_t>(std::bit_cast<float>(largest) / kLargest);
    if (quotient <= kHalfSmallest) return 0;
    const std::uint32_t power = (quotient + ((1U << kFloatMantissa) - 1)) >> kFloatMantissa;
    return power > kMostScale ? kMostScale : static_cast<std::uint8_t>(power);
  }
  static constexpr float factor_of(std::uint8_t scale, const BlockParams& /*params*/) {
    return scale == kNoNumber ? 0.0F : power(static_cast<std::uint8_t>(kMostScale - scale));
  }
  static constexpr float value_of(std::uint8_t scale, const BlockParams& /*params*/) {
    return scale == kNoNumber ? std::bit_cast<float>(detail::kFloatNan) : power(scale);
  }

 private:
  static constexpr std::uint32_t kHalfSmallest = 1U << (detail::kFloatMantissa - 1);  // 2^-127, a subnormal
  static constexpr float power(std::uint8_t biased) {
    return std::bit_cast<float>(biased == 0 ? kHalfSmallest
                                            : static_cast<std::uint32_t>(biased) << detail::kFloatMantissa);
  }
};

/// Scales of e4m3fn, from its smallest normal number on, times a global one.
struct TwiceScaled {
  using Element = Float4E2M1;
  static constexpr int kBlock = 16;
  static constexpr float kLargest = 6;

  static constexpr std::uint8_t scale_of(std::uint32_t largest, const BlockParams& params) {
    if (largest > detail::kFloatInfinity) return Float8E4M3::kNan;
    const float wanted = std::bit_cast<float>(largest) / kLargest / params.global_scale;
    constexpr float kLeast = detail::power_of_two(1 - Float8E4M3::kBias);
    return rounded_to<Float8E4M3>(wanted < kLeast ? kLeast : wanted, Overflow::saturate).bits;
  }
  static constexpr float factor_of(std::uint8_t scale, const BlockParams& params) {
    return scale == Float8E4M3::kNan ? 0.0F : 1 / params.global_scale / to_float(Float8E4M3{scale});
  }
  static constexpr float value_of(std::uint8_t scale, const BlockParams& params) {
    return to_float(Float8E4M3{scale}) * params.global_scale;
  }
};

template <typename Scaled>
inline constexpr bool kIsPacked = Scaled::Element::kBits == 4;

/// The larger of two magnitudes, as bits of a word, or of each of its halves.
template <int kOfWord>
constexpr std::uint32_t larger_magnitudes(std::uint32_t a, std::uint32_t b) {
  static_assert(kOfWord == 1 || kOfWord == 2);
  constexpr std::uint32_t kMagnitudes = kOfWord == 1 ? 0x7fffffff : 0x7fff7fff;
  a &= kMagnitudes;
  b &= kMagnitudes;
  if constexpr (kOfWord == 1) return a > b ? a : b;
#if defined(__CUDA_ARCH__)
  return __vmaxu2(a, b);
#else
  constexpr std::uint32_t kHalf = 0xffff;
  const std::uint32_t lower = (a & kHalf) > (b & kHalf) ? a & kHalf : b & kHalf;
  return lower | ((a & ~kHalf) > (b & ~kHalf) ? a & ~kHalf : b & ~kHalf);
#endif
}

/// What `steps_of_e2m1` has above its last four bits.
#if defined(__CUDA_ARCH__)
inline constexpr std::uint32_t kBesideE2m1 = 0x4b400000;  // of 1.5 * 2^23
#else
inline constexpr std::uint32_t kBesideE2m1 = 0;
#endif

/// Rounded to nearest even, beyond the largest saturated, NaN too: in the last four bits.
///
/// Steps are 1/2 below 2, 1 below 4, then 2. A GPU, whose integer units are half as wide, counts those of
/// each range by sums of floats: all that came before are even, so ties go where they should. Elsewhere they
/// are the last bits of a sum with 2^22, 2^23 or 2^24, which has the codes that the range begins with beside
/// it.
constexpr std::uint32_t steps_of_e2m1(float x) {
  using namespace detail;
#if defined(__CUDA_ARCH__)
  constexpr float kNoSteps = 12582912;  // 1.5 * 2^23: its last bit is a step
  constexpr float kHalfSign = 4;        // once, or twice, or never
  const float half = fminf(fabsf(x) * 0.5F, 3.0F);
  float steps = __fmaf_rn(__saturatef(half), 4, kNoSteps + kHalfSign);
  steps = __fmaf_rn(__saturatef(half - 1), 2, steps);
  steps += __saturatef(half - 2);
  return __float_as_uint(steps - copysignf(kHalfSign, x));
#else
  constexpr int kShift = kFloatMantissa - Float4E2M1::kMantissaBits;
  constexpr float kMost = 6;
  constexpr std::uint32_t kOne = std::uint32_t{kFloatBias} << kFloatMantissa;
  constexpr std::uint32_t kSteps = std::uint32_t{kShift} << kFloatMantissa;
  const float all = std::bit_cast<float>(magnitude_bits(x));
  const float magnitude = all < kMost ? all : kMost;
  const std::uint32_t power = std::bit_cast<std::uint32_t>(magnitude) & kFloatInfinity;
  const std::uint32_t large = (power > kOne ? power : kOne) + kSteps;
  const auto begin = std::bit_cast<float>(large + (large >> kShift) - ((kOne + kSteps) >> kShift));
  const std::uint32_t sum = std::bit_cast<std::uint32_t>(magnitude + begin);
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(x) >> (32 - Float4E2M1::kBits) & Float4E2M1::kSign;
  return (sum & Float4E2M1::kAllOnes) | sign;
#endif
}

/// Numbers times their blocks' factors, kCount to as many bytes, or half of them; `number(i)` and
/// `factor(i)`.
template <typename Scaled, int kCount, typename NumberOf, typename FactorOf>
constexpr auto quantized(const NumberOf& number, const FactorOf& factor) {
  using Element = typename Scaled::Element;
  if constexpr (kIsPacked<Scaled>) {
    using Halves = std::conditional_t<kCount == 4, std::uint16_t, std::uint8_t>;
    using Word = std::conditional_t<(kCount >= 8), std::uint32_t, Halves>;
    constexpr auto kOfWord = static_cast<int>(2 * sizeof(Word));
    Lanes<Word, kCount / kOfWord> words;
    FARO_UNROLL
    for (int w = 0; w < kCount / kOfWord; ++w) {
      std::uint32_t word = 0;
      FARO_UNROLL
      for (int i = 0; i < kOfWord; ++i) {
        const float x = number(w * kOfWord + i) * factor(w * kOfWord + i);
        word += (steps_of_e2m1(x) - kBesideE2m1) << Element::kBits * i;
      }
      words.put(w, static_cast<Word>(word));
    }
    return words;
  } else {
    Lanes<std::uint8_t, kCount> bytes;
    FARO_UNROLL
    for (int i = 0; i < kCount; ++i)
      bytes.put(i, rounded_to<Element>(number(i) * factor(i), Overflow::saturate).bits);
    return bytes;
  }
}
/// One, in a byte of its own.
template <typename Scaled>
constexpr std::uint8_t quantized(float x, float factor) {
  if constexpr (kIsPacked<Scaled>) {
    return static_cast<std::uint8_t>(steps_of_e2m1(x * factor) - kBesideE2m1);
  } else {
    return rounded_to<typename Scaled::Element>(x * factor, Overflow::saturate).bits;
  }
}
template <typename Wide, typename Scaled>
constexpr Wide dequantized(std::uint8_t bits, float value) {
  return stored<Wide>(to_float(typename Scaled::Element{bits}) * value, {});
}

/// Where scales of a matrix, row-major, lie in tiles: 32 rows of 16 bytes each, 4 columns of 4 rows that are
/// 32 apart.
///
///     row 0   c0 c1 c2 c3 | row 32 c0 … c3 | row 64 … | row 96 …
///     row 1   …
struct TiledScales {
  static constexpr std::uint64_t kRows = 128;
  static constexpr std::uint64_t kColumns = 4;
  static constexpr std::uint64_t kTogether = 32;  // rows, each beside those that are as many after it

  device::Division64 columns{1};
  std::uint64_t tiles = 1;  // along a row

  constexpr std::uint64_t place(std::uint64_t scale) const {
    const std::uint64_t row = columns.divide(scale);  // leaves the column
    const std::uint64_t tile = row / kRows * tiles + scale / kColumns;
    const std::uint64_t of_tile = row % kRows;
    const std::uint64_t of_row = of_tile / kTogether * kColumns + scale % kColumns;
    return tile * kRows * kColumns + of_tile % kTogether * (kRows / kTogether * kColumns) + of_row;
  }
};

/// Of which blocks the numbers of a vector of the output are.
enum class BlocksOfVector : std::int32_t { one, neighbours, any };

/// A block of a box of a GPU (quantize_box.hpp).
struct alignas(16) ScaledBlock {
  std::uint32_t place = 0;  // of its first number in shared memory
  std::uint32_t row = 0;    // of the output, and where in its run: not there where the box is cut
  std::uint32_t of_run = 0;
  std::int32_t scale = 0;  // where its scale lies, from the box's first
};

}  // namespace faro::kernels
