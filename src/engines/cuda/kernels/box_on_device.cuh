// A box moved by a block, wherever its parameters are.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/copying_memory.cuh"
#include "kernels/axes_box.hpp"
#include "kernels/axes_ragged_box.hpp"

namespace faro::cuda {

template <kernels::BoxShape shape>
__device__ void move_box(CopyingMemory& memory, const kernels::AxesBoxParams& params, std::uint64_t block) {
  kernels::prepare_box<shape>(memory, params, block, threadIdx.x);
  if constexpr (shape.ragged) {
    __syncthreads();
    kernels::read_box<shape>(memory, params, threadIdx.x);
    CopyingMemory::wait();
    __syncthreads();
    kernels::write_box<shape>(memory, params, threadIdx.x);
  } else {
    // What depends on the thread alone is worked out while it waits.
    const auto reader = kernels::box_reader<shape>(params, threadIdx.x);
    __syncthreads();
    if (reader.group < params.in.groups)
      kernels::load_box<shape>(memory, params, reader, kernels::kept_origin(memory, params));
    const kernels::BoxWriter<shape> writer(params, threadIdx.x);
    CopyingMemory::wait();
    __syncthreads();
    if (writer.group < params.out.groups)
      kernels::store_box<shape>(memory, params, writer, threadIdx.x, kernels::kept_origin(memory, params));
  }
}

}  // namespace faro::cuda
