// Whether lines (kernels/axes_lines.hpp, axes_plane.hpp, axes_turned.hpp, axes_skinny.hpp) or a box
// (kernels/axes_box.hpp) moves axes faster that both can move. Boxes have a price, in a copy's time
// (layout/box_price.cpp); what lines take of it was measured on drawn axes, by their kind, the width of
// units, and how full their tiles are (docs/notes/axes-experiments.md).
#pragma once

#include <cstdint>

#include "layout/unit_axes.hpp"
#include "plan/gpu/axes_forms.hpp"

namespace faro::detail {

inline constexpr std::uint64_t kAxesVector = 16;  // bytes
/// Where the sides of a plane of narrow units are so long, lines reach more than boxes do.
inline constexpr std::uint64_t kLongSide = 256;  // units

/// The shorter side of the plane of the fastest axes of both sides, in units.
std::uint64_t shorter_side(const std::vector<layout::StridedAxis>& axes);

/// Whether planes lie one after another on both sides: a matrix, or a batch of them.
bool planes_lie_together(const std::vector<layout::StridedAxis>& axes);

/// Lines of the largest tiles, which reach less than ragged boxes where a plane's rows lie apart.
bool has_largest_tiles(const kernels::AxesLinesChoice& choice);

/// Whether a view's box is faster than the tiles of a plane.
bool boxes_are_ahead(std::uint64_t unit, bool together, const kernels::BoxShape& box);

/// Few rows or columns, or a plane that fills half of its tiles: what families of shapes move by lines.
bool lines_are_filled(const kernels::AxesLinesChoice& choice, const std::vector<layout::StridedAxis>& axes);

/// Whether the lines are faster than the box.
bool lines_suit(const AxesLines& lines, const std::vector<layout::StridedAxis>& axes,
                const AxesBoxes::Variant& box);

/// What few rows or columns take, in a copy's time; of other lines, and where they go by vectors, 0.
double price_of_few(const AxesLines& lines, const std::vector<layout::StridedAxis>& axes);

/// What boxes take, in a copy's time, beside tiles in registers: lines of eight pairs, each a vector, take
/// longer than beside other boxes, whose prices are no better then (docs/notes/axes-experiments.md).
double price_of_boxes(const AxesBoxes::Variant& box);

/// Whether a box has so few vectors that threads which move one each, wherever it lies, are faster.
bool boxes_are_tiny(const AxesBoxes::Variant& box);

}  // namespace faro::detail
