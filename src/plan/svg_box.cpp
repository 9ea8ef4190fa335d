// A box of axes: how it is read, how it lies where it is put together, how it is written, drawn small. A cell
// is a unit, its colour the row of the input that it came with; the table below has all axes.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "plan/box_facts.hpp"
#include "plan/facts.hpp"
#include "plan/svg_figures.hpp"

namespace faro::svg {
namespace {

using detail::BoxFacts;

constexpr double kBoxWidth = 800;
constexpr std::uint64_t kMostCells = 8;  // of a side
constexpr double kBoxCell = 22;
constexpr std::uint64_t kBankBytes = 4;
constexpr std::uint64_t kBanks = 32;

std::string colour(std::uint64_t number) { return fmt::format("bank b{}", number % kMostCells); }

class BoxDrawing {
 public:
  BoxDrawing(Canvas& canvas, const BoxFacts& box) : canvas_(canvas), box_(box) {
    // Units of the input's run against rows of it; of the output's likewise.
    rows_ = std::min(kMostCells, std::max<std::uint64_t>(2, box.in_rows));
    columns_ = std::min(kMostCells, std::max<std::uint64_t>(2, box.in_run_bytes / box.unit_bytes));
    stays_ = !box.axes.empty() && box.axes.back().in_run && box.axes.back().box > 1 &&
             box.axes.back().in_bytes == static_cast<std::int64_t>(box.unit_bytes);
  }

  double draw(double top) {
    constexpr double kPanel = 248;
    const double left = kMargin;
    panel(left, top, "Read",
          fmt::format("{} of {}", detail::count_text(box_.in_rows, "run"),
                      detail::size_text(box_.in_run_bytes)),
          [&](std::uint64_t row, std::uint64_t column) { cell(left, top, row, column, row, column); });
    const double middle = left + kPanel;
    if (box_.pitch_bytes == 0) {
      canvas_.text({middle, top}, "heading", "Caches");
      canvas_.text({middle, top + 20}, "note", "written where it belongs");
    } else {
      panel(middle, top, box_.in_shared_memory ? "Shared memory" : "Stage",
            fmt::format("rows {} bytes apart", box_.pitch_bytes),
            [&](std::uint64_t row, std::uint64_t column) { stored(middle, top, row, column); });
    }
    const double right = middle + kPanel;
    panel(right, top, "Write",
          fmt::format("{} of {}", detail::count_text(box_.out_rows, "run"),
                      detail::size_text(box_.out_run_bytes)),
          [&](std::uint64_t row, std::uint64_t column) {
            // Rows stay whole where the fastest axis does.
            stays_ ? cell(right, top, row, column, row, column) : cell(right, top, column, row, row, column);
          });
    const double bottom = top + 34 + kBoxCell * static_cast<double>(std::max(rows_, columns_));
    return table(bottom + 34);
  }

 private:
  template <typename Cell>
  void panel(double left, double top, const std::string& heading, const std::string& words,
             const Cell& each) {
    canvas_.text({left, top}, "heading", heading);
    canvas_.text({left, top + 20}, "note", words);
    for (std::uint64_t row = 0; row < rows_; ++row)
      for (std::uint64_t column = 0; column < columns_; ++column) each(row, column);
  }

  // A unit of input row `row` at (line, place) of a panel.
  void cell(double left, double top, std::uint64_t line, std::uint64_t place, std::uint64_t row,
            std::uint64_t column) {
    const Box at{left + kBoxCell * static_cast<double>(place),
                 top + 34 + kBoxCell * static_cast<double>(line), kBoxCell - 2, kBoxCell - 2};
    canvas_.box(at, colour(row), fmt::format("row {} of the input, unit {}", row, column));
    canvas_.label(at.centre(), "ink middle small", fmt::format("{}", column));
  }

  // Shared memory: rows of the input, numbers are banks. A stage: rows of the output.
  void stored(double left, double top, std::uint64_t row, std::uint64_t column) {
    if (!box_.in_shared_memory)
      return stays_ ? cell(left, top, row, column, row, column) : cell(left, top, column, row, row, column);
    const std::uint64_t byte = row * box_.pitch_bytes + column * box_.unit_bytes;
    const std::uint64_t bank = byte / kBankBytes % kBanks;
    const Box at{left + kBoxCell * static_cast<double>(column),
                 top + 34 + kBoxCell * static_cast<double>(row), kBoxCell - 2, kBoxCell - 2};
    canvas_.box(at, colour(row), fmt::format("row {}, unit {}: bank {}", row, column, bank));
    canvas_.label(at.centre(), "ink middle small", fmt::format("{}", bank));
  }

  double table(double y) {
    constexpr double kColumn = 118;
    const char* const heads[] = {"extent", "of the box", "input step", "output step", "along"};
    double x = kMargin;
    for (const char* const head : heads) {
      canvas_.text({x, y}, "heading", head);
      x += kColumn;
    }
    canvas_.line({kMargin, y + 8}, {kBoxWidth - kMargin, y + 8}, "rule");
    y += 8;
    for (const BoxFacts::Axis& axis : box_.axes) {
      y += 20;
      const std::string along = axis.in_run && axis.out_run ? "both runs"
                                : axis.in_run               ? "the input's run"
                                : axis.out_run              ? "the output's run"
                                                            : "";
      const std::string words[] = {detail::count_text(axis.extent), fmt::format("{}", axis.box),
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
  const BoxFacts& box_;
  std::uint64_t rows_ = 1;
  std::uint64_t columns_ = 1;
  bool stays_ = false;
};

}  // namespace

std::string box_svg(const std::string& title, const std::string& words, const Pass& pass) {
  constexpr std::size_t kTitleLength = 60;
  constexpr std::size_t kLineLength = 100;
  const std::optional<BoxFacts> box = detail::box_facts(pass);
  Canvas canvas;
  double y = kMargin + 8;
  canvas.text({kMargin, y}, "title", shortened(title, kTitleLength));
  canvas.text({kMargin, y += 24}, "note", shortened(words, kLineLength));
  const std::string kernel = pass.launch ? pass.launch->kernel : pass.team ? pass.team->kernel : "";
  canvas.text({kMargin, y += 19}, "note", shortened(kernel, kLineLength));
  if (box) {
    canvas.text({kMargin, y += 19}, "note", shortened("A box: " + detail::box_text(*box), kLineLength));
    y = BoxDrawing(canvas, *box).draw(y + 40);
    canvas.text(
        {kMargin, y += 30}, "note small",
        box->in_shared_memory
            ? "Drawn small. A colour is a row of the input; numbers are units of it, in shared memory banks."
            : "Drawn small. A colour is a row of the input; numbers are units of it.");
  } else {
    canvas.text({kMargin, y += 19}, "note", "There is no box: what lies together on both sides is long.");
  }
  return canvas.finish(kBoxWidth, y + kMargin / 2, "faro: " + title, words);
}

}  // namespace faro::svg
