// One-pass kernels for axes: boxes, lines, planes, rows (index_transpose_entries.cu has other transposes).
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "kernels/axes_box.hpp"
#include "kernels/axes_lines.hpp"
#include "kernels/axes_plane.hpp"
#include "kernels/axes_ragged_box.hpp"
#include "kernels/axes_rows.hpp"

namespace faro::cuda {
namespace {

// Input goes to shared memory by the machine's own copies, all of a block's at a time.
struct BoxMemory : TileMemory {
  using TileMemory::TileMemory;

  /// Arrives before wait() returns. `bytes`: 4, 8 or 16.
  template <int bytes>
  __device__ void copy_to_shared(int /*buffer: only the input is read*/, std::uint64_t offset,
                                 std::uint32_t address) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(sectors.shared + address));
    const std::byte* const from = sectors.input + offset;
    if constexpr (bytes == 16) {
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                   "l"(sectors.load_policy)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
    }
  }
  /// For the calling thread's own copies; a barrier must follow.
  static __device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

template <std::size_t index>
__global__ void __launch_bounds__(kernels::kBoxThreads, 4)
    permute_axes_box(const __grid_constant__ kernels::AxesBoxParams params, const std::byte* in,
                     std::byte* out) {
  constexpr kernels::BoxShape shape = kernels::kBoxShapes[index];
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  BoxMemory memory(in, out, shared, params.in_sectors != 0, params.out_sectors != 0);
  if constexpr (shape.ragged) {
    kernels::prepare_box<shape>(memory, params, blockIdx.x, threadIdx.x);
    __syncthreads();
  }
  kernels::read_box<shape>(memory, params, blockIdx.x, threadIdx.x);
  BoxMemory::wait();
  __syncthreads();
  kernels::write_box<shape>(memory, params, blockIdx.x, threadIdx.x);
}

template <int unit_bytes>
__global__ void __launch_bounds__(kernels::kAxesLinesThreads, unit_bytes < 16 ? 4 : 5)
    permute_axes_lines(const __grid_constant__ kernels::AxesLinesParams params, const std::byte* in,
                       std::byte* out) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  TransposeMemory memory(in, out, shared);
  const kernels::AxesLinesTile tile = kernels::axes_lines_tile(params, blockIdx.x);
  kernels::load_axes_lines<unit_bytes>(memory, params, tile, threadIdx.x);
  __syncthreads();
  kernels::store_axes_lines<unit_bytes>(memory, params, tile, threadIdx.x);
}

// Blocks of a multiprocessor to leave registers for.
constexpr int plane_blocks(const kernels::AxesPlaneShape& shape, bool aligned) {
  const int rows = shape.steps() + static_cast<int>(kernels::kLineSector) / shape.unit_bytes - 1;
  constexpr int shared_bytes = 220 << 10;
  const int most_threads = aligned ? 1440 : 1152;  // two vectors of registers are read, or one
  const int by_memory = shared_bytes / (rows * shape.row_bytes + (1 << 10));
  const int by_threads = most_threads / shape.threads;
  return by_memory < by_threads ? by_memory : by_threads;
}

template <std::size_t index, bool aligned>
__global__ void __launch_bounds__(kernels::kAxesPlaneShapes[index].threads,
                                  plane_blocks(kernels::kAxesPlaneShapes[index], aligned))
    permute_axes_plane(const __grid_constant__ kernels::AxesLinesParams params, const std::byte* in,
                       std::byte* out) {
  constexpr kernels::AxesPlaneShape shape = kernels::kAxesPlaneShapes[index];
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const kernels::AxesLinesTile tile = kernels::axes_lines_tile(params, blockIdx.x);
  if constexpr (aligned) {
    TileMemory memory(in, out, shared, false, false);
    kernels::load_axes_plane<shape, true>(memory, params, tile, threadIdx.x);
    __syncthreads();
    kernels::store_axes_plane<shape>(memory, params, tile, threadIdx.x);
  } else {
    TransposeMemory memory(in, out, shared);
    kernels::load_axes_plane<shape, false>(memory, params, tile, threadIdx.x);
    __syncthreads();
    kernels::store_axes_plane<shape>(memory, params, tile, threadIdx.x);
  }
}

template <int unit_bytes>
__global__ void __launch_bounds__(kernels::kAxesRowsThreads)
    permute_axes_rows(const __grid_constant__ kernels::AxesRowsParams params, const std::byte* in,
                      std::byte* out) {
  NeighbourMemory memory(in, out, nullptr);
  kernels::move_axes_rows<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

}  // namespace

KernelEntry axes_box_kernel(const kernels::BoxShape& wanted) {
  return find_entry<std::size(kernels::kBoxShapes)>([&](auto number) -> KernelEntry {
    constexpr std::size_t index = decltype(number)::value;
    if (wanted != kernels::kBoxShapes[index]) return {};
    return entry_of(&permute_axes_box<index>, kernels::kBoxThreads);
  });
}

KernelEntry axes_lines_kernel(int unit_bytes) {
  return of_unit(unit_bytes, [](auto unit) {
    return entry_of(&permute_axes_lines<decltype(unit)::value>, kernels::kAxesLinesThreads);
  });
}

KernelEntry axes_plane_kernel(const kernels::AxesPlaneShape& wanted, bool aligned) {
  return find_entry<std::size(kernels::kAxesPlaneShapes)>([&](auto number) -> KernelEntry {
    constexpr std::size_t index = decltype(number)::value;
    constexpr kernels::AxesPlaneShape shape = kernels::kAxesPlaneShapes[index];
    if (wanted != shape) return {};
    if (aligned) return entry_of(&permute_axes_plane<index, true>, shape.threads);
    if constexpr (shape.unit_bytes < kernels::kMovedBytes) {
      return entry_of(&permute_axes_plane<index, false>, shape.threads);
    } else {
      return {};
    }
  });
}

KernelEntry axes_rows_kernel(int unit_bytes) {
  return of_unit(unit_bytes, [](auto unit) {
    return entry_of(&permute_axes_rows<decltype(unit)::value>, kernels::kAxesRowsThreads);
  });
}

}  // namespace faro::cuda
