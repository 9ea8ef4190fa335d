// One-pass kernels for rolls and flips, windows and runs: phases of faro/kernels put on the device.
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "engines/cuda/kernels/device_block.cuh"
#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "kernels/cyclic.hpp"
#include "kernels/index_steps.hpp"
#include "kernels/runs.hpp"

namespace faro::cuda {
namespace {

template <int unit_bytes, bool reversed, bool several_units>
__global__ void __launch_bounds__(kernels::kCyclicThreads, least_blocks(8, kernels::kCyclicThreads))
    permute_cyclic(const __grid_constant__ kernels::CyclicParams params, const std::byte* in,
                   std::byte* out) {
  NeighbourMemory memory(in, out, nullptr);
  kernels::move_cyclic<unit_bytes, reversed, several_units>(memory, params, blockIdx.x, threadIdx.x);
}

template <typename Step>
__global__ void __launch_bounds__(Step::kThreads)
    run_simple_step(const __grid_constant__ typename Step::Params params, const std::byte* in, std::byte* out,
                    const std::byte* first, const std::byte* second, const std::byte* third) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  NeighbourMemory memory(in, out, shared, {first, second, third});
  DeviceBlock block(shared);
  Step::run(memory, params, block);
}

template <typename Step>
KernelEntry entry_of_step() {
  return entry_of(&run_simple_step<Step>, static_cast<int>(Step::kThreads));
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
    if (direct) {
      return backwards ? entry_of_step<kernels::WindowStep<unit, true, false, true>>()
                       : entry_of_step<kernels::WindowStep<unit, false, false, true>>();
    }
    if (backwards) {
      return vectors ? entry_of_step<kernels::WindowStep<unit, true, true, false>>()
                     : entry_of_step<kernels::WindowStep<unit, true, false, false>>();
    }
    return vectors ? entry_of_step<kernels::WindowStep<unit, false, true, false>>()
                   : entry_of_step<kernels::WindowStep<unit, false, false, false>>();
  });
}

KernelEntry runs_kernel(int unit_bytes) {
  return by_unit_bytes(unit_bytes,
                       [](auto unit) { return entry_of_step<kernels::RunsStep<decltype(unit)::value>>(); });
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
