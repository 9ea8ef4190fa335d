// The tile kernels in place that are compiled ahead of time, by shape: what affine_tile_index.hpp's list is
// to the kernels out of place.
//
// A block holds two tiles, each moved by a group of shape.threads() threads. Two tiles of 64 KiB would leave
// one block a multiprocessor, so these are *clustered*: two blocks, each with one group and one tile, and the
// barrier is that of their cluster. Devices without clusters take two tiles of 16 KiB instead, of half the
// segment. docs/notes/cuda-experiments.md, "In place", tells what was measured.
#pragma once

#include <cstddef>
#include <iterator>

#include "faro/kernels/affine_tile_index.hpp"
#include "kernels/affine_in_place.hpp"

namespace faro::kernels {

/// The tiles of each width, the best for large arrays first. min_blocks bounds the registers of a thread, for
/// blocks of two groups unless they are clustered; where shared memory has room for three blocks only,
/// threads get registers for more loads at a time. Plain shapes of 1 and 2 bytes serve maps that
/// fits_blocked() refuses; shapes of vector_bits 0 serve arrays that are aligned to their elements only.
inline constexpr CompiledTile kInPlaceTiles[] = {
    // width, s, r, v, threads of a group (all log2)
    {{0, 8, 8, 4, 8}, true, 3},  // 256-byte segments; these three are clustered
    {{0, 8, 8, 4, 9}, false, 3},  {{0, 8, 8, 0, 10}, false, 1},
    {{0, 7, 7, 4, 7}, true, 5},  // 128-byte segments: without clusters, and for small arrays
    {{0, 7, 7, 4, 8}, false, 3},  {{0, 7, 7, 0, 9}, false, 1},
    {{1, 7, 7, 3, 7}, true, 3},  // 256-byte segments from here on
    {{1, 7, 7, 3, 8}, false, 3},  {{1, 7, 7, 0, 9}, false, 1},
    {{2, 6, 6, 2, 6}, false, 6},  {{2, 6, 6, 0, 8}, false, 2},
    {{3, 5, 5, 1, 5}, false, 12}, {{3, 5, 5, 0, 7}, false, 6},
    {{4, 4, 4, 0, 5}, false, 16},
};
inline constexpr std::size_t kInPlaceTileCount = std::size(kInPlaceTiles);

/// Most tiles of an orbit that a block, or a cluster, holds. Four of 16 KiB still leave three blocks a
/// multiprocessor.
constexpr int most_orbit_tiles(const AffineTileShape& shape) { return is_clustered(shape) ? 2 : 4; }

}  // namespace faro::kernels
