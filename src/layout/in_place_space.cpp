#include "layout/in_place_space.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace faro::layout::detail {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// U + Im(B + I) of a map in homogeneous coordinates: with the hull of all x ^ map(x).
Subspace with_moved(Subspace space, const Affine& power) {
  space.insert(power.complement());
  for (int j = 0; j < power.bits() && space.dimension() < power.bits(); ++j) {
    space.insert(power.matrix().column(j) ^ f2::unit(j));
  }
  return space;
}

bool moves_within(const Affine& power, const Subspace& space) {
  if (!space.contains(power.complement())) return false;
  for (int j = 0; j < power.bits(); ++j) {
    if (!space.contains(power.matrix().column(j) ^ f2::unit(j))) return false;
  }
  return true;
}

// ceil(x / 2^k) for x >= 1.
std::uint64_t shifted_up(std::uint64_t x, int k) { return ((x - 1) >> k) + 1; }

// Fewer elements an orbit, 2^dim times its tiles; among equals the smaller space.
bool holds_less(const InPlaceFactor& f, const InPlaceFactor& g) {
  const int larger = f.space.dimension() - g.space.dimension();
  if (larger >= 0) return f.orbit_tiles < shifted_up(g.orbit_tiles, larger);
  return shifted_up(f.orbit_tiles, -larger) <= g.orbit_tiles;
}

}  // namespace

Subspace kept_space(const Matrix& a, const Subspace& seed) {
  Subspace space = seed;
  std::vector<Word> fresh(seed.basis().begin(), seed.basis().end());
  while (!fresh.empty()) {
    const Word moved = a * fresh.back();
    fresh.pop_back();
    if (space.insert(moved)) fresh.push_back(moved);
  }
  return space;
}

std::optional<std::uint64_t> longest_orbit(const Affine& map, const Subspace& space, std::uint64_t most) {
  Affine power = map;
  for (std::uint64_t k = 1; k <= most; ++k) {
    if (moves_within(power, space)) return k;
    power = compose(map, power);
  }
  return std::nullopt;
}

InPlaceFactor smallest_space(const Affine& map, const InPlaceOptions& options) {
  const Subspace least = kept_space(map.matrix(), Subspace::low(map.bits(), options.segment_bits));
  std::optional<InPlaceFactor> best;
  std::vector<Subspace> tried;
  Affine power = map;
  for (std::uint64_t k = 1; k <= options.max_orbit_tiles; ++k) {
    // Orbits of a space that no divisor of k has given are of exactly k: were they of j < k, the space would
    // hold Im(B^j + I), which Im(B^k + I) is part of, and be that of j.
    Subspace space = with_moved(least, power);
    if (std::find(tried.begin(), tried.end(), space) == tried.end()) {
      InPlaceFactor candidate{.map = map, .space = space, .orbit_tiles = k};
      const bool same_fit = best && fits(candidate, options) == fits(*best, options);
      if (!best || (same_fit ? holds_less(candidate, *best) : fits(candidate, options))) {
        best = std::move(candidate);
      }
      tried.push_back(std::move(space));
      if (tried.back() == least) break;
    }
    power = compose(map, power);
  }
  return *best;
}

int held_bits(const InPlaceFactor& factor) {
  return factor.space.dimension() + static_cast<int>(std::bit_width(factor.orbit_tiles - 1));
}

bool fits(const InPlaceFactor& factor, const InPlaceOptions& options) {
  return held_bits(factor) <= options.capacity_bits && factor.space.dimension() <= options.tile_bits_max &&
         factor.orbit_tiles <= options.max_orbit_tiles;
}

}  // namespace faro::layout::detail
