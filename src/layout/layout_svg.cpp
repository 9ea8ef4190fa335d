#include "layout/layout_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "drawing/svg_canvas.hpp"
#include "faro/machine/congestion.hpp"
#include "layout/candidates.hpp"
#include "layout/shared_geometry.hpp"

namespace faro::layout {
namespace {

using svg::Box;
using svg::Canvas;

constexpr double kDrawnWidth = 1000;
constexpr double kDrawnMargin = 40;
constexpr double kGridWidth = 430;
constexpr double kLargestCell = 26;
constexpr double kStripCell = 12;
constexpr std::size_t kMostOutlined = 2;  // accesses; more would cover each other
constexpr std::size_t kMostLetters = 125;

// Hues around the circle, so that neighbouring banks are alike and a bank that all lanes meet in is a stripe
// of one colour.
std::string bank_colours() {
  std::string style;
  const int banks = kGeometry.banks;
  for (int bank = 0; bank < banks; ++bank)
    style += fmt::format("  .bank{} {{ fill: hsl({}, 62%, {}%); }}\n", bank, bank * 360 / banks,
                         bank % 2 == 0 ? 72 : 64);
  return style;
}

Index bank_of_word(std::uint64_t word) {
  return static_cast<Index>(word % static_cast<Index>(kGeometry.banks));
}

// The first of an element's banks.
Index bank_of(const Placement& placement, Index i, Index j) {
  const std::uint64_t byte = std::uint64_t{placement(i, j)} * placement.array.element_bytes;
  return bank_of_word(byte / static_cast<std::uint64_t>(kGeometry.bank_bytes));
}

// The lanes that one phase serves: the first element of each one's vector.
using Phase = std::vector<Index>;

// The words that a phase asks for, in the order of its lanes, each once.
std::vector<std::uint64_t> words_of(const AccessSet& set, const Placement& placement, const Phase& phase) {
  const std::uint64_t element_bytes = placement.array.element_bytes;
  const auto word_bytes = static_cast<std::uint64_t>(kGeometry.bank_bytes);
  std::vector<std::uint64_t> words;
  for (const Index x : phase) {
    const std::uint64_t first =
        std::uint64_t{placement(x / placement.array.columns, x % placement.array.columns)} * element_bytes;
    const std::uint64_t last = first + set.vector_elements * element_bytes - 1;
    for (std::uint64_t word = first / word_bytes; word <= last / word_bytes; ++word) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
  return words;
}

std::uint32_t turns_of(const AccessSet& set, const Placement& placement, const Phase& phase) {
  machine::TurnCounter counter(static_cast<std::uint64_t>(kGeometry.banks));
  return counter.by_bank(words_of(set, placement, phase));
}

// The first of those that wait longest in `placement`.
Phase worst_phase(const AccessSet& set, const Placement& placement) {
  const Index lane_bytes = set.vector_elements * placement.array.element_bytes;
  const auto lanes = static_cast<std::size_t>(kGeometry.lanes_per_phase(static_cast<int>(lane_bytes)));
  Phase worst;
  std::uint32_t most = 0;
  for (const std::vector<Index>& warp : set.warps) {
    for (std::size_t first = 0; first < warp.size(); first += lanes) {
      Phase phase;
      for (std::size_t lane = first; lane < std::min(first + lanes, warp.size()); ++lane) {
        if (warp[lane] != AccessSet::kIdle) phase.push_back(warp[lane]);
      }
      const std::uint32_t turns = turns_of(set, placement, phase);
      if (turns <= most) continue;
      most = turns;
      worst = phase;
    }
  }
  return worst;
}

class LayoutPicture {
 public:
  explicit LayoutPicture(const Advice& advice)
      : advice_(advice),
        rows_(std::min(advice.request.array.rows, kMostDrawnRows)),
        columns_(std::min(advice.request.array.columns, kMostDrawnColumns)),
        cell_(std::min(kLargestCell, kGridWidth / static_cast<double>(columns_))) {
    for (const AccessSet& set : advice.request.accesses)
      phases_.push_back(worst_phase(set, advice.candidates.front().placement));
  }

  std::string draw() {
    const SharedArray& array = advice_.request.array;
    const std::string title =
        fmt::format("{} x {} elements of {} {} in shared memory", array.rows, array.columns,
                    array.element_bytes, array.element_bytes == 1 ? "byte" : "bytes");
    double y = kDrawnMargin + 8;
    canvas_.style(bank_colours());
    constexpr double kSmall = 18;
    if (cell_ < kSmall)
      canvas_.style(
          "  .write, .read { stroke-width: 1.2; stroke-dasharray: none; }\n  .write { stroke: #cf222e; }\n");
    canvas_.text({kDrawnMargin, y}, "title", title);
    const std::string words = fmt::format("{}: {}", advice_.chosen().placement.name(), advice_.reason);
    y = wrapped(words, y + 24);
    std::string caption = fmt::format("The {} of a cell {} which of the {} banks of {} bytes holds {}.",
                                      is_numbered() ? "colour and number" : "colour",
                                      is_numbered() ? "say" : "says", kGeometry.banks, kGeometry.bank_bytes,
                                      array.element_bytes > static_cast<Index>(kGeometry.bank_bytes)
                                          ? "the element's first word"
                                          : "the element");
    if (rows_ < array.rows || columns_ < array.columns)
      caption += fmt::format(" The first {} rows and {} columns are drawn.", rows_, columns_);
    canvas_.text({kDrawnMargin, y}, "note", caption);
    y = legend(y + 26);
    const Placement& natural = advice_.candidates.front().placement;
    const Placement& chosen = advice_.chosen().placement;
    const double left = panel(kDrawnMargin, y, "Before: the natural order", natural);
    const double right = panel(
        kDrawnWidth / 2 + 10, y,
        natural.kind == chosen.kind ? "After: the same, nothing is left to gain" : "After: " + chosen.name(),
        chosen);
    return canvas_.finish(kDrawnWidth, std::max(left, right) + kDrawnMargin / 2, "faro layout: " + title,
                          words);
  }

 private:
  // On two lines at most. Returns where the next one stands.
  double wrapped(const std::string& words, double y) {
    std::size_t end = words.size();
    if (end > kMostLetters) end = std::min(words.rfind(' ', kMostLetters), end);
    canvas_.text({kDrawnMargin, y}, "note", words.substr(0, end));
    if (end == words.size()) return y + 19;
    canvas_.text({kDrawnMargin, y + 19}, "note", svg::shortened(words.substr(end + 1), kMostLetters));
    return y + 38;
  }

  // Which outline is of which access.
  double legend(double y) {
    double x = kDrawnMargin;
    for (std::size_t k = 0; k < std::min(kMostOutlined, phases_.size()); ++k) {
      canvas_.box({x, y - 10, 20, 14}, outline(k));
      const std::string words = fmt::format("one phase of {}", advice_.request.accesses[k].text);
      canvas_.label({x + 28, y - 3}, "", words);
      x += 60 + 7.3 * static_cast<double>(words.size());
    }
    return y + 30;
  }

  // Smaller cells have no room for a number.
  bool is_numbered() const { return cell_ >= 12; }

  static std::string outline(std::size_t access) { return access == 0 ? "write" : "read"; }

  double panel(double left, double top, const std::string& heading, const Placement& placement) {
    canvas_.text({left, top}, "heading", heading);
    const double x0 = left + 26;
    const double y0 = top + 14;
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < columns_; ++j) {
        const Box box{x0 + cell_ * j, y0 + cell_ * i, cell_, cell_};
        const Index bank = bank_of(placement, i, j);
        canvas_.box(box.grown(-0.5), fmt::format("bank bank{}", bank),
                    fmt::format("row {}, column {}: bank {}, place {}", i, j, bank, placement(i, j)));
        if (is_numbered())
          canvas_.label(box.centre(), cell_ >= 18 ? "ink middle small" : "ink middle tiny",
                        fmt::format("{}", bank));
      }
      if (cell_ >= 10 || i % 2 == 0)
        canvas_.label({x0 - 6, y0 + cell_ * (i + 0.5)}, "note end tiny", fmt::format("{}", i));
    }
    for (std::size_t k = 0; k < std::min(kMostOutlined, phases_.size()); ++k) outlines(x0, y0, k);
    double y = y0 + cell_ * rows_ + 24;
    for (std::size_t k = 0; k < phases_.size(); ++k) y = strip(left, y, k, placement);
    return y;
  }

  void outlines(double x0, double y0, std::size_t access) {
    const Index columns = advice_.request.array.columns;
    const Index vector = advice_.request.accesses[access].vector_elements;
    for (const Index x : phases_[access]) {
      const Index i = x / columns;
      const Index j = x % columns;
      if (i >= rows_ || j + vector > columns_) continue;
      canvas_.box(Box{x0 + cell_ * j, y0 + cell_ * i, cell_ * vector, cell_}.grown(-0.6), outline(access));
    }
  }

  // The banks that a phase asks for, word by word.
  double strip(double left, double y, std::size_t access, const Placement& placement) {
    const AccessSet& set = advice_.request.accesses[access];
    const std::uint32_t turns = turns_of(set, placement, phases_[access]);
    canvas_.text({left, y}, "", set.text);
    canvas_.text({left + kGridWidth + 26, y}, turns <= 1 ? "good end" : "bad end",
                 turns <= 1 ? "1 turn: no conflict" : fmt::format("{} turns: lanes wait", turns));
    double x = left + 26;
    for (const std::uint64_t word : words_of(set, placement, phases_[access])) {
      const Index bank = bank_of_word(word);
      canvas_.box({x, y + 8, kStripCell, kStripCell + 4}, fmt::format("bank bank{}", bank),
                  fmt::format("word {}: bank {}", word, bank));
      canvas_.label({x + kStripCell / 2, y + 8 + (kStripCell + 4) / 2}, "ink middle tiny",
                    fmt::format("{}", bank));
      x += kStripCell + 1;
    }
    return y + 46;
  }

  const Advice& advice_;
  Index rows_;
  Index columns_;
  double cell_;
  std::vector<Phase> phases_;
  Canvas canvas_;
};

}  // namespace

std::string layout_svg(const Advice& advice) { return LayoutPicture(advice).draw(); }

}  // namespace faro::layout
