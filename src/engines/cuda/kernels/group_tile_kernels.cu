// Tiles of groups, one kernel a tile: parameters of all arrays, or of a launch's equal ones.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "kernels/group.hpp"

namespace faro::cuda {

using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

template <int index>
using TileParams = std::conditional_t<kernels::kCompiledTiles[index].blocked, kernels::AffineBlockedParams,
                                      kernels::AffineTileParams>;

template <int index>
__device__ void move_group_tile(const GroupTable& table, const TileParams<index>& map, const GroupBlock& of) {
  constexpr kernels::CompiledTile tile = kernels::kCompiledTiles[index];
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  StreamedMemory<tile.shape.vector_bytes()> memory{table.in(of), table.out(of), shared};
  kernels::load_tile<tile.shape>(memory, map, of.block, threadIdx.x);
  __syncthreads();
  kernels::store_tile<tile.shape>(memory, map, of.block, threadIdx.x);
}

template <int index>
__global__ void __launch_bounds__(kernels::kCompiledTiles[index].shape.threads(),
                                  least_blocks(kernels::kCompiledTiles[index].min_blocks,
                                               kernels::kCompiledTiles[index].shape.threads()))
    move_listed_tiles(const GroupTable table, const std::byte* __restrict__ params,
                      const GroupBlock* __restrict__ blocks) {
  const GroupTurn turn;
  const GroupBlock of = blocks[blockIdx.x];
  move_group_tile<index>(table, kernels::group_params<TileParams<index>>(params, of), of);
}

template <int index>
__global__ void __launch_bounds__(kernels::kCompiledTiles[index].shape.threads(),
                                  least_blocks(kernels::kCompiledTiles[index].min_blocks,
                                               kernels::kCompiledTiles[index].shape.threads()))
    move_equal_tiles(const GroupTable table, const __grid_constant__ TileParams<index> params,
                     const GroupBlock* __restrict__ blocks) {
  const GroupTurn turn;
  move_group_tile<index>(table, params, blocks[blockIdx.x]);
}

}  // namespace

KernelEntry group_tile_kernel(const kernels::CompiledTile& wanted, bool are_equal) {
  return find_entry<kernels::kCompiledTileCount>([&](auto number) -> KernelEntry {
    constexpr auto index = static_cast<int>(decltype(number)::value);
    constexpr kernels::CompiledTile tile = kernels::kCompiledTiles[index];
    if (tile != wanted) return {};
    if (are_equal) return entry_of(&move_equal_tiles<index>, tile.shape.threads());
    return entry_of(&move_listed_tiles<index>, tile.shape.threads());
  });
}

}  // namespace faro::cuda
