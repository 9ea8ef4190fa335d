// Parts of computed maps: what a kernel (computed_tile.hpp) is told of a formula.
//
// A part is consecutive on one side, the ordered one, and runs of the other. Between the two its elements lie
// in lines of 2^line_bits of a buffer, each of which is a run, or two whose ends meet there:
//
//     hilbert    a cube of 2^j elements a side     a line is a run along the last axis
//     healpix    a diamond of 2^j pixels a side    line c has pixels of x + y = c at x <= c, and beyond
//                                                  those of x + y = c + 2^j
//
//     j = 2      line 0   0 | 1 1 1                where a number is the x that stands there of another row
//                line 1   0 1 | 2 2
//                line 2   0 1 2 | 3
//                line 3   0 1 2 3
//
// Places within a leaf, 2^leaf_bits elements, follow from one table of a byte an element, the same for all
// leaves, and from the leaf: where it begins, and of a curve how its axes stand.
#pragma once

#include <cstdint>

#include "permutation/healpix_pixels.hpp"
#include "permutation/hilbert_cells.hpp"

namespace faro::kernels {

/// Lines of wider elements lie apart by more than themselves, so that neighbours in a leaf lie in different
/// banks.
constexpr std::uint32_t computed_pitch(int line_bits, std::uint64_t element_bytes) {
  constexpr std::uint64_t kVector = 16;
  constexpr std::uint32_t kLeast = 4;
  const std::uint32_t line = std::uint32_t{1} << line_bits;
  if (line < kVector || element_bytes > kVector) return line;
  const auto beyond = static_cast<std::uint32_t>(kVector / element_bytes);
  return line + (beyond < kLeast ? kLeast : beyond);
}

/// `kAxes`: the cube's, or 0 for any number.
template <int kAxes>
class HilbertParts {
 public:
  struct Run {
    std::uint64_t place = 0;

    constexpr std::uint64_t at(std::uint32_t x) const { return place + x; }
  };
  struct Leaf {
    std::uint32_t place = 0;   // without the pitch
    std::uint32_t fields = 0;  // of axes, the last 0: where what stands at each place goes, four bits each
    std::uint32_t flips = 0;   // the highest bit: backwards
  };

  static constexpr int most_levels(const faro::detail::HilbertCube& cube) { return cube.b; }
  static constexpr std::uint64_t parts(const faro::detail::HilbertCube& cube, int j) {
    return std::uint64_t{1} << (cube.d * (cube.b - j));
  }

  HilbertParts() = default;
  constexpr HilbertParts(const faro::detail::HilbertCube& cube, int j, std::uint64_t element_bytes)
      : cube_(cube),
        j_(j),
        l_(kMostLeafBits / cube.d < j ? kMostLeafBits / cube.d : j),
        pitch_(computed_pitch(j, element_bytes)) {}

  constexpr int part_bits() const { return axes() * j_; }
  constexpr int line_bits() const { return j_; }
  constexpr int leaf_bits() const { return axes() * l_; }
  constexpr int run_bits() const { return (axes() - 1) * j_; }
  constexpr std::uint32_t pitch() const { return pitch_; }

  constexpr std::uint32_t run_of(std::uint32_t line, std::uint32_t /*x*/) const { return line; }
  constexpr Run run(std::uint64_t part, std::uint32_t number) const {
    faro::detail::HilbertState state;
    std::uint64_t place = cube().go_down(part, {.levels = cube_.b - j_, .below = j_}, state);
    for (int a = 1; a < axes(); ++a) {
      const std::uint64_t along = number >> ((a - 1) * j_) & mask(j_);
      place |= along << (a * cube_.b);
    }
    return {place};
  }

  constexpr Leaf leaf(std::uint64_t part, std::uint32_t number) const {
    faro::detail::HilbertState state;
    cube().go_down(part, {.levels = cube_.b - j_, .below = j_}, state);
    Leaf made;
    made.place = static_cast<std::uint32_t>(
        faro::detail::HilbertCube{axes(), j_}.go_down(number, {.levels = j_ - l_, .below = l_}, state));
    if (l_ == 0) return made;
    for (int i = 0; i < axes(); ++i)
      made.fields |= static_cast<std::uint32_t>(axes() - 1 - state.axis(i)) << (4 * i);
    made.flips = static_cast<std::uint32_t>(state.flips()) | (state.backwards() ? kBackwards : 0);
    return made;
  }
  /// The order of the first state, coordinates of l bits each, the last axis's lowest.
  constexpr std::uint8_t order(std::uint32_t k) const {
    faro::detail::HilbertState state;
    return static_cast<std::uint8_t>(
        faro::detail::HilbertCube{axes(), l_}.go_down(k, {.levels = l_, .below = 0}, state));
  }
  /// Which entry of the order is that of element k.
  constexpr std::uint32_t entry(const Leaf& leaf, std::uint32_t k) const {
    return (leaf.flips & kBackwards) != 0 ? k ^ static_cast<std::uint32_t>(mask(leaf_bits())) : k;
  }
  constexpr std::uint32_t at(const Leaf& leaf, std::uint32_t order) const {
    std::uint32_t place = leaf.place;
    const auto side = static_cast<std::uint32_t>(mask(l_));
    for (int i = 0; l_ > 0 && i < axes(); ++i) {
      const std::uint32_t field = leaf.fields >> (4 * i) & 15;
      const std::uint32_t flipped = (leaf.flips >> i & 1) != 0 ? side : 0;
      const std::uint32_t coordinate = (order >> (l_ * (axes() - 1 - i)) & side) ^ flipped;
      place |= coordinate << (static_cast<std::uint32_t>(j_) * field);
    }
    return (place >> j_) * pitch_ + (place & static_cast<std::uint32_t>(mask(j_)));
  }

 private:
  static constexpr int kMostLeafBits = 8;
  static constexpr std::uint32_t kBackwards = std::uint32_t{1} << 31;

  static constexpr std::uint64_t mask(int bits) { return (std::uint64_t{1} << bits) - 1; }
  constexpr int axes() const { return kAxes == 0 ? cube_.d : kAxes; }
  constexpr faro::detail::HilbertCube cube() const { return {axes(), cube_.b}; }

  faro::detail::HilbertCube cube_;
  int j_ = 0;
  int l_ = 0;
  std::uint32_t pitch_ = 1;
};

class HealpixParts {
 public:
  struct Run {
    std::uint64_t place = 0;  // of x = 0, modulo 2^64
    std::uint32_t back = 0;   // once around the sphere
    std::uint32_t wrap = 0;   // from this x on

    constexpr std::uint64_t at(std::uint32_t x) const { return place + x - (x >= wrap ? back : 0); }
  };
  struct Leaf {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
  };

  static constexpr int most_levels(const faro::detail::HealpixSphere& sphere) { return sphere.k; }
  static constexpr std::uint64_t parts(const faro::detail::HealpixSphere& sphere, int j) {
    return faro::detail::kHealpixDiamonds << (2 * (sphere.k - j));
  }

  HealpixParts() = default;
  constexpr HealpixParts(const faro::detail::HealpixSphere& sphere, int j, std::uint64_t element_bytes)
      : sphere_(sphere),
        j_(j),
        l_(kMostLeafSideBits < j ? kMostLeafSideBits : j),
        pitch_(computed_pitch(j, element_bytes)) {}

  constexpr int part_bits() const { return 2 * j_; }
  constexpr int line_bits() const { return j_; }
  constexpr int leaf_bits() const { return 2 * l_; }
  constexpr int run_bits() const { return j_ + 1; }
  constexpr std::uint32_t pitch() const { return pitch_; }

  constexpr std::uint32_t run_of(std::uint32_t line, std::uint32_t x) const {
    return 2 * line + (x > line ? 1 : 0);
  }
  constexpr Run run(std::uint64_t part, std::uint32_t number) const {
    const std::int64_t side = std::int64_t{1} << j_;
    const std::int64_t row = (number >> 1) + (number % 2 == 0 ? 0 : side);
    if (row > 2 * side - 2) return {};  // the last line is one run
    const std::int64_t first = row < side ? 0 : row - side + 1;
    const faro::detail::HealpixPixel corner = sphere_.nested(part << (2 * j_));
    const faro::detail::HealpixPixel pixel{
        .diamond = corner.diamond, .x = corner.x + first, .y = corner.y + row - first};
    const faro::detail::HealpixRing ring = sphere_.ring_of(pixel);
    const std::int64_t place = sphere_.place_in(ring, pixel);
    const std::int64_t before_end = ring.pixels() - place;
    return {.place = static_cast<std::uint64_t>(ring.begin + place - first),
            .back = static_cast<std::uint32_t>(ring.pixels()),
            .wrap = static_cast<std::uint32_t>(first + (before_end < side ? before_end : side))};
  }

  constexpr Leaf leaf(std::uint64_t /*part*/, std::uint32_t number) const {
    return {.x = static_cast<std::uint32_t>(faro::detail::even_bits(number)) << l_,
            .y = static_cast<std::uint32_t>(faro::detail::even_bits(number >> 1)) << l_};
  }
  /// x, and four bits higher y.
  constexpr std::uint8_t order(std::uint32_t k) const {
    return static_cast<std::uint8_t>(faro::detail::even_bits(k) | faro::detail::even_bits(k >> 1)
                                                                      << kMostLeafSideBits);
  }
  constexpr std::uint32_t entry(const Leaf& /*leaf*/, std::uint32_t k) const { return k; }
  constexpr std::uint32_t at(const Leaf& leaf, std::uint32_t order) const {
    const std::uint32_t x = leaf.x + (order & 15);
    const std::uint32_t y = leaf.y + (order >> kMostLeafSideBits);
    return ((x + y) & ((std::uint32_t{1} << j_) - 1)) * pitch_ + x;
  }

 private:
  static constexpr int kMostLeafSideBits = 4;

  faro::detail::HealpixSphere sphere_;
  int j_ = 0;
  int l_ = 0;
  std::uint32_t pitch_ = 1;
};

}  // namespace faro::kernels
