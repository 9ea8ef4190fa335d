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
