#include <algorithm>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "layout/in_place_one_tile.hpp"
#include "layout/in_place_space.hpp"
#include "layout/in_place_two_passes.hpp"

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
  // Of single tiles ceil(unfixed / rows) factors: more than two are never the choice.
  if (two_fit && unfixed > 2 * rows) return two;
  Factors others = single();
  return two_fit && most_held(two) <= most_held(others) ? two : others;
}

}  // namespace faro::layout
