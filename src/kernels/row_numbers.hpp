// Numbers that are added up: how each type is stored, and what its sums are kept in.
//
//     binary16   1 sign, 5 exponent, 10 mantissa bits        bfloat16   the upper half of a binary32
//
// A sum begins as what was stored, takes one number after another, and is rounded to its type once, to
// nearest and ties to even. Both engines add by these, so their sums have the same bits; but which of the
// numbers that are none a sum becomes is the processor's to say.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "faro/require_cxx20.hpp"

namespace faro::kernels {

/// Binary16 and bfloat16 as their bits.
struct Half {
  std::uint16_t bits = 0;
};
struct BrainHalf {
  std::uint16_t bits = 0;
};

/// The number without its sign, as bits: they are in the order of the numbers, infinity after all of them.
constexpr std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU; }
constexpr std::uint64_t magnitude_bits(double x) {
  return std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffU;
}
constexpr std::uint32_t infinity_bits(float) { return 0x7f800000U; }
constexpr std::uint64_t infinity_bits(double) { return 0x7ff0000000000000U; }

/// a b, rounded before anything is added to it.
constexpr float rounded_product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
constexpr double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

constexpr float to_float(BrainHalf x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

constexpr float to_float(Half x) {
  const auto sign = static_cast<std::uint32_t>(x.bits & 0x8000U) << 16;
  const std::uint32_t rest = x.bits & 0x7fffU;
  if (rest >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (rest & 0x3ffU) << 13);
  // The exponent moved over, and scaled from the one bias to the other; exact for subnormals too.
  const float scaled = std::bit_cast<float>(rest << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

/// A binary64 rounded once to a format of `kMantissa` stored mantissa bits and smallest exponent `kLowest`
/// (of a normal number), as bits below the sign. `kInfinity` are the bits of infinity.
template <int kMantissa, int kLowest, std::uint32_t kInfinity>
constexpr std::uint16_t rounded_bits(double x) {
  const auto sign = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 48 & 0x8000U);
  const std::uint64_t bits = magnitude_bits(x);
  if (bits > infinity_bits(x)) return static_cast<std::uint16_t>(sign | kInfinity | 1U << (kMantissa - 1));
  if (bits == infinity_bits(x)) return static_cast<std::uint16_t>(sign | kInfinity);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent < kLowest - kMantissa - 1) return static_cast<std::uint16_t>(sign);
  // In units of the last place: a whole number after rounding, whose carry into the exponent is right.
  const int place = (exponent < kLowest ? kLowest : exponent) - kMantissa;
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const int dropped = place - (exponent - 52);  // 1 to 54 bits
  const std::uint64_t kept = mantissa >> dropped;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t up = rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
  const auto scale = static_cast<std::uint32_t>(exponent < kLowest ? 0 : exponent - kLowest);
  // A normal number's hidden bit counts as the step to its exponent.
  const std::uint32_t result = (scale << kMantissa) + static_cast<std::uint32_t>(kept + up);
  return static_cast<std::uint16_t>(sign | (result < kInfinity ? result : kInfinity));
}

constexpr void round_to(double x, Half& to) { to.bits = rounded_bits<10, -14, 0x7c00>(x); }

constexpr void round_to(double x, BrainHalf& to) { to.bits = rounded_bits<7, -126, 0x7f80>(x); }

constexpr void round_to(float x, Half& to) {
#if defined(__CUDA_ARCH__)
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  round_to(static_cast<double>(x), to);
#endif
}

constexpr void round_to(float x, BrainHalf& to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t quiet = bits >> 16 | 0x40U;
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  to.bits = static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
#endif
}

template <typename Real>
constexpr void round_to(Real x, float& to) {
  to = static_cast<float>(x);
}
template <typename Real>
constexpr void round_to(Real x, double& to) {
  to = static_cast<double>(x);
}

constexpr float widened(Half x) { return to_float(x); }
constexpr float widened(BrainHalf x) { return to_float(x); }
template <typename T>
constexpr T widened(T x) {
  return x;
}

/// A sum kept as a number of its own type, in the output itself.
template <typename T>
struct OwnSum {
  using Stored = T;
  static constexpr bool kInPlace = true;
  T sum{};

  constexpr void start(T x) { sum = x; }
  constexpr void add(T x) { sum = static_cast<T>(sum + x); }
  constexpr T result() const { return sum; }
};

/// A sum kept as a wider number.
template <typename T, typename Wide>
struct WideSum {
  using Stored = T;
  static constexpr bool kInPlace = false;
  Wide sum{};

  constexpr void start(T x) { sum = static_cast<Wide>(widened(x)); }
  constexpr void add(T x) { sum += static_cast<Wide>(widened(x)); }
  constexpr T result() const {
    T rounded;
    round_to(sum, rounded);
    return rounded;
  }
};

/// A sum and, beside it, what its roundings lost. Source: Neumaier, 1974.
template <typename T, typename Real>
struct CompensatedSum {
  using Stored = T;
  static constexpr bool kInPlace = false;
  Real sum{};
  Real lost{};

  constexpr void start(T x) {
    sum = static_cast<Real>(widened(x));
    lost = 0;
  }
  constexpr void add(T x) {
    const Real y = static_cast<Real>(widened(x));
    const Real next = sum + y;
    const bool larger = magnitude_bits(sum) >= magnitude_bits(y) && magnitude_bits(y) <= infinity_bits(y);
    lost += larger ? (sum - next) + y : (y - next) + sum;
    sum = next;
  }
  constexpr T result() const {
    T rounded;
    // Past the largest number nothing was lost that could be told: inf - inf is no number. And -0 + 0 is 0.
    round_to(lost != 0 && magnitude_bits(sum) < infinity_bits(sum) ? sum + lost : sum, rounded);
    return rounded;
  }
};

}  // namespace faro::kernels
