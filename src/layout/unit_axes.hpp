// The axes of an array in units, elements of several units and batches included (permutation/axis_map.hpp has
// the form).
//
//     axes(5 7; 1 0), elements of 3 units, 10 arrays      (3, 1, 1) (5, 21, 3) (7, 3, 15) (10, 105, 105)
//
// A unit is 1 to 16 bytes. An element of several units is one more axis, the fastest, that stays; arrays of a
// batch are another, the slowest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "faro/permutation/axes.hpp"
#include "permutation/axis_map.hpp"

namespace faro::layout {

using faro::detail::AxisMap;
using faro::detail::StridedAxis;

/// The axes with `batch` arrays and elements of `element_units`, in normal form: units of 1.
AxisMap unit_axes(const Axes& axes, std::uint64_t element_units, std::uint64_t batch);

/// Counts the coordinates of axes along which the input is read unit by unit backwards from the other end, so
/// that it is read forwards and rows of the output follow one another backwards. Nothing where there is no
/// such axis but the output's fastest, which stays. Requires: a normal form.
std::optional<AxisMap> read_forwards(const AxisMap& map);

/// The same with units as wide as all allows, up to 16 bytes. Requires: units of 1, 2, 4, 8 or 16 bytes.
AxisMap with_widest_units(const AxisMap& map);

}  // namespace faro::layout
