// A kernel that is a value (device_block.hpp), as a function of the device: each thread runs its call.
//
// A launch may begin before the one ahead of it has ended (KernelEntry::early): it lets the next begin at
// once, and waits before it reads, or says kFollows and calls block.follow() itself.
#pragma once

#include <cstddef>

#include "engines/cuda/kernels/device_block.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "engines/cuda/kernels/value_kernels.hpp"

namespace faro::cuda {

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, least_blocks(Kernel::kMinBlocks, Kernel::kThreads))
    run_value_kernel(const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(16) std::byte value_kernel_shared[];
  DeviceBlock block(value_kernel_shared);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  if constexpr (!requires { Kernel::kFollows; }) block.follow();
  kernel(block);
}

template <typename Kernel>
const void* value_kernel() {
  return reinterpret_cast<const void*>(&run_value_kernel<Kernel>);
}

}  // namespace faro::cuda
