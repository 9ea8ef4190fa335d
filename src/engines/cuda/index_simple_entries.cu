// One-pass kernels for axes, rolls and flips, windows and runs: phases of faro/kernels put on the device.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "engines/cuda/calls.hpp"
#include "engines/cuda/device_memory.cuh"
#include "engines/cuda/index_simple_entries.hpp"
#include "faro/kernels/axes_rows.hpp"
#include "faro/kernels/axes_tile.hpp"
#include "faro/kernels/cyclic.hpp"
#include "faro/kernels/runs.hpp"
#include "faro/kernels/window.hpp"

namespace faro::cuda {
namespace {

// Vectors of a tile of axes pass the caches by; where a run begins or ends within a sector, it stays until
// its other part has come. Narrower accesses are cached: runs that are not aligned share sectors.
struct TileMemory {
  SectorMemory sectors;

  __device__ TileMemory(const std::byte* in, std::byte* out, std::byte* shared, bool in_whole, bool out_whole)
      : sectors(in, out, shared) {
    std::uint64_t normal = 0;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
    constexpr std::uintptr_t sector_bytes = 32;
    if (!in_whole || reinterpret_cast<std::uintptr_t>(in) % sector_bytes != 0) sectors.load_policy = normal;
    if (!out_whole) sectors.store_policy = normal;
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    if constexpr (bytes == 16) {
      return sectors.load_global<16>(buffer, offset);
    } else {
      using Word = typename Machine<bytes>::Word;
      return std::bit_cast<device::Packet<bytes>>(
          __ldg(reinterpret_cast<const Word*>(sectors.input + offset)));
    }
  }
  template <int bytes>
  __device__ void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    if constexpr (bytes == 16) {
      sectors.store_global<16>(buffer, offset, packet);
    } else {
      using Word = typename Machine<bytes>::Word;
      *reinterpret_cast<Word*>(sectors.output + offset) = std::bit_cast<Word>(packet);
    }
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    return sectors.load_shared<bytes>(address);
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    sectors.store_shared<bytes>(address, packet);
  }
};

// Input that neighbours read again, from the first-level cache; output in order, whole sectors but at its
// ends; shifts in order.
struct NeighbourMemory {
  SectorMemory sectors;
  const std::byte* shifts = nullptr;

  __device__ NeighbourMemory(const std::byte* in, std::byte* out, std::byte* shared,
                             const std::byte* shift = nullptr)
      : sectors(in, out, shared), shifts(shift) {}

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    using Word = typename Machine<bytes>::Word;
    const std::byte* base = buffer == kernels::kShifts ? shifts : sectors.input;
    return std::bit_cast<device::Packet<bytes>>(__ldg(reinterpret_cast<const Word*>(base + offset)));
  }
  template <int bytes>
  __device__ void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    if constexpr (bytes == 16) {
      sectors.store_global<16>(buffer, offset, packet);
    } else {
      using Word = typename Machine<bytes>::Word;
      *reinterpret_cast<Word*>(sectors.output + offset) = std::bit_cast<Word>(packet);
    }
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    return sectors.load_shared<bytes>(address);
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    sectors.store_shared<bytes>(address, packet);
  }
};

// Blocks of a multiprocessor to leave registers for: a vector of many units has a place for each.
constexpr int axes_tile_blocks(int unit_bytes, int in_vector, int out_vector) {
  if (in_vector > 4 || out_vector > 4) return 4;
  return unit_bytes == 8 ? 5 : 6;
}

template <int unit_bytes, int in_vector, int out_vector>
__global__ void __launch_bounds__(kernels::kAxesTileThreads,
                                  axes_tile_blocks(unit_bytes, in_vector, out_vector))
    permute_axes_tile(const __grid_constant__ kernels::AxesTileParams params, const std::byte* in,
                      std::byte* out) {
  extern __shared__ __align__(kernels::kAxesRowBytes) std::byte shared[];
  TileMemory memory(in, out, shared, params.in.whole_sectors != 0, params.out.whole_sectors != 0);
  kernels::list_axes_rows(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::load_axes_tile<unit_bytes, in_vector>(memory, params, threadIdx.x);
  __syncthreads();
  kernels::store_axes_tile<unit_bytes, out_vector>(memory, params, threadIdx.x);
}

template <int unit_bytes>
__global__ void __launch_bounds__(kernels::kAxesRowsThreads)
    permute_axes_rows(const __grid_constant__ kernels::AxesRowsParams params, const std::byte* in,
                      std::byte* out) {
  NeighbourMemory memory(in, out, nullptr);
  kernels::move_axes_rows<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int unit_bytes, bool reversed, bool several_units>
__global__ void __launch_bounds__(kernels::kCyclicThreads)
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
  NeighbourMemory memory(in, out, nullptr);
  const auto table = [=](int buffer, std::uint64_t index) -> std::uint64_t {
    if (buffer == kernels::kRunBegins) return __ldg(begins + index);
    if (buffer == kernels::kRunFroms) return __ldg(froms + index);
    return __ldg(firsts + index);
  };
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

template <typename Kernel>
KernelEntry entry_of(Kernel* kernel, int threads) {
  return {.function = reinterpret_cast<const void*>(kernel), .threads = threads, .shared_bytes = 0};
}

// Calls f<unit_bytes>() for the width, or gives a null entry.
template <typename F>
KernelEntry of_unit(int unit_bytes, const F& f) {
  switch (unit_bytes) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 8:
      return f(std::integral_constant<int, 8>());
    case 16:
      return f(std::integral_constant<int, 16>());
    default:
      return {};
  }
}

template <int unit, int in_vector>
KernelEntry axes_tile_entry(int out_vector) {
  constexpr int threads = kernels::kAxesTileThreads;
  if (out_vector == 1) return entry_of(&permute_axes_tile<unit, in_vector, 1>, threads);
  if constexpr (unit < 16) {
    if (out_vector * unit == 16) return entry_of(&permute_axes_tile<unit, in_vector, 16 / unit>, threads);
  }
  if constexpr (unit < 4) {
    if (out_vector * unit == 4) return entry_of(&permute_axes_tile<unit, in_vector, 4 / unit>, threads);
  }
  return {};
}

}  // namespace

KernelEntry axes_tile_kernel(int unit_bytes, int in_vector, int out_vector) {
  return of_unit(unit_bytes, [&](auto unit_constant) -> KernelEntry {
    constexpr int unit = decltype(unit_constant)::value;
    if (in_vector == 1) return axes_tile_entry<unit, 1>(out_vector);
    if constexpr (unit < 16) {
      if (in_vector * unit == 16) return axes_tile_entry<unit, 16 / unit>(out_vector);
    }
    if constexpr (unit < 4) {
      if (in_vector * unit == 4) return axes_tile_entry<unit, 4 / unit>(out_vector);
    }
    return {};
  });
}

KernelEntry axes_rows_kernel(int unit_bytes) {
  return of_unit(unit_bytes, [](auto unit) {
    return entry_of(&permute_axes_rows<decltype(unit)::value>, kernels::kAxesRowsThreads);
  });
}

KernelEntry cyclic_kernel(int unit_bytes, bool reversed, bool several_units) {
  return of_unit(unit_bytes, [&](auto unit_constant) {
    constexpr int unit = decltype(unit_constant)::value;
    constexpr int threads = kernels::kCyclicThreads;
    if (!reversed) return entry_of(&permute_cyclic<unit, false, false>, threads);
    if (several_units) return entry_of(&permute_cyclic<unit, true, true>, threads);
    return entry_of(&permute_cyclic<unit, true, false>, threads);
  });
}

KernelEntry window_kernel(int unit_bytes, bool backwards, bool vectors, bool direct) {
  return of_unit(unit_bytes, [&](auto unit_constant) {
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
  return of_unit(unit_bytes, [](auto unit) {
    return entry_of(&permute_runs<decltype(unit)::value>, kernels::kRunsThreads);
  });
}

namespace {
constexpr const char* kSorting = "sort runs";

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
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>(stretches / threads + 1);
  first_runs<<<blocks, threads, 0, stream.handle()>>>(words(begins), runs, stretches, words(firsts));
  check(cudaGetLastError(), "cudaLaunchKernel", kSorting);
}

}  // namespace faro::cuda
