// Planes, and stretches of few rows or columns, of groups: kernels of axes_plane.hpp, axes_turned.hpp and
// axes_skinny.hpp, those of as many threads as one, for blocks that look up which array they are of.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"

namespace faro::cuda {

using kernels::AxesLinesParams;
using kernels::AxesLinesTile;
using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

template <typename Tile>
__device__ void move_group_lines(TransposeMemory& memory, const AxesLinesParams& params,
                                 const AxesLinesTile& tile) {
  Tile::load(memory, params, tile, threadIdx.x);
  __syncthreads();
  Tile::store(memory, params, tile, threadIdx.x);
}
template <std::size_t kind>
struct MovedPlane {
  static __device__ void run(TransposeMemory& memory, const AxesLinesParams& params,
                             const AxesLinesTile& tile) {
    move_group_lines<kernels::GroupPlaneTile<kind>>(memory, params, tile);
  }
};
template <std::size_t kind>
struct MovedStretch {
  static __device__ void run(TransposeMemory& memory, const AxesLinesParams& params,
                             const AxesLinesTile& tile) {
    move_group_lines<kernels::GroupStretchTile<kind>>(memory, params, tile);
  }
};

// Narrow units that are turned have 64 bytes of each thread on their way: 56 registers.
__global__ void __launch_bounds__(kernels::kGroupPlaneThreads, least_blocks(4, kernels::kGroupPlaneThreads))
    move_group_planes(const GroupTable table, const std::byte* __restrict__ params,
                      const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupBlock of = blocks[blockIdx.x];
  const auto& lines = held_params<AxesLinesParams>(shared, params, of);
  TransposeMemory memory(table.in(of), table.out(of), shared + table.held_bytes);
  const AxesLinesTile tile = kernels::axes_lines_tile(lines, of.block);
  run_kind<MovedPlane, kernels::kGroupPlanes>(of.kind, memory, lines, tile);
}

__global__ void __launch_bounds__(kernels::kAxesSkinnyThreads, least_blocks(4, kernels::kAxesSkinnyThreads))
    move_group_stretches(const GroupTable table, const std::byte* __restrict__ params,
                         const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupBlock of = blocks[blockIdx.x];
  const auto& lines = held_params<AxesLinesParams>(shared, params, of);
  TransposeMemory memory(table.in(of), table.out(of), shared + table.held_bytes);
  const AxesLinesTile tile = kernels::axes_lines_tile(lines, of.block);
  run_kind<MovedStretch, kernels::kGroupStretches>(of.kind, memory, lines, tile);
}

}  // namespace

KernelEntry group_plane_kernel() { return entry_of(&move_group_planes, kernels::kGroupPlaneThreads); }
KernelEntry group_stretch_kernel() { return entry_of(&move_group_stretches, kernels::kAxesSkinnyThreads); }

}  // namespace faro::cuda
