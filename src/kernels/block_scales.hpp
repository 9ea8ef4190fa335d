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

/// Rounded to nearest even, beyond the largest saturated: the steps are 1/2 below 2, 1 below 4, then 2, those
/// of a sum with 2^22, 2^23 and 2^24, whose last bits are then the number's.
constexpr std::uint8_t rounded_to_e2m1(float x) {
  using namespace detail;
  constexpr auto kLargest = std::bit_cast<std::uint32_t>(6.0F);
  constexpr std::uint32_t kStepsOfPower = 1U << Float4E2M1::kMantissaBits;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = magnitude_bits(x) < kLargest ? magnitude_bits(x) : kLargest;
  const std::uint32_t power = magnitude >> kFloatMantissa;  // and the bias
  const std::uint32_t of_steps = power < kFloatBias ? std::uint32_t{kFloatBias} : power;
  const std::uint32_t last_bits = (of_steps + (kFloatMantissa - Float4E2M1::kMantissaBits)) << kFloatMantissa;
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(last_bits);
  const std::uint32_t steps =
      std::bit_cast<std::uint32_t>(sum) - last_bits + (of_steps - kFloatBias) * kStepsOfPower;
  return static_cast<std::uint8_t>(steps | (bits >> (32 - Float4E2M1::kBits) & Float4E2M1::kSign));
}

/// A number times its block's factor.
template <typename Scaled>
constexpr std::uint8_t quantized(float x, float factor) {
  using Element = typename Scaled::Element;
  if constexpr (std::is_same_v<Element, Float4E2M1>) {
    return rounded_to_e2m1(x * factor);
  } else {
    return rounded_to<Element>(x * factor, Overflow::saturate).bits;
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
