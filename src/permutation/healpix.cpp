// The pixels of HEALPix: twelve diamonds of 2^k x 2^k pixels on a sphere, numbered diamond by diamond
// (nested), or along the rings of equal latitude from the north pole (ring).
//
//     nested    pixel (x, y) of diamond f is f 4^k + the bits of x and y in turn, x lowest
//     ring      pixels of x + y = c of a diamond lie in one ring, next to each other by x
//
//     f 0  1  2  3     around the north pole      rings have 4, 8, ... pixels there, 4 2^k from diamond to
//       4  5  6  7     around the equator         diamond of the belt, and fewer again
//       8  9 10 11     around the south pole
//
// Source: Gorski and others, HEALPix: a framework for high-resolution discretization, Astrophysical Journal
// 622 (2005), sections 5.2 and 5.3.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/computed_map.hpp"

namespace faro {
namespace {

using detail::ComputedLeaf;
using detail::ComputedRun;
using detail::ComputedSide;
using detail::ComputedTiles;

constexpr std::uint64_t kDiamonds = 12;

// Bits 0, 2, 4, ... of a number, next to each other; and back.
constexpr std::uint64_t even_bits(std::uint64_t x) {
  x &= 0x5555555555555555;
  x = (x | x >> 1) & 0x3333333333333333;
  x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0f;
  x = (x | x >> 4) & 0x00ff00ff00ff00ff;
  x = (x | x >> 8) & 0x0000ffff0000ffff;
  return (x | x >> 16) & 0xffffffff;
}
constexpr std::uint64_t spread_bits(std::uint64_t x) {
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
  x = (x | x << 2) & 0x3333333333333333;
  return (x | x << 1) & 0x5555555555555555;
}

// The largest number whose square is no larger. Requires: x < 2^62.
std::int64_t square_root(std::int64_t x) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x)));
  while (root * root > x) --root;
  while ((root + 1) * (root + 1) <= x) ++root;
  return root;
}

struct Pixel {
  std::int64_t diamond = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;

  // Of the southern corner in rings, and of the middle in eighths of a turn.
  std::int64_t corner_ring() const { return 2 + diamond / 4; }
  std::int64_t middle() const { return 2 * (diamond % 4) + (diamond / 4 == 1 ? 0 : 1); }
};

// A ring, counted from 1 at the north pole.
struct Ring {
  std::int64_t begin = 0;    // pixels before it
  std::int64_t quarter = 1;  // of its pixels
  std::int64_t shift = 0;    // 1 where its first pixel is at longitude 0, else half a pixel beyond

  std::int64_t pixels() const { return 4 * quarter; }
};

struct Sphere {
  int k = 0;

  std::int64_t side() const { return std::int64_t{1} << k; }
  std::int64_t cap() const { return 2 * side() * (side() - 1); }  // pixels north of the belt
  std::int64_t pixels() const { return 12 * side() * side(); }

  Ring ring(std::int64_t number) const {
    const std::int64_t n = side();
    if (number < n) return {.begin = 2 * number * (number - 1), .quarter = number, .shift = 0};
    if (number <= 3 * n)
      return {.begin = cap() + (number - n) * 4 * n, .quarter = n, .shift = (number - n) & 1};
    const std::int64_t from_south = 4 * n - number;
    return {.begin = pixels() - 2 * from_south * (from_south + 1), .quarter = from_south, .shift = 0};
  }
  Ring ring_of(const Pixel& pixel) const {
    return ring(pixel.corner_ring() * side() - pixel.x - pixel.y - 1);
  }
  // Its place in that ring.
  std::int64_t place_in(const Ring& ring, const Pixel& pixel) const {
    const std::int64_t place = (pixel.middle() * ring.quarter + pixel.x - pixel.y + ring.shift - 1) / 2;
    return place < 0 ? place + ring.pixels() : place;
  }

  Pixel nested(std::uint64_t number) const {
    const std::uint64_t within = number & ((std::uint64_t{1} << (2 * k)) - 1);
    return {.diamond = static_cast<std::int64_t>(number >> (2 * k)),
            .x = static_cast<std::int64_t>(even_bits(within)),
            .y = static_cast<std::int64_t>(even_bits(within >> 1))};
  }
  std::uint64_t nested(const Pixel& pixel) const {
    return static_cast<std::uint64_t>(pixel.diamond) << (2 * k) |
           spread_bits(static_cast<std::uint64_t>(pixel.x)) |
           spread_bits(static_cast<std::uint64_t>(pixel.y)) << 1;
  }

  std::int64_t ring_number(std::int64_t pixel) const {
    if (pixel < cap()) return (1 + square_root(1 + 2 * pixel)) / 2;
    const std::int64_t from_south = pixels() - pixel;
    if (from_south <= cap()) return 4 * side() - (1 + square_root(2 * from_south - 1)) / 2;
    return (pixel - cap()) / (4 * side()) + side();
  }
  Pixel of_ring(std::int64_t pixel) const {
    const std::int64_t n = side();
    const std::int64_t number = ring_number(pixel);
    const Ring of = ring(number);
    const std::int64_t place = pixel - of.begin;
    Pixel found{.diamond = diamond_at(number, of, place)};
    // Rings from the southern corner, and eighths of a turn from the middle, in halves of a pixel.
    const std::int64_t up = found.corner_ring() * n - number - 1;
    std::int64_t along = 2 * place + 1 - found.middle() * of.quarter - of.shift;
    if (along >= 2 * n) along -= 8 * n;
    found.x = (up + along) / 2;
    found.y = (up - along) / 2;
    return found;
  }

 private:
  std::int64_t diamond_at(std::int64_t number, const Ring& of, std::int64_t place) const {
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
    const Pixel corner = sphere_.nested(number * sizes_.tile);
    const std::int64_t side = std::int64_t{1} << j_;
    std::size_t found = 0;
    for (std::int64_t row = 0; row < 2 * side - 1; ++row) {
      const std::int64_t first = std::max<std::int64_t>(0, row - side + 1);
      const std::int64_t elements = std::min(row, side - 1) - first + 1;
      const Pixel pixel{.diamond = corner.diamond, .x = corner.x + first, .y = corner.y + row - first};
      const Ring ring = sphere_.ring_of(pixel);
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
  explicit HealpixMap(int k) : sphere_{.k = k} {}

  std::uint64_t count() const override { return kDiamonds << (2 * sphere_.k); }
  std::uint64_t image(std::uint64_t x) const override {
    const Pixel pixel = sphere_.nested(x);
    const Ring ring = sphere_.ring_of(pixel);
    return static_cast<std::uint64_t>(ring.begin + sphere_.place_in(ring, pixel));
  }
  std::uint64_t preimage(std::uint64_t y) const override {
    return sphere_.nested(sphere_.of_ring(static_cast<std::int64_t>(y)));
  }
  std::string text() const override { return "healpix(" + std::to_string(sphere_.k) + ")"; }

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
  // Of one pixel a diamond both are the same.
  if (k == 0) return Cyclic{.count = kDiamonds, .shift = 0, .reversed = false};
  return Computed(std::make_shared<const HealpixMap>(k), Direction::scatter);
}

}  // namespace faro
