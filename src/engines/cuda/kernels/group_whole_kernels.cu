// Batches of small arrays in groups: the kernels of axes_whole.hpp as one, for blocks that look up which
// array they are of.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/copying_memory.cuh"
#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"

namespace faro::cuda {

using kernels::AxesWholeParams;
using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

template <std::size_t kind>
struct GroupWhole {
  static __device__ void run(CopyingMemory& memory, const AxesWholeParams& params, const GroupBlock& of) {
    kernels::load_axes_whole<1 << kind>(memory, params, of.block, threadIdx.x);
    CopyingMemory::wait();
    __syncthreads();
    kernels::store_axes_whole<1 << kind>(memory, params, of.block, threadIdx.x);
  }
};

__global__ void __launch_bounds__(kernels::kWholeThreads, least_blocks(5, kernels::kWholeThreads))
    move_group_wholes(const GroupTable table, const std::byte* __restrict__ params,
                      const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupTurn turn;
  const GroupBlock of = blocks[blockIdx.x];
  const auto& whole = held_params<AxesWholeParams>(shared, params, of);
  CopyingMemory memory(table.in(of), table.out(of), shared + table.held_bytes,
                       (whole.in_tile_bytes | whole.in.begin) % kernels::kWholeSector == 0,
                       (whole.tile_bytes | whole.out.begin) % kernels::kWholeSector == 0);
  run_kind<GroupWhole, kernels::kGroupWholes>(of.kind, memory, whole, of);
}

}  // namespace

KernelEntry group_whole_kernel() { return entry_of(&move_group_wholes, kernels::kWholeThreads); }

}  // namespace faro::cuda
