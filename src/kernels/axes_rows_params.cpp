#include "kernels/axes_rows_params.hpp"

#include <vector>

#include "faro/error.hpp"
#include "kernels/axes_size.hpp"

namespace faro::kernels {

bool axes_rows_suit(const layout::UnitAxes& axes, int unit_bytes) {
  const std::size_t n = axes.shape.size();
  if (n < 2) return true;
  if (axes.order[n - 1] != static_cast<int>(n) - 1) return false;
  // Their numbers are divided with 32 bits.
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;
  if (axes.count() / axes.shape[n - 1] >= most_rows) return false;
  const std::uint64_t long_row_bytes =
      unit_bytes == kMovedBytes ? 256 : 1024;  // narrow units: boxes have vectors
  constexpr std::uint64_t sectors_bytes = 64;
  const std::uint64_t row_bytes = axes.shape[n - 1] * static_cast<std::uint64_t>(unit_bytes);
  return row_bytes >= long_row_bytes || (row_bytes >= sectors_bytes && row_bytes % sectors_bytes == 0);
}

AxesRowsParams make_axes_rows_params(const layout::UnitAxes& axes, int unit_bytes, std::uint32_t in_skew,
                                     std::uint32_t out_skew) {
  check_size(axes, unit_bytes);
  const std::size_t n = axes.shape.size();
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  FARO_CHECK(n <= kMostAxes && (n < 2 || axes.order[n - 1] == static_cast<int>(n) - 1));
  FARO_CHECK(n < 2 || axes.count() / axes.shape[n - 1] < std::uint64_t{1} << 31);
  const std::vector<std::uint64_t> in_strides = axes.in_strides();
  AxesRowsParams params{};
  params.in = {.begin = in_skew, .end = in_skew + axes.count() * unit};
  params.out = {.begin = out_skew, .end = out_skew + axes.count() * unit};
  params.row_bytes = device::Division64((n == 0 ? 1 : axes.shape[n - 1]) * unit);
  for (std::size_t i = n; i-- > 1;) {
    const auto a = static_cast<std::size_t>(axes.order[i - 1]);
    params.axis[params.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axes.shape[a])),
                                  .in_stride = in_strides[a] * unit};
  }
  return params;
}

}  // namespace faro::kernels
