// The axes of an array in units, elements of several units and batches included.
//
//     axes(5 7; 1 0), elements of 3 units, 10 arrays      axes(10 5 7 3; 0 2 1 3)
//
// A unit is 1 to 16 bytes. An element of several units is one more axis, the fastest, that stays; arrays of a
// batch are another, the slowest. Where a view has any strides, each axis says both of its own.
#pragma once

#include <cstdint>
#include <optional>
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

/// One axis of a view, or of an array that is permuted.
struct StridedAxis {
  std::uint64_t extent = 1;
  std::int64_t in = 0;  // strides, in units; both may be negative, that of the input 0
  std::int64_t out = 0;

  friend bool operator==(const StridedAxis&, const StridedAxis&) = default;
};

/// The normal form: no axis of 1, none that follows its neighbour on both sides, the output's fastest first.
/// Requires: strides of the output above 0.
std::vector<StridedAxis> normal_axes(std::vector<StridedAxis> axes);

/// The axes of an array in normal form.
std::vector<StridedAxis> strided_axes(const UnitAxes& axes);

/// Turns the axes along which the input is read unit by unit backwards, so that it is read forwards and rows
/// of the output follow one another backwards: their coordinates are counted from the other end. Gives the
/// units of the input and of the output by which their first unit then moves; nothing where no axis is
/// turned, or the one would be the output's fastest.
struct TurnedAxes {
  std::vector<StridedAxis> axes;
  std::int64_t in_first = 0;
  std::int64_t out_first = 0;
};
std::optional<TurnedAxes> read_forwards(const std::vector<StridedAxis>& axes);

/// Units twice as wide, up to 16 bytes or `most_bytes`, as long as the fastest axis of both sides and all
/// strides allow. Requires: axes in normal form. Law: the same bytes go to the same places.
void widen_unit(std::vector<StridedAxis>& axes, int& unit_bytes, int most_bytes = 16);

}  // namespace faro::layout
