// Every kernel of the CUDA engine: phases of faro/kernels put on the device, with the barrier between them.
//
// A template takes the index of its shape in kCompiledTiles rather than the shape, because the host stubs
// that nvcc 13 writes cannot name an argument of class type.
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "engines/cuda/kernels/device_memory.cuh"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/affine_naive.hpp"
#include "kernels/affine_segments.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using kernels::CompiledTile;
using kernels::kCompiledTileCount;
using kernels::kCompiledTiles;

constexpr int kNaiveThreads = 1 << kNaiveThreadBits;

template <int index>
using TileParams = std::conditional_t<kCompiledTiles[index].blocked, kernels::AffineBlockedParams,
                                      kernels::AffineTileParams>;

// Where a thread's vectors are is worked out while the kernel before still runs.
template <int bytes>
struct EarlyMemory : StreamedMemory<bytes> {
  __device__ EarlyMemory(const std::byte* in, std::byte* out, std::byte* shared)
      : StreamedMemory<bytes>{in, out, shared} {}
  __device__ void begin_reading() const { wait_for_kernel_before(); }
};

template <int index>
__global__ void __launch_bounds__(kCompiledTiles[index].shape.threads(),
                                  least_blocks(kCompiledTiles[index].min_blocks,
                                               kCompiledTiles[index].shape.threads()))
    move_tile(const __grid_constant__ TileParams<index> params, const std::byte* in, std::byte* out) {
  constexpr CompiledTile tile = kCompiledTiles[index];
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  EarlyMemory<tile.shape.vector_bytes()> memory(in, out, shared);
  kernels::load_tile<tile.shape>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_tile<tile.shape>(memory, params, blockIdx.x, threadIdx.x);
}

template <int element_bytes>
__global__ void __launch_bounds__(kNaiveThreads)
    move_naive(const __grid_constant__ kernels::AffineNaiveParams params, const std::byte* in,
               std::byte* out) {
  GlobalMemory memory{in, out, nullptr};
  kernels::move_element<element_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int vector_bytes>
__global__ void __launch_bounds__(kernels::kSegmentsThreads)
    move_segments(const __grid_constant__ kernels::AffineSegmentsParams params, const std::byte* in,
                  std::byte* out) {
  EarlyMemory<vector_bytes> memory(in, out, nullptr);
  kernels::move_vector<vector_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

namespace {

template <std::size_t... index>
std::array<KernelEntry, kCompiledTileCount> tile_entries(std::index_sequence<index...>) {
  return {KernelEntry{reinterpret_cast<const void*>(&move_tile<int{index}>),
                      kCompiledTiles[index].shape.threads(), kCompiledTiles[index].shape.tile_bytes(), 1,
                      true}...};
}

}  // namespace

KernelEntry tile_kernel(const CompiledTile& tile) {
  static const auto entries = tile_entries(std::make_index_sequence<kCompiledTileCount>());
  for (std::size_t i = 0; i < kCompiledTileCount; ++i) {
    if (kCompiledTiles[i] == tile) return entries[i];
  }
  return {};
}

KernelEntry naive_kernel(std::uint64_t element_bytes) {
  return faro::detail::by_unit_bytes(element_bytes, [](auto bytes) {
    return KernelEntry{reinterpret_cast<const void*>(&move_naive<bytes()>), kNaiveThreads};
  });
}

KernelEntry segments_kernel(std::uint64_t vector_bytes) {
  return faro::detail::by_unit_bytes(vector_bytes, [](auto bytes) {
    return KernelEntry{reinterpret_cast<const void*>(&move_segments<bytes()>), kernels::kSegmentsThreads, 0,
                       1, true};
  });
}

}  // namespace faro::cuda
