#include "kernels/axes_params.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

// How much of an axis is a side of a warp's patch: the largest divisor up to what is wanted, or a short axis.
std::uint64_t patch_side(std::uint64_t extent, std::uint64_t wanted) {
  constexpr std::uint64_t most = 16;
  if (extent <= most) return extent <= wanted || extent % 2 != 0 ? extent : extent / 2;
  std::uint64_t side = wanted;
  while (extent % side != 0) --side;
  if (2 * side > wanted) return side;
  side = wanted + 1;
  while (side < 2 * wanted && extent % side != 0) ++side;
  return extent % side == 0 ? side : 1;
}

// In the order in which threads count: a warp has a patch of both sides' fastest axes, whose sectors it
// shares on either side, instead of a row of the output, whose units lie in as many sectors of the input.
std::vector<layout::StridedAxis> in_patches(const std::vector<layout::StridedAxis>& axes) {
  constexpr std::uint64_t written = 8;  // units that lie together in the output, and in the input
  constexpr std::uint64_t read = 4;
  const auto is_read = [](const layout::StridedAxis& axis) { return axis.in == 1 || axis.in == -1; };
  if (axes.size() < 2 || axes.size() + 2 > kMostAxes || axes.front().out != 1 || is_read(axes.front()))
    return axes;
  const auto found = std::find_if(axes.begin(), axes.end(), is_read);
  if (found == axes.end()) return axes;
  const layout::StridedAxis& row = axes.front();
  const layout::StridedAxis& column = *found;
  const std::uint64_t rows = patch_side(row.extent, written);
  const std::uint64_t columns = patch_side(column.extent, read);
  if (rows == 1 || columns == 1) return axes;
  const auto part_of = [](const layout::StridedAxis& axis, std::uint64_t part) {
    return layout::StridedAxis{.extent = part, .in = axis.in, .out = axis.out};
  };
  const auto rest_of = [](const layout::StridedAxis& axis, std::uint64_t part) {
    const auto step = static_cast<std::int64_t>(part);
    return layout::StridedAxis{.extent = axis.extent / part, .in = axis.in * step, .out = axis.out * step};
  };
  std::vector<layout::StridedAxis> result = {part_of(row, rows), part_of(column, columns),
                                             rest_of(column, columns), rest_of(row, rows)};
  for (const layout::StridedAxis& axis : axes) {
    if (&axis != &row && &axis != &column) result.push_back(axis);
  }
  std::erase_if(result, [](const layout::StridedAxis& axis) { return axis.extent == 1; });
  return result;
}

}  // namespace

AxesElementsParams make_axes_elements_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             std::uint64_t in_first, std::uint64_t out_first) {
  FARO_CHECK(axes.size() <= kMostAxes);
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  AxesElementsParams params{};
  params.in_first = in_first * unit;
  params.out_first = out_first * unit;
  params.count = 1;
  for (const layout::StridedAxis& axis : in_patches(axes)) {
    params.count *= axis.extent;
    FARO_CHECK(params.count >> 31 == 0);
    params.axis[params.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axis.extent)),
                                  .in_stride = axis.in * unit_bytes,
                                  .out_stride = axis.out * unit_bytes};
  }
  return params;
}

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

std::optional<ViewRowsChoice> make_view_rows(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             const ViewFirst& first, std::uint64_t least_bytes) {
  constexpr std::uint64_t usual_bytes = 513;            // of a row: boxes join shorter ones
  constexpr std::uint64_t least_backwards_bytes = 128;  // but not where they are read backwards
  if (least_bytes == 0) least_bytes = usual_bytes;
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  if (axes.empty() || axes.front().out != 1 || axes.size() > kMostAxes) return std::nullopt;
  const layout::StridedAxis& fastest = axes.front();
  const bool backwards = fastest.in == -1;
  if ((fastest.in != 1 && !backwards) ||
      fastest.extent * unit < (backwards ? least_backwards_bytes : least_bytes))
    return std::nullopt;
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
  if (row_bytes < least_bytes && access < kMovedBytes) return std::nullopt;
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
