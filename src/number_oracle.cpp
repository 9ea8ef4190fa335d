#include "number_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/number_types.hpp"
#include "permutation/coefficients.hpp"

namespace faro {
namespace {

using kernels::Complex;
using kernels::kIsComplex;

// The bytes of a number, or of both halves of a complex one.
void reverse_bytes(Number number, std::byte* bytes) {
  const std::uint64_t width = bytes_of(number) / (is_complex(number) ? 2 : 1);
  for (std::uint64_t at = 0; at < bytes_of(number); at += width) std::reverse(bytes + at, bytes + at + width);
}

// Each of its own, so that no product is added to before it is rounded.
template <typename Real>
[[gnu::noinline]] Real product_of(Real a, Real b) {
  return a * b;
}
template <typename Real>
Complex<Real> product_of(Complex<Real> a, Complex<Real> b) {
  return {product_of(a.re, b.re) - product_of(a.im, b.im), product_of(a.re, b.im) + product_of(a.im, b.re)};
}
template <typename Real>
Real sum_of(Real a, Real b) {
  return a + b;
}
template <typename Real>
Complex<Real> sum_of(Complex<Real> a, Complex<Real> b) {
  return {a.re + b.re, a.im + b.im};
}

template <typename Integer>
Integer applied_to_integer(Function function, Integer x) {
  using Limits = std::numeric_limits<Integer>;
  if constexpr (std::is_signed_v<Integer>) {
    const Integer negative = x == Limits::min() ? Limits::max() : -x;
    if (function == Function::negate || (function == Function::absolute && x < 0)) return negative;
    if (function == Function::relu && x < 0) return 0;
  }
  return x;
}

template <typename Real>
Real applied_to_real(Function function, Real x) {
  switch (function) {
    case Function::identity:
    case Function::conjugate:
      return x;
    case Function::negate:
      return -x;
    case Function::absolute:
      return std::abs(x);
    case Function::reciprocal:
      return 1 / x;
    case Function::square_root:
      return std::sqrt(x);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::relu:
      return x < 0 ? Real{0} : x;
    case Function::gelu:
      break;
  }
  constexpr Real kRootHalf = static_cast<Real>(0.70710678118654752440);
  return x * (std::erfc(-x * kRootHalf) / 2);
}

template <typename Real>
std::complex<Real> applied_to_complex(Function function, const std::complex<Real>& z) {
  switch (function) {
    case Function::conjugate:
      return std::conj(z);
    case Function::negate:
      return -z;
    case Function::absolute:
      return std::abs(z);
    case Function::reciprocal:
      return Real{1} / z;
    case Function::square_root:
      return std::sqrt(z);
    case Function::exp:
      return std::exp(z);
    case Function::log:
      return std::log(z);
    case Function::tanh:
      return std::tanh(z);
    case Function::sigmoid:
      return Real{1} / (Real{1} + std::exp(-z));
    default:
      return z;
  }
}

// Real numbers are real until they are scaled: the logarithm of -1 is a NaN.
template <typename Computed>
Computed applied(Function function, Computed x, bool is_complex_number) {
  if constexpr (std::is_integral_v<Computed>) {
    return applied_to_integer(function, x);
  } else if constexpr (kIsComplex<Computed>) {
    using Real = decltype(Computed::re);
    if (!is_complex_number) return {applied_to_real(function, x.re), x.im};
    const std::complex<Real> z = applied_to_complex(function, std::complex<Real>(x.re, x.im));
    return {z.real(), z.imag()};
  } else {
    return applied_to_real(function, x);
  }
}

template <typename Computed>
Computed factor(const std::complex<double>& value) {
  if constexpr (kIsComplex<Computed>) {
    using Real = decltype(Computed::re);
    return {static_cast<Real>(value.real()), static_cast<Real>(value.imag())};
  } else {
    return static_cast<Computed>(value.real());
  }
}

template <typename Computed>
Computed taken(Number number, bool swapped, const std::byte* from) {
  Computed result{};
  std::array<std::byte, 16> bytes{};
  std::memcpy(bytes.data(), from, bytes_of(number));
  if (swapped) reverse_bytes(number, bytes.data());
  kernels::with_number(number, [&]<typename Stored>() {
    if constexpr (kIsComplex<Computed> || !kIsComplex<Stored>) {
      Stored x;
      std::memcpy(&x, bytes.data(), sizeof(Stored));
      result = kernels::computed<Computed>(x);
    }
  });
  return result;
}

template <typename Computed>
void put(const Arithmetic& of, Computed x, std::byte* to) {
  const kernels::Narrowing narrowing{
      .to_nearest = of.to_integer == ToInteger::nearest,
      .overflow = of.saturated ? kernels::Overflow::saturate : kernels::Overflow::as_type};
  kernels::with_number(of.to, [&]<typename Stored>() {
    const Stored rounded = kernels::stored<Stored>(x, narrowing);
    std::memcpy(to, &rounded, sizeof(Stored));
  });
  if (of.out_swapped) reverse_bytes(of.to, to);
}

template <typename Stored>
Stored settled(Stored x) {
  if constexpr (kIsComplex<Stored>) {
    return {settled(x.re), settled(x.im)};
  } else if constexpr (kernels::kIsSmallFloat<Stored>) {
    return std::isnan(kernels::to_float(x)) ? Stored{static_cast<typename Stored::Bits>(Stored::kNan)} : x;
  } else if constexpr (std::is_floating_point_v<Stored>) {
    return std::isnan(x) ? std::numeric_limits<Stored>::quiet_NaN() : x;
  } else {
    return x;
  }
}

template <typename Call>
void with_computed(Number computed, const Call& call) {
  switch (computed) {
    case Number::i64:
      return call.template operator()<std::int64_t>();
    case Number::u64:
      return call.template operator()<std::uint64_t>();
    case Number::f32:
      return call.template operator()<float>();
    case Number::f64:
      return call.template operator()<double>();
    case Number::c64:
      return call.template operator()<Complex<float>>();
    default:
      return call.template operator()<Complex<double>>();
  }
}

}  // namespace

NumberOracle::NumberOracle(const Arithmetic& arithmetic)
    : arithmetic_(arithmetic), computed_(computed_in(arithmetic)) {}

void NumberOracle::change(const std::byte* in, const std::byte* addend, std::size_t scale, std::size_t offset,
                          std::byte* out) const {
  const Arithmetic& of = arithmetic_;
  with_computed(computed_, [&]<typename Computed>() {
    Computed x = taken<Computed>(of.from, of.in_swapped, in);
    x = applied(of.function, x, is_complex(of.from));
    if constexpr (!std::is_integral_v<Computed>) {
      if (!detail::is_only(of.scale, 1)) x = product_of(x, factor<Computed>(of.scale.values[scale]));
      if (!detail::is_only(of.offset, 0)) x = sum_of(x, factor<Computed>(of.offset.values[offset]));
      if (of.addend) {
        const auto y = taken<Computed>(of.addend->number, of.addend->swapped, addend);
        x = sum_of(x, product_of(y, factor<Computed>(of.addend->beta)));
      }
    }
    put(of, x, out);
  });
}

void NumberOracle::settle(std::byte* number) const {
  if (arithmetic_.out_swapped) reverse_bytes(arithmetic_.to, number);
  kernels::with_number(arithmetic_.to, [&]<typename Stored>() {
    Stored x;
    std::memcpy(&x, number, sizeof(Stored));
    x = settled(x);
    std::memcpy(number, &x, sizeof(Stored));
  });
  if (arithmetic_.out_swapped) reverse_bytes(arithmetic_.to, number);
}

}  // namespace faro
