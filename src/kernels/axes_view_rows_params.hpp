// Parameters of axes_view_rows.hpp, made on the host from the axes of a view.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/axes_view_rows.hpp"
#include "layout/strided_box.hpp"

namespace faro::kernels {

struct ViewRowsChoice {
  ViewRowsParams params;
  ViewRowsShape shape;
  std::uint64_t alignment = 1;  // of both arrays, in bytes
};

/// Where a view's elements begin in the arrays, in units.
struct ViewFirst {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// Nothing where the view's fastest axis is not the same on both sides, its rows are short, or more than
/// 2^31. Requires: axes in normal form, units of 1, 2, 4, 8 or 16 bytes.
std::optional<ViewRowsChoice> make_view_rows(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             const ViewFirst& first);

}  // namespace faro::kernels
