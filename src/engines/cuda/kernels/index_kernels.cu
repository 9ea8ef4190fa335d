// The kernels of index arrays: the steps of kernels/index_steps.hpp put on the device.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engines/cuda/kernels/device_block.cuh"
#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/kernels/index_memory.cuh"
#include "engines/cuda/kernels/least_blocks.cuh"
#include "kernels/index_steps.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using faro::detail::by_unit_bytes;

extern __shared__ __align__(16) std::byte shared_chunk[];

template <typename Step, typename Memory>
__global__ void __launch_bounds__(Step::kThreads, least_blocks(Step::kMinBlocks, Step::kThreads))
    run_step(const __grid_constant__ typename Step::Params params, const std::byte* in, std::byte* out,
             const std::byte* places, const std::byte* starts, const std::byte* offsets) {
  Memory memory{in, out, shared_chunk, {places, starts, offsets}};
  DeviceBlock block(shared_chunk);
  Step::run(memory, params, block);
}

namespace {

template <typename Step, typename Memory = Streamed>
KernelEntry entry() {
  return {reinterpret_cast<const void*>(&run_step<Step, Memory>), static_cast<int>(Step::kThreads), 0};
}

template <int bytes, bool single, int variant>
KernelEntry level_entry(Way way) {
  return way == Way::forwards ? entry<kernels::LevelStep<bytes, single, variant, true>>()
                              : entry<kernels::LevelStep<bytes, single, variant, false>>();
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

template <int bytes, bool single, bool large>
KernelEntry chunk_entry(Way way) {
  return way == Way::forwards ? entry<kernels::ChunkStep<bytes, single, large, true>>()
                              : entry<kernels::ChunkStep<bytes, single, large, false>>();
}

template <int bytes, int index_bytes, bool gather>
KernelEntry direct_entry(DirectKind kind) {
  using Memory = std::conditional_t<gather, Streamed, Kept>;
  switch (kind) {
    case DirectKind::vectors:
      return entry<kernels::DirectStep<bytes, index_bytes, gather, DirectKind::vectors>, Memory>();
    case DirectKind::units:
      return entry<kernels::DirectStep<bytes, index_bytes, gather, DirectKind::units>, Memory>();
    case DirectKind::small:
      return entry<kernels::DirectStep<bytes, index_bytes, gather, DirectKind::small>, Memory>();
    case DirectKind::one:
      return entry<kernels::DirectStep<bytes, index_bytes, gather, DirectKind::one>, Memory>();
  }
  return {};
}

template <int bytes, bool level>
KernelEntry in_global_entry(Way way) {
  return way == Way::forwards ? entry<kernels::InGlobalStep<bytes, level, true>, Kept>()
                              : entry<kernels::InGlobalStep<bytes, level, false>, Kept>();
}

}  // namespace

KernelEntry level_kernel(const IndexUnit& unit, Way way, int variant) {
  return by_unit_bytes(unit.unit_bytes,
                       [&](auto bytes) { return level_of<bytes()>(unit.single, way, variant); });
}

KernelEntry chunk_kernel(const IndexUnit& unit, Way way, bool large) {
  return by_unit_bytes(unit.unit_bytes, [&](auto bytes) {
    if (unit.single)
      return large ? chunk_entry<bytes(), true, true>(way) : chunk_entry<bytes(), true, false>(way);
    return large ? chunk_entry<bytes(), false, true>(way) : chunk_entry<bytes(), false, false>(way);
  });
}

KernelEntry columns_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    return way == Way::forwards ? entry<kernels::ColumnsStep<bytes(), true>, Kept>()
                                : entry<kernels::ColumnsStep<bytes(), false>, Kept>();
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
  return by_unit_bytes(unit_bytes, [&](auto bytes) { return in_global_entry<bytes(), true>(way); });
}

KernelEntry chunk_in_global_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) { return in_global_entry<bytes(), false>(way); });
}

KernelEntry columns_in_global_kernel(int unit_bytes, Way way) {
  return by_unit_bytes(unit_bytes, [&](auto bytes) {
    return way == Way::forwards ? entry<kernels::ColumnsInGlobalStep<bytes(), true>, Kept>()
                                : entry<kernels::ColumnsInGlobalStep<bytes(), false>, Kept>();
  });
}

}  // namespace faro::cuda
