// Boxes of arrays, and the grids that cut them.
//
//     grid of chunks        |---|---|---|-|        the last chunk of an axis is cut by the array's end
//     a box                    |------|            origin and extents, in elements
//     its parts               |-|---|-|            one a chunk
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rounding.hpp"

namespace faro::store {

/// Slowest axis first. Empty: a single element.
using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

struct Box {
  Shape origin;
  Shape extents;
};

inline std::uint64_t volume(const Shape& extents) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : extents) product *= extent;
  return product;
}

/// Of a dense array, in elements; `order`: its axes, slowest first.
inline Strides dense_strides(const Shape& extents, const std::vector<std::size_t>& order) {
  Strides strides(extents.size());
  std::uint64_t step = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = static_cast<std::int64_t>(step);
    step *= extents[*axis];
  }
  return strides;
}

/// 0, 1, 2, …
inline std::vector<std::size_t> c_order(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  for (std::size_t a = 0; a < rank; ++a) order[a] = a;
  return order;
}

/// Advances an index below the extents, the last axis fastest. False where it was the last one.
inline bool advance(Shape& index, const Shape& extents) {
  for (std::size_t a = extents.size(); a-- > 0;) {
    if (++index[a] < extents[a]) return true;
    index[a] = 0;
  }
  return false;
}

/// Cells of a grid along each axis.
inline Shape cells_of(const Shape& shape, const Shape& cell) {
  Shape cells(shape.size());
  for (std::size_t a = 0; a < shape.size(); ++a) cells[a] = detail::ceil_div(shape[a], cell[a]);
  return cells;
}

/// Whether any extent is 0.
inline bool is_empty(const Shape& extents) {
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

/// The cell of a grid, cut by the array's end.
inline Box cell_of(const Shape& shape, const Shape& cell, const Shape& index) {
  Box box{.origin = index, .extents = cell};
  for (std::size_t a = 0; a < shape.size(); ++a) {
    box.origin[a] *= cell[a];
    box.extents[a] = std::min(cell[a], shape[a] - box.origin[a]);
  }
  return box;
}

/// Calls visit(part, index) for the part of `region` in each cell of the grid that it meets, in C order.
template <typename Visit>
void for_each_part(const Box& region, const Shape& cell, const Visit& visit) {
  if (is_empty(region.extents)) return;
  const std::size_t rank = cell.size();
  Shape first(rank);
  Shape counts(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    first[a] = region.origin[a] / cell[a];
    counts[a] = (region.origin[a] + region.extents[a] - 1) / cell[a] - first[a] + 1;
  }
  Shape step(rank, 0);
  do {
    Box part{.origin = Shape(rank), .extents = Shape(rank)};
    Shape index(rank);
    for (std::size_t a = 0; a < rank; ++a) {
      index[a] = first[a] + step[a];
      part.origin[a] = std::max(region.origin[a], index[a] * cell[a]);
      const std::uint64_t end = std::min(region.origin[a] + region.extents[a], (index[a] + 1) * cell[a]);
      part.extents[a] = end - part.origin[a];
    }
    visit(part, index);
  } while (advance(step, counts));
}

/// Elements from the one at `from` to the one at `to`.
inline std::int64_t distance(const Shape& from, const Shape& to, const Strides& strides) {
  std::int64_t sum = 0;
  for (std::size_t a = 0; a < strides.size(); ++a)
    sum += (static_cast<std::int64_t>(to[a]) - static_cast<std::int64_t>(from[a])) * strides[a];
  return sum;
}

}  // namespace faro::store
