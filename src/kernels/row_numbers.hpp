// Numbers that are added up: how each type is stored, and what its sums are kept in.
//
// A sum begins as what was stored, takes one number after another, and is rounded to its type once, to
// nearest and ties to even. Both engines add by these, so their sums have the same bits; but which of the
// numbers that are none a sum becomes is the processor's to say.
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/require_cxx20.hpp"
#include "kernels/small_floats.hpp"

namespace faro::kernels {

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

template <typename Small>
constexpr void round_to(double x, Small& to) requires kIsSmallFloat<Small> {
  to = rounded_to<Small>(x);
}

constexpr void round_to(float x, Half& to) {
#if defined(__CUDA_ARCH__)
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  to = rounded_to<Half>(x);
#endif
}

constexpr void round_to(float x, BrainHalf& to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  to = rounded_to<BrainHalf>(x);
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
