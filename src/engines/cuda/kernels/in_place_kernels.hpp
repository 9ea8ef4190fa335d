// The kernels in place that are compiled ahead of time, as addresses that cudaLaunchKernel takes. No CUDA
// header is needed.
//
//     tile of kInPlaceTiles  --->  load the orbit's tiles | barrier | store them
//     swap                   --->  pairs of vectors change places, no shared memory
//     small                  --->  whole arrays through shared memory, an element at a time
//
// Each takes (params by value, std::byte* data); one-dimensional grids, blockIdx.x being the block number of
// the phases. detail::in_place_launches() says which grids, and makes the params.
#pragma once

#include <cstdint>

#include "kernels/in_place_tiles.hpp"

namespace faro::cuda {

/// Its params are kernels::BlockedInPlaceParams where the tile is blocked, else kernels::AffineInPlaceParams;
/// the grid is kernels::orbit_launch(). Requires: an entry of kernels::kInPlaceTiles; else null.
const void* in_place_tile_kernel(const kernels::CompiledTile& tile);

/// Params: kernels::AffineSwapParams. Requires: 1, 2, 4, 8 or 16 bytes; else null.
const void* swap_kernel(std::uint64_t vector_bytes);

/// Params: kernels::AffineSmallParams, which say how much shared memory. Requirement as for swap_kernel().
const void* small_kernel(std::uint64_t element_bytes);

}  // namespace faro::cuda
