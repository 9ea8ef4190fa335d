// The kernels in place: phases of faro/kernels put on the device, with the barrier between them.
//
// Input and output are one array. What a block reads is read by its own threads only, and all of it before
// its barrier, so the caches' hints for streamed data stay right.
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "engines/cuda/kernels/device_memory.cuh"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/affine_in_place.hpp"
#include "kernels/affine_small_in_place.hpp"
#include "kernels/affine_swaps.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using kernels::CompiledTile;
using kernels::kInPlaceTileCount;
using kernels::kInPlaceTiles;

template <int index>
using TileInPlaceParams = std::conditional_t<kInPlaceTiles[index].blocked, kernels::BlockedInPlaceParams,
                                             kernels::AffineInPlaceParams>;

// Waits until all threads of all blocks of the cluster have put what they read into shared memory.
//
// What the other blocks may overwrite from then on has been read, since a value that is stored has come; and
// nobody looks into another's shared memory. So there is nothing for the cluster's barrier to publish, and it
// is relaxed: one that releases compiles to a fence, with which every warp waits for all stores of its
// multiprocessor, those of other tiles.
__device__ inline void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  __syncthreads();
  asm volatile(
      "barrier.cluster.arrive.relaxed.aligned;\n\t"
      "barrier.cluster.wait.aligned;"
      :
      :
      : "memory");
#else
  __trap();  // such devices have no clusters, and are given no such kernel
#endif
}

template <int index>
constexpr int block_threads() {
  constexpr kernels::AffineTileShape shape = kInPlaceTiles[index].shape;
  return kernels::is_clustered(shape) ? shape.threads() : shape.threads() * kernels::kMostOrbitGroups;
}

// With whole vectors the second-level cache keeps longest what was read: it is what will be written next.
// Tiles of 2-byte elements, which measured better without that, do not take it.
template <int bytes>
struct OrbitMemory : StreamedMemory<bytes> {
  __device__ OrbitMemory(const std::byte* in, std::byte* out, std::byte* tile)
      : StreamedMemory<bytes>{in, out, tile} {}
};
template <>
struct OrbitMemory<16> : SectorMemory {
  __device__ OrbitMemory(const std::byte* in, std::byte* out, std::byte* tile) : SectorMemory(in, out, tile) {
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(load_policy));
  }
};

template <int index>
__global__ void __launch_bounds__(block_threads<index>(),
                                  least_blocks(kInPlaceTiles[index].min_blocks, block_threads<index>()))
    move_orbits(const __grid_constant__ TileInPlaceParams<index> params, std::byte* data) {
  constexpr CompiledTile tile = kInPlaceTiles[index];
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  constexpr int vector_bytes = tile.shape.vector_bytes();
  using Memory =
      std::conditional_t<tile.shape.width_bits == 1, StreamedMemory<vector_bytes>, OrbitMemory<vector_bytes>>;
  Memory memory{data, data, shared};
  const kernels::OwnTiles own = kernels::own_tiles<tile.shape>(params.orbits, blockIdx.x, threadIdx.x);
  kernels::load_orbit<tile.shape>(memory, params, own, threadIdx.x);
  if constexpr (kernels::is_clustered(tile.shape)) {
    wait_for_cluster();
  } else {
    __syncthreads();
  }
  kernels::store_orbit<tile.shape>(memory, params, own, threadIdx.x);
}

template <int vector_bytes>
__global__ void __launch_bounds__(kernels::kSwapThreads)
    swap_vectors(const __grid_constant__ kernels::AffineSwapParams params, std::byte* data) {
  OrbitMemory<vector_bytes> memory{data, data, nullptr};
  kernels::swap_vectors<vector_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int element_bytes>
__global__ void __launch_bounds__(kernels::kSmallThreads)
    move_small(const __grid_constant__ kernels::AffineSmallParams params, std::byte* data) {
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  GlobalMemory memory{data, data, shared};
  kernels::load_small<element_bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_small<element_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

namespace {

// nvcc does not expand the name of a kernel itself as a pack.
template <std::size_t index>
const void* tile_kernel() {
  return reinterpret_cast<const void*>(&move_orbits<static_cast<int>(index)>);
}

template <std::size_t... index>
std::array<const void*, kInPlaceTileCount> tile_kernels(std::index_sequence<index...>) {
  return {tile_kernel<index>()...};
}

}  // namespace

const void* in_place_tile_kernel(const CompiledTile& tile) {
  static const auto functions = tile_kernels(std::make_index_sequence<kInPlaceTileCount>());
  for (std::size_t i = 0; i < kInPlaceTileCount; ++i) {
    if (kInPlaceTiles[i] == tile) return functions[i];
  }
  return nullptr;
}

const void* swap_kernel(std::uint64_t vector_bytes) {
  return faro::detail::by_unit_bytes(
      vector_bytes, [](auto bytes) { return reinterpret_cast<const void*>(&swap_vectors<bytes()>); });
}

const void* small_kernel(std::uint64_t element_bytes) {
  return faro::detail::by_unit_bytes(
      element_bytes, [](auto bytes) { return reinterpret_cast<const void*>(&move_small<bytes()>); });
}

}  // namespace faro::cuda
