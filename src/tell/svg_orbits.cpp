// In place: which tiles a block holds together, for it may write only what it has read.
//
//     [0]--[5]   [1]--[4]   [2]   [3]        tiles 0 and 5 change places, 2 and 3 are permuted within
//
// The first orbits are drawn, as many as there is room for.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tell/reasons.hpp"
#include "tell/svg_figures.hpp"

namespace faro::svg {
namespace {

constexpr double kTileWidth = 46;
constexpr double kTileHeight = 26;
constexpr double kLink = 16;
constexpr double kBetween = 22;
constexpr std::size_t kMostInOrbit = 12;  // drawn

std::vector<f2::Word> orbit_of(const layout::InPlaceTile& tile, f2::Word block) {
  std::vector<f2::Word> orbit{block};
  for (f2::Word next = tile.next(block); next != block; next = tile.next(next)) orbit.push_back(next);
  return orbit;
}

}  // namespace

double draw_orbits(Canvas& canvas, const Pass& pass, double top) {
  canvas.text({kMargin, top}, "heading", "Tiles by number: those of one block are written where it has read");
  canvas.text({kMargin, top + 20}, "note", detail::orbits_text(pass, detail::resting_tiles(*pass.orbits)));
  const double y = top + 36;
  const std::uint64_t blocks = std::uint64_t{1} << pass.tile.block_bits();
  std::set<f2::Word> drawn;
  double x = kMargin;
  for (f2::Word block = 0; block < blocks; ++block) {
    if (drawn.count(block) > 0) continue;
    const std::vector<f2::Word> orbit = orbit_of(*pass.orbits, block);
    const std::size_t shown = std::min(orbit.size(), kMostInOrbit);
    const double width = static_cast<double>(shown) * (kTileWidth + kLink);
    if (x > kMargin && x + width > kWidth - kMargin - 60) {
      canvas.label({x, y + kTileHeight / 2}, "note", "…");
      break;
    }
    for (std::size_t k = 0; k < shown; ++k) {
      const Box box{x, y, kTileWidth, kTileHeight};
      canvas.box(box, orbit.size() == 1 ? "block" : "row",
                 fmt::format("tile {} is written where tile {} was", orbit[k], pass.orbits->next(orbit[k])));
      canvas.label(box.centre(), "ink middle small", fmt::format("{}", orbit[k]));
      x += kTileWidth;
      if (k + 1 < shown) canvas.line({x, y + kTileHeight / 2}, {x + kLink, y + kTileHeight / 2}, "row-line");
      x += kLink;
    }
    if (shown < orbit.size()) {
      canvas.label({x, y + kTileHeight / 2}, "note small", fmt::format("and {} more", orbit.size() - shown));
      break;
    }
    x += kBetween - kLink;
    drawn.insert(orbit.begin(), orbit.end());
  }
  return y + kTileHeight + 12;
}

}  // namespace faro::svg
