// Copies of elements whose width a compiler knows where it is a usual one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace faro::detail {

/// Calls body(width) with a compile-time constant for the usual widths.
template <typename Body>
void with_width(std::uint64_t width, const Body& body) {
  switch (width) {
    case 1:
      return body(std::integral_constant<std::size_t, 1>());
    case 2:
      return body(std::integral_constant<std::size_t, 2>());
    case 3:
      return body(std::integral_constant<std::size_t, 3>());
    case 4:
      return body(std::integral_constant<std::size_t, 4>());
    case 6:
      return body(std::integral_constant<std::size_t, 6>());
    case 8:
      return body(std::integral_constant<std::size_t, 8>());
    case 12:
      return body(std::integral_constant<std::size_t, 12>());
    case 16:
      return body(std::integral_constant<std::size_t, 16>());
    case 24:
      return body(std::integral_constant<std::size_t, 24>());
    default:
      return body(static_cast<std::size_t>(width));
  }
}

}  // namespace faro::detail
