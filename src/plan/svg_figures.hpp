// The published figures, each drawn below `top`. Returns where it ended.
#pragma once

#include "drawing/svg_canvas.hpp"
#include "plan/figure.hpp"

namespace faro::svg {

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
