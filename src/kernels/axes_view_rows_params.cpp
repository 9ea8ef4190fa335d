#include "kernels/axes_view_rows_params.hpp"

#include <numeric>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::kernels {

std::optional<ViewRowsChoice> make_view_rows(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             const ViewFirst& first) {
  constexpr std::uint64_t least_bytes = 512;  // of a row: boxes join shorter ones
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  if (axes.empty() || axes.front().out != 1 || axes.size() > kMostAxes) return std::nullopt;
  const layout::StridedAxis& fastest = axes.front();
  const bool backwards = fastest.in == -1;
  if ((fastest.in != 1 && !backwards) || fastest.extent * unit < least_bytes) return std::nullopt;
  ViewRowsChoice choice{.params = {}, .shape = {}};
  ViewRowsParams& p = choice.params;
  p.rows = 1;
  // Rows begin at multiples of this many bytes in both arrays, and have as many.
  const std::uint64_t row_bytes = fastest.extent * unit;
  const std::uint64_t in_begin = (first.in - (backwards ? fastest.extent - 1 : 0)) * unit;
  std::uint64_t common = std::gcd(std::gcd(in_begin, first.out * unit), row_bytes);
  for (std::size_t a = 1; a < axes.size(); ++a) {
    const layout::StridedAxis& axis = axes[a];
    if (axis.extent >= most_rows || p.rows * axis.extent >= most_rows) return std::nullopt;
    p.rows *= axis.extent;
    const auto scale = static_cast<std::int64_t>(unit);
    p.axis[p.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axis.extent)),
                        .in_stride = axis.in * scale,
                        .out_stride = axis.out * scale};
    common = std::gcd(common, static_cast<std::uint64_t>(axis.in < 0 ? -axis.in : axis.in) * unit);
    common = std::gcd(common, static_cast<std::uint64_t>(axis.out) * unit);
  }
  const std::uint64_t vector = std::gcd(common, kMovedBytes);
  std::uint64_t access = backwards ? unit : vector;
  if (backwards && vector == kMovedBytes) {
    access = kMovedBytes;
    if (unit < kMovedBytes) choice.shape.reversed_bytes = unit_bytes;
  }
  choice.shape.access_bytes = static_cast<int>(access);
  choice.alignment = access;
  p.accesses = row_bytes / access;
  p.lanes = device::Division64(
      faro::detail::ceil_div(p.accesses, static_cast<std::uint64_t>(choice.shape.spread())));
  p.in_step = backwards ? -static_cast<std::int64_t>(access) : static_cast<std::int64_t>(access);
  p.in_first = backwards ? (first.in + 1) * unit - access : first.in * unit;
  p.out_first = first.out * unit;
  return choice;
}

}  // namespace faro::kernels
