// Boxes of groups: the kernels of kernels/axes_box.hpp as one, for blocks that look up which array they are
// of.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/copying_memory.cuh"
#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"

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

}  // namespace

KernelEntry group_box_kernel() { return entry_of(&move_group_boxes, kernels::kBoxThreads); }

}  // namespace faro::cuda
