// Boxes of groups: the kernels of kernels/axes_box.hpp as one, for blocks that look up which array they are
// of.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/box_on_device.cuh"
#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"

namespace faro::cuda {

using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

template <std::size_t kind>
struct GroupBox {
  static __device__ void run(CopyingMemory& memory, const kernels::AxesBoxParams& params,
                             const GroupBlock& of) {
    move_box<kernels::kBoxShapes[kind]>(memory, params, of.block);
  }
};

__device__ void move_group_box(const GroupTable& table, const kernels::AxesBoxParams& box,
                               const GroupBlock& of, std::byte* shared) {
  CopyingMemory memory(table.in(of), table.out(of), shared, box.in_sectors != 0, box.out_sectors != 0);
  run_kind<GroupBox, kernels::kGroupBoxes>(of.kind, memory, box, of);
}

// Params are read by a pointer that nothing is written through, so that they stay in registers.
__global__ void __launch_bounds__(kernels::kBoxThreads, 6)
    move_listed_boxes(const GroupTable table, const std::byte* __restrict__ params,
                      const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupBlock of = blocks[blockIdx.x];
  move_group_box(table, kernels::group_params<kernels::AxesBoxParams>(params, of), of, shared);
}

__global__ void __launch_bounds__(kernels::kBoxThreads, 6)
    move_held_boxes(const GroupTable table, const std::byte* __restrict__ params,
                    const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupBlock of = blocks[blockIdx.x];
  const auto& box = held_params<kernels::AxesBoxParams>(shared, params, of);
  move_group_box(table, box, of, shared + table.held_bytes);
}

}  // namespace

KernelEntry group_box_kernel(bool holds) {
  return entry_of(holds ? &move_held_boxes : &move_listed_boxes, kernels::kBoxThreads);
}

}  // namespace faro::cuda
