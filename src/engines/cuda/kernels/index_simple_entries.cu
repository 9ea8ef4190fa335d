// One-pass kernels for rolls and flips, windows and runs: phases of faro/kernels put on the device.
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "kernels/cyclic.hpp"
#include "kernels/runs.hpp"
#include "kernels/window.hpp"

namespace faro::cuda {
namespace {

template <int unit_bytes, bool reversed, bool several_units>
__global__ void __launch_bounds__(kernels::kCyclicThreads, least_blocks(8, kernels::kCyclicThreads))
    permute_cyclic(const __grid_constant__ kernels::CyclicParams params, const std::byte* in,
                   std::byte* out) {
  NeighbourMemory memory(in, out, nullptr);
  kernels::move_cyclic<unit_bytes, reversed, several_units>(memory, params, blockIdx.x, threadIdx.x);
}

template <int unit_bytes>
__global__ void __launch_bounds__(kernels::kRunsThreads)
    permute_runs(const __grid_constant__ kernels::RunsParams params, const std::byte* in, std::byte* out,
                 const unsigned long long* begins, const unsigned long long* froms,
                 const unsigned long long* firsts) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  NeighbourMemory memory(in, out, shared);
  const auto table = [=](int buffer, std::uint64_t index) -> std::uint64_t {
    if (buffer == kernels::kRunBegins) return __ldg(begins + index);
    if (buffer == kernels::kRunFroms) return __ldg(froms + index);
    return __ldg(firsts + index);
  };
  kernels::list_runs(memory, params, table, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::move_runs<unit_bytes>(memory, params, table, blockIdx.x, threadIdx.x);
}

template <int unit_bytes, bool backwards, bool vectors>
__global__ void __launch_bounds__(kernels::kWindowThreads)
    permute_window(const __grid_constant__ kernels::WindowParams params, const std::byte* in, std::byte* out,
                   const std::byte* shifts) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  NeighbourMemory memory(in, out, shared, shifts);
  if constexpr (backwards) {
    kernels::place_window<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
    __syncthreads();
    kernels::store_placed<unit_bytes, vectors>(memory, params, blockIdx.x, threadIdx.x);
  } else {
    kernels::load_window<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
    __syncthreads();
    if constexpr (vectors) {
      kernels::store_window_vectors<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
    } else {
      kernels::store_window<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
    }
  }
}

template <int unit_bytes, bool backwards>
__global__ void __launch_bounds__(kernels::kWindowThreads)
    permute_window_directly(const __grid_constant__ kernels::WindowParams params, const std::byte* in,
                            std::byte* out, const std::byte* shifts) {
  NeighbourMemory memory(in, out, nullptr, shifts);
  kernels::move_window_directly<unit_bytes, backwards>(memory, params, blockIdx.x, threadIdx.x);
}

// A thread a stretch: the last run that begins at or before its first element.
__global__ void first_runs(const unsigned long long* begins, unsigned long long runs,
                           unsigned long long stretches, unsigned long long* firsts) {
  const unsigned long long stretch = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
  if (stretch > stretches) return;
  unsigned long long low = stretch == stretches ? runs - 1 : 0;
  unsigned long long high = runs - 1;
  while (low < high) {
    const unsigned long long middle = high - (high - low) / 2;
    if (begins[middle] <= stretch << kernels::kRunsStretchBits) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  firsts[stretch] = low;
}

}  // namespace

KernelEntry cyclic_kernel(int unit_bytes, bool reversed, bool several_units) {
  return by_unit_bytes(unit_bytes, [&](auto unit_constant) {
    constexpr int unit = decltype(unit_constant)::value;
    constexpr int threads = kernels::kCyclicThreads;
    if (!reversed) return entry_of(&permute_cyclic<unit, false, false>, threads);
    if (several_units) return entry_of(&permute_cyclic<unit, true, true>, threads);
    return entry_of(&permute_cyclic<unit, true, false>, threads);
  });
}

KernelEntry window_kernel(int unit_bytes, bool backwards, bool vectors, bool direct) {
  return by_unit_bytes(unit_bytes, [&](auto unit_constant) {
    constexpr int unit = decltype(unit_constant)::value;
    constexpr int threads = kernels::kWindowThreads;
    if (direct) {
      return backwards ? entry_of(&permute_window_directly<unit, true>, threads)
                       : entry_of(&permute_window_directly<unit, false>, threads);
    }
    if (backwards) {
      return vectors ? entry_of(&permute_window<unit, true, true>, threads)
                     : entry_of(&permute_window<unit, true, false>, threads);
    }
    return vectors ? entry_of(&permute_window<unit, false, true>, threads)
                   : entry_of(&permute_window<unit, false, false>, threads);
  });
}

KernelEntry runs_kernel(int unit_bytes) {
  return by_unit_bytes(unit_bytes, [](auto unit) {
    return entry_of(&permute_runs<decltype(unit)::value>, kernels::kRunsThreads);
  });
}

namespace {
constexpr const char* kSorting = "sort runs";
constexpr int kFirstRunsThreads = 256;

static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));

const unsigned long long* words(const std::uint64_t* pointer) {
  return reinterpret_cast<const unsigned long long*>(pointer);
}
unsigned long long* words(std::uint64_t* pointer) { return reinterpret_cast<unsigned long long*>(pointer); }
}  // namespace

std::uint64_t sort_runs_bytes(std::uint64_t runs) {
  std::size_t bytes = 0;
  const unsigned long long* in = nullptr;
  unsigned long long* out = nullptr;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, runs),
        "cub::DeviceRadixSort::SortPairs", kSorting);
  return bytes;
}

void sort_runs(const std::uint64_t* target, const std::uint64_t* source, std::uint64_t runs,
               std::uint64_t* begins, std::uint64_t* froms, void* memory, std::uint64_t memory_bytes,
               Stream stream) {
  std::size_t bytes = memory_bytes;
  constexpr int index_bits = 41;  // of counts to 2^40
  check(cub::DeviceRadixSort::SortPairs(memory, bytes, words(target), words(begins), words(source),
                                        words(froms), runs, 0, index_bits, stream.handle()),
        "cub::DeviceRadixSort::SortPairs", kSorting);
}

void find_first_runs(const std::uint64_t* begins, std::uint64_t runs, std::uint64_t stretches,
                     std::uint64_t* firsts, Stream stream) {
  const KernelEntry entry = entry_of(&first_runs, kFirstRunsThreads);
  const unsigned long long* begin = words(begins);
  unsigned long long* first = words(firsts);
  void* arguments[] = {&begin, &runs, &stretches, &first};
  launch(entry, stretches / kFirstRunsThreads + 1, arguments, stream, {.operation = kSorting});
}

}  // namespace faro::cuda
