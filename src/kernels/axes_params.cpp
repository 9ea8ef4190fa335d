#include "kernels/axes_params.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

// An axis in equal parts of about `wanted`, or whole where it is not much longer.
std::uint64_t part_of_axis(std::uint64_t extent, std::uint64_t wanted) {
  if (2 * extent <= 3 * wanted) return extent;
  return faro::detail::ceil_div(extent, faro::detail::ceil_div(extent, wanted));
}

// The digits of a thread's number, and what is beside them.
class ElementsParts {
 public:
  ElementsParts(const std::vector<layout::StridedAxis>& axes, int unit_bytes, const AxesElementsShape& shape)
      : axes_(axes), is_done_(axes.size(), false), unit_bytes_(unit_bytes) {
    params_.count = 1;
    params_.rows = params_.columns = params_.units = params_.unit_step = 1;
    std::uint64_t row_part = 1;
    const std::size_t row = add_lanes(shape.lanes, row_part);
    for (std::size_t a = 0; a < axes_.size() && shape.in_order; ++a) {
      // Blocks that read the same follow one another.
      if (!is_done_[a] && axes_[a].in == 0) add(a, axes_[a].extent, 1, {});
    }
    const std::size_t column = find_column(shape, row, row_part);
    if (column != none()) add_column(column, column == row ? row_part : 1, shape);
    add_columns(row);
    if (row != none() && row != column) {
      const std::uint64_t parts = faro::detail::ceil_div(axes_[row].extent, row_part);
      add(row, parts, row_part, {.row = row_part});
    }
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (!is_done_[a]) add(a, axes_[a].extent, 1, {});
    }
  }

  const AxesElementsParams& params() const { return params_; }

 private:
  // How far a digit goes along the axes that may be cut.
  struct Along {
    std::uint64_t row = 0;
    std::uint64_t column = 0;
  };

  std::size_t none() const { return axes_.size(); }

  // A digit of so many, each `step` of the axis.
  void add(std::size_t a, std::uint64_t digits, std::uint64_t step, const Along& along) {
    is_done_[a] = true;
    if (digits == 1) return;
    FARO_CHECK(params_.axes < AxesElementsParams::kMostParts && digits >> 31 == 0);
    params_.count *= digits;
    FARO_CHECK(params_.count >> 31 == 0);
    const auto bytes = static_cast<std::int64_t>(step) * unit_bytes_;
    params_.axis[params_.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(digits)),
                                    .row_step = static_cast<std::uint32_t>(along.row),
                                    .column_step = static_cast<std::uint32_t>(along.column),
                                    .in_stride = axes_[a].in * bytes,
                                    .out_stride = axes_[a].out * bytes};
  }

  // Lanes along the output's fastest axes. Gives the axis that they have a part of, if any.
  std::size_t add_lanes(std::uint64_t lanes, std::uint64_t& part) {
    std::uint64_t together = 1;
    for (std::size_t a = 0; a < axes_.size() && 2 * together <= lanes; ++a) {
      const std::uint64_t extent = axes_[a].extent;
      FARO_CHECK(extent >> 31 == 0);
      part = part_of_axis(extent, lanes / together);
      params_.rows = part < extent ? static_cast<std::uint32_t>(extent) : 1;
      add(a, part, 1, {.row = part < extent ? std::uint64_t{1} : 0});
      if (part < extent) return a;
      together *= extent;
    }
    return none();
  }

  // Among what lanes do not have, the axis that a thread's units are along: the input's fastest that is long
  // enough, shorter ones before it being lanes as well; else the longest. In order, the lanes' own, if it is.
  std::size_t find_column(const AxesElementsShape& shape, std::size_t row, std::uint64_t row_part) {
    const auto most = static_cast<std::uint64_t>(shape.units);
    if (shape.in_order && row != none() && axes_[row].extent >= most * row_part) return row;
    const std::vector<std::size_t> order = in_order();
    const auto found =
        std::find_if(order.begin(), order.end(), [&](std::size_t a) { return 2 * axes_[a].extent > most; });
    if (found == order.end()) {
      const auto longest = std::max_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return axes_[a].extent < axes_[b].extent;
      });
      return longest == order.end() ? row : *longest;
    }
    for (auto a = order.begin(); a != found; ++a) add(*a, axes_[*a].extent, 1, {});
    return *found;
  }

  // What a block reads lies together as far as it goes.
  void add_columns(std::size_t row) {
    for (const std::size_t a : in_order()) {
      if (params_.count >= kAxesElementsThreads) return;
      if (a != row) add(a, axes_[a].extent, 1, {});
    }
  }

  // Axes that are left, the input's fastest first.
  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (!is_done_[a] && axes_[a].in != 0) order.push_back(a);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(axes_[a].in) < std::abs(axes_[b].in);
    });
    return order;
  }

  // `step`: of what is left of an axis that lanes have a part of.
  void add_column(std::size_t a, std::uint64_t step, const AxesElementsShape& shape) {
    FARO_CHECK(axes_[a].extent >> 31 == 0);
    const std::uint64_t left = faro::detail::ceil_div(axes_[a].extent, step);
    const std::uint64_t most = static_cast<std::uint64_t>(shape.units);
    const std::uint64_t units = faro::detail::ceil_div(left, faro::detail::ceil_div(left, most));
    params_.columns = static_cast<std::uint32_t>(axes_[a].extent);
    params_.units = static_cast<std::uint32_t>(units);
    params_.unit_step = static_cast<std::uint32_t>(step);
    params_.in_step = axes_[a].in * static_cast<std::int64_t>(step) * unit_bytes_;
    params_.out_step = axes_[a].out * static_cast<std::int64_t>(step) * unit_bytes_;
    // Lanes may count along it already.
    for (int i = 0; i < params_.axes && step > 1; ++i) params_.axis[i].column_step = params_.axis[i].row_step;
    const std::uint64_t each = units * step;
    add(a, faro::detail::ceil_div(left, units), each, {.row = step > 1 ? each : 0, .column = each});
  }

  const std::vector<layout::StridedAxis>& axes_;
  std::vector<bool> is_done_;
  std::int64_t unit_bytes_;
  AxesElementsParams params_{};
};

}  // namespace

AxesElementsShape usual_elements_shape(std::uint64_t count, int unit_bytes) {
  // Few units are spread over as many threads as there are.
  const std::uint64_t few = unit_bytes == 8 ? 1 << 16 : unit_bytes == 4 ? 1 << 14 : 1 << 15;
  if (unit_bytes == kMovedBytes || count < few) return {.lanes = unit_bytes < 8 ? 16U : 8U, .units = 1};
  constexpr std::uint64_t many = 1 << 18;
  if (unit_bytes == 1) return {.lanes = 32, .units = 8};
  if (unit_bytes == 2) return {.lanes = 16, .units = count < many ? 4 : 8};
  return {.lanes = unit_bytes == 4 ? 12U : 8U, .units = unit_bytes == 4 ? 4 : 2};
}

AxesElementsShape ordered_elements_shape(int unit_bytes) {
  return {.lanes = kAxesElementsThreads, .units = most_elements_units(unit_bytes), .in_order = true};
}

bool steps_ascend(const std::vector<layout::StridedAxis>& axes) {
  std::int64_t last = 0;
  return std::all_of(axes.begin(), axes.end(), [&](const layout::StridedAxis& axis) {
    const std::int64_t step = std::abs(axis.in);
    return step == 0 || step >= std::exchange(last, step);
  });
}

AxesElementsParams make_axes_elements_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             std::uint64_t in_first, std::uint64_t out_first,
                                             const std::optional<AxesElementsShape>& shape) {
  FARO_CHECK(axes.size() <= kMostAxes);
  const std::uint64_t count = faro::detail::unit_count(axes);
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  AxesElementsParams params =
      ElementsParts(axes, unit_bytes, shape.value_or(usual_elements_shape(count, unit_bytes))).params();
  params.in_first = in_first * unit;
  params.out_first = out_first * unit;
  params.in = {.begin = params.in_first, .end = params.in_first + unit};
  std::uint64_t out_reach = 0;
  for (const layout::StridedAxis& axis : axes) {
    const std::uint64_t far = static_cast<std::uint64_t>(std::abs(axis.in)) * (axis.extent - 1) * unit;
    if (axis.in < 0) {
      params.in.begin -= far;
    } else {
      params.in.end += far;
    }
    out_reach += static_cast<std::uint64_t>(axis.out) * axis.extent * unit;
  }
  // Threads past the end of an axis reach up to as far again.
  constexpr std::uint64_t near_bytes = std::uint64_t{1} << 29;
  params.is_near = params.in.end - params.in.begin < near_bytes && out_reach < near_bytes ? 1 : 0;
  return params;
}

bool axes_rows_suit(const std::vector<layout::StridedAxis>& axes, int unit_bytes) {
  if (axes.size() < 2) return true;
  const std::uint64_t row = axes.front().extent;
  if (axes.front().in != 1) return false;
  // Their numbers are divided with 32 bits.
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;
  if (faro::detail::unit_count(axes) / row >= most_rows) return false;
  const std::uint64_t long_row_bytes =
      unit_bytes == kMovedBytes ? 256 : 1024;  // narrow units: boxes have vectors
  constexpr std::uint64_t sectors_bytes = 64;
  const std::uint64_t row_bytes = row * static_cast<std::uint64_t>(unit_bytes);
  return row_bytes >= long_row_bytes || (row_bytes >= sectors_bytes && row_bytes % sectors_bytes == 0);
}

AxesRowsParams make_axes_rows_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                     std::uint32_t in_skew, std::uint32_t out_skew) {
  check_size(axes, unit_bytes);
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  const std::uint64_t count = faro::detail::unit_count(axes);
  const std::uint64_t row = axes.empty() ? 1 : axes.front().extent;
  FARO_CHECK(axes.size() <= kMostAxes && (axes.size() < 2 || axes.front().in == 1));
  FARO_CHECK(axes.size() < 2 || count / row < std::uint64_t{1} << 31);
  AxesRowsParams params{};
  params.in = {.begin = in_skew, .end = in_skew + count * unit};
  params.out = {.begin = out_skew, .end = out_skew + count * unit};
  params.row_bytes = device::Division64(row * unit);
  for (std::size_t a = 1; a < axes.size(); ++a) {
    params.axis[params.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axes[a].extent)),
                                  .in_stride = static_cast<std::uint64_t>(axes[a].in) * unit};
  }
  return params;
}

std::optional<ViewRowsChoice> make_view_rows(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             const ViewFirst& first, std::uint64_t least_bytes) {
  // Boxes join rows that are shorter, but not vectors that are read backwards, or in order.
  constexpr std::uint64_t usual_bytes = 513;
  constexpr std::uint64_t least_backwards_bytes = 128;
  constexpr std::uint64_t least_in_order_bytes = 64;
  const bool in_order = least_bytes == 0 && steps_ascend(axes);
  if (least_bytes == 0) least_bytes = usual_bytes;
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  if (axes.empty() || axes.front().out != 1 || axes.size() > kMostAxes) return std::nullopt;
  const layout::StridedAxis& fastest = axes.front();
  const bool backwards = fastest.in == -1;
  const std::uint64_t least_of_vectors = backwards  ? least_backwards_bytes
                                         : in_order ? least_in_order_bytes
                                                    : least_bytes;
  if ((fastest.in != 1 && !backwards) || fastest.extent * unit < least_of_vectors) return std::nullopt;
  ViewRowsChoice choice{.params = {}, .shape = {}};
  ViewRowsParams& p = choice.params;
  p.rows = 1;
  // Rows begin at multiples of this many bytes in both arrays, and have as many.
  const std::uint64_t row_bytes = fastest.extent * unit;
  const std::uint64_t in_begin = (first.in - (backwards ? fastest.extent - 1 : 0)) * unit;
  std::uint64_t bits = kMovedBytes | in_begin | first.out * unit | row_bytes;
  for (std::size_t a = 1; a < axes.size(); ++a) {
    const layout::StridedAxis& axis = axes[a];
    if (axis.extent >= most_rows || p.rows * axis.extent >= most_rows) return std::nullopt;
    p.rows *= axis.extent;
    const auto scale = static_cast<std::int64_t>(unit);
    p.axis[p.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axis.extent)),
                        .in_stride = axis.in * scale,
                        .out_stride = axis.out * scale};
    bits |= static_cast<std::uint64_t>(axis.in) * unit | static_cast<std::uint64_t>(axis.out) * unit;
  }
  const std::uint64_t vector = bits & (~bits + 1);
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
