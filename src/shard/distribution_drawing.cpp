// Two distributions side by side: who holds which places of an array's first two axes, before and after.
//
// Every place is a square with the colour and the numbers of its ranks; of long axes places that are evenly
// far apart. All further axes stand at place 0.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "drawing/svg_canvas.hpp"
#include "faro/distribution.hpp"
#include "faro/shards.hpp"
#include "shard/holdings.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostSquares = 24;  // along an axis
constexpr double kSquare = 26;
constexpr double kMargin = 30;
constexpr double kAbove = 70;

// Places of an axis that are drawn.
std::vector<std::uint64_t> drawn_places(std::uint64_t extent) {
  const std::uint64_t count = std::min(extent, kMostSquares);
  std::vector<std::uint64_t> places(count);
  for (std::uint64_t i = 0; i < count; ++i) places[i] = extent / count * i + extent % count * i / count;
  return places;
}

class Panel {
 public:
  explicit Panel(const DrawnDistribution& drawn)
      : holdings_(drawn.distribution, drawn.shape, kMaxShardRanks * 2, "in"),
        text_(to_text(drawn.distribution)) {
    const std::vector<std::uint64_t>& shape = holdings_.shape();
    strides_.assign(shape.size(), 1);
    for (std::size_t a = shape.size(); a-- > 1;) strides_[a - 1] = strides_[a] * shape[a];
    for (std::size_t a = 0; a < shape.size() && axes_.size() < 2; ++a) {
      if (shape[a] != 1) axes_.push_back(a);
    }
    rows_ = axes_.empty() ? std::vector<std::uint64_t>{0} : drawn_places(shape[axes_[0]]);
    columns_ = axes_.size() < 2 ? std::vector<std::uint64_t>{0} : drawn_places(shape[axes_[1]]);
  }

  double width() const { return kSquare * static_cast<double>(std::max<std::size_t>(columns_.size(), 9)); }
  double height() const { return kSquare * static_cast<double>(rows_.size()); }

  void draw(svg::Canvas& canvas, double left, const char* heading) const {
    canvas.text({.x = left, .y = kMargin + 10}, "heading", heading);
    canvas.text({.x = left, .y = kMargin + 28}, "note small", svg::shortened(text_, 60));
    if (std::find(holdings_.shape().begin(), holdings_.shape().end(), 0U) != holdings_.shape().end()) return;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const svg::Box square{.x = left + kSquare * static_cast<double>(c),
                              .y = kAbove + kSquare * static_cast<double>(r),
                              .width = kSquare - 1,
                              .height = kSquare - 1};
        const std::vector<int> ranks = ranks_at(rows_[r], columns_[c]);
        canvas.box(square, fmt::format("bank b{}", ranks.front() % 8), hint(rows_[r], columns_[c], ranks));
        canvas.label(square.centre(), "middle small",
                     ranks.size() == 1 ? std::to_string(ranks[0]) : fmt::format("{}+", ranks[0]));
      }
    }
  }

 private:
  std::vector<int> ranks_at(std::uint64_t row, std::uint64_t column) const {
    std::uint64_t x = axes_.empty() ? 0 : row * strides_[axes_[0]];
    if (axes_.size() == 2) x += column * strides_[axes_[1]];
    const detail::Cell cell = *holdings_.cell_of(holdings_.place(x).rank);
    constexpr std::uint64_t most_named = 16;
    std::vector<int> ranks;
    for (std::uint64_t i = 0; i < std::min(holdings_.copies(cell), most_named); ++i)
      ranks.push_back(holdings_.copy(cell, i));
    return ranks;
  }
  std::string hint(std::uint64_t row, std::uint64_t column, const std::vector<int>& ranks) const {
    std::string places;
    if (!axes_.empty()) places = fmt::format("place {} of axis {}", row, axes_[0]);
    if (axes_.size() == 2) places += fmt::format(", {} of axis {}", column, axes_[1]);
    return fmt::format("{}: held by {}", places, fmt::join(ranks, " "));
  }

  detail::Holdings holdings_;
  std::string text_;
  std::vector<std::uint64_t> strides_;
  std::vector<std::size_t> axes_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> columns_;
};

}  // namespace

std::string svg_of(const DrawnDistribution& before, const DrawnDistribution& after) {
  const Panel from(before);
  const Panel to(after);
  svg::Canvas canvas;
  const double gap = 2 * kMargin;
  from.draw(canvas, kMargin, "before");
  to.draw(canvas, kMargin + from.width() + gap, "after");
  return canvas.finish(2 * kMargin + from.width() + gap + to.width(),
                       kAbove + std::max(from.height(), to.height()) + kMargin, "Who holds what",
                       fmt::format("before: {}; after: {}; a square is a place and its ranks",
                                   to_text(before.distribution), to_text(after.distribution)));
}

}  // namespace faro
