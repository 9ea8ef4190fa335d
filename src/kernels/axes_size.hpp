// The sizes that the kernels for axes accept.
#pragma once

#include <cstdint>

#include "faro/error.hpp"
#include "layout/unit_axes.hpp"

namespace faro::kernels {

/// Numbers of units and bytes are divided by device::Division64, and added up.
/// Errors: ErrorCode::unsupported for more than 2^62 bytes.
inline void check_size(const layout::UnitAxes& axes, std::uint64_t unit_bytes) {
  std::uint64_t left = (std::uint64_t{1} << 62) / unit_bytes;
  for (const std::uint64_t extent : axes.shape) left /= extent;
  if (left > 0) return;
  fail(ErrorCode::unsupported, "permute axes", "more than 2^62 bytes", "at most 2^62 bytes",
       "split the batch");
}

}  // namespace faro::kernels
