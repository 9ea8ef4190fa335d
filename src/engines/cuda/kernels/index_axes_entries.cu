// One-pass kernels for axes: tiles, lines, planes, rows (index_transpose_entries.cu has other transposes).
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "kernels/axes_lines.hpp"
#include "kernels/axes_plane.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/axes_tile.hpp"

namespace faro::cuda {
namespace {

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
