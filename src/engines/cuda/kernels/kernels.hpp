// The kernels that are compiled ahead of time, as addresses that cudaLaunchKernel takes. No CUDA header is
// needed.
//
//     tile of kCompiledTiles  --->  load phase | barrier | store phase     one tile a block
//     segments                --->  one vector a thread, no shared memory       kinds segments and direct
//     naive                   --->  one element a thread                      the floor of measurements
//
// Each takes (params by value, const std::byte* in, std::byte* out); one-dimensional grids, blockIdx.x being
// the block number of the phases.
#pragma once

#include <cstdint>

#include "faro/kernels/affine_tile_index.hpp"
#include "kernels/cyclic_in_place.hpp"
#include "kernels/in_place_tiles.hpp"
#include "kernels/part_arrays.hpp"

namespace faro::cuda {

/// Threads of a block of the naive kernels, log2.
inline constexpr int kNaiveThreadBits = 8;

/// Most blocks of a one-dimensional grid.
inline constexpr std::uint64_t kMaxGridBlocks = (std::uint64_t{1} << 31) - 1;

inline constexpr int kFunctionsCarveout = -1;

/// A kernel and how it is launched, but for its grid (kernel_launch.hpp).
struct KernelEntry {
  const void* function = nullptr;
  int threads = 0;                            // a block
  int shared_bytes = 0;                       // a block, dynamic
  std::int16_t cluster_blocks = 1;            // blocks of a cluster
  bool early = false;                         // whether it may begin while the kernel before ends
  int carveout_percent = kFunctionsCarveout;  // for shared memory, of this launch
};

/// Its params are kernels::AffineBlockedParams where the tile is blocked, else kernels::AffineTileParams.
/// Requires: an entry of kernels::kCompiledTiles; else the function is null.
KernelEntry tile_kernel(const kernels::CompiledTile& tile);

/// Params: kernels::AffineNaiveParams with thread_bits = kNaiveThreadBits. Requires: 1, 2, 4, 8 or 16 bytes
/// (checked).
KernelEntry naive_kernel(std::uint64_t element_bytes);

/// Params: kernels::AffineSegmentsParams. Requirement as for naive_kernel().
KernelEntry segments_kernel(std::uint64_t vector_bytes);

// The kernels in place that are compiled ahead of time, as addresses that cudaLaunchKernel takes. No CUDA
// header is needed.
//
//     tile of kInPlaceTiles  --->  load the orbit's tiles | barrier | store them
//     swap                   --->  pairs of vectors change places, no shared memory
//     small                  --->  whole arrays through shared memory, an element at a time
//
// Each takes (params by value, std::byte* data); one-dimensional grids, blockIdx.x being the block number of
// the phases. detail::in_place_launches() says which grids, and makes the params.

/// Its params are kernels::BlockedInPlaceParams where the tile is blocked, else kernels::AffineInPlaceParams;
/// the grid is kernels::orbit_launch(). Requires: an entry of kernels::kInPlaceTiles; else null.
const void* in_place_tile_kernel(const kernels::CompiledTile& tile);

/// Params: kernels::AffineSwapParams. Requires: 1, 2, 4, 8 or 16 bytes (checked).
const void* swap_kernel(std::uint64_t vector_bytes);

/// Params: kernels::AffineSmallParams, which say how much shared memory. Requirement as for swap_kernel().
const void* small_kernel(std::uint64_t element_bytes);

/// In place, by exchanges (kernels/cyclic_in_place.hpp, kernels/squares_in_place.hpp): params by value,
/// std::byte* data, which is the address aligned to 16 bytes (of squares 32) at or before the array. Params:
/// those that the headers name. Requirement as for swap_kernel(); chunks are never moved in order.
const void* reversal_kernel(int unit_bytes, kernels::MovedElements as);
const void* whole_cyclic_kernel(int unit_bytes, kernels::MovedElements as);
const void* squares_kernel(int unit_bytes, bool several_units);

// The kernels of a part whose output lies in several arrays (plan/gpu/part_pass.hpp). No CUDA header is
// needed.

/// Params of all: those of the pass, kernels::PartArrays, std::uint64_t first_block, const std::byte* in. The
/// functions are null for what is not compiled.
KernelEntry part_tile_kernel(const kernels::CompiledTile& tile);
/// A block on a multiprocessor, as many as the grid has; params: those of the pass, kernels::PartArrays,
/// std::uint64_t first_block, std::uint64_t end_block, const std::byte* in.
KernelEntry part_tile_kernel_on_few(const kernels::CompiledTile& tile);
KernelEntry part_vectors_kernel(std::uint64_t vector_bytes);

}  // namespace faro::cuda
