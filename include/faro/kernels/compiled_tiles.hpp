// The tile kernels that are compiled ahead of time, by shape.
//
// One list serves three readers, so they cannot disagree: the CUDA engine instantiates its __global__
// functions from it, the planner chooses from it, and the prediction runs its entries on the counting memory.
// docs/notes/cuda-experiments.md tells how the shapes were found.
//
// Which of them a device prefers is a Target's business (engines/cuda/host/device_table.hpp); that all of
// them are right on every device is the tests'.
#pragma once

#include <cstddef>
#include <iterator>

#include "faro/kernels/affine_tile_index.hpp"

namespace faro::kernels {

struct CompiledTile {
  AffineTileShape shape;
  bool blocked = false;  // store phase blocked in registers (affine_tile_blocked.hpp)
  int min_blocks = 1;    // a multiprocessor; bounds the registers of a thread

  friend constexpr bool operator==(const CompiledTile&, const CompiledTile&) = default;
};

/// Of each width, the best for large arrays first. Shapes of vector_bits 0 serve arrays that are aligned to
/// their elements only; the plain shapes of 1 and 2 bytes serve maps that fits_blocked() refuses.
inline constexpr CompiledTile kCompiledTiles[] = {
    // width, s, r, v, threads (all log2)
    {{0, 8, 8, 4, 8}, true, 4},  // 256-byte segments, as in all but the last
    {{0, 8, 8, 4, 9}, false, 3},  {{0, 7, 7, 0, 10}, false, 2}, {{1, 7, 7, 3, 8}, true, 6},
    {{1, 7, 7, 3, 8}, false, 6},  {{1, 7, 7, 0, 10}, false, 2}, {{2, 6, 6, 2, 7}, false, 10},
    {{2, 6, 6, 0, 9}, false, 4},  {{3, 5, 5, 1, 7}, false, 16}, {{3, 5, 5, 0, 8}, false, 8},
    {{4, 4, 4, 0, 7}, false, 16}, {{0, 6, 6, 4, 6}, true, 16},  // small tiles, for small arrays
    {{1, 5, 5, 3, 6}, true, 16},  {{2, 5, 5, 2, 7}, false, 16},
};
inline constexpr std::size_t kCompiledTileCount = std::size(kCompiledTiles);

}  // namespace faro::kernels
