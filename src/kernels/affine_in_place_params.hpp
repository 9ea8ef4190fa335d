// Parameters of the kernels in place, made on the host: of whole tiles (affine_in_place.hpp), of segments
// that change places (affine_swaps.hpp) and of small arrays (affine_small_in_place.hpp).
#pragma once

#include <cstdint>

#include "faro/layout/tile.hpp"
#include "faro/machine/access_counts.hpp"
#include "kernels/affine_in_place.hpp"
#include "kernels/affine_small_in_place.hpp"
#include "kernels/affine_swaps.hpp"

namespace faro::kernels {

/// A tile whose blocks are numbered so that owned_orbit() finds its way.
struct OrderedTile {
  layout::Tile tile;
  f2::Word origin = 0;  // where block 0 begins: XORed onto tile.block_source(b)
  BlockOrbits orbits = {};
};

/// Law: tile b of the result is the tile that `in_place` has at the same place, and is written where tile
/// next_block(b) of the result is read.
/// Errors: ErrorCode::value for a batch of 0; ErrorCode::unsupported for more than 2^40 blocks an array, or
/// more than 2^63 elements.   Cost: O(n^2) word operations.
OrderedTile order_orbits(const layout::InPlaceTile& in_place, std::uint64_t batch);

/// Errors: as order_orbits and make_affine_tile_params.
AffineInPlaceParams make_affine_in_place_params(const layout::InPlaceTile& in_place,
                                                const AffineTileShape& shape, std::uint64_t batch,
                                                const machine::MemoryGeometry& geometry = {});

/// Errors: as order_orbits and make_affine_blocked_params.
BlockedInPlaceParams make_blocked_in_place_params(const layout::InPlaceTile& in_place,
                                                  const AffineTileShape& shape, std::uint64_t batch,
                                                  const machine::MemoryGeometry& geometry = {});

/// Whether `map` is its own inverse and moves no element of a segment of 2^segment_bits elements against
/// another, but for a constant of the segment.
bool swaps_segments(const Affine& map, int segment_bits);

/// Requires: in_place has no rows; vector_bits at most its segment_bits (checked).
/// Errors: ErrorCode::unsupported for a map of which swaps_segments() says no, and as order_orbits.
AffineSwapParams make_affine_swap_params(const layout::InPlaceTile& in_place, const Affine& map,
                                         int width_bits, int vector_bits, std::uint64_t batch);

/// Blocks hold as many arrays as make 2^block_bits elements, or one.
/// Errors: ErrorCode::unsupported for arrays of more than 2^kSmallIndexBits elements; ErrorCode::value for a
/// batch of 0.
AffineSmallParams make_affine_small_params(const Affine& map, int width_bits, int block_bits,
                                           std::uint64_t batch);

}  // namespace faro::kernels
