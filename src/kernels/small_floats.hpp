// Floating-point numbers of 16 and 8 bits as they are stored, and rounding to them.
//
//     type              sign exponent mantissa   bias   what is no finite number
//     Half                1      5       10        15   as IEEE 754: infinities and NaN in the last exponent
//     BrainHalf           1      8        7       127   likewise: the upper half of a binary32
//     Float8E5M2          1      5        2        15   likewise
//     Float8E4M3          1      4        3         7   no infinities; NaN is all ones below the sign
//     Float8E5M2Fnuz      1      5        2        16   no infinities, no -0: NaN is the sign alone
//     Float8E4M3Fnuz      1      4        3         8   likewise
//     Float4E2M1          1      2        1         1   neither infinities nor NaN, which becomes the largest
//
// Each widens to a binary32 exactly. Rounding is to nearest, ties to even, and happens once: a binary64 goes
// by way of the binary32 beside it whose last bit is odd where anything was lost, which rounds as the
// binary64 itself would, since it has more than two bits beyond any of these.
//
// Beyond the largest finite number lies infinity, or NaN where there is none; `Overflow::saturate` gives the
// largest finite number instead, also for infinities. No step takes a branch, so loops become vectors. Which
// bits a NaN has is not said.
// Source: IEEE 754; OCP 8-bit Floating Point Specification, 1.0; Micikevicius et al., arXiv:2209.05433; for
// the last two Noune et al., arXiv:2206.02915.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "faro/require_cxx20.hpp"

namespace faro::kernels {

enum class Specials { ieee, nan_alone, sign_is_nan, none };
enum class Overflow { as_type, saturate };

template <int kExponent, int kMantissa, int kBiasOf, Specials kSpecialsOf>
struct SmallFloat {
  using Bits = std::conditional_t<(1 + kExponent + kMantissa > 8), std::uint16_t, std::uint8_t>;
  static constexpr int kMantissaBits = kMantissa;
  static constexpr int kBits = 1 + kExponent + kMantissa;
  static constexpr int kBias = kBiasOf;
  static constexpr Specials kSpecials = kSpecialsOf;
  static constexpr std::uint32_t kSign = 1U << (kBits - 1);
  static constexpr std::uint32_t kAllOnes = kSign - 1;
  static constexpr std::uint32_t kInfinity = kAllOnes >> kMantissa << kMantissa;  // of Specials::ieee
  static constexpr std::uint32_t kNan = kSpecials == Specials::ieee ? kInfinity | 1U << (kMantissa - 1)
                                        : kSpecials == Specials::sign_is_nan ? kSign
                                                                             : kAllOnes;
  static constexpr std::uint32_t kLargest = kSpecials == Specials::ieee        ? kInfinity - 1
                                            : kSpecials == Specials::nan_alone ? kAllOnes - 1
                                                                               : kAllOnes;
  Bits bits = 0;
};

using Half = SmallFloat<5, 10, 15, Specials::ieee>;
using BrainHalf = SmallFloat<8, 7, 127, Specials::ieee>;
using Float8E5M2 = SmallFloat<5, 2, 15, Specials::ieee>;
using Float8E4M3 = SmallFloat<4, 3, 7, Specials::nan_alone>;
using Float8E5M2Fnuz = SmallFloat<5, 2, 16, Specials::sign_is_nan>;
using Float8E4M3Fnuz = SmallFloat<4, 3, 8, Specials::sign_is_nan>;
using Float4E2M1 = SmallFloat<2, 1, 1, Specials::none>;  // in the lower half of a byte

template <typename T>
inline constexpr bool kIsSmallFloat = false;
template <int kExponent, int kMantissa, int kBias, Specials kSpecials>
inline constexpr bool kIsSmallFloat<SmallFloat<kExponent, kMantissa, kBias, kSpecials>> = true;

namespace detail {
inline constexpr int kFloatMantissa = 23;
inline constexpr int kFloatBias = 127;
inline constexpr std::uint32_t kFloatInfinity = 0x7f800000U;
inline constexpr std::uint32_t kFloatNan = 0x7fc00000U;

/// 2^exponent as a binary32, of a normal one.
constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + kFloatBias) << kFloatMantissa);
}
}  // namespace detail

/// The number without its sign, as bits: they are in the order of the numbers, infinity after all of them.
constexpr std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU; }
constexpr std::uint64_t magnitude_bits(double x) {
  return std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffU;
}

#if defined(__CUDA_ARCH__)
// What a GPU has instructions for; the same bits, but those of a NaN.
namespace detail {
template <typename Small>
inline constexpr bool kRoundsByDevice = false;
template <>
inline constexpr bool kRoundsByDevice<Half> = true;
#if __CUDA_ARCH__ >= 900
template <>
inline constexpr bool kRoundsByDevice<BrainHalf> = true;
template <>
inline constexpr bool kRoundsByDevice<Float8E4M3> = true;
template <>
inline constexpr bool kRoundsByDevice<Float8E5M2> = true;
#endif

__device__ inline float widened_by_device(std::uint16_t half) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(half));
  return wide;
}

template <typename Small>
__device__ inline Small rounded_by_device(float x) {
  std::uint16_t bits;
  if constexpr (std::is_same_v<Small, Half>) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  } else if constexpr (std::is_same_v<Small, BrainHalf>) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  } else if constexpr (std::is_same_v<Small, Float8E4M3>) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0F), "f"(x));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0F), "f"(x));
  }
  return {static_cast<typename Small::Bits>(bits)};
}

// 8-bit floats saturate by themselves; where they shall not, what lies beyond half a step past the largest
// one.
template <typename Small>
__device__ inline Small beyond_or(Small saturated, float x) {
  if constexpr (std::is_same_v<Small, Float8E4M3>) {
    constexpr float kHalfStepBeyond = 464;  // a tie, to the even 448
    return fabsf(x) > kHalfStepBeyond ? Small{static_cast<std::uint8_t>(saturated.bits | Small::kNan)}
                                      : saturated;
  } else {
    constexpr float kHalfStepBeyond = 61440;  // a tie, to infinity
    const auto infinity = static_cast<std::uint8_t>((saturated.bits & Small::kSign) | Small::kInfinity);
    return fabsf(x) >= kHalfStepBeyond ? Small{infinity} : saturated;
  }
}
}  // namespace detail
#endif

/// The same number.
template <int kExponent, int kMantissa, int kBias, Specials kSpecials>
constexpr float to_float(SmallFloat<kExponent, kMantissa, kBias, kSpecials> x) {
  using Small = SmallFloat<kExponent, kMantissa, kBias, kSpecials>;
  using namespace detail;
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Small, Half>) return widened_by_device(x.bits);
#endif
  const std::uint32_t bits = x.bits;
  const std::uint32_t sign = (bits & Small::kSign) << (32 - Small::kBits);
  const std::uint32_t rest = bits & Small::kAllOnes;
  const std::uint32_t moved = rest << (kFloatMantissa - kMantissa);
  if constexpr (kExponent == 8) {
    return std::bit_cast<float>(sign | moved);
  } else {
    // The exponent moved over, and scaled from the one bias to the other; exact for subnormals too.
    const float scaled = std::bit_cast<float>(moved) * power_of_two(kFloatBias - kBias);
    const std::uint32_t finite = sign | std::bit_cast<std::uint32_t>(scaled);
    if constexpr (kSpecials == Specials::ieee) {
      return std::bit_cast<float>(rest >= Small::kInfinity ? sign | kFloatInfinity | moved : finite);
    } else if constexpr (kSpecials == Specials::nan_alone) {
      return std::bit_cast<float>(rest == Small::kAllOnes ? sign | kFloatNan : finite);
    } else if constexpr (kSpecials == Specials::none) {
      return std::bit_cast<float>(finite);
    } else {
      return std::bit_cast<float>(bits == Small::kSign ? kFloatNan : finite);
    }
  }
}

/// Rounded to `Small`.
template <typename Small>
constexpr Small rounded_to(float x, Overflow overflow = Overflow::as_type) {
  using namespace detail;
#if defined(__CUDA_ARCH__)
  if constexpr (kRoundsByDevice<Small>) {
    const auto rounded = rounded_by_device<Small>(x);
    if constexpr (Small::kBits == 8) return overflow == Overflow::saturate ? rounded : beyond_or(rounded, x);
    if (overflow == Overflow::as_type) return rounded;
  }
#endif
  constexpr int kDropped = kFloatMantissa - Small::kMantissaBits;
  constexpr int kLowest = 1 - Small::kBias;  // exponent of the smallest normal number
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // A carry out of the mantissa is the step to the next exponent.
  std::uint32_t rounded = magnitude + ((1U << (kDropped - 1)) - 1) + (magnitude >> kDropped & 1U);
  rounded =
      (rounded >> kDropped) - (static_cast<std::uint32_t>(kFloatBias - Small::kBias) << Small::kMantissaBits);
  if constexpr (Small::kBias != kFloatBias) {
    // Below the smallest normal number: the sum with a number whose last place is a subnormal's.
    constexpr float kSubnormals = power_of_two(kFloatMantissa + kLowest - Small::kMantissaBits);
    constexpr std::uint32_t kSmallest = std::bit_cast<std::uint32_t>(power_of_two(kLowest));
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude < kSmallest ? magnitude : 0U) +
                                     kSubnormals) -
        std::bit_cast<std::uint32_t>(kSubnormals);
    rounded = magnitude < kSmallest ? subnormal : rounded;
  }
  constexpr std::uint32_t kBeyond = Small::kSpecials == Specials::ieee ? Small::kInfinity : Small::kNan;
  const std::uint32_t too_large = overflow == Overflow::saturate ? Small::kLargest : kBeyond;
  const bool is_beyond = magnitude >= kFloatInfinity || rounded > Small::kLargest;
  rounded = is_beyond ? too_large : rounded;
  rounded = magnitude > kFloatInfinity ? Small::kNan : rounded;
  std::uint32_t sign = bits >> (32 - Small::kBits) & Small::kSign;
  if constexpr (Small::kSpecials == Specials::sign_is_nan) {
    sign = rounded == 0 || rounded == Small::kNan ? 0U : sign;
  }
  return {static_cast<typename Small::Bits>(sign | rounded)};
}

/// The binary32 beside x that is odd in its last bit, or x itself where it is one.
constexpr float to_odd_float(double x) {
  const auto nearest = static_cast<float>(x);
  const double back = nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const double magnitude = x < 0 ? -x : x;
  const double back_magnitude = back < 0 ? -back : back;
  bits -= back_magnitude > magnitude ? 1U : 0U;
  bits |= back_magnitude != magnitude && magnitude == magnitude ? 1U : 0U;
  return std::bit_cast<float>(bits);
}

template <typename Small>
constexpr Small rounded_to(double x, Overflow overflow = Overflow::as_type) {
  return rounded_to<Small>(to_odd_float(x), overflow);
}

}  // namespace faro::kernels
