// Parameters of axes_box.hpp, made on the host from a box.
#pragma once

#include "kernels/axes_box.hpp"
#include "layout/strided_box.hpp"

namespace faro::kernels {

/// The kernel that moves such boxes: one of kBoxShapes.
BoxShape box_shape(const layout::StridedBox& box);

/// `in_first`, `out_first`: the units with all coordinates 0. Requires: arrays below 2^48 units (checked).
AxesBoxParams make_axes_box_params(const layout::StridedBox& box, std::uint64_t in_first = 0,
                                   std::uint64_t out_first = 0);

}  // namespace faro::kernels
