// Parameters of axes_elements.hpp, made on the host from strided axes.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/axes_elements.hpp"
#include "layout/strided_box.hpp"

namespace faro::kernels {

/// `in_first`, `out_first`: the units with all coordinates 0. Requires: axes in normal form, fewer than 2^31
/// units.
AxesElementsParams make_axes_elements_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             std::uint64_t in_first = 0, std::uint64_t out_first = 0);

}  // namespace faro::kernels
