// The published figures, each drawn below `top`. Returns where it ended.
#pragma once

#include <string>

#include "drawing/svg_canvas.hpp"
#include "faro/plan/plan.hpp"
#include "tell/figure.hpp"

namespace faro::svg {

// The parts of a plan's drawing. Each draws downwards from `top` and returns where it ended.

inline constexpr double kWidth = 1000;  // of the drawing
inline constexpr double kMargin = 40;

/// Source and target index bits by role; lines between them for a map that permutes bits, else the matrix.
double draw_index_bits(Canvas& canvas, const Plan& plan, const Pass& pass, double top);

/// A small tile of the same map and its banks, before and after the swizzle.
double draw_tile_banks(Canvas& canvas, const Plan& plan, const Pass& pass, double top);

/// In place: the tiles that change places, the first orbits of them. Requires: pass.orbits.
double draw_orbits(Canvas& canvas, const Pass& pass, double top);

/// The whole drawing of a pass over axes or a view, 800 wide: its box, if it has one.
std::string box_svg(const std::string& title, const std::string& words, const Pass& pass);

inline constexpr double kFigureMargin = 40;

struct FigureEnd {
  double right = 0;
  double bottom = 0;
};

FigureEnd draw_memories(Canvas& canvas, double top);                                             // 1
FigureEnd draw_block(Canvas& canvas, const Affine& map, const PublishedTile& tile, double top);  // 2
FigureEnd draw_roles(Canvas& canvas, const Affine& map, const PublishedTile& tile, double top);  // 4, 6
FigureEnd draw_shared_tile(Canvas& canvas, const PublishedTile& tile, double top);               // 5
FigureEnd draw_tiled_matrix(Canvas& canvas, const Affine& map, const PublishedTile& tile, double top);  // 7
FigureEnd draw_factors(Canvas& canvas, const Affine& map, double top);                                  // 8

}  // namespace faro::svg
