// What is done to one number before it is scaled (faro/arithmetic.hpp), each a type, so that a kernel is
// compiled for its own alone.
//
//     Exp{}(x)      of float, double, and of both complex numbers
//
// Real functions are the C library's, on a GPU CUDA's. Complex ones are written out here for a GPU, which has
// none; a CPU takes the standard library's. They split into modulus and angle, without a rescue of what
// overflows halfway.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/values.hpp"

namespace faro::kernels {

template <typename Real>
constexpr Real product(Real a, Real b) {
  return a * b;
}
template <typename Real>
constexpr Complex<Real> product(Complex<Real> a, Complex<Real> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename Real>
constexpr Real sum(Real a, Real b) {
  return a + b;
}
template <typename Real>
constexpr Complex<Real> sum(Complex<Real> a, Complex<Real> b) {
  return {a.re + b.re, a.im + b.im};
}

/// The least i64 saturates; u64 stays, for it is never asked for (computed_in).
template <typename Real>
constexpr Real negated(Real x) {
  if constexpr (std::is_same_v<Real, std::uint64_t>) {
    return x;
  } else if constexpr (std::is_integral_v<Real>) {
    using Limits = std::numeric_limits<Real>;
    return x == Limits::min() ? Limits::max() : -x;
  } else {
    return -x;
  }
}

struct Identity {
  template <typename T>
  constexpr T operator()(T x) const {
    return x;
  }
};

struct Conjugate {
  template <typename T>
  constexpr T operator()(T x) const {
    return x;
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    return {z.re, -z.im};
  }
};

struct Negate {
  template <typename T>
  constexpr T operator()(T x) const {
    return negated(x);
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    return {-z.re, -z.im};
  }
};

struct Absolute {
  template <typename T>
  constexpr T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x < 0 ? negated(x) : x;
    } else {
      return std::fabs(x);
    }
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    return {std::hypot(z.re, z.im), Real{0}};
  }
};

struct Relu {
  template <typename T>
  constexpr T operator()(T x) const {
    return x < 0 ? T{0} : x;
  }
};

struct Reciprocal {
  template <typename Real>
  constexpr Real operator()(Real x) const {
    return 1 / x;
  }
  /// By the larger part, so that squares do not overflow (Smith, Algorithm 116, 1962).
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    if (std::fabs(z.re) >= std::fabs(z.im)) {
      const Real ratio = z.im / z.re;
      const Real whole = z.re + z.im * ratio;
      return {1 / whole, -ratio / whole};
    }
    const Real ratio = z.re / z.im;
    const Real whole = z.re * ratio + z.im;
    return {ratio / whole, -1 / whole};
  }
};

struct SquareRoot {
  template <typename Real>
  constexpr Real operator()(Real x) const {
    return std::sqrt(x);
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    if (z.re == 0 && z.im == 0) return {Real{0}, z.im};
    const Real larger = std::sqrt((std::fabs(z.re) + std::hypot(z.re, z.im)) / 2);
    const Real smaller = std::fabs(z.im) / (2 * larger);
    if (z.re >= 0) return {larger, std::copysign(smaller, z.im)};
    return {smaller, std::copysign(larger, z.im)};
  }
};

struct Exp {
  template <typename Real>
  constexpr Real operator()(Real x) const {
    return std::exp(x);
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    const Real modulus = std::exp(z.re);
    if (z.im == 0) return {modulus, z.im};
    return {modulus * std::cos(z.im), modulus * std::sin(z.im)};
  }
};

struct Log {
  template <typename Real>
  constexpr Real operator()(Real x) const {
    return std::log(x);
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    return {std::log(std::hypot(z.re, z.im)), std::atan2(z.im, z.re)};
  }
};

struct Tanh {
  template <typename Real>
  constexpr Real operator()(Real x) const {
    return std::tanh(x);
  }
  /// tanh(x + iy) = (tanh x (1 + t^2) + i t / cosh^2 x) / (1 + tanh^2 x t^2) with t = tan y.
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    const Real of_real = std::tanh(z.re);
    const Real tangent = std::tan(z.im);
    const Real inverse_cosh = 1 / std::cosh(z.re);
    const Real below = 1 + of_real * of_real * tangent * tangent;
    return {of_real * (1 + tangent * tangent) / below, tangent * inverse_cosh * inverse_cosh / below};
  }
};

struct Sigmoid {
  template <typename Real>
  constexpr Real operator()(Real x) const {
    return 1 / (1 + std::exp(-x));
  }
  template <typename Real>
  constexpr Complex<Real> operator()(Complex<Real> z) const {
    const Complex<Real> power = Exp{}(Negate{}(z));
    return Reciprocal{}(Complex<Real>{1 + power.re, power.im});
  }
};

struct Gelu {
  /// By what is left of 1, which loses nothing far below 0.
  template <typename Real>
  constexpr Real operator()(Real x) const {
    constexpr Real kRootHalf = static_cast<Real>(0.70710678118654752440);
    return x * (std::erfc(-x * kRootHalf) / 2);
  }
};

}  // namespace faro::kernels
