#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "layout/in_place_space.hpp"

namespace faro::layout {
namespace {

using Factors = std::vector<InPlaceFactor>;
void check(const Affine& map, const InPlaceOptions& options) {
  if (map.bits() >= f2::kMaxDimension) {
    fail(ErrorCode::unsupported, "factor in place", std::to_string(map.bits()) + " index bits", "at most 63");
  }
  if (options.segment_bits < 0 || options.segment_bits > map.bits()) {
    fail(ErrorCode::value, "factor in place",
         "segments of 2^" + std::to_string(options.segment_bits) + " elements",
         "0 to " + std::to_string(map.bits()) + " bits, those of the map");
  }
  if (options.max_orbit_tiles == 0)
    fail(ErrorCode::value, "factor in place", "orbits of no tiles", "at least 1");
}

bool all_fit(const Factors& factors, const InPlaceOptions& options) {
  return std::all_of(factors.begin(), factors.end(),
                     [&](const InPlaceFactor& factor) { return detail::fits(factor, options); });
}

// The elements that a block must be able to hold, as a number of bits.
int most_held(const Factors& factors) {
  int most = 0;
  for (const InPlaceFactor& factor : factors) most = std::max(most, detail::held_bits(factor));
  return most;
}

}  // namespace

std::vector<InPlaceFactor> factor_in_place(const Affine& map, const InPlaceOptions& options) {
  check(map, options);
  if (map.is_identity()) return {};
  if (InPlaceFactor whole = detail::smallest_space(map, options); detail::fits(whole, options)) {
    return {std::move(whole)};
  }

  const int s = options.segment_bits;
  const int tile_bits = std::min(options.capacity_bits, options.tile_bits_max);
  const int unfixed = detail::unfixed_dimensions(map, s);
  const int least = unfixed == 0 ? s : s + 1;
  if (tile_bits < least) {
    fail(ErrorCode::unsupported, "factor in place",
         "room for 2^" + std::to_string(std::max(tile_bits, 0)) + " elements a block, with segments of 2^" +
             std::to_string(s),
         "room for at least 2^" + std::to_string(least), "use shorter segments");
  }
  const int rows = tile_bits - s;
  const auto single = [&] { return detail::factor_in_single_tiles(map, s, rows); };
  if (options.max_orbit_tiles == 1) return single();
  Factors two = detail::factor_in_two(map, s);
  const bool two_fit = all_fit(two, options);
  // Single tiles take ceil(unfixed / rows) factors: more than two are never the choice.
  if (two_fit && unfixed > 2 * rows) return two;
  Factors others = single();
  return two_fit && most_held(two) <= most_held(others) ? two : others;
}

namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// The smallest spaces above `space` that the map keeps and that need `room` dimensions at most, tried nearest
// in memory first: with a unit vector, then with a vector that the map moves within `space`, of which there
// is one whenever orbits are of 1 or 2.
Subspace padded_once(const Matrix& a, const Subspace& space, int room) {
  const int n = space.ambient_dimension();
  const auto with = [&](Word v) {
    Subspace seed = space;
    seed.insert(v);
    return detail::kept_space(a, seed);
  };
  const auto suits = [&](const Subspace& larger) {
    return larger.dimension() > space.dimension() && larger.dimension() <= space.dimension() + room;
  };
  for (int i = 0; i < n; ++i) {
    if (space.contains(f2::unit(i))) continue;
    if (Subspace larger = with(f2::unit(i)); suits(larger)) return larger;
  }
  // Solutions of a v = v modulo `space`: the kernel of (a + I) followed by reduction.
  Matrix moved = Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) moved.set_column(j, space.reduce(a.column(j) ^ f2::unit(j)));
  const std::vector<Word> kernel = moved.kernel();
  const Subspace stays = Subspace::span(n, kernel);
  for (const Word v : stays.basis()) {
    if (Subspace larger = with(v); suits(larger)) return larger;
  }
  return space;
}

Subspace padded(const Matrix& a, Subspace space, int dimension) {
  while (space.dimension() < dimension) {
    Subspace larger = padded_once(a, space, dimension - space.dimension());
    if (larger.dimension() == space.dimension()) break;
    space = std::move(larger);
  }
  return space;
}

// x modulo the tile, as block bits: the inverse of (tile's directions | block sources).
Matrix block_coordinates(const Subspace& space, const Tile& tile) {
  std::vector<Word> basis(space.basis().begin(), space.basis().end());
  basis.insert(basis.end(), tile.block_sources.begin(), tile.block_sources.end());
  const auto inverse = Matrix::from_columns(tile.index_bits, basis).inverse();
  FARO_CHECK(inverse.has_value());
  return inverse->block(space.dimension(), 0, tile.block_bits(), tile.index_bits);
}

}  // namespace

f2::Word InPlaceTile::next(f2::Word block) const { return next_matrix * block ^ next_complement; }

InPlaceTile make_in_place_tile(const InPlaceFactor& factor, int segment_bits, int min_row_bits,
                               int near_bits) {
  const Matrix& a = factor.map.matrix();
  const int n = factor.map.bits();
  FARO_CHECK(segment_bits >= 0 && segment_bits <= n && factor.space.ambient_dimension() == n);
  FARO_CHECK(factor.space.contains(Subspace::low(n, segment_bits)));
  FARO_CHECK(f2::image(a, factor.space) == factor.space);
  const Subspace space = padded(a, factor.space, std::min(n, segment_bits + min_row_bits));

  InPlaceTile result;
  result.tile = make_tile(factor.map, {.segment_bits = segment_bits,
                                       .near_bits = near_bits,
                                       .directions = {space.basis().begin(), space.basis().end()}});
  FARO_CHECK(result.tile.tile_bits() == space.dimension());
  FARO_CHECK(result.tile.source_rows == result.tile.target_rows);
  const auto orbit = detail::longest_orbit(factor.map, space, factor.orbit_tiles);
  FARO_CHECK(orbit.has_value());
  result.orbit_tiles = *orbit;

  const Matrix coordinates = block_coordinates(space, result.tile);
  result.next_matrix = Matrix::zero(result.tile.block_bits(), result.tile.block_bits());
  for (int j = 0; j < result.tile.block_bits(); ++j) {
    result.next_matrix.set_column(j, coordinates * result.tile.block_targets[static_cast<std::size_t>(j)]);
  }
  result.next_complement = coordinates * factor.map.complement();
  return result;
}

}  // namespace faro::layout
