// Figures 1, 2 and 5: memories, and what warps touch in them.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tell/svg_figures.hpp"

namespace faro::svg {
namespace {

using f2::Word;

constexpr int kColours = 8;  // b0 .. b7

std::string bank_class(std::uint64_t colour) { return fmt::format("bank b{}", colour % kColours); }

/// A grid of cells, its upper left corner at `at`.
struct Grid {
  Point at;
  double cell = 0;

  Box box(std::uint64_t row, std::uint64_t column) const {
    return {at.x + cell * static_cast<double>(column), at.y + cell * static_cast<double>(row), cell - 0.6,
            cell - 0.6};
  }
};

}  // namespace

FigureEnd draw_memories(Canvas& canvas, double top) {
  constexpr std::uint64_t kWords = 32;
  constexpr std::uint64_t kRows = 4;
  constexpr double kCell = 26;
  double y = top;
  const auto rows = [&](const std::string& heading, const std::string& margin, bool by_bank) {
    canvas.text({kFigureMargin, y}, "heading", heading);
    y += 16;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      canvas.label({kFigureMargin, y + kCell / 2}, "note small", fmt::format("{} {}", margin, row));
      for (std::uint64_t column = 0; column < kWords; ++column) {
        const Box box{kFigureMargin + 70 + kCell * static_cast<double>(column), y, kCell - 2, kCell - 2};
        canvas.box(box, by_bank ? bank_class(column) : bank_class(row));
        canvas.label(box.centre(), "ink middle small", fmt::format("{}", row * kWords + column));
      }
      y += kCell + (by_bank ? 0 : 6);
    }
    y += 14;
  };
  rows("Global memory: segments of 128 bytes, one transaction each (addresses of 4-byte words)", "segment",
       false);
  y += 20;
  rows("Shared memory: word a is in bank a mod 32 (a column is a bank)", "row", true);
  canvas.text(
      {kFigureMargin, y}, "note",
      "A warp's access is one transaction a segment that it touches, one turn a word of the fullest bank.");
  return {kFigureMargin + 70 + kCell * static_cast<double>(kWords), y + 16};
}

FigureEnd draw_block(Canvas& canvas, const Affine& map, const PublishedTile& tile, double top) {
  const int n = map.bits();
  const int low_bits = (n + 1) / 2;
  const std::uint64_t columns = std::uint64_t{1} << low_bits;
  const std::uint64_t rows = std::uint64_t{1} << (n - low_bits);
  const double cell = std::min(16.0, 400.0 / static_cast<double>(columns));
  const Grid source{{kFigureMargin, top + 40}, cell};
  const double width = cell * static_cast<double>(columns);
  const Grid target{{kFigureMargin + width + 60, top + 40}, cell};
  canvas.text({source.at.x, top}, "heading", "source");
  canvas.text({target.at.x, top}, "heading", "target");
  canvas.text({source.at.x, top + 20}, "note small", "a colour is one warp's read");
  canvas.text({target.at.x, top + 20}, "note small", "a colour is one warp's write");
  for (const Grid& grid : {source, target}) {
    canvas.box({grid.at.x - 1, grid.at.y - 1, width + 2, cell * static_cast<double>(rows) + 2}, "frame");
  }
  const auto at = [&](const Grid& grid, Word index) {
    return grid.box(index >> low_bits, index & f2::low_mask(low_bits));
  };
  const auto row_bits = tile.rows.size() - tile.overlap.size();
  const Word block = f2::low_mask(static_cast<int>(tile.blocks.size())) / 3;  // somewhere in the middle
  for (Word warp = 0; warp < Word{1} << row_bits; ++warp) {
    for (Word thread = 0; thread < Word{1} << tile.tile_bits; ++thread) {
      canvas.box(at(source, stitch_col(tile, thread, block, warp)), bank_class(warp));
      canvas.box(at(target, map(stitch_row(tile, warp, block, thread))), bank_class(warp));
    }
  }
  const double bottom = top + 40 + cell * static_cast<double>(rows) + 24;
  canvas.text({kFigureMargin, bottom}, "note",
              fmt::format("{} x {} elements, row by row; a warp is {} threads, a tile {} warps.", rows,
                          columns, std::uint64_t{1} << tile.tile_bits, std::uint64_t{1} << row_bits));
  return {target.at.x + width, bottom + 10};
}

FigureEnd draw_shared_tile(Canvas& canvas, const PublishedTile& tile, double top) {
  const int t = tile.tile_bits;
  const auto row_bits = static_cast<int>(tile.rows.size() - tile.overlap.size());
  const std::uint64_t columns = std::uint64_t{1} << t;
  const std::uint64_t rows = std::uint64_t{1} << row_bits;
  const double cell = std::min(18.0, 300.0 / static_cast<double>(columns));
  const double width = cell * static_cast<double>(columns);
  const Word warp = rows / 2;
  double x = kFigureMargin;
  // Rows are stored rotated by `shift(row)`; the fullest bank makes the turns.
  const auto panel = [&](const std::string& heading, bool second, bool shifted) {
    const Grid grid{{x, top + 14}, cell};
    canvas.text({x, top}, "small", heading);
    std::vector<int> load(columns, 0);
    std::vector<bool> touched(columns * rows, false);
    for (Word thread = 0; thread < columns; ++thread) {
      const Word place = second ? stitch_tile_row(tile, warp, thread) : stitch_tile_col(tile, thread, warp);
      const Word row = place >> t;
      const Word shift = shifted ? stitch_tile_row(tile, row, 0) : 0;
      const Word column = (place + shift) & f2::low_mask(t);
      touched[row * columns + column] = true;
      ++load[column];
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t column = 0; column < columns; ++column) {
        canvas.box(grid.box(row, column), touched[row * columns + column] ? "row" : "zero");
      }
    }
    const int turns = *std::max_element(load.begin(), load.end());
    canvas.text({x, grid.at.y + cell * static_cast<double>(rows) + 20}, turns == 1 ? "good" : "bad",
                fmt::format("{} turn{}", turns, turns == 1 ? "" : "s"));
    x += std::max(width, 200.0) + 40;
  };
  panel("first access: a warp writes a row", false, false);
  panel("second access: a warp reads columns", true, false);
  panel("second access, rows shifted", true, true);
  const double bottom = top + 14 + cell * static_cast<double>(rows) + 50;
  canvas.text({kFigureMargin, bottom}, "note",
              fmt::format("{} rows of {} words; a column is a bank; n_over = {}.", rows, columns,
                          tile.overlap.size()));
  return {x, bottom + 10};
}

}  // namespace faro::svg
