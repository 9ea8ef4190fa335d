// The types that scalars are in C++: on a host, and in the text of a kernel.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "faro/error.hpp"
#include "faro/network/operator.hpp"

namespace faro::network {

/// Calls use(T()) with the type of a real scalar and gives what it gives. Requires: a real one (checked).
template <typename Use>
auto with_real(Scalar scalar, const Use& use) {
  switch (scalar) {
    case Scalar::i32:
      return use(std::int32_t{});
    case Scalar::u32:
      return use(std::uint32_t{});
    case Scalar::i64:
      return use(std::int64_t{});
    case Scalar::u64:
      return use(std::uint64_t{});
    case Scalar::f32:
      return use(float{});
    default:
      FARO_CHECK(scalar == Scalar::f64);
      return use(double{});
  }
}

/// The same of any scalar.
template <typename Use>
auto with_scalar(Scalar scalar, const Use& use) {
  if (scalar == Scalar::c64) return use(std::complex<float>{});
  if (scalar == Scalar::c128) return use(std::complex<double>{});
  return with_real(scalar, use);
}

/// How the element's scalar is written in the kernel's text.
inline std::string_view scalar_type(Scalar scalar) {
  static constexpr std::string_view kTypes[] = {"std::int32_t",   "std::uint32_t",  "std::int64_t",
                                                "std::uint64_t",  "float",          "double",
                                                "Complex<float>", "Complex<double>"};
  return kTypes[static_cast<std::size_t>(scalar)];
}

/// The same of sums. Those of integers wrap, as unsigned ones do.
inline std::string_view sum_type(Scalar scalar) {
  if (scalar == Scalar::i32) return scalar_type(Scalar::u32);
  if (scalar == Scalar::i64) return scalar_type(Scalar::u64);
  return scalar_type(scalar);
}

}  // namespace faro::network
