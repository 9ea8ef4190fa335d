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
//
// Usable in device code.
#pragma once

#include <cstdint>

namespace faro::detail {

inline constexpr std::uint64_t kHealpixDiamonds = 12;

/// Bits 0, 2, 4, ... of a number, next to each other; and back.
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

struct HealpixPixel {
  std::int64_t diamond = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;

  /// Where the southern corner lies in rings, and the middle in eighths of a turn.
  constexpr std::int64_t corner_ring() const { return 2 + diamond / 4; }
  constexpr std::int64_t middle() const { return 2 * (diamond % 4) + (diamond / 4 == 1 ? 0 : 1); }
};

/// A ring, counted from 1 at the north pole.
struct HealpixRing {
  std::int64_t begin = 0;    // pixels before it
  std::int64_t quarter = 1;  // of its pixels
  std::int64_t shift = 0;    // 1 where its first pixel is at longitude 0, else half a pixel beyond

  constexpr std::int64_t pixels() const { return 4 * quarter; }
};

struct HealpixSphere {
  int k = 0;

  constexpr std::int64_t side() const { return std::int64_t{1} << k; }
  constexpr std::int64_t cap() const { return 2 * side() * (side() - 1); }  // pixels north of the belt
  constexpr std::int64_t pixels() const { return 12 * side() * side(); }

  constexpr HealpixRing ring(std::int64_t number) const {
    const std::int64_t n = side();
    if (number < n) return {.begin = 2 * number * (number - 1), .quarter = number, .shift = 0};
    if (number <= 3 * n)
      return {.begin = cap() + (number - n) * 4 * n, .quarter = n, .shift = (number - n) & 1};
    const std::int64_t from_south = 4 * n - number;
    return {.begin = pixels() - 2 * from_south * (from_south + 1), .quarter = from_south, .shift = 0};
  }
  constexpr HealpixRing ring_of(const HealpixPixel& pixel) const {
    return ring(pixel.corner_ring() * side() - pixel.x - pixel.y - 1);
  }
  /// Its place in that ring.
  constexpr std::int64_t place_in(const HealpixRing& ring, const HealpixPixel& pixel) const {
    const std::int64_t place = (pixel.middle() * ring.quarter + pixel.x - pixel.y + ring.shift - 1) / 2;
    return place < 0 ? place + ring.pixels() : place;
  }

  constexpr HealpixPixel nested(std::uint64_t number) const {
    const std::uint64_t within = number & ((std::uint64_t{1} << (2 * k)) - 1);
    return {.diamond = static_cast<std::int64_t>(number >> (2 * k)),
            .x = static_cast<std::int64_t>(even_bits(within)),
            .y = static_cast<std::int64_t>(even_bits(within >> 1))};
  }
  constexpr std::uint64_t nested(const HealpixPixel& pixel) const {
    return static_cast<std::uint64_t>(pixel.diamond) << (2 * k) |
           spread_bits(static_cast<std::uint64_t>(pixel.x)) |
           spread_bits(static_cast<std::uint64_t>(pixel.y)) << 1;
  }
};

}  // namespace faro::detail
