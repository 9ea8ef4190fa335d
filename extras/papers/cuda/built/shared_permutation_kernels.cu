// The phases of kernels/shared_permutation.hpp on the device.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/memory.cuh"
#include "cuda/shared_permutation_kernels.hpp"

namespace faro::cuda {

using kernels::PermuteShape;
using kernels::PermuteWay;
using kernels::TeamPhase;

namespace {

// Buffer kLists is read by every block: it is left in the caches.
struct ListedMemory : papers::ArrayMemory {
  const std::byte* lists;

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    if (buffer != kernels::kLists) return papers::ArrayMemory::load_global<bytes>(buffer, offset);
    return std::bit_cast<device::Packet<bytes>>(
        __ldg(reinterpret_cast<const papers::Word<bytes>*>(lists + offset)));
  }
};

}  // namespace

template <PermuteWay way>
__global__ void __launch_bounds__(bench_shape(way).threads)
    permute_repeatedly(std::uint32_t repeats, const std::byte* in, std::byte* out, const std::byte* lists) {
  constexpr PermuteShape shape = bench_shape(way);
  __shared__ __align__(16) std::byte shared[shape.shared_bytes()];
  ListedMemory memory{{in, out, shared}, lists};
  kernels::fill_permutation<shape>(memory, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::repeat_permute<way, shape>(memory, repeats, threadIdx.x, [] { __syncthreads(); });
  kernels::drain_permutation<shape>(memory, blockIdx.x, threadIdx.x);
}

template <int element_bytes, int index_bits>
__global__ void __launch_bounds__(kMostTeamThreads)
    permute_arrays(const __grid_constant__ kernels::TeamParams params, const std::byte* in, std::byte* out,
                   const std::byte* lists) {
  extern __shared__ __align__(16) std::byte team_memory[];
  ListedMemory memory{{in, out, team_memory}, lists};
  kernels::copy_lists(memory, 0, params.list_words, {.thread = threadIdx.x, .threads = blockDim.x});
  const std::uint64_t step = std::uint64_t{params.teams} * gridDim.x;
  for (std::uint64_t first = std::uint64_t{params.teams} * blockIdx.x; first < params.arrays; first += step) {
    kernels::permute_teams<TeamPhase::fill, element_bytes, index_bits>(memory, params, first, threadIdx.x);
    __syncthreads();
    kernels::permute_teams<TeamPhase::permute, element_bytes, index_bits>(memory, params, first, threadIdx.x);
    __syncthreads();
    kernels::permute_teams<TeamPhase::drain, element_bytes, index_bits>(memory, params, first, threadIdx.x);
  }
}

namespace {

template <PermuteWay way>
papers::BlockKernel bench_entry() {
  return {.function = reinterpret_cast<const void*>(&permute_repeatedly<way>),
          .threads = static_cast<int>(bench_shape(way).threads),
          .shared_bytes = 0};
}

template <int element_bytes>
const void* teams_function(int index_bits) {
  switch (index_bits) {
    case 8:
      return reinterpret_cast<const void*>(&permute_arrays<element_bytes, 8>);
    case 10:
      return reinterpret_cast<const void*>(&permute_arrays<element_bytes, 10>);
    case 16:
      return reinterpret_cast<const void*>(&permute_arrays<element_bytes, 16>);
    default:
      return nullptr;
  }
}

const void* teams_function(int element_bytes, int index_bits) {
  switch (element_bytes) {
    case 1:
      return teams_function<1>(index_bits);
    case 2:
      return teams_function<2>(index_bits);
    case 4:
      return teams_function<4>(index_bits);
    case 8:
      return teams_function<8>(index_bits);
    case 12:
      return teams_function<12>(index_bits);
    case 16:
      return teams_function<16>(index_bits);
    default:
      return nullptr;
  }
}

}  // namespace

papers::BlockKernel permutation_bench_kernel(PermuteWay way) {
  switch (way) {
    case PermuteWay::copy:
      return bench_entry<PermuteWay::copy>();
    case PermuteWay::d_designated:
      return bench_entry<PermuteWay::d_designated>();
    case PermuteWay::s_designated:
      return bench_entry<PermuteWay::s_designated>();
    case PermuteWay::conflict_free:
      return bench_entry<PermuteWay::conflict_free>();
    case PermuteWay::packed:
      return bench_entry<PermuteWay::packed>();
    case PermuteWay::held:
      return bench_entry<PermuteWay::held>();
  }
  return {};
}

papers::BlockKernel permute_teams_kernel(int element_bytes, int index_bits) {
  return {.function = teams_function(element_bytes, index_bits),
          .threads = static_cast<int>(kMostTeamThreads),
          .shared_bytes = 0};
}

}  // namespace faro::cuda
