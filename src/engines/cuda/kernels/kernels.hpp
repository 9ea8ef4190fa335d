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
  int cluster_blocks = 1;                     // blocks of a cluster
  int carveout_percent = kFunctionsCarveout;  // for shared memory, of this launch
};

/// Its params are kernels::AffineBlockedParams where the tile is blocked, else kernels::AffineTileParams.
/// Requires: an entry of kernels::kCompiledTiles; else the function is null.
KernelEntry tile_kernel(const kernels::CompiledTile& tile);

/// Params: kernels::AffineNaiveParams with thread_bits = kNaiveThreadBits. Requires: 1, 2, 4, 8 or 16 bytes;
/// else the function is null.
KernelEntry naive_kernel(std::uint64_t element_bytes);

/// Params: kernels::AffineSegmentsParams. Requirement as for naive_kernel().
KernelEntry segments_kernel(std::uint64_t vector_bytes);

}  // namespace faro::cuda
