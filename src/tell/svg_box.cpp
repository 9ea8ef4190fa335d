// A box of axes, or the tile of a kernel without one: how it is read, how it lies where it is put together,
// how it is written, drawn small. A cell is a unit, its colour the row of the input that it came with; the
// table below has all axes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "size_text.hpp"
#include "tell/box_facts.hpp"
#include "tell/svg_figures.hpp"
#include "tell/tile_facts.hpp"

namespace faro::svg {
namespace {

using detail::BoxFacts;
using detail::TileFacts;

constexpr double kBoxWidth = 800;
constexpr std::uint64_t kMostCells = 8;  // of a side
constexpr double kBoxCell = 22;
constexpr std::uint64_t kBankBytes = 4;
constexpr std::uint64_t kBanks = 32;

std::string colour(std::uint64_t number) { return fmt::format("bank b{}", number % kMostCells); }

// A box as a tile: rows of the input one behind another, a pitch apart.
TileFacts tile_of(const BoxFacts& box) {
  const bool stays = !box.axes.empty() && box.axes.back().in_run && box.axes.back().box > 1 &&
                     box.axes.back().in_bytes == static_cast<std::int64_t>(box.unit_bytes);
  TileFacts tile{.box = box,
                 .rows = std::max<std::uint64_t>(2, box.in_rows),
                 .columns = std::max<std::uint64_t>(2, box.in_run_bytes / box.unit_bytes),
                 .rows_stay = stays};
  // A side of several axes has no step, and places of a view that runs backwards are counted otherwise.
  std::vector<const BoxFacts::Axis*> sides;
  for (const BoxFacts::Axis& axis : box.axes)
    if (axis.box > 1) sides.push_back(&axis);
  const auto is_forwards = [](const BoxFacts::Axis* side) {
    return side->in_bytes > 0 && side->out_bytes > 0;
  };
  if (sides.size() == 2 && sides[0]->in_run != sides[1]->in_run &&
      std::all_of(sides.begin(), sides.end(), is_forwards)) {
    const BoxFacts::Axis& row = sides[0]->in_run ? *sides[1] : *sides[0];
    const BoxFacts::Axis& column = sides[0]->in_run ? *sides[0] : *sides[1];
    tile.row_step = {.in_bytes = row.in_bytes, .out_bytes = row.out_bytes};
    tile.column_step = {.in_bytes = column.in_bytes, .out_bytes = column.out_bytes};
  }
  if (box.in_shared_memory && box.pitch_bytes != 0) {
    tile.address = [pitch = box.pitch_bytes, unit = box.unit_bytes](std::uint64_t row, std::uint64_t column) {
      return row * pitch + column * unit;
    };
  }
  return tile;
}

class BoxDrawing {
 public:
  /// `what` is moved at a time: a box, a tile, or a row; of rows, a thread moves what it reads as it is.
  BoxDrawing(Canvas& canvas, const TileFacts& tile, std::string_view what)
      : canvas_(canvas),
        tile_(tile),
        what_(what),
        registers_(what == "row"),
        rows_(std::min(kMostCells, tile.rows)),
        columns_(std::min(kMostCells, tile.columns)) {}

  double draw(double top) {
    constexpr double kPanel = 248;
    const BoxFacts& box = tile_.box;
    const auto runs = [](std::uint64_t count, std::uint64_t bytes) {
      return fmt::format("{} of {}", count_text(count, "run"), size_text(bytes));
    };
    const auto row_of = [&](std::uint64_t bytes) { return fmt::format("rows of {}", size_text(bytes)); };
    const double left = kMargin;
    panel(left, top, "Read", registers_ ? row_of(box.in_run_bytes) : runs(box.in_rows, box.in_run_bytes),
          false);
    between(left + kPanel, top);
    // Rows stay whole where the fastest axis does.
    panel(left + 2 * kPanel, top, "Write",
          registers_ ? row_of(box.out_run_bytes) : runs(box.out_rows, box.out_run_bytes), !tile_.rows_stay);
    const double bottom = top + 34 + kBoxCell * static_cast<double>(std::max(rows_, columns_));
    return table(bottom + 34);
  }

 private:
  void between(double left, double top) {
    const BoxFacts& box = tile_.box;
    if (registers_) return words(left, top, "Registers", "a vector of 16 bytes a thread");
    if (box.pitch_bytes == 0) {
      if (box.in_shared_memory) return words(left, top, "Shared memory", "as the input has it");
      return words(left, top, "Caches", "written where it belongs");
    }
    const char* const which = tile_.holds_lines ? "lines" : "rows";
    const std::string apart = fmt::format("{} {} bytes apart", which, box.pitch_bytes);
    if (!tile_.address) return panel(left, top, "Stage", apart, !tile_.rows_stay);
    words(left, top, "Shared memory", apart);
    for (std::uint64_t row = 0; row < rows_; ++row)
      for (std::uint64_t column = 0; column < columns_; ++column) stored(left, top, row, column);
  }

  void words(double left, double top, const std::string& heading, const std::string& note) {
    canvas_.text({left, top}, "heading", heading);
    canvas_.text({left, top + 20}, "note", note);
  }

  // `turned`: lines of the output, that is, columns of the input.
  void panel(double left, double top, const std::string& heading, const std::string& note, bool turned) {
    words(left, top, heading, note);
    for (std::uint64_t row = 0; row < rows_; ++row)
      for (std::uint64_t column = 0; column < columns_; ++column)
        turned ? cell(left, top, column, row, row, column) : cell(left, top, row, column, row, column);
  }

  static Box place(double left, double top, std::uint64_t line, std::uint64_t at) {
    return {left + kBoxCell * static_cast<double>(at), top + 34 + kBoxCell * static_cast<double>(line),
            kBoxCell - 2, kBoxCell - 2};
  }

  // A unit of input row `row` at (line, at) of a panel.
  void cell(double left, double top, std::uint64_t line, std::uint64_t at, std::uint64_t row,
            std::uint64_t column) {
    const Box where = place(left, top, line, at);
    canvas_.box(where, colour(row), hint(row, column));
    canvas_.label(where.centre(), "ink middle small", fmt::format("{}", column));
  }

  // Numbers are banks.
  void stored(double left, double top, std::uint64_t row, std::uint64_t column) {
    const std::uint64_t bank = bank_of(row, column);
    const Box where = tile_.holds_lines ? place(left, top, column, row) : place(left, top, row, column);
    canvas_.box(where, colour(row), hint(row, column));
    canvas_.label(where.centre(), "ink middle small", fmt::format("{}", bank));
  }

  std::uint64_t bank_of(std::uint64_t row, std::uint64_t column) const {
    return tile_.address(row, column) / kBankBytes % kBanks;
  }

  // What a viewer shows under the pointer: its bank, and where a unit of the first tile goes.
  std::string hint(std::uint64_t row, std::uint64_t column) const {
    std::string text = fmt::format("row {}, unit {}", row, column);
    if (tile_.address) text += fmt::format(": bank {}", bank_of(row, column));
    if (!tile_.row_step || !tile_.column_step) return text;
    const auto at = [&](std::int64_t TileFacts::Steps::*bytes) {
      const std::int64_t first = static_cast<std::int64_t>(row) * (*tile_.row_step).*bytes +
                                 static_cast<std::int64_t>(column) * (*tile_.column_step).*bytes;
      return first / static_cast<std::int64_t>(tile_.box.unit_bytes);
    };
    return text + fmt::format("{} goes to place {} of the output from place {} of the input",
                              tile_.address ? ";" : ":", at(&TileFacts::Steps::out_bytes),
                              at(&TileFacts::Steps::in_bytes));
  }

  double table(double y) {
    constexpr double kColumn = 118;
    const std::string heads[] = {"extent", fmt::format("of the {}", what_), "input step", "output step",
                                 "along"};
    double x = kMargin;
    for (const std::string& head : heads) {
      canvas_.text({x, y}, "heading", head);
      x += kColumn;
    }
    canvas_.line({kMargin, y + 8}, {kBoxWidth - kMargin, y + 8}, "rule");
    y += 8;
    for (const BoxFacts::Axis& axis : tile_.box.axes) {
      y += 20;
      const std::string along = axis.in_run && axis.out_run ? "both runs"
                                : axis.in_run               ? "the input's run"
                                : axis.out_run              ? "the output's run"
                                                            : "";
      const std::string words[] = {count_text(axis.extent), fmt::format("{}", axis.box),
                                   fmt::format("{} bytes", axis.in_bytes),
                                   fmt::format("{} bytes", axis.out_bytes), along};
      x = kMargin;
      for (const std::string& word : words) {
        canvas_.text({x, y}, axis.box > 1 ? "mono" : "mono note", word);
        x += kColumn;
      }
    }
    return y;
  }

  Canvas& canvas_;
  const TileFacts& tile_;
  std::string_view what_;
  bool registers_ = false;
  std::uint64_t rows_ = 1;
  std::uint64_t columns_ = 1;
};

// Lines of at most `most` characters, as many as it takes, broken behind commas.
std::vector<std::string> lines_of(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  while (text.size() > most) {
    const std::size_t comma = text.rfind(", ", most - 1);
    if (comma == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, comma + 1));
    text.remove_prefix(comma + 2);
  }
  lines.push_back(shortened(text, most));
  return lines;
}

}  // namespace

std::string box_svg(const std::string& title, const std::string& words, const Pass& pass) {
  constexpr std::size_t kTitleLength = 60;
  constexpr std::size_t kLineLength = 100;
  const std::optional<BoxFacts> box = detail::box_facts(pass);
  const std::optional<TileFacts> tile = box ? tile_of(*box) : detail::tile_facts(pass);
  const bool registers = !box && tile && tile->rows_stay;
  Canvas canvas;
  double y = kMargin + 8;
  canvas.text({kMargin, y}, "title", shortened(title, kTitleLength));
  canvas.text({kMargin, y += 24}, "note", shortened(words, kLineLength));
  const std::string kernel = pass.launch ? pass.launch->kernel : pass.team ? pass.team->kernel : "";
  for (const std::string& line : lines_of(kernel, kLineLength)) canvas.text({kMargin, y += 19}, "note", line);
  if (!tile) {
    canvas.text({kMargin, y += 19}, "note",
                "Units, or what stays together, are moved as they lie: there is no tile.");
    return canvas.finish(kBoxWidth, y + kMargin / 2, "faro: " + title, words);
  }
  if (!registers) {
    const std::string what =
        box ? "A box: " + detail::box_text(*box) : "A tile: " + detail::box_text(tile->box, "tile", "tiles");
    canvas.text({kMargin, y += 19}, "note", shortened(what, kLineLength));
  }
  y = BoxDrawing(canvas, *tile, box ? "box" : registers ? "row" : "tile").draw(y + 40);
  canvas.text(
      {kMargin, y += 30}, "note small",
      tile->address
          ? "Drawn small. A colour is a row of the input; numbers are units of it, in shared memory banks."
          : "Drawn small. A colour is a row of the input; numbers are units of it.");
  return canvas.finish(kBoxWidth, y + kMargin / 2, "faro: " + title, words);
}

}  // namespace faro::svg
