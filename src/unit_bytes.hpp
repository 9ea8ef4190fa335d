// The widths of the units that kernels are compiled for, as constants.
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/error.hpp"

namespace faro::detail {

/// Calls use(std::integral_constant<int, unit_bytes>()) and gives what it gives.
/// Requires: unit_bytes is 1, 2, 4, 8 or 16 (checked).
template <typename Use>
auto by_unit_bytes(std::uint64_t unit_bytes, const Use& use) {
  switch (unit_bytes) {
    case 1:
      return use(std::integral_constant<int, 1>());
    case 2:
      return use(std::integral_constant<int, 2>());
    case 4:
      return use(std::integral_constant<int, 4>());
    case 8:
      return use(std::integral_constant<int, 8>());
    default:
      FARO_CHECK(unit_bytes == 16);
      return use(std::integral_constant<int, 16>());
  }
}

}  // namespace faro::detail
