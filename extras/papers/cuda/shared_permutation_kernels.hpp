// The kernels of kernels/shared_permutation.hpp as addresses that cudaLaunchKernel takes.
#pragma once

#include "cuda/device.hpp"
#include "cuda/shared_permutation.hpp"
#include "kernels/shared_permutation_params.hpp"

namespace faro::cuda {

inline constexpr std::uint32_t kMostTeamThreads = 1024;  // of all teams of a block

/// The published kernel's sizes: 1024 elements of 4 bytes, a thread each.
constexpr kernels::PermuteShape bench_shape(kernels::PermuteWay way) {
  return kernels::permute_shape(way, kPermutedElements, kPermutedElements);
}

/// Takes (std::uint32_t repeats, const std::byte* in, std::byte* out, const std::byte* lists). Its shared
/// memory is static.
papers::BlockKernel permutation_bench_kernel(kernels::PermuteWay way);

/// Takes (kernels::TeamParams, const std::byte* in, std::byte* out, const std::byte* lists), and as much
/// dynamic shared memory as team_shared_bytes() says. Requires: an element that shared_access_bytes() knows
/// and indices of 8, 10 or 16 bits; else the function is null.
papers::BlockKernel permute_teams_kernel(int element_bytes, int index_bits);

}  // namespace faro::cuda
