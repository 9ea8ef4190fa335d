// The planner for a CPU in place: few passes first, then long segments.
//
//     whole segments stay whole    the map of segment numbers is factored, with segments of one
//     else                         the map is factored for the longest segments whose tile fits; then every
//                                  factor by itself is given the longest segments that still fit
//
// A worker holds kTilesHeld tiles of the target's size: two that change places, or one of twice the size.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/affine_params.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

using f2::Subspace;
using f2::Word;
using layout::InPlaceFactor;

constexpr int kTilesHeldBits = 1;
constexpr std::uint64_t kOrbitTilesMax = 64;

// What a tile holds in place, where every line is read before it is written: as measured, more than out of
// place for 4 bytes, and for 8 half as much as for 4 (docs/notes/cpu-experiments.md).
std::uint64_t tile_bytes(const Work& work, const Target& target) {
  constexpr int kUsualBits = 2;
  if (target.in_place_tile_bytes == 0 || work.unit_bits < kUsualBits) return target.tile_bytes_max;
  return work.unit_bits == kUsualBits ? target.in_place_tile_bytes : target.in_place_tile_bytes / 2;
}

// The smallest space that holds `space` and the low s bits and that the map keeps.
Subspace kept_with_segments(const InPlaceFactor& factor, int s) {
  const int n = factor.map.bits();
  Subspace kept = f2::sum(factor.space, Subspace::low(n, s));
  for (;;) {
    Subspace grown = f2::sum(kept, f2::image(factor.map.matrix(), kept));
    if (grown == kept) return kept;
    kept = std::move(grown);
  }
}

// Plans arrays that are taken as one, all of `work`.
class Planner {
 public:
  Planner(const Work& work, const Target& target)
      : work_(work),
        target_(target),
        unit_bits_(work.unit_bits),
        vector_bits_(vector_bits(work, target)),
        tile_bits_(log2_floor(tile_bytes(work, target)) - work.unit_bits) {}

  std::vector<Pass> passes() const {
    if (work_.map.bits() < vector_bits_ ||
        work_.array_bytes() <= std::min(target_.direct_bytes_max, target_.tile_bytes_max)) {
      return {direct_pass(work_)};
    }
    std::vector<Pass> list;
    const int whole = whole_segment_bits(work_);
    for (const InPlaceFactor& factor : whole >= vector_bits_ ? factors_of_segments(whole) : factors())
      list.push_back(pass(factor));
    return list;
  }

  // For arrays that are too small for tiles: each is a tile.
  static Pass direct_pass(const Work& work) {
    Pass pass = make_pass(PassKind::direct, work.map, work.unit_bits, work.arrays,
                          std::uint64_t{1} << work.unit_bits);
    const int n = work.map.bits();
    pass.orbits = layout::make_in_place_tile({.map = work.map, .space = Subspace::low(n, n)}, 0, 0);
    pass.tile = pass.orbits->tile;
    return pass;
  }

 private:
  // The factors of a map that keeps segments of 2^whole units as they are.
  std::vector<InPlaceFactor> factors_of_segments(int whole) const {
    const int n = work_.map.bits();
    const Affine above(work_.map.matrix().block(whole, whole, n - whole, n - whole),
                       work_.map.complement() >> whole);
    std::vector<InPlaceFactor> list =
        layout::factor_in_place(above, {.segment_bits = 0,
                                        .capacity_bits = tile_bits_ + kTilesHeldBits - vector_bits_,
                                        .max_orbit_tiles = kOrbitTilesMax});
    const bool long_segments = (std::uint64_t{1} << (whole + unit_bits_)) >= target_.segment_bytes_max;
    for (InPlaceFactor& factor : list) {
      factor.map = direct_sum(Affine(whole), factor.map);
      const int rows = factor.space.dimension();
      if (rows == 0 || long_segments) {
        // Segments go around by themselves, whatever else a tile would hold.
        factor.orbit_tiles <<= rows;
        factor.space = Subspace::low(n, whole);
        continue;
      }
      Subspace space = Subspace::low(n, std::min(whole, std::max(vector_bits_, tile_bits_ - rows)));
      for (const Word direction : factor.space.basis()) space.insert(direction << whole);
      factor.space = std::move(space);
    }
    return list;
  }

  // As few as there are for the shortest segments, of the longest that take no more.
  std::vector<InPlaceFactor> factors() const {
    std::vector<InPlaceFactor> fewest = factors_with(vector_bits_);
    const int most = longest_segment_bits(work_.map, unit_bits_, vector_bits_, tile_bits_, target_);
    if (fewest.size() == 1) return fewest;
    for (int s = most; s > vector_bits_; --s) {
      std::optional<std::vector<InPlaceFactor>> longer = factors_if_any(s);
      if (longer && longer->size() <= fewest.size()) return *longer;
    }
    return fewest;
  }

  std::vector<InPlaceFactor> factors_with(int s) const {
    return layout::factor_in_place(
        work_.map,
        {.segment_bits = s, .capacity_bits = tile_bits_ + kTilesHeldBits, .max_orbit_tiles = kOrbitTilesMax});
  }

  std::optional<std::vector<InPlaceFactor>> factors_if_any(int s) const {
    try {
      return factors_with(s);
    } catch (const Error&) {
      return std::nullopt;  // the capacity holds no tiles of such segments
    }
  }

  Pass pass(InPlaceFactor factor) const {
    const int n = factor.map.bits();
    const int whole = whole_segment_bits({.map = factor.map, .unit_bits = unit_bits_, .arrays = 1});
    if (whole >= vector_bits_ && Subspace::low(n, whole).contains(factor.space)) {
      factor.space = Subspace::low(n, whole);
      return pass_of_tiles(PassKind::segments, factor, whole);
    }
    // Its own longest segments.
    const int most = std::min(n, log2_floor(target_.segment_bytes_max) - unit_bits_);
    int s = vector_bits_;
    for (; s < most; ++s) {
      Subspace longer = kept_with_segments(factor, s + 1);
      if (longer.dimension() > std::max(tile_bits_, factor.space.dimension())) break;
      factor.space = std::move(longer);
    }
    while (s < most && factor.space.contains(Subspace::low(n, s + 1))) ++s;
    return pass_of_tiles(PassKind::tile, factor, s);
  }

  Pass pass_of_tiles(PassKind kind, const InPlaceFactor& factor, int s) const {
    Pass pass = make_pass(kind, factor.map, unit_bits_, work_.arrays, std::uint64_t{1} << (s + unit_bits_));
    const int near = near_bits(factor.map, unit_bits_, s, target_);
    pass.orbits = layout::make_in_place_tile(factor, s, 0, near);
    pass.tile = pass.orbits->tile;
    return pass;
  }

  const Work& work_;
  const Target& target_;
  int unit_bits_;
  int vector_bits_;
  int tile_bits_;
};

}  // namespace

Planned plan_in_place_for_cpu(const Work& work, const Target& target) {
  if (work.map.is_identity()) return {};
  Planned planned;
  planned.folded_batch_bits = batch_bits_to_fold(work, target);
  const Affine map = direct_sum(work.map, Affine(planned.folded_batch_bits));
  const Work folded{
      .map = map, .unit_bits = work.unit_bits, .arrays = work.arrays >> planned.folded_batch_bits};
  planned.passes = Planner(folded, target).passes();
  const std::uint64_t rest = work.arrays - (folded.arrays << planned.folded_batch_bits);
  if (rest != 0) {
    const Work left{.map = work.map, .unit_bits = work.unit_bits, .arrays = rest};
    planned.passes.push_back(Planner::direct_pass(left));
    planned.passes.back().offset = (work.arrays - rest) * work.array_bytes();
  }
  return planned;
}

}  // namespace faro::detail
