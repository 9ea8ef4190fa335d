// Boxes of groups, and small arrays that follow one another: the kernels of kernels/axes_box.hpp as one, and
// those of axes_whole.hpp, for blocks that look up which array they are of.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/copying_memory.cuh"
#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"

namespace faro::cuda {

using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

template <std::size_t kind>
struct GroupBoxes {
  static __device__ void run(CopyingMemory& memory, const kernels::AxesBoxParams& params,
                             const kernels::RaggedBox* __restrict__& boxes, const GroupBlock& of) {
    const kernels::GroupBoxThread<kernels::kBoxShapes[kind]> thread{params, threadIdx.x};
    thread.load(memory, boxes[0]);
    // What depends on the thread alone is worked out while it waits.
    const auto writer = thread.writer();
    for (std::uint32_t i = 0;;) {
      CopyingMemory::wait();
      __syncthreads();
      thread.store(memory, boxes[i], writer);
      if (++i == of.count) break;
      __syncthreads();
      thread.load(memory, boxes[i]);
    }
  }
};

// Params are read by a pointer that nothing is written through, so that they stay in registers.
__global__ void __launch_bounds__(kernels::kBoxThreads, 4)
    move_group_boxes(const GroupTable table, const std::byte* __restrict__ params,
                     const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupTurn turn;
  const GroupBlock of = blocks[blockIdx.x];
  const auto& box = kernels::group_params<kernels::AxesBoxParams>(params, of);
  const kernels::RaggedBox* __restrict__ boxes = table.boxes + of.block;
  CopyingMemory memory(table.in(of), table.out(of), shared, box.in_sectors != 0, box.out_sectors != 0);
  run_kind<GroupBoxes, kernels::kGroupBoxes>(of.kind, memory, box, boxes, of);
}

template <std::size_t kind>
struct GroupWholes {
  static __device__ void run(CopyingMemory& memory, const kernels::AxesWholeParams& params,
                             const GroupBlock& of) {
    constexpr int unit_bytes = 1 << kind;
    kernels::load_axes_whole<unit_bytes>(memory, params, of.block, threadIdx.x);
    CopyingMemory::wait();
    __syncthreads();
    kernels::store_axes_whole<unit_bytes>(memory, params, of.block, threadIdx.x);
  }
};

__global__ void __launch_bounds__(kernels::kWholeThreads, least_blocks(4, kernels::kWholeThreads))
    move_group_wholes(const GroupTable table, const std::byte* __restrict__ params,
                      const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupTurn turn;
  const GroupBlock of = blocks[blockIdx.x];
  const auto& whole = held_params<kernels::AxesWholeParams>(shared, params, of);
  constexpr std::uint32_t sector_bytes = 32;
  CopyingMemory memory(table.in(of), table.out(of), shared + table.held_bytes,
                       (whole.in_tile_bytes | whole.in.begin) % sector_bytes == 0,
                       (whole.tile_bytes | whole.out.begin) % sector_bytes == 0);
  run_kind<GroupWholes, kernels::kGroupWholes>(of.kind, memory, whole, of);
}

}  // namespace

KernelEntry group_whole_kernel() { return entry_of(&move_group_wholes, kernels::kWholeThreads); }
KernelEntry group_box_kernel() { return entry_of(&move_group_boxes, kernels::kBoxThreads); }

}  // namespace faro::cuda
