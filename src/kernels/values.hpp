// Numbers as they are stored, and as they are computed with (faro/arithmetic.hpp): one step each way, exact
// in and rounded once out. Both engines and the tests' oracle use these, so their results have the same bits,
// but those of a NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/small_floats.hpp"

namespace faro::kernels {

/// A truth value as it is stored: any bits but 0 are true.
struct Boolean {
  std::uint8_t bits = 0;
};

template <typename Real>
struct Complex {
  Real re;
  Real im;
};
template <typename T>
inline constexpr bool kIsComplex = false;
template <typename Real>
inline constexpr bool kIsComplex<Complex<Real>> = true;

/// How numbers become those of the output's type.
struct Narrowing {
  bool to_nearest = false;  // floats to integers; else toward 0
  Overflow overflow = Overflow::as_type;
};

/// As `Computed`, which holds every value of the type.
template <typename Computed, typename Stored>
constexpr Computed computed(Stored x) {
  if constexpr (kIsComplex<Computed>) {
    using Real = decltype(Computed::re);
    if constexpr (kIsComplex<Stored>) {
      return {static_cast<Real>(x.re), static_cast<Real>(x.im)};
    } else {
      return {computed<Real>(x), Real{0}};
    }
  } else if constexpr (std::is_same_v<Stored, Boolean>) {
    return static_cast<Computed>(x.bits != 0 ? 1 : 0);
  } else if constexpr (kIsSmallFloat<Stored>) {
    return static_cast<Computed>(to_float(x));
  } else {
    return static_cast<Computed>(x);
  }
}

namespace detail {

/// A float that holds, of an integer type, the first number beyond it: 2^7 of i8.
template <typename Integer, typename Real>
inline constexpr Real kBeyondInteger = static_cast<Real>(std::numeric_limits<Integer>::max() / 2 + 1) * 2;

template <typename Integer, typename Real>
constexpr Integer rounded_integer(Real x, bool to_nearest) {
  constexpr Real kEnd = kBeyondInteger<Integer, Real>;
  constexpr Real kBegin = std::is_signed_v<Integer> ? -kEnd : Real{0};
#if defined(__CUDA_ARCH__)
  const Real whole = to_nearest ? rint(x) : x;
#else
  const Real whole = to_nearest ? std::rint(x) : x;
#endif
  // Converted where it fits alone; the comparisons are false for NaN.
  const Real safe = whole >= kBegin && whole < kEnd ? whole : Real{0};
  using Wide = std::conditional_t<(sizeof(Integer) < 4), std::int32_t, Integer>;
  const auto inside = static_cast<Integer>(static_cast<Wide>(safe));
  const Integer most = whole >= kEnd ? std::numeric_limits<Integer>::max() : inside;
  return whole < kBegin ? std::numeric_limits<Integer>::min() : most;
}

template <typename Integer, typename Wide>
constexpr Integer saturated_integer(Wide x) {
  using Limits = std::numeric_limits<Integer>;
  if constexpr (std::is_signed_v<Wide>) {
    if constexpr (std::is_signed_v<Integer>) {
      x = x < Limits::min() ? Limits::min() : x;
      return static_cast<Integer>(x > Limits::max() ? Limits::max() : x);
    } else {
      const auto positive = static_cast<std::uint64_t>(x < 0 ? 0 : x);
      return static_cast<Integer>(positive > Limits::max() ? Limits::max() : positive);
    }
  } else {
    constexpr auto kMost = static_cast<std::uint64_t>(Limits::max());
    return static_cast<Integer>(x > kMost ? kMost : x);
  }
}

/// The integer to 53 bits, of which the last is set where anything was lost: it rounds to a shorter float as
/// the integer itself does.
constexpr double to_odd_double(std::uint64_t x) {
  constexpr int kBits = std::numeric_limits<double>::digits;
  if (x >> kBits == 0) return static_cast<double>(x);
#if defined(__CUDA_ARCH__)
  const int dropped = 64 - __clzll(static_cast<long long>(x)) - kBits;
#else
  const int dropped = 64 - __builtin_clzll(x) - kBits;
#endif
  const std::uint64_t kept = x >> dropped << dropped;
  return static_cast<double>(kept | static_cast<std::uint64_t>(kept != x) << dropped);
}
constexpr double to_odd_double(std::int64_t x) {
  const auto bits = static_cast<std::uint64_t>(x);
  return x < 0 ? -to_odd_double(~bits + 1) : to_odd_double(bits);
}

}  // namespace detail

/// Rounded to `Stored`: saturated integers, 0 for NaN; the real part where a type has no other.
template <typename Stored, typename Computed>
constexpr Stored stored(Computed x, Narrowing narrowing) {
  if constexpr (kIsComplex<Computed>) {
    if constexpr (kIsComplex<Stored>) {
      using Real = decltype(Stored::re);
      return {static_cast<Real>(x.re), static_cast<Real>(x.im)};
    } else if constexpr (std::is_same_v<Stored, Boolean>) {
      return {static_cast<std::uint8_t>(x.re != 0 || x.im != 0 ? 1 : 0)};
    } else {
      return stored<Stored>(x.re, narrowing);
    }
  } else if constexpr (kIsComplex<Stored>) {
    using Real = decltype(Stored::re);
    return {static_cast<Real>(x), Real{0}};
  } else if constexpr (std::is_same_v<Stored, Boolean>) {
    return {static_cast<std::uint8_t>(x != 0 ? 1 : 0)};
  } else if constexpr (kIsSmallFloat<Stored>) {
    if constexpr (std::is_integral_v<Computed>) {
      return rounded_to<Stored>(detail::to_odd_double(x), narrowing.overflow);
    } else {
      return rounded_to<Stored>(x, narrowing.overflow);
    }
  } else if constexpr (std::is_floating_point_v<Stored>) {
    return static_cast<Stored>(x);
  } else if constexpr (std::is_integral_v<Computed>) {
    return detail::saturated_integer<Stored>(x);
  } else {
    return detail::rounded_integer<Stored>(x, narrowing.to_nearest);
  }
}

}  // namespace faro::kernels
