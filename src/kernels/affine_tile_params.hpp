// Run-time parameters of the affine kernels, made on the host from a layout::Tile and checked against a
// shape.
//
// Nothing here is in the kernels' way: a plan calls make_affine_tile_params() once and keeps the result.
#pragma once

#include <cstdint>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/layout/tile.hpp"
#include "kernels/affine_naive.hpp"

namespace faro::kernels {

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

}  // namespace faro::kernels
