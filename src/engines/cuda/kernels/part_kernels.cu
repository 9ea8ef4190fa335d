// The tile kernels and the kernel of whole vectors, with an output in several arrays. Arrays of other devices
// are written over the links, so what is stored is not told to leave a cache first: it is another's.
#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "engines/cuda/kernels/device_memory.cuh"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/affine_segments.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using kernels::CompiledTile;
using kernels::few_groups;
using kernels::few_shared_bytes;
using kernels::kCompiledTileCount;
using kernels::kCompiledTiles;
using kernels::PartArrays;

template <int bytes>
struct PartMemory : StreamedMemory<bytes> {
  const PartArrays& arrays;

  __device__ PartMemory(const std::byte* in, std::byte* shared, const PartArrays& to)
      : StreamedMemory<bytes>{in, nullptr, shared}, arrays(to) {}

  template <int stored>
  __device__ void store_global(int /*buffer*/, std::uint64_t offset,
                               const device::Packet<stored>& packet) const {
    using Word = typename Machine<stored>::Word;
    std::byte* const base = arrays.array[offset >> arrays.array_bytes_bits];
    __stcs(reinterpret_cast<Word*>(base + offset), std::bit_cast<Word>(packet));
  }
};

template <int index>
using PartTileParams = std::conditional_t<kCompiledTiles[index].blocked, kernels::AffineBlockedParams,
                                          kernels::AffineTileParams>;

template <int index>
__global__ void __launch_bounds__(kCompiledTiles[index].shape.threads(),
                                  least_blocks(kCompiledTiles[index].min_blocks,
                                               kCompiledTiles[index].shape.threads()))
    move_part(const __grid_constant__ PartTileParams<index> params, const __grid_constant__ PartArrays arrays,
              std::uint64_t first_block, const std::byte* in) {
  constexpr CompiledTile tile = kCompiledTiles[index];
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  PartMemory<tile.shape.vector_bytes()> memory(in, shared, arrays);
  const std::uint64_t block = first_block + blockIdx.x;
  kernels::load_tile<tile.shape>(memory, params, block, threadIdx.x);
  __syncthreads();
  kernels::store_tile<tile.shape>(memory, params, block, threadIdx.x);
}

// The same on few multiprocessors, a block on each that leaves no room for another: kernels of the links find
// the others free. Groups of a tile's threads take turns, each with a tile and a barrier of its own.
template <int index>
__global__ void __launch_bounds__(kCompiledTiles[index].shape.threads() * few_groups(kCompiledTiles[index]),
                                  1)
    move_part_on_few(const __grid_constant__ PartTileParams<index> params,
                     const __grid_constant__ PartArrays arrays, std::uint64_t first_block,
                     std::uint64_t end_block, const std::byte* in) {
  constexpr CompiledTile tile = kCompiledTiles[index];
  constexpr unsigned threads = tile.shape.threads();
  constexpr unsigned groups = few_groups(tile);
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  const unsigned group = threadIdx.x / threads;
  const unsigned thread = threadIdx.x % threads;
  const auto barrier = [group] {
    asm volatile("bar.sync %0, %1;" : : "r"(group + 1), "n"(threads) : "memory");
  };
  PartMemory<tile.shape.vector_bytes()> memory(in, shared + std::size_t{group} * tile.shape.tile_bytes(),
                                               arrays);
  for (std::uint64_t block = first_block + std::uint64_t{blockIdx.x} * groups + group; block < end_block;
       block += std::uint64_t{gridDim.x} * groups) {
    kernels::load_tile<tile.shape>(memory, params, block, thread);
    barrier();
    kernels::store_tile<tile.shape>(memory, params, block, thread);
    barrier();
  }
}

template <int vector_bytes>
__global__ void __launch_bounds__(kernels::kSegmentsThreads)
    move_part_vectors(const __grid_constant__ kernels::AffineSegmentsParams params,
                      const __grid_constant__ PartArrays arrays, std::uint64_t first_block,
                      const std::byte* in) {
  PartMemory<vector_bytes> memory(in, nullptr, arrays);
  kernels::move_vector<vector_bytes>(memory, params, first_block + blockIdx.x, threadIdx.x);
}

namespace {

template <int index, bool on_few>
KernelEntry entry_of_part() {
  constexpr CompiledTile tile = kCompiledTiles[index];
  if constexpr (!kernels::moves_parts(tile)) {
    return {};
  } else if constexpr (on_few) {
    return {reinterpret_cast<const void*>(&move_part_on_few<index>), tile.shape.threads() * few_groups(tile),
            few_shared_bytes(tile)};
  } else {
    return {reinterpret_cast<const void*>(&move_part<index>), tile.shape.threads(), tile.shape.tile_bytes()};
  }
}

template <bool on_few, std::size_t... index>
KernelEntry find_part(const CompiledTile& tile, std::index_sequence<index...>) {
  KernelEntry found;
  static_cast<void>(
      ((kCompiledTiles[index] == tile ? (found = entry_of_part<int{index}, on_few>(), true) : false) || ...));
  return found;
}

}  // namespace

KernelEntry part_tile_kernel(const CompiledTile& tile) {
  return find_part<false>(tile, std::make_index_sequence<kCompiledTileCount>());
}

KernelEntry part_tile_kernel_on_few(const CompiledTile& tile) {
  return find_part<true>(tile, std::make_index_sequence<kCompiledTileCount>());
}

KernelEntry part_vectors_kernel(std::uint64_t vector_bytes) {
  return faro::detail::by_unit_bytes(vector_bytes, [](auto bytes) {
    return KernelEntry{reinterpret_cast<const void*>(&move_part_vectors<bytes()>), kernels::kSegmentsThreads};
  });
}

}  // namespace faro::cuda
