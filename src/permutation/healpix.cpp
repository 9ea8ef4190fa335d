// The pixels of HEALPix (healpix_pixels.hpp) as a map from nested to ring numbers.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/computed_map.hpp"
#include "permutation/healpix_pixels.hpp"

namespace faro {
namespace {

using detail::ComputedLeaf;
using detail::ComputedRun;
using detail::ComputedSide;
using detail::ComputedTiles;
using detail::even_bits;
using detail::HealpixPixel;
using detail::HealpixRing;

// The largest number whose square is no larger. Requires: x < 2^62.
std::int64_t square_root(std::int64_t x) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x)));
  while (root * root > x) --root;
  while ((root + 1) * (root + 1) <= x) ++root;
  return root;
}

// With the way back, which only a host takes.
struct Sphere : detail::HealpixSphere {
  std::int64_t ring_number(std::int64_t pixel) const {
    if (pixel < cap()) return (1 + square_root(1 + 2 * pixel)) / 2;
    const std::int64_t from_south = pixels() - pixel;
    if (from_south <= cap()) return 4 * side() - (1 + square_root(2 * from_south - 1)) / 2;
    return (pixel - cap()) / (4 * side()) + side();
  }
  HealpixPixel of_ring(std::int64_t pixel) const {
    const std::int64_t n = side();
    const std::int64_t number = ring_number(pixel);
    const HealpixRing of = ring(number);
    const std::int64_t place = pixel - of.begin;
    HealpixPixel found{.diamond = diamond_at(number, of, place)};
    // Rings from the southern corner, and eighths of a turn from the middle, in halves of a pixel.
    const std::int64_t up = found.corner_ring() * n - number - 1;
    std::int64_t along = 2 * place + 1 - found.middle() * of.quarter - of.shift;
    if (along >= 2 * n) along -= 8 * n;
    found.x = (up + along) / 2;
    found.y = (up - along) / 2;
    return found;
  }

 private:
  std::int64_t diamond_at(std::int64_t number, const HealpixRing& of, std::int64_t place) const {
    const std::int64_t n = side();
    if (number < n) return place / of.quarter;
    if (number > 3 * n) return 8 + place / of.quarter;
    // Lines up and down along the diamonds' sides: which of both kinds the pixel lies between.
    const std::int64_t below_north = number - n;
    const std::int64_t rising = (place - (below_north + 1) / 2 + n) / n;
    const std::int64_t falling = (place - (2 * n + 1 - below_north) / 2 + n) / n;
    if (rising == falling) return 4 + falling % 4;
    return falling < rising ? falling : 8 + rising;
  }
};

// Tiles are diamonds of 2^j pixels a side, whose pixels of x + y = c are a row of the buffer; leaves are
// parts of 2^l a side. The order within them is the same everywhere, as x and y both count places of the
// buffer.
class HealpixTiles final : public ComputedTiles {
 public:
  HealpixTiles(Sphere sphere, int j) : sphere_(sphere), j_(j) {
    constexpr int kMostLeafBits = 5;
    const int l = std::min(j, kMostLeafBits);
    const std::uint64_t side = std::uint64_t{1} << j;
    sizes_ = {.tile = side * side,
              .leaf = std::uint64_t{1} << (2 * l),
              .buffer = places(j),
              .runs = 2 * (2 * side - 1)};
    for (std::uint64_t k = 0; k < sizes_.leaf; ++k) orders_.push_back(static_cast<std::uint16_t>(at(k)));
  }

  static constexpr std::uint64_t places(int j) { return ((std::uint64_t{2} << j) - 1) << j; }

  std::size_t tile(std::uint64_t number, std::span<ComputedRun> runs,
                   std::span<ComputedLeaf> leaves) const override {
    const HealpixPixel corner = sphere_.nested(number * sizes_.tile);
    const std::int64_t side = std::int64_t{1} << j_;
    std::size_t found = 0;
    for (std::int64_t row = 0; row < 2 * side - 1; ++row) {
      const std::int64_t first = std::max<std::int64_t>(0, row - side + 1);
      const std::int64_t elements = std::min(row, side - 1) - first + 1;
      const HealpixPixel pixel{.diamond = corner.diamond, .x = corner.x + first, .y = corner.y + row - first};
      const HealpixRing ring = sphere_.ring_of(pixel);
      const std::int64_t place = sphere_.place_in(ring, pixel);
      const std::int64_t before_end = std::min(elements, ring.pixels() - place);
      const auto add = [&](std::int64_t in_ring, std::int64_t x, std::int64_t length) {
        if (length == 0) return;
        runs[found++] = {.place = static_cast<std::uint64_t>(ring.begin + in_ring),
                         .elements = static_cast<std::uint64_t>(length),
                         .at = static_cast<std::uint32_t>(row * side + x)};
      };
      add(place, first, before_end);
      add(0, first + before_end, elements - before_end);  // around the sphere
    }
    for (std::uint64_t leaf = 0; leaf < leaves.size(); ++leaf)
      leaves[leaf] = {.at = static_cast<std::uint32_t>(at(leaf * sizes_.leaf)), .order = 0};
    return found;
  }

 private:
  std::uint64_t at(std::uint64_t nested) const {
    const std::uint64_t x = even_bits(nested);
    return ((x + even_bits(nested >> 1)) << j_) + x;
  }

  Sphere sphere_;
  int j_;
};

class HealpixMap final : public detail::ComputedMap {
 public:
  explicit HealpixMap(int k) : sphere_{{.k = k}} {}

  std::uint64_t count() const override { return detail::kHealpixDiamonds << (2 * sphere_.k); }
  std::uint64_t image(std::uint64_t x) const override {
    const HealpixPixel pixel = sphere_.nested(x);
    const HealpixRing ring = sphere_.ring_of(pixel);
    return static_cast<std::uint64_t>(ring.begin + sphere_.place_in(ring, pixel));
  }
  std::uint64_t preimage(std::uint64_t y) const override {
    return sphere_.nested(sphere_.of_ring(static_cast<std::int64_t>(y)));
  }
  std::string text() const override { return "healpix(" + std::to_string(sphere_.k) + ")"; }

  detail::ComputedFormula formula() const override { return sphere_; }
  ComputedSide ordered_side() const override { return ComputedSide::input; }
  std::unique_ptr<const ComputedTiles> tiles(std::uint64_t most_places) const override {
    constexpr int kMostSideBits = 7;  // a buffer of less than 2^16 places
    int j = 0;
    while (j < std::min(sphere_.k, kMostSideBits) && HealpixTiles::places(j + 1) <= most_places) ++j;
    return j == 0 ? nullptr : std::make_unique<const HealpixTiles>(sphere_, j);
  }

 private:
  Sphere sphere_;
};

}  // namespace

Permutation maps::healpix(int k) {
  constexpr int kMostOrder = 29;
  if (k < 0 || k > kMostOrder)
    fail(ErrorCode::value, "healpix", "order " + std::to_string(k),
         "an order k of 0 to 29, of 12 4^k pixels");
  // With one pixel a diamond both are the same.
  if (k == 0) return Cyclic{.count = detail::kHealpixDiamonds, .shift = 0, .reversed = false};
  return Computed(std::make_shared<const HealpixMap>(k), Direction::scatter);
}

}  // namespace faro
