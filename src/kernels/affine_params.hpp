// Parameters of the kernels for affine maps, made on the host.
#pragma once

#include <cstdint>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/layout/tile.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/permutation/affine.hpp"
#include "kernels/affine_in_place.hpp"
#include "kernels/affine_naive.hpp"
#include "kernels/affine_segments.hpp"
#include "kernels/affine_small_in_place.hpp"
#include "kernels/affine_swaps.hpp"
#include "kernels/affine_tile_blocked.hpp"

namespace faro::kernels {

// Run-time parameters of the affine kernels, made on the host from a layout::Tile and checked against a
// shape.
//
// Nothing here is in the kernels' way: a plan calls make_affine_tile_params() once and keeps the result.

/// Whether a kernel of `shape` can move `tile`: equal s and r, at most 2^40 blocks. A tile is given more rows
/// by layout::TileOptions::min_row_bits.
bool fits(const layout::Tile& tile, const AffineTileShape& shape);

/// Source places that one hardware phase touches, up to a shift: writing the input's vectors to shared
/// memory, and reading the elements of one component of the output's vectors.
struct SharedPhases {
  f2::Subspace write;
  f2::Subspace read;
};
SharedPhases shared_phases(const layout::Tile& tile, const AffineTileShape& shape,
                           const machine::MemoryGeometry& geometry = {});

/// The layout of the tile in shared memory: congestion 1 in both phases, for every map.
layout::Xor make_tile_layout(const layout::Tile& tile, const AffineTileShape& shape,
                             const machine::MemoryGeometry& geometry = {});

/// Errors: ErrorCode::unsupported where the shape is not valid or does not fit the tile, or batch x 2^n
/// elements exceed 2^63; ErrorCode::value for a batch of 0.   Cost: O(m^2) word operations, a few
/// microseconds.
AffineTileParams make_affine_tile_params(const layout::Tile& tile, const AffineTileShape& shape,
                                         std::uint64_t batch, const machine::MemoryGeometry& geometry = {});

/// The same for a layout of the caller's: right for any layout of the tile, free of conflicts if the layout
/// is.
AffineTileParams make_affine_tile_params(const layout::Tile& tile, const AffineTileShape& shape,
                                         std::uint64_t batch, const layout::Xor& layout);

/// Errors: as above, for n > 40.
AffineNaiveParams make_affine_naive_params(const Affine& map, std::uint64_t batch, int thread_bits);

// Parameters of the kernel without a tile (affine_segments.hpp), made on the host.

/// Whether the low `bits` bits of every index stay as they are, so that segments of 2^bits elements change
/// places whole. Law: holds for fewer bits, too.
bool keeps_low_bits(const Affine& map, int bits);

/// For vectors of 2^vector_bits elements of `map`.
/// Errors: ErrorCode::unsupported where the map moves elements inside a vector, an array has more than 2^48
/// vectors, or all have more than 2^63 elements; ErrorCode::value for a batch of 0.   Cost: O(n) word
/// operations.
AffineSegmentsParams make_affine_segments_params(const Affine& map, int vector_bits, std::uint64_t batch);

// Parameters of the register-blocked kernel (affine_tile_blocked.hpp), made on the host.

/// Whether the blocked kernel of `shape` can move `tile`: it fits the tile kernel, its elements are of 1 or 2
/// bytes, and enough of a vector's components leave their sector or stay within their word.
bool fits_blocked(const layout::Tile& tile, const AffineTileShape& shape,
                  const machine::MemoryGeometry& geometry = {});

/// The layout of the tile in shared memory: congestion 1 in both phases, for every map that fits.
layout::Xor make_blocked_layout(const layout::Tile& tile, const AffineTileShape& shape,
                                const machine::MemoryGeometry& geometry = {});

/// Errors: ErrorCode::unsupported where it does not fit, and as make_affine_tile_params.   Cost: a few
/// microseconds.
AffineBlockedParams make_affine_blocked_params(const layout::Tile& tile, const AffineTileShape& shape,
                                               std::uint64_t batch,
                                               const machine::MemoryGeometry& geometry = {});

// Parameters of the kernels in place, made on the host: of whole tiles (affine_in_place.hpp), of segments
// that change places (affine_swaps.hpp) and of small arrays (affine_small_in_place.hpp).

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
