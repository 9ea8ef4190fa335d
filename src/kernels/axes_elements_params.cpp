#include "kernels/axes_elements_params.hpp"

#include "faro/error.hpp"

namespace faro::kernels {

AxesElementsParams make_axes_elements_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             std::uint64_t in_first, std::uint64_t out_first) {
  FARO_CHECK(axes.size() <= kMostAxes);
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  AxesElementsParams params{};
  params.in_first = in_first * unit;
  params.out_first = out_first * unit;
  params.count = 1;
  for (const layout::StridedAxis& axis : axes) {
    params.count *= axis.extent;
    FARO_CHECK(params.count >> 31 == 0);
    params.axis[params.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axis.extent)),
                                  .in_stride = axis.in * unit_bytes,
                                  .out_stride = axis.out * unit_bytes};
  }
  return params;
}

}  // namespace faro::kernels
