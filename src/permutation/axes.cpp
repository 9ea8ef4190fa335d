#include "faro/permutation/axes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"
#include "permutation/axis_map.hpp"

namespace faro {
namespace {
constexpr std::size_t kMostAxes = 64;

void check_order(const std::vector<int>& order, std::size_t axes) {
  if (axes > kMostAxes)
    fail(ErrorCode::value, "axes", std::to_string(axes) + " extents", "at most " + std::to_string(kMostAxes));
  if (order.size() != axes) {
    fail(ErrorCode::value, "axes",
         std::to_string(order.size()) + " axes in the order of " + std::to_string(axes) + " extents",
         "each axis once");
  }
  std::vector<bool> taken(axes, false);
  for (const int axis : order) {
    const std::string each = axes == 0 ? "none" : "each of 0.." + std::to_string(axes - 1) + " exactly once";
    if (axis < 0 || static_cast<std::size_t>(axis) >= axes)
      fail(ErrorCode::value, "axes", "axis " + std::to_string(axis), each);
    if (taken[static_cast<std::size_t>(axis)])
      fail(ErrorCode::value, "axes", "axis " + std::to_string(axis) + " twice", each);
    taken[static_cast<std::size_t>(axis)] = true;
  }
}

void check_extents(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0 && shape.size() > 1) {
      fail(ErrorCode::value, "axes", "extent 0 of axis " + std::to_string(axis),
           "extents of at least 1, or the one extent 0");
    }
    if (shape[axis] != 0 && count > Indexed::kMaxCount / shape[axis]) {
      fail(ErrorCode::value, "axes", "a product of extents past 2^40", "at most 2^40 elements");
    }
    count *= shape[axis];
  }
}

void check_moves(const std::vector<std::uint64_t>& shape, const std::vector<Cyclic>& moves) {
  if (moves.size() != shape.size()) {
    fail(ErrorCode::value, "axes",
         std::to_string(moves.size()) + " flips and rolls of " + std::to_string(shape.size()) + " axes",
         "one of each axis");
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (moves[axis].count == shape[axis] && (shape[axis] == 0 || moves[axis].shift < shape[axis])) continue;
    fail(ErrorCode::value, "axes",
         "a roll of " + std::to_string(moves[axis].count) + " elements by " +
             std::to_string(moves[axis].shift) + " along an axis of " + std::to_string(shape[axis]),
         "one of as many elements, by less");
  }
}

std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

detail::AxisMap map_of(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  check_order(order, shape.size());
  check_extents(shape);
  return detail::permuted(shape, detail::dense_strides(shape), order);
}

// Flips and rolls each axis.
detail::AxisMap moved(detail::AxisMap map, const std::vector<Cyclic>& moves) {
  for (std::size_t a = 0; a < moves.size(); ++a) {
    const Cyclic& move = moves[a];
    detail::StridedAxis& axis = map.axes[a];
    axis.shift = move.shift;
    if (!move.reversed || move.count == 0) continue;
    // y = shift - x: from the last x on, and a place further.
    axis.shift = (move.shift + 1) % move.count;
    map.in_first += axis.in * static_cast<std::int64_t>(axis.extent - 1);
    axis.in = -axis.in;
  }
  return map;
}

detail::AxisMap map_of(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                       const std::vector<Cyclic>& moves) {
  const detail::AxisMap map = map_of(shape, order);
  check_moves(shape, moves);
  std::vector<Cyclic> by_output;
  by_output.reserve(order.size());
  for (const int axis : order) by_output.push_back(moves[index(axis)]);
  return moved(map, by_output);
}

Cyclic move_of(const detail::StridedAxis& axis) {
  const bool reversed = axis.in < 0;
  return {.count = axis.extent,
          .shift = reversed ? (axis.shift + axis.extent - 1) % axis.extent : axis.shift,
          .reversed = reversed};
}

detail::WholeAxes whole_of(const detail::AxisMap& normal) {
  auto axes = detail::whole(normal);
  FARO_CHECK(axes);
  return *std::move(axes);
}

// The input's axes, slowest first.
detail::AxisMap map_of(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& targets) {
  const std::vector<std::int64_t> strides = detail::dense_strides(shape);
  detail::AxisMap map;
  for (std::size_t a = 0; a < shape.size(); ++a)
    map.axes.push_back({.extent = shape[a], .in = strides[a], .out = static_cast<std::int64_t>(targets[a])});
  return map;
}

}  // namespace

Axes::Axes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order)
    : Axes(map_of(shape, order)) {}

Axes::Axes(const detail::AxisMap& map) {
  detail::WholeAxes whole = whole_of(detail::normal_form(map));
  order_ = std::move(whole.order);
  for (const detail::StridedAxis& axis : whole.axes) {
    FARO_CHECK(axis.in > 0 && axis.shift == 0);
    shape_.push_back(axis.extent);
    target_strides_.push_back(static_cast<std::uint64_t>(axis.out));
  }
}

std::uint64_t Axes::count() const { return product(shape_); }

std::uint64_t Axes::operator()(std::uint64_t x) const {
  std::uint64_t target = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    target += x % shape_[axis] * target_strides_[axis];
    x /= shape_[axis];
  }
  return target;
}

Axes Axes::inverse() const { return Axes(detail::inverse(map())); }

detail::AxisMap Axes::map() const { return map_of(shape_, target_strides_); }

std::vector<std::uint64_t> NamedAxes::target_shape() const {
  std::vector<std::uint64_t> target;
  for (const int axis : order) target.push_back(shape[index(axis)]);
  return target;
}

NamedAxes NamedAxes::inverse() const {
  NamedAxes result{.shape = target_shape(), .order = std::vector<int>(order.size())};
  for (std::size_t a = 0; a < order.size(); ++a) result.order[index(order[a])] = static_cast<int>(a);
  return result;
}

NamedAxes NamedAxes::after(const NamedAxes& before) const {
  NamedAxes result{.shape = before.shape, .order = {}};
  for (const int axis : order) result.order.push_back(before.order[index(axis)]);
  return result;
}

NamedAxes NamedAxes::split(std::size_t axis, std::uint64_t inner) const {
  NamedAxes result{.shape = shape, .order = {}};
  result.shape[axis] /= inner;
  result.shape.insert(result.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inner);
  for (const int a : order) {
    result.order.push_back(index(a) > axis ? a + 1 : a);
    if (index(a) == axis) result.order.push_back(a + 1);
  }
  return result;
}

CyclicAxes::CyclicAxes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                       const std::vector<Cyclic>& moves)
    : CyclicAxes(map_of(shape, order, moves)) {}

CyclicAxes::CyclicAxes(const detail::AxisMap& map) {
  detail::WholeAxes whole = whole_of(detail::with_rolls(detail::normal_form(map)));
  order_ = std::move(whole.order);
  for (const detail::StridedAxis& axis : whole.axes) {
    shape_.push_back(axis.extent);
    moves_.push_back(move_of(axis));
    target_strides_.push_back(static_cast<std::uint64_t>(axis.out));
  }
}

std::uint64_t CyclicAxes::count() const { return product(shape_); }

bool CyclicAxes::is_axes() const {
  return std::all_of(moves_.begin(), moves_.end(),
                     [](const Cyclic& move) { return move.shift == 0 && !move.reversed; });
}

std::uint64_t CyclicAxes::operator()(std::uint64_t x) const {
  std::uint64_t target = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    target += moves_[axis](x % shape_[axis]) * target_strides_[axis];
    x /= shape_[axis];
  }
  return target;
}

CyclicAxes CyclicAxes::inverse() const { return CyclicAxes(detail::inverse(map())); }

detail::AxisMap CyclicAxes::map() const { return moved(map_of(shape_, target_strides_), moves_); }

namespace maps {

Axes transpose_any(std::uint64_t rows, std::uint64_t columns) {
  if (rows == 0 || columns == 0) return {std::vector<std::uint64_t>{0}, std::vector<int>{0}};
  return {std::vector<std::uint64_t>{rows, columns}, std::vector<int>{1, 0}};
}

}  // namespace maps
}  // namespace faro

namespace faro::maps {
namespace {

void require_count(const char* map, std::uint64_t count) {
  if (count <= Indexed::kMaxCount) return;
  fail(ErrorCode::value, map, std::to_string(count) + " elements", "at most 2^40");
}

}  // namespace

Cyclic roll(std::uint64_t count, std::int64_t shift) {
  require_count("roll", count);
  if (count == 0) return {.count = 0, .shift = 0, .reversed = false};
  const auto signed_count = static_cast<std::int64_t>(count);
  const std::int64_t rest = shift % signed_count;
  return {.count = count,
          .shift = static_cast<std::uint64_t>(rest < 0 ? rest + signed_count : rest),
          .reversed = false};
}

Cyclic flip(std::uint64_t count) {
  require_count("flip", count);
  return {.count = count, .shift = count == 0 ? 0 : count - 1, .reversed = true};
}

}  // namespace faro::maps
