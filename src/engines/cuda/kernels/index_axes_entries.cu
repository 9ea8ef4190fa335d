// One-pass kernels for axes: lines, planes, rows (index_box_entries.cu has boxes, index_transpose_entries.cu
// other transposes).
#include <cstddef>
#include <iterator>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/axes_elements.hpp"
#include "kernels/axes_lines.hpp"
#include "kernels/axes_plane.hpp"
#include "kernels/axes_registers.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/axes_view_rows.hpp"

namespace faro::cuda {
namespace {

template <int unit_bytes>
__global__ void __launch_bounds__(kernels::kAxesLinesThreads,
                                  least_blocks(unit_bytes < 16 ? 4 : 5, kernels::kAxesLinesThreads))
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
                                  least_blocks(plane_blocks(kernels::kAxesPlaneShapes[index], aligned),
                                               kernels::kAxesPlaneShapes[index].threads))
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
  TransposeMemory memory(in, out, nullptr);
  kernels::move_axes_rows<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
}

// Where a thread's elements are is worked out while the kernel before still runs.
struct EarlyElementsMemory : ElementsMemory {
  using ElementsMemory::ElementsMemory;
  __device__ void begin_reading() const { wait_for_kernel_before(); }
};

template <int unit_bytes, int most_units>
__global__ void __launch_bounds__(kernels::kAxesElementsThreads)
    permute_axes_elements(const __grid_constant__ kernels::AxesElementsParams params, const std::byte* in,
                          std::byte* out) {
  EarlyElementsMemory memory(in, out);
  kernels::move_axes_elements<unit_bytes, most_units>(memory, params, blockIdx.x, threadIdx.x);
}

template <int number>
__global__ void __launch_bounds__(kernels::kAxesRegistersThreads)
    permute_axes_registers(const __grid_constant__ kernels::AxesRegistersParams params, const std::byte* in,
                           std::byte* out) {
  ElementsMemory memory(in, out);
  kernels::move_axes_registers<kernels::axes_registers_shape(number)>(memory, params, blockIdx.x,
                                                                      threadIdx.x);
}

// Narrow accesses are coalesced, each line touched once.
template <std::size_t index>
__global__ void __launch_bounds__(kernels::kViewRowsThreads)
    permute_view_rows(const __grid_constant__ kernels::ViewRowsParams params, const std::byte* in,
                      std::byte* out) {
  constexpr kernels::ViewRowsShape shape = kernels::kViewRowsShapes[index];
  wait_for_kernel_before();
  StreamedMemory<shape.access_bytes> memory{in, out, nullptr};
  kernels::move_view_rows<shape>(memory, params, blockIdx.x, threadIdx.x);
}

}  // namespace

KernelEntry axes_lines_kernel(int unit_bytes) {
  return by_unit_bytes(unit_bytes, [](auto unit) {
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

KernelEntry axes_elements_kernel(int unit_bytes, int units) {
  return by_unit_bytes(unit_bytes, [units](auto unit) {
    constexpr int bytes = decltype(unit)::value;
    return kernels::by_elements_units<bytes>(units, [](auto most) {
      KernelEntry entry =
          entry_of(&permute_axes_elements<bytes, decltype(most)::value>, kernels::kAxesElementsThreads);
      entry.early = true;
      return entry;
    });
  });
}

KernelEntry axes_registers_kernel(const kernels::AxesRegistersShape& wanted) {
  return find_entry<kernels::kAxesRegistersShapes>([&](auto number) -> KernelEntry {
    constexpr int index = static_cast<int>(decltype(number)::value);
    if (wanted != kernels::axes_registers_shape(index)) return {};
    return entry_of(&permute_axes_registers<index>, kernels::kAxesRegistersThreads);
  });
}

KernelEntry view_rows_kernel(const kernels::ViewRowsShape& wanted) {
  return find_entry<std::size(kernels::kViewRowsShapes)>([&](auto number) -> KernelEntry {
    constexpr std::size_t index = decltype(number)::value;
    if (wanted != kernels::kViewRowsShapes[index]) return {};
    KernelEntry entry = entry_of(&permute_view_rows<index>, kernels::kViewRowsThreads);
    entry.early = true;
    return entry;
  });
}

KernelEntry axes_rows_kernel(int unit_bytes) {
  return by_unit_bytes(unit_bytes, [](auto unit) {
    return entry_of(&permute_axes_rows<decltype(unit)::value>, kernels::kAxesRowsThreads);
  });
}

}  // namespace faro::cuda
