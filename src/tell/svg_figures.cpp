#include "tell/svg_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro {
namespace {

using svg::Canvas;
using svg::FigureEnd;

constexpr int kMostDrawnBits = 40;
constexpr int kMostBlockBits = 12;  // of figure 2, which draws every element

std::string title_of(int figure) {
  switch (figure) {
    case 1:
      return "Global and shared memory";
    case 2:
      return "What one block touches";
    case 4:
      return "Index bits by role";
    case 5:
      return "A tile in shared memory";
    case 6:
      return "Index bits by role, with iterations";
    case 7:
      return "A tiled matrix";
    case 8:
      return "A matrix as a product of two tiled ones";
    default:
      fail(ErrorCode::value, "draw a figure", fmt::format("figure {}", figure),
           "figure 1, 2, 4, 5, 6, 7 or 8",
           "figures 3, 13 and 14 are drawn by `faro network explain PROGRAM --svg FILE`");
  }
}

FigureEnd draw(Canvas& canvas, int figure, const Affine& map, double top) {
  const int t = published_tile_bits(map.bits());
  switch (figure) {
    case 1:
      return svg::draw_memories(canvas, top);
    case 2:
      return svg::draw_block(canvas, map, published_tile(map, std::max(1, map.bits() / 4)), top);
    case 4:
      return svg::draw_roles(canvas, map, published_tile(map, t, 0), top);
    case 5:
      return svg::draw_shared_tile(canvas, published_tile(map, t), top);
    case 6:
      return svg::draw_roles(canvas, map, published_tile(map, t), top);
    case 7:
      return svg::draw_tiled_matrix(canvas, map, published_tile(map, t), top);
    default:
      return svg::draw_factors(canvas, map, top);
  }
}

}  // namespace

std::string figure_svg(int figure, const Affine& map) {
  const std::string title = title_of(figure);
  const int most = figure == 2 ? kMostBlockBits : kMostDrawnBits;
  if (map.bits() < 1 || map.bits() > most) {
    fail(ErrorCode::value, fmt::format("draw figure {}", figure), fmt::format("a map of {} bits", map.bits()),
         fmt::format("1 to {} bits", most));
  }
  const std::string permutation = to_text(Permutation(map));
  Canvas canvas;
  canvas.text({svg::kFigureMargin, svg::kFigureMargin + 8}, "title", title);
  canvas.text({svg::kFigureMargin, svg::kFigureMargin + 32}, "note", svg::shortened(permutation, 66));
  const FigureEnd end = draw(canvas, figure, map, svg::kFigureMargin + 72);
  return canvas.finish(std::max(end.right, 560.0) + svg::kFigureMargin, end.bottom + svg::kFigureMargin / 2,
                       "faro: " + title, permutation);
}

}  // namespace faro
