// Boxes of axes, and of any strided view: one kernel a shape of kernels/axes_box.hpp. Small arrays of a
// batch, by kernels/axes_whole.hpp.
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "engines/cuda/kernels/box_on_device.cuh"
#include "engines/cuda/kernels/copying_memory.cuh"
#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/axes_box.hpp"
#include "kernels/axes_whole.hpp"

namespace faro::cuda {
namespace {

template <std::size_t index>
__global__ void __launch_bounds__(kernels::kBoxShapes[index].threads,
                                  1024 / kernels::kBoxShapes[index].threads)
    permute_axes_box(const __grid_constant__ kernels::AxesBoxParams params, const std::byte* in,
                     std::byte* out) {
  constexpr kernels::BoxShape shape = kernels::kBoxShapes[index];
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  CopyingMemory memory(in, out, shared, params.in_sectors != 0, params.out_sectors != 0);
  move_box<shape>(memory, params, blockIdx.x);
}

template <int unit_bytes>
__global__ void __launch_bounds__(kernels::kWholeThreads,
                                  least_blocks(unit_bytes == 1 ? 4 : 6, kernels::kWholeThreads))
    permute_axes_whole(const __grid_constant__ kernels::AxesWholeParams params, const std::byte* in,
                       std::byte* out) {
  constexpr std::uint32_t sector_bytes = 32;
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  CopyingMemory memory(in, out, shared, (params.in_tile_bytes | params.in.begin) % sector_bytes == 0,
                       (params.tile_bytes | params.out.begin) % sector_bytes == 0);
  kernels::load_axes_whole<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
  CopyingMemory::wait();
  __syncthreads();
  kernels::store_axes_whole<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

}  // namespace

KernelEntry axes_whole_kernel(int unit_bytes) {
  return by_unit_bytes(unit_bytes, [](auto unit) {
    return entry_of(&permute_axes_whole<decltype(unit)::value>, kernels::kWholeThreads);
  });
}

KernelEntry axes_box_kernel(const kernels::BoxShape& wanted) {
  return find_entry<std::size(kernels::kBoxShapes)>([&](auto number) -> KernelEntry {
    constexpr std::size_t index = decltype(number)::value;
    if (wanted != kernels::kBoxShapes[index]) return {};
    return entry_of(&permute_axes_box<index>, wanted.threads);
  });
}

}  // namespace faro::cuda
