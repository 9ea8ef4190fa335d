// The axes of an array in units, elements of several units and batches included.
//
//     axes(5 7; 1 0), elements of 3 units, 10 arrays      axes(10 5 7 3; 0 2 1 3)
//
// A unit is 1 to 16 bytes. An element of several units is one more axis, the fastest, that stays; arrays of a
// batch are another, the slowest.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/permutation/axes.hpp"

namespace faro::layout {

/// An array's axes in units, slowest first, and the output's order of them; no axis of 1, none that stay
/// neighbours.
struct UnitAxes {
  std::vector<std::uint64_t> shape;
  std::vector<int> order;

  std::uint64_t count() const;
  /// Of the input's axes, in the input and in the output.
  std::vector<std::uint64_t> in_strides() const;
  std::vector<std::uint64_t> out_strides() const;
};

/// The axes with `batch` arrays and elements of `element_units`, in normal form.
UnitAxes unit_axes(const Axes& axes, std::uint64_t element_units, std::uint64_t batch);

}  // namespace faro::layout
