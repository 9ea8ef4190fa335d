#include "permutation/axis_map.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "faro/error.hpp"

namespace faro::detail {
namespace {

void require_fit(bool fits) {
  if (!fits)
    fail(ErrorCode::value, "axes", "strides that reach past 2^63 elements", "strides within an array");
}

std::int64_t times(std::int64_t stride, std::uint64_t steps) {
  std::int64_t product = 0;
  require_fit(!__builtin_mul_overflow(stride, steps, &product));
  return product;
}

void move_by(std::int64_t& first, std::int64_t stride, std::uint64_t steps) {
  require_fit(!__builtin_add_overflow(first, times(stride, steps), &first));
}

bool continues(std::int64_t outer, std::int64_t inner, std::uint64_t extent) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(inner, extent, &product) && product == outer;
}

std::uint64_t stride_length(std::int64_t stride) {
  return stride < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(stride)
                    : static_cast<std::uint64_t>(stride);
}

bool stays(const StridedAxis& axis) { return axis.in == 1 && axis.out == 1 && axis.shift == 0; }

std::uint64_t opposite(const StridedAxis& axis) { return axis.shift == 0 ? 0 : axis.extent - axis.shift; }

void drop_ones(std::vector<StridedAxis>& axes) {
  std::erase_if(axes, [](const StridedAxis& axis) { return axis.extent == 1; });
}

bool is_empty(const std::vector<StridedAxis>& axes) {
  return std::any_of(axes.begin(), axes.end(), [](const StridedAxis& axis) { return axis.extent == 0; });
}

// An axis that is rolled by half: its outer axis has two elements, which a flip exchanges as well as a roll.
void flip_halves(AxisMap& map) {
  const std::size_t count = map.axes.size();
  for (std::size_t a = 0; a < count; ++a) {
    const StridedAxis axis = map.axes[a];
    if (axis.shift == 0 || axis.extent != 2 * axis.shift) continue;
    auto [outer, inner] = *split(axis, axis.shift);
    outer.shift = 0;
    move_by(map.in_first, outer.in, 1);
    outer.in = -outer.in;
    map.axes[a] = outer;
    map.axes.push_back(inner);
  }
}

// A list of axes by one side's strides, fastest first: each as long as the other side's that it meets.
bool meet(std::vector<StridedAxis>& one, std::vector<StridedAxis>& other) {
  for (std::size_t a = 0; a < one.size() || a < other.size(); ++a) {
    if (a >= one.size() || a >= other.size()) return false;
    auto& longer = one[a].extent > other[a].extent ? one : other;
    const std::uint64_t shorter = std::min(one[a].extent, other[a].extent);
    if (longer[a].extent == shorter) continue;
    const auto parts = split(longer[a], shorter);
    if (!parts) return false;
    longer[a] = parts->second;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(a) + 1, parts->first);
  }
  return true;
}

}  // namespace

std::uint64_t unit_count(const std::vector<StridedAxis>& axes) {
  if (is_empty(axes)) return 0;
  std::int64_t count = 1;
  for (const StridedAxis& axis : axes) count = times(count, axis.extent);
  return static_cast<std::uint64_t>(count);
}

std::optional<StridedAxis> merged(const StridedAxis& outer, const StridedAxis& inner) {
  if (inner.shift != 0 || !continues(outer.in, inner.in, inner.extent) ||
      !continues(outer.out, inner.out, inner.extent)) {
    return std::nullopt;
  }
  return StridedAxis{.extent = outer.extent * inner.extent,
                     .in = inner.in,
                     .out = inner.out,
                     .shift = outer.shift * inner.extent};
}

std::optional<std::pair<StridedAxis, StridedAxis>> split(const StridedAxis& axis, std::uint64_t inner) {
  if (inner == 0 || axis.extent % inner != 0 || axis.shift % inner != 0) return std::nullopt;
  return std::pair(StridedAxis{.extent = axis.extent / inner,
                               .in = times(axis.in, inner),
                               .out = times(axis.out, inner),
                               .shift = axis.shift / inner},
                   StridedAxis{.extent = inner, .in = axis.in, .out = axis.out});
}

void flip(AxisMap& map, std::size_t axis) {
  StridedAxis& flipped = map.axes[axis];
  move_by(map.in_first, flipped.in, flipped.extent - 1);
  move_by(map.out_first, flipped.out, flipped.extent - 1);
  flipped.in = -flipped.in;
  flipped.out = -flipped.out;
  flipped.shift = opposite(flipped);
}

std::uint64_t widest_fold(const AxisMap& map) {
  const auto unit = std::find_if(map.axes.begin(), map.axes.end(), stays);
  if (unit == map.axes.end() || is_empty(map.axes)) return 1;
  std::uint64_t widest =
      std::gcd(unit->extent, std::gcd(stride_length(map.in_first), stride_length(map.out_first)));
  for (auto axis = map.axes.begin(); axis != map.axes.end(); ++axis) {
    if (axis != unit) widest = std::gcd(widest, std::gcd(stride_length(axis->in), stride_length(axis->out)));
  }
  return widest;
}

AxisMap folded(AxisMap map, std::uint64_t units) {
  if (units == 1) return map;
  const auto by = static_cast<std::int64_t>(units);
  for (StridedAxis& axis : map.axes) {
    if (stays(axis)) {
      axis.extent /= units;
    } else {
      axis.in /= by;
      axis.out /= by;
    }
  }
  map.in_first /= by;
  map.out_first /= by;
  map.unit *= units;
  drop_ones(map.axes);
  return map;
}

AxisMap unfolded(AxisMap map, std::uint64_t units) {
  if (units == 1) return map;
  for (StridedAxis& axis : map.axes) {
    axis.in = times(axis.in, units);
    axis.out = times(axis.out, units);
  }
  map.in_first = times(map.in_first, units);
  map.out_first = times(map.out_first, units);
  map.unit /= units;
  map.axes.push_back({.extent = units, .in = 1, .out = 1});
  return map;
}

AxisMap cut(AxisMap map, std::size_t axis, std::uint64_t begin, std::uint64_t length) {
  move_by(map.in_first, map.axes[axis].in, begin);
  move_by(map.out_first, map.axes[axis].out, begin);
  map.axes[axis].extent = length;
  return map;
}

std::vector<AxisMap> unrolled(const AxisMap& map) {
  std::vector<AxisMap> parts{map};
  for (std::size_t a = 0; a < map.axes.size(); ++a) {
    const auto [extent, in, out, shift] = map.axes[a];
    if (shift == 0) continue;
    std::vector<AxisMap> finer;
    for (AxisMap& part : parts) {
      part.axes[a].shift = 0;
      // From j = shift on the input is read from its beginning; before, from where it goes round.
      AxisMap ahead = cut(part, a, 0, extent - shift);
      move_by(ahead.out_first, out, shift);
      AxisMap around = cut(part, a, 0, shift);
      move_by(around.in_first, in, extent - shift);
      finer.push_back(std::move(ahead));
      finer.push_back(std::move(around));
    }
    parts = std::move(finer);
  }
  return parts;
}

AxisMap inverse(AxisMap map) {
  for (StridedAxis& axis : map.axes) {
    std::swap(axis.in, axis.out);
    axis.shift = opposite(axis);
  }
  std::swap(map.in_first, map.out_first);
  return map;
}

AxisMap normal_form(AxisMap map) {
  if (is_empty(map.axes)) return {.axes = {{.extent = 0, .in = 1, .out = 1}}, .unit = map.unit};
  flip_halves(map);
  drop_ones(map.axes);
  for (std::size_t a = 0; a < map.axes.size(); ++a) {
    if (map.axes[a].out < 0) flip(map, a);
  }
  std::sort(map.axes.begin(), map.axes.end(), [](const StridedAxis& a, const StridedAxis& b) {
    return std::tie(a.out, a.in, a.extent) < std::tie(b.out, b.in, b.extent);
  });
  std::vector<StridedAxis> axes;
  for (const StridedAxis& axis : map.axes) {
    const auto both = axes.empty() ? std::nullopt : merged(axis, axes.back());
    if (both) {
      axes.back() = *both;
    } else {
      axes.push_back(axis);
    }
  }
  map.axes = std::move(axes);
  return map;
}

AxisMap with_rolls(AxisMap normal) {
  std::vector<StridedAxis> axes;
  for (const StridedAxis& axis : normal.axes) {
    const StridedAxis flipped{.extent = axis.extent, .in = -axis.in, .out = axis.out, .shift = 1};
    const auto both = axes.empty() || axis.extent != 2 ? std::nullopt : merged(flipped, axes.back());
    if (both) {
      move_by(normal.in_first, axis.in, 1);
      axes.back() = *both;
    } else {
      axes.push_back(axis);
    }
  }
  normal.axes = std::move(axes);
  return normal;
}

std::optional<AxisMap> compose(const AxisMap& second, const AxisMap& first) {
  AxisMap to = with_rolls(normal_form(first));
  AxisMap from = inverse(with_rolls(normal_form(inverse(second))));
  if (is_empty(to.axes) || is_empty(from.axes) || to.out_first != 0 || from.in_first != 0 ||
      to.unit != from.unit)
    return std::nullopt;
  // Both sides between are walked from the fastest axis on, and leave no gaps.
  if (!meet(to.axes, from.axes)) return std::nullopt;
  std::int64_t stride = 1;
  for (std::size_t a = 0; a < to.axes.size(); ++a) {
    StridedAxis& axis = to.axes[a];
    if (axis.out != stride || from.axes[a].in != stride) return std::nullopt;
    stride = times(stride, axis.extent);
    axis.out = from.axes[a].out;
    axis.shift = (axis.shift + from.axes[a].shift) % axis.extent;
  }
  to.out_first = from.out_first;
  return normal_form(std::move(to));
}

std::vector<std::int64_t> dense_strides(const std::vector<std::uint64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride = times(stride, std::max<std::uint64_t>(extents[axis], 1));
  }
  return strides;
}

std::optional<std::vector<std::size_t>> dense_order(const std::vector<std::uint64_t>& extents,
                                                    const std::vector<std::int64_t>& strides) {
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] != 1) order.push_back(axis);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stride_length(strides[a]) > stride_length(strides[b]);
  });
  std::uint64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (stride_length(strides[order[i]]) != stride) return std::nullopt;
    stride *= extents[order[i]];
  }
  return order;
}

bool is_dense(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& strides) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return true;
  const auto order = dense_order(extents, strides);
  return order && std::is_sorted(order->begin(), order->end()) &&
         std::all_of(order->begin(), order->end(), [&](std::size_t axis) { return strides[axis] > 0; });
}

std::int64_t lowest(const std::vector<StridedAxis>& axes, std::int64_t StridedAxis::*stride) {
  std::int64_t reached = 0;
  if (is_empty(axes)) return reached;
  for (const StridedAxis& axis : axes) {
    if (axis.*stride < 0) move_by(reached, axis.*stride, axis.extent - 1);
  }
  return reached;
}

std::optional<WholeAxes> whole(const AxisMap& map) {
  std::vector<std::uint64_t> extents;
  std::vector<std::int64_t> in;
  std::vector<std::int64_t> out;
  for (const StridedAxis& axis : map.axes) {
    extents.push_back(axis.extent);
    in.push_back(axis.in);
    out.push_back(axis.out);
  }
  const auto by_input = dense_order(extents, in);
  const auto by_output = dense_order(extents, out);
  if (!by_input || !by_output || map.in_first + lowest(map.axes, &StridedAxis::in) != 0 ||
      map.out_first + lowest(map.axes, &StridedAxis::out) != 0) {
    return std::nullopt;
  }
  WholeAxes made;
  for (const std::size_t axis : *by_input) made.axes.push_back(map.axes[axis]);
  for (const std::size_t axis : *by_output) {
    made.order.push_back(
        static_cast<int>(std::find(by_input->begin(), by_input->end(), axis) - by_input->begin()));
  }
  return made;
}

AxisMap packed(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& in_strides) {
  AxisMap map;
  const std::vector<std::int64_t> out_strides = dense_strides(extents);
  for (std::size_t a = 0; a < extents.size(); ++a)
    map.axes.push_back({.extent = extents[a], .in = in_strides[a], .out = out_strides[a]});
  return map;
}

AxisMap permuted(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& in_strides,
                 const std::vector<int>& order) {
  std::vector<std::uint64_t> target;
  std::vector<std::int64_t> strides;
  for (const int axis : order) {
    target.push_back(extents[static_cast<std::size_t>(axis)]);
    strides.push_back(in_strides[static_cast<std::size_t>(axis)]);
  }
  return packed(target, strides);
}

}  // namespace faro::detail
