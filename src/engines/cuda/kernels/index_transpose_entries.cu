// One-pass kernels for transposes that are done in registers, or have few rows or columns.
#include <cstddef>
#include <iterator>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/axes_skinny.hpp"
#include "kernels/axes_turned.hpp"

namespace faro::cuda {
namespace {

// Input that goes to shared memory past registers, through the first-level cache: neighbours share sectors.
struct CopyingTransposeMemory : TransposeMemory {
  using TransposeMemory::TransposeMemory;

  template <int bytes>
  __device__ void copy_to_shared(const std::byte* from, std::uint32_t address) const {
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(sectors.shared + address));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
  }
  static __device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

// By vectors, a thread holds those of all rows, twice; others are fewer where input goes past registers.
constexpr int skinny_blocks(const kernels::AxesSkinnyShape& shape) {
  constexpr int few = 4;
  if (shape.few > 0) return shape.few <= few ? 5 : 3;
  const bool copied = kernels::skinny_copied(shape);
  if (shape.by_rows) return copied ? 6 : 4;
  return copied ? 6 : 5;
}

template <int number>
__global__ void __launch_bounds__(kernels::kAxesSkinnyThreads,
                                  least_blocks(skinny_blocks(kernels::axes_skinny_shape(number)),
                                               kernels::kAxesSkinnyThreads))
    permute_axes_skinny(const __grid_constant__ kernels::AxesLinesParams params, const std::byte* in,
                        std::byte* out) {
  constexpr kernels::AxesSkinnyShape shape = kernels::axes_skinny_shape(number);
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  CopyingTransposeMemory memory(in, out, shared);
  const kernels::AxesLinesTile tile = kernels::axes_lines_tile(params, blockIdx.x);
  kernels::load_axes_skinny<shape>(memory, params, tile, threadIdx.x);
  CopyingTransposeMemory::wait();
  __syncthreads();
  if constexpr (kernels::skinny_words_wait<shape, CopyingTransposeMemory>()) {
    kernels::spread_axes_skinny<shape>(memory, params, tile, threadIdx.x);
    __syncthreads();
  }
  kernels::store_axes_skinny<shape>(memory, params, tile, threadIdx.x);
}

// Narrow units hold 64 bytes in flight and places for twice as many: 56 registers a thread; others 45. More
// blocks would also leave less of the first-level cache for rows that are on their way.
constexpr int turned_blocks(const kernels::AxesPlaneShape& shape, bool words) {
  const int most_threads = words && shape.unit_bytes >= 4 ? 1440 : 1152;
  return most_threads / shape.threads;
}

template <std::size_t index, bool words>
__global__ void __launch_bounds__(kernels::kAxesTurnedShapes[index].threads,
                                  least_blocks(turned_blocks(kernels::kAxesTurnedShapes[index], words),
                                               kernels::kAxesTurnedShapes[index].threads))
    permute_axes_turned(const __grid_constant__ kernels::AxesLinesParams params, const std::byte* in,
                        std::byte* out) {
  constexpr kernels::AxesPlaneShape shape = kernels::kAxesTurnedShapes[index];
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  TransposeMemory memory(in, out, shared);
  const kernels::AxesLinesTile tile = kernels::axes_lines_tile(params, blockIdx.x);
  kernels::load_axes_turned<shape, words>(memory, params, tile, threadIdx.x);
  __syncthreads();
  kernels::store_axes_turned<shape>(memory, params, tile, threadIdx.x);
}

}  // namespace

KernelEntry axes_skinny_kernel(const kernels::AxesSkinnyShape& wanted) {
  return find_entry<kernels::kAxesSkinnyShapes>([&](auto number) -> KernelEntry {
    constexpr int n = static_cast<int>(decltype(number)::value);
    if (wanted != kernels::axes_skinny_shape(n)) return {};
    return entry_of(&permute_axes_skinny<n>, kernels::kAxesSkinnyThreads);
  });
}

KernelEntry axes_turned_kernel(const kernels::AxesPlaneShape& wanted, bool words) {
  return find_entry<std::size(kernels::kAxesTurnedShapes)>([&](auto number) -> KernelEntry {
    constexpr std::size_t index = decltype(number)::value;
    constexpr kernels::AxesPlaneShape shape = kernels::kAxesTurnedShapes[index];
    if (wanted != shape) return {};
    if (words) return entry_of(&permute_axes_turned<index, true>, shape.threads);
    if constexpr (shape.unit_bytes < 4) {
      return entry_of(&permute_axes_turned<index, false>, shape.threads);
    } else {
      return {};
    }
  });
}

}  // namespace faro::cuda
