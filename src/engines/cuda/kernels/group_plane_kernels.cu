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

// One of the tiles Of<kind>, of planes or of stretches.
template <template <std::size_t> typename Of>
struct Moved {
  template <std::size_t kind>
  struct Tile {
    static __device__ void run(TransposeMemory& memory, const AxesLinesParams& params,
                               const AxesLinesTile& tile) {
      Of<kind>::load(memory, params, tile, threadIdx.x);
      __syncthreads();
      Of<kind>::store(memory, params, tile, threadIdx.x);
    }
  };
};

template <template <std::size_t> typename Of, std::size_t count>
__device__ void move_group_lines(const GroupTable& table, const std::byte* __restrict__ params,
                                 const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupTurn turn;
  const GroupBlock of = blocks[blockIdx.x];
  const auto& lines = held_params<AxesLinesParams>(shared, params, of);
  TransposeMemory memory(table.in(of), table.out(of), shared + table.held_bytes);
  const AxesLinesTile tile = kernels::axes_lines_tile(lines, of.block);
  run_kind<Moved<Of>::template Tile, count>(of.kind, memory, lines, tile);
}

// Narrow units that are turned have 64 bytes of each thread on their way: 56 registers.
__global__ void __launch_bounds__(kernels::kGroupPlaneThreads, least_blocks(4, kernels::kGroupPlaneThreads))
    move_group_planes(const GroupTable table, const std::byte* __restrict__ params,
                      const GroupBlock* __restrict__ blocks) {
  move_group_lines<kernels::GroupPlaneTile, kernels::kGroupPlanes>(table, params, blocks);
}

__global__ void __launch_bounds__(kernels::kAxesSkinnyThreads, least_blocks(4, kernels::kAxesSkinnyThreads))
    move_group_stretches(const GroupTable table, const std::byte* __restrict__ params,
                         const GroupBlock* __restrict__ blocks) {
  move_group_lines<kernels::GroupStretchTile, kernels::kGroupStretches>(table, params, blocks);
}

}  // namespace

KernelEntry group_plane_kernel() { return entry_of(&move_group_planes, kernels::kGroupPlaneThreads); }
KernelEntry group_stretch_kernel() { return entry_of(&move_group_stretches, kernels::kAxesSkinnyThreads); }

}  // namespace faro::cuda
