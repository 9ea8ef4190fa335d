// The kernels of index arrays: phases of faro/kernels put on the device, with the barriers between them.
//
// A template takes the index of its entry in kCompiledPartitions, for the reason that kernels.cu gives.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/kernels/index_memory.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/indexed_direct.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_in_global.hpp"
#include "kernels/partition_runs.hpp"
#include "kernels/row_column.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using faro::detail::by_unit_bytes;
using kernels::ColumnsParams;
using kernels::DirectParams;
using kernels::kCompiledPartitions;
using kernels::PartitionParams;

constexpr int kSmallChunkThreads = 512;
constexpr int kLargeChunkThreads = 1024;

extern __shared__ __align__(16) std::byte shared_chunk[];

template <int bytes, bool single, int variant>
__global__ void __launch_bounds__(kCompiledPartitions[variant].threads(),
                                  least_blocks(kCompiledPartitions[variant].min_blocks,
                                               kCompiledPartitions[variant].threads()))
    spread_chunk(const __grid_constant__ PartitionParams params, const std::byte* in, std::byte* out,
                 const std::byte* places, const std::byte* starts, const std::byte* offsets) {
  constexpr kernels::CompiledPartition compiled = kCompiledPartitions[variant];
  Streamed memory{in, out, shared_chunk, {places, starts, offsets}};
  kernels::load_descriptors(memory, params, blockIdx.x, threadIdx.x, compiled.threads());
  kernels::load_placed<bytes, single>(memory, params, blockIdx.x, threadIdx.x, compiled.threads());
  memory.wait();
  __syncthreads();
  kernels::store_runs<bytes, single, compiled.lane_bits>(memory, params, blockIdx.x, threadIdx.x,
                                                         compiled.threads());
}

template <int bytes, bool single, int variant>
__global__ void __launch_bounds__(kCompiledPartitions[variant].threads(),
                                  least_blocks(kCompiledPartitions[variant].min_blocks,
                                               kCompiledPartitions[variant].threads()))
    collect_chunk(const __grid_constant__ PartitionParams params, const std::byte* in, std::byte* out,
                  const std::byte* places, const std::byte* starts, const std::byte* offsets) {
  constexpr kernels::CompiledPartition compiled = kCompiledPartitions[variant];
  Streamed memory{in, out, shared_chunk, {places, starts, offsets}};
  kernels::load_descriptors(memory, params, blockIdx.x, threadIdx.x, compiled.threads());
  memory.wait();
  __syncthreads();
  kernels::load_runs<bytes, single, compiled.lane_bits>(memory, params, blockIdx.x, threadIdx.x,
                                                        compiled.threads());
  memory.wait();
  __syncthreads();
  kernels::store_picked<bytes, single>(memory, params, blockIdx.x, threadIdx.x, compiled.threads());
}

// In place where in == out: a chunk is loaded wholly before any of it is stored.
template <int bytes, bool single, int threads>
__global__ void __launch_bounds__(threads, least_blocks(threads == kSmallChunkThreads ? 3 : 1, threads))
    place_chunk(const __grid_constant__ PartitionParams params, const std::byte* in, std::byte* out,
                const std::byte* places) {
  Streamed memory{in, out, shared_chunk, {places}};
  kernels::load_placed<bytes, single>(memory, params, blockIdx.x, threadIdx.x, threads);
  __syncthreads();
  kernels::store_chunk<bytes, single>(memory, params, blockIdx.x, threadIdx.x, threads);
}

template <int bytes, bool single, int threads>
__global__ void __launch_bounds__(threads, least_blocks(threads == kSmallChunkThreads ? 3 : 1, threads))
    pick_chunk(const __grid_constant__ PartitionParams params, const std::byte* in, std::byte* out,
               const std::byte* places) {
  Streamed memory{in, out, shared_chunk, {places}};
  kernels::load_chunk<bytes, single>(memory, params, blockIdx.x, threadIdx.x, threads);
  __syncthreads();
  kernels::store_picked<bytes, single>(memory, params, blockIdx.x, threadIdx.x, threads);
}

// In place where in == out, as above.
template <int bytes, bool forwards>
__global__ void __launch_bounds__(kernels::kColumnsThreads)
    move_columns(const __grid_constant__ ColumnsParams params, const std::byte* in, std::byte* out,
                 const std::byte* places) {
  Kept memory{in, out, shared_chunk, {places}};
  kernels::load_columns<bytes, forwards>(memory, params, blockIdx.x, threadIdx.x, kernels::kColumnsThreads);
  __syncthreads();
  kernels::store_columns<bytes, forwards>(memory, params, blockIdx.x, threadIdx.x, kernels::kColumnsThreads);
}

template <bool gather>
using OfDirect = std::conditional_t<gather, Streamed, Kept>;

template <int bytes, int index_bytes, bool gather>
__global__ void __launch_bounds__(kernels::kDirectThreads)
    move_direct_vectors(const __grid_constant__ DirectParams params, const std::byte* in, std::byte* out,
                        const std::byte* entries) {
  OfDirect<gather> memory{in, out, nullptr, {entries}};
  kernels::move_direct_vectors<bytes, index_bytes, gather>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes, int index_bytes, bool gather>
__global__ void __launch_bounds__(kernels::kDirectThreads)
    move_direct_one(const __grid_constant__ DirectParams params, const std::byte* in, std::byte* out,
                    const std::byte* entries) {
  OfDirect<gather> memory{in, out, nullptr, {entries}};
  kernels::move_direct_one<bytes, index_bytes, gather>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes, int index_bytes, bool gather, std::uint32_t batch>
__global__ void __launch_bounds__(kernels::kDirectThreads)
    move_direct_units(const __grid_constant__ DirectParams params, const std::byte* in, std::byte* out,
                      const std::byte* entries) {
  OfDirect<gather> memory{in, out, nullptr, {entries}};
  kernels::move_direct_units<bytes, index_bytes, gather, batch>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes, bool level, bool forwards>
__global__ void __launch_bounds__(kernels::kInGlobalThreads)
    move_in_global(const __grid_constant__ PartitionParams params, const std::byte* in, std::byte* out,
                   const std::byte* places, const std::byte* starts, const std::byte* offsets) {
  Kept memory{in, out, nullptr, {places, starts, offsets}};
  kernels::move_in_global<bytes, level, forwards>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes, bool forwards>
__global__ void __launch_bounds__(kernels::kInGlobalThreads)
    move_columns_in_global(const __grid_constant__ ColumnsParams params, const std::byte* in, std::byte* out,
                           const std::byte* places) {
  Kept memory{in, out, nullptr, {places}};
  kernels::move_columns_in_global<bytes, forwards>(memory, params, blockIdx.x, threadIdx.x,
                                                   kernels::kInGlobalThreads);
}

namespace {

template <typename Function>
const void* address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

template <int bytes, bool single, int variant>
KernelEntry level_entry(Way way) {
  return {way == Way::forwards ? address(&spread_chunk<bytes, single, variant>)
                               : address(&collect_chunk<bytes, single, variant>),
          kCompiledPartitions[variant].threads(), 0};
}

template <int bytes>
KernelEntry level_of(bool single, Way way, int variant) {
  static_assert(kernels::kCompiledPartitionCount == 4);
  if (!single) {
    return variant == kernels::kLargeChunkPartition
               ? level_entry<bytes, false, kernels::kLargeChunkPartition>(way)
               : level_entry<bytes, false, kernels::kManyUnitsPartition>(way);
  }
  switch (variant) {
    case 0:
      return level_entry<bytes, true, 0>(way);
    case 1:
      return level_entry<bytes, true, 1>(way);
    case 2:
      return level_entry<bytes, true, 2>(way);
    case 3:
      return level_entry<bytes, true, 3>(way);
    default:
      return {};
  }
}

template <int bytes, bool single, int threads>
KernelEntry chunk_entry(Way way) {
  return {way == Way::forwards ? address(&place_chunk<bytes, single, threads>)
                               : address(&pick_chunk<bytes, single, threads>),
          threads, 0};
}

template <int bytes, int index_bytes, bool gather>
KernelEntry direct_entry(DirectKind kind) {
  switch (kind) {
    case DirectKind::vectors:
      return {address(&move_direct_vectors<bytes, index_bytes, gather>), kernels::kDirectThreads, 0};
    case DirectKind::units:
      return {address(&move_direct_units<bytes, index_bytes, gather, kernels::kDirectUnitBatch>),
              kernels::kDirectThreads, 0};
    case DirectKind::small:
      return {address(&move_direct_units<bytes, index_bytes, gather, 1>), kernels::kDirectThreads, 0};
    case DirectKind::one:
      return {address(&move_direct_one<bytes, index_bytes, gather>), kernels::kDirectThreads, 0};
  }
  return {};
}

}  // namespace

KernelEntry level_kernel(const IndexUnit& unit, Way way, int variant) {
  return by_unit_bytes(unit.unit_bytes,
                       [&](auto bytes) { return level_of<bytes()>(unit.single, way, variant); });
}

KernelEntry chunk_kernel(const IndexUnit& unit, Way way, bool large) {
  return by_unit_bytes(unit.unit_bytes, [&](auto bytes) {
    if (unit.single) {
      return large ? chunk_entry<bytes(), true, kLargeChunkThreads>(way)
                   : chunk_entry<bytes(), true, kSmallChunkThreads>(way);
    }
    return large ? chunk_entry<bytes(), false, kLargeChunkThreads>(way)
                 : chunk_entry<bytes(), false, kSmallChunkThreads>(way);
  });
}

KernelEntry columns_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    return KernelEntry{
        way == Way::forwards ? address(&move_columns<bytes(), true>) : address(&move_columns<bytes(), false>),
        kernels::kColumnsThreads, 0};
  });
}

KernelEntry direct_kernel(int unit_bytes, int index_bytes, Way way, DirectKind kind) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    if (index_bytes == 4) {
      return way == Way::forwards ? direct_entry<bytes(), 4, false>(kind)
                                  : direct_entry<bytes(), 4, true>(kind);
    }
    return way == Way::forwards ? direct_entry<bytes(), 8, false>(kind)
                                : direct_entry<bytes(), 8, true>(kind);
  });
}

KernelEntry level_in_global_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    return KernelEntry{way == Way::forwards ? address(&move_in_global<bytes(), true, true>)
                                            : address(&move_in_global<bytes(), true, false>),
                       kernels::kInGlobalThreads, 0};
  });
}

KernelEntry chunk_in_global_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    return KernelEntry{way == Way::forwards ? address(&move_in_global<bytes(), false, true>)
                                            : address(&move_in_global<bytes(), false, false>),
                       kernels::kInGlobalThreads, 0};
  });
}

KernelEntry columns_in_global_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    return KernelEntry{way == Way::forwards ? address(&move_columns_in_global<bytes(), true>)
                                            : address(&move_columns_in_global<bytes(), false>),
                       kernels::kInGlobalThreads, 0};
  });
}

}  // namespace faro::cuda
