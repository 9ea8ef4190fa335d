// What the kernels of groups have in common: the branch by an entry's kind, and parameters in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/index_simple_support.cuh"
#include "kernels/group.hpp"

namespace faro::cuda {

// with_group_kind() of the device: Body<kind>::run(…).
template <template <std::size_t> typename Body, std::size_t behind, std::size_t first = 0,
          typename... Arguments>
__device__ void run_kind(std::uint32_t kind, Arguments&... arguments) {
  if constexpr (behind - first == 1) {
    Body<first>::run(arguments...);
  } else {
    constexpr std::size_t middle = (first + behind) / 2;
    if (kind < middle) return run_kind<Body, middle, first>(kind, arguments...);
    run_kind<Body, behind, middle>(kind, arguments...);
  }
}

// Of one group's launches those behind the first are `early`: they begin while the one before ends, for none
// reads what another writes. The next is let go at a block's begin; the last block of a launch stays until
// the one before has ended, so that what comes after the group waits for all of it.
class GroupTurn {
 public:
  __device__ GroupTurn() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  }
  GroupTurn(const GroupTurn&) = delete;
  GroupTurn& operator=(const GroupTurn&) = delete;
  __device__ ~GroupTurn() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (blockIdx.x + 1 == gridDim.x) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
};

// A block's parameters, copied to the begin of its shared memory by all of its threads at once.
template <typename Params>
__device__ const Params& held_params(std::byte* shared, const std::byte* __restrict__ params,
                                     const kernels::GroupBlock& of) {
  static_assert(kernels::kGroupParamsBytes == sizeof(uint4));
  const auto* const from = reinterpret_cast<const uint4*>(params) + of.params;
  auto* const to = reinterpret_cast<uint4*>(shared);
  for (std::uint32_t i = threadIdx.x; i < of.held; i += blockDim.x) to[i] = __ldg(from + i);
  __syncthreads();
  return *reinterpret_cast<const Params*>(shared);
}

}  // namespace faro::cuda
