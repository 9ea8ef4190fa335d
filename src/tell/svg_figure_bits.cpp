// Figures 4 and 6: index bits by role. Figures 7 and 8: matrices by block.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "contains.hpp"
#include "faro/f2/matrix.hpp"
#include "tell/svg_figures.hpp"

namespace faro::svg {
namespace {

using detail::contains;
using f2::Matrix;

struct Role {
  const char* classes;
  const char* letter;
};

constexpr Role kColumn{"column", "c"};
constexpr Role kRow{"row", "r"};
constexpr Role kOverlap{"bank b2", "o"};
constexpr Role kIteration{"bank b4", "i"};
constexpr Role kBlock{"block", "b"};

Role role(const PublishedTile& tile, int bit) {
  if (contains(tile.overlap, bit)) return kOverlap;
  if (contains(tile.columns, bit)) return kColumn;
  if (contains(tile.rows, bit)) return kRow;
  const auto place = std::find(tile.blocks.begin(), tile.blocks.end(), bit) - tile.blocks.begin();
  return place < tile.iteration_bits ? kIteration : kBlock;
}

double cell_size(int n) { return std::max(16.0, std::min(30.0, 900.0 / n)); }

// Which entries a figure's matrix may have, and those it has.
FigureEnd draw_matrix(Canvas& canvas, Point at, double cell, const Matrix& matrix,
                      const std::function<const char*(int row, int column)>& shade) {
  const int n = matrix.rows();
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      const Box box{at.x + cell * column, at.y + cell * row, cell - 1, cell - 1};
      canvas.box(box, shade(row, column));
      if (matrix.at(row, column)) canvas.label(box.centre(), "ink middle small", "1");
    }
  }
  return {at.x + cell * n, at.y + cell * n};
}

}  // namespace

FigureEnd draw_roles(Canvas& canvas, const Affine& map, const PublishedTile& tile, double top) {
  const int n = map.bits();
  const double cell = cell_size(n);
  const double x0 = kFigureMargin + 70;
  const auto box = [&](int bit, double y) { return Box{x0 + cell * (n - 1 - bit), y, cell - 2, 28}; };
  canvas.label({kFigureMargin, top + 14}, "", "source x");
  for (int bit = 0; bit < n; ++bit) {
    const Role is = role(tile, bit);
    canvas.box(box(bit, top), is.classes);
    canvas.label(box(bit, top).centre(), "ink middle small", fmt::format("{}", bit));
    canvas.label({box(bit, top).centre().x, top + 40}, "note middle small", is.letter);
  }
  double y = top + 72;
  const auto legend = [&](const Role& is, std::size_t count, const std::string& words) {
    if (count == 0) return;
    canvas.box({kFigureMargin, y - 10, 14, 14}, is.classes);
    canvas.label({kFigureMargin + 22, y - 3}, "", fmt::format("{}  {}: {}", is.letter, words, count));
    y += 22;
  };
  const std::size_t over = tile.overlap.size();
  const auto iterations = static_cast<std::size_t>(tile.iteration_bits);
  legend(kColumn, tile.columns.size() - over, "column bits, the lowest of the source");
  legend(kRow, tile.rows.size() - over, "row bits, which become the lowest of the target");
  legend(kOverlap, over, "both (n_over)");
  legend(kIteration, iterations, "iteration bits: tiles of one block, one after another");
  legend(kBlock, tile.blocks.size() - iterations, "block bits (n_TB)");
  canvas.text({kFigureMargin, y + 4}, "note",
              fmt::format("n = {}, n_tile = {}; the columns of the tile and the rows have {} bits together.",
                          n, tile.tile_bits, n - static_cast<int>(tile.blocks.size())));
  return {std::max(x0 + cell * n, 560.0), y + 20};
}

FigureEnd draw_tiled_matrix(Canvas& canvas, const Affine& map, const PublishedTile& tile, double top) {
  const int n = map.bits();
  const double cell = cell_size(n) * 0.8;
  const Point at{kFigureMargin, top + 24};
  for (const int column : tile.rows) {
    canvas.label({at.x + cell * column + cell / 2, top + 10}, "note middle small", fmt::format("{}", column));
  }
  const FigureEnd end = draw_matrix(canvas, at, cell, map.matrix(), [&](int row, int column) {
    if (!contains(tile.rows, column)) return "zero";
    return row < tile.tile_bits ? "row" : "column";
  });
  const double x = end.right + 30;
  double y = at.y + 12;
  const auto line = [&](const char* classes, const std::string& words) {
    if (*classes != 0) canvas.box({x, y - 11, 14, 14}, classes);
    canvas.text({x + 22, y}, *classes != 0 ? "" : "note", words);
    y += 24;
  };
  line("row", fmt::format("columns above, rows 0 to {}: invertible", tile.tile_bits - 1));
  line("column", "the same columns below: all zero");
  line("", "so the bits of these columns fill a segment of the target");
  return {x + 380, std::max(end.bottom, y) + 10};
}

FigureEnd draw_factors(Canvas& canvas, const Affine& map, double top) {
  const int n = map.bits();
  const f2::UlpFactors factors = f2::factor_ulp(map.matrix());
  const Matrix reversal = f2::reversal(n);
  const double cell = std::max(12.0, cell_size(n) * (n > 12 ? 0.6 : 0.8));
  const double y = top + 14;
  double x = kFigureMargin;
  double bottom = y;
  const auto panel = [&](const std::string& heading, const Matrix& matrix,
                         const std::function<const char*(int, int)>& shade) {
    canvas.text({x, top}, "heading", heading);
    const FigureEnd end = draw_matrix(canvas, {x, y}, cell, matrix, shade);
    x = end.right + 34;
    bottom = end.bottom;
  };
  panel("A =", map.matrix(), [](int, int) { return "zero"; });
  panel("U R, times", factors.upper * reversal,
        [n](int row, int column) { return row <= n - 1 - column ? "column" : "zero"; });
  const Matrix second = reversal * factors.lower * factors.permutation;
  panel("R L P", second, [&](int row, int column) {
    return n - 1 - row >= f2::trailing_bit(factors.permutation.column(column)) ? "row" : "zero";
  });
  canvas.text({kFigureMargin, bottom + 24}, "note",
              "Both factors are tiled: ones stand in the shaded parts only. The permutation takes two passes "
              "that way.");
  return {std::max(x, 700.0), bottom + 34};
}

}  // namespace faro::svg
