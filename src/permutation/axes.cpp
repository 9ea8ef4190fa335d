#include "faro/permutation/axes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"

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

std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace

Axes::Axes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  check_order(order, shape.size());
  check_extents(shape);
  // Walk the output's axes: one that follows its neighbour of the input as well joins it. Of extent 1 are
  // none.
  std::vector<int> kept_before(shape.size() + 1, 0);  // axes of more than one element before this one
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    kept_before[axis + 1] = kept_before[axis] + (shape[axis] == 1 ? 0 : 1);
  }
  struct Block {  // axes first .. last of those kept, which stay together
    int first;
    int last;
    std::uint64_t extent;
  };
  std::vector<Block> blocks;
  for (const int axis : order) {
    const std::uint64_t extent = shape[index(axis)];
    if (extent == 1) continue;
    const int number = kept_before[index(axis)];
    if (!blocks.empty() && blocks.back().last + 1 == number) {
      blocks.back().last = number;
      blocks.back().extent *= extent;
    } else {
      blocks.push_back({.first = number, .last = number, .extent = extent});
    }
  }
  // The blocks in the input's order are the axes of the normal form.
  std::vector<int> block_at(index(kept_before.back()), -1);
  for (std::size_t b = 0; b < blocks.size(); ++b) block_at[index(blocks[b].first)] = static_cast<int>(b);
  order_.resize(blocks.size());
  for (const int b : block_at) {
    if (b < 0) continue;
    order_[index(b)] = static_cast<int>(shape_.size());
    shape_.push_back(blocks[index(b)].extent);
  }
  target_strides_.resize(shape_.size());
  std::uint64_t stride = 1;
  for (std::size_t a = order_.size(); a-- > 0;) {
    target_strides_[index(order_[a])] = stride;
    stride *= shape_[index(order_[a])];
  }
}

std::uint64_t Axes::count() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape_) count *= extent;
  return count;
}

std::uint64_t Axes::operator()(std::uint64_t x) const {
  std::uint64_t target = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    target += x % shape_[axis] * target_strides_[axis];
    x /= shape_[axis];
  }
  return target;
}

Axes Axes::inverse() const {
  std::vector<std::uint64_t> shape(shape_.size());
  std::vector<int> order(shape_.size());
  for (std::size_t a = 0; a < order_.size(); ++a) {
    shape[a] = shape_[index(order_[a])];
    order[index(order_[a])] = static_cast<int>(a);
  }
  return {shape, order};
}

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

namespace {

// An axis of a normal form to be, with where it goes in the output.
struct MovedAxis {
  std::uint64_t extent = 1;
  Cyclic move;
  int place = 0;  // of the output, 0 the slowest
};

Cyclic stays(std::uint64_t extent) { return {.count = extent, .shift = 0, .reversed = false}; }
bool is_stay(const Cyclic& move) { return move.shift == 0 && !move.reversed; }
bool is_flip(const Cyclic& move) { return move.reversed && move.shift == move.count - 1; }

// Of two elements, a flip or nothing.
Cyclic simplest_move(const Cyclic& move) {
  if (move.count > 2) return move;
  return move(0) == 0 ? stays(move.count) : Cyclic{.count = move.count, .shift = 1, .reversed = true};
}

// What an axis and the next faster one are as one; nothing where they are none.
std::optional<Cyclic> joined(const MovedAxis& outer, const MovedAxis& inner) {
  if (inner.place != outer.place + 1) return std::nullopt;
  const std::uint64_t extent = outer.extent * inner.extent;
  if (is_stay(inner.move) && !outer.move.reversed)
    return Cyclic{.count = extent, .shift = outer.move.shift * inner.extent, .reversed = false};
  if (is_flip(inner.move) && is_flip(outer.move))
    return Cyclic{.count = extent, .shift = extent - 1, .reversed = true};
  // A flip of two elements is a roll by one of them as well.
  if (is_stay(inner.move) && outer.extent == 2)
    return Cyclic{.count = extent, .shift = inner.extent, .reversed = false};
  return std::nullopt;
}

void close_gap(std::vector<MovedAxis>& axes, int place) {
  for (MovedAxis& axis : axes) {
    if (axis.place > place) --axis.place;
  }
}

}  // namespace

CyclicAxes::CyclicAxes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                       const std::vector<Cyclic>& moves) {
  check_order(order, shape.size());
  check_extents(shape);
  if (moves.size() != shape.size()) {
    fail(ErrorCode::value, "axes",
         std::to_string(moves.size()) + " flips and rolls of " + std::to_string(shape.size()) + " axes",
         "one of each axis");
  }
  std::vector<MovedAxis> axes(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (moves[axis].count != shape[axis] || (shape[axis] > 0 && moves[axis].shift >= shape[axis])) {
      fail(ErrorCode::value, "axes",
           "a roll of " + std::to_string(moves[axis].count) + " elements by " +
               std::to_string(moves[axis].shift) + " along an axis of " + std::to_string(shape[axis]),
           "one of as many elements, by less");
    }
    axes[axis].extent = shape[axis];
    axes[axis].move = simplest_move(moves[axis]);
  }
  for (std::size_t a = 0; a < order.size(); ++a) axes[index(order[a])].place = static_cast<int>(a);
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    if (axes[axis].extent != 1) continue;
    const int place = axes[axis].place;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
    close_gap(axes, place);
  }
  for (std::size_t axis = 1; axis < axes.size();) {
    const auto move = joined(axes[axis - 1], axes[axis]);
    if (!move) {
      ++axis;
      continue;
    }
    const int place = axes[axis].place;
    axes[axis - 1].extent = move->count;
    axes[axis - 1].move = *move;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
    close_gap(axes, place);
    axis = axis > 1 ? axis - 1 : 1;  // what is joined may join the one before it
  }
  order_.resize(axes.size());
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    shape_.push_back(axes[axis].extent);
    moves_.push_back(axes[axis].move);
    order_[index(axes[axis].place)] = static_cast<int>(axis);
  }
  target_strides_.resize(shape_.size());
  std::uint64_t stride = 1;
  for (std::size_t a = order_.size(); a-- > 0;) {
    target_strides_[index(order_[a])] = stride;
    stride *= shape_[index(order_[a])];
  }
}

std::uint64_t CyclicAxes::count() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape_) count *= extent;
  return count;
}

bool CyclicAxes::is_axes() const { return std::all_of(moves_.begin(), moves_.end(), is_stay); }

std::uint64_t CyclicAxes::operator()(std::uint64_t x) const {
  std::uint64_t target = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    target += moves_[axis](x % shape_[axis]) * target_strides_[axis];
    x /= shape_[axis];
  }
  return target;
}

CyclicAxes CyclicAxes::inverse() const {
  std::vector<std::uint64_t> shape(shape_.size());
  std::vector<int> order(shape_.size());
  std::vector<Cyclic> moves(shape_.size());
  for (std::size_t a = 0; a < order_.size(); ++a) {
    shape[a] = shape_[index(order_[a])];
    moves[a] = moves_[index(order_[a])].inverse();
    order[index(order_[a])] = static_cast<int>(a);
  }
  return {shape, order, moves};
}

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
