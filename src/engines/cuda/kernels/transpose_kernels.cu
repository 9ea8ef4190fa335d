// The transposition in place: phases of faro/kernels put on the device.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "engines/cuda/kernels/least_blocks.cuh"
#include "engines/cuda/kernels/transpose_kernels.hpp"
#include "engines/cuda/kernels/transpose_memory.cuh"
#include "plan/gpu/sweep_phases.hpp"

namespace faro::cuda {
namespace {

// Threads of a block, at most. For sweeps in vectors, which need few registers, a multiprocessor holds so
// many blocks as have that many threads of rows.
template <typename Params>
inline constexpr int kMostThreads = 1024;
template <>
inline constexpr int kMostThreads<kernels::C2rStripsParams> = 512;
template <>
inline constexpr int kMostThreads<kernels::C2rWindowsParams> = 256;
template <>
inline constexpr int kMostThreads<kernels::C2rLongRowsParams> = 512;

template <typename Mover, typename Params>
inline constexpr int kLeastBlocks =
    Mover::vectors ? kMostThreads<kernels::C2rRowsParams> / kMostThreads<Params> : 0;

template <typename Mover, typename Params>
__global__ void __launch_bounds__(kMostThreads<Params>,
                                  (least_blocks(kLeastBlocks<Mover, Params>, kMostThreads<Params>)))
    transpose_sweep(const __grid_constant__ Params params, std::byte* array, std::byte* scratch,
                    std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::with_phases<Mover>(params, [&](const auto& first, const auto&... later) {
    first(memory, blockIdx.x, threadIdx.x);
    ((__syncthreads(), later(memory, blockIdx.x, threadIdx.x)), ...);
  });
}

template <int bytes, bool gathers>
__global__ void __launch_bounds__(kernels::kC2rHugeThreads)
    transpose_huge_rows(const __grid_constant__ kernels::C2rHugeRowsParams params, std::byte* array,
                        std::byte* scratch, std::byte* rows) {
  InPlaceMemory memory{array, scratch, rows, nullptr};
  kernels::move_c2r_huge_row<bytes, gathers>(memory, params, blockIdx.x, threadIdx.x);
}

template <typename Kernel>
const void* address(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

template <typename Mover>
struct KernelOf {
  template <typename Params>
  const void* operator()(const Params& /*params*/) const {
    if constexpr (Mover::vectors && !std::is_base_of_v<kernels::C2rSweepParams, Params>)
      return nullptr;
    else
      return address(&transpose_sweep<Mover, Params>);
  }
  const void* operator()(const detail::GpuHugeStep& step) const {
    if constexpr (Mover::vectors)
      return nullptr;
    else
      return step.gathers ? address(&transpose_huge_rows<Mover::bytes, true>)
                          : address(&transpose_huge_rows<Mover::bytes, false>);
  }
};

}  // namespace

KernelEntry transpose_kernel(const detail::GpuTransposeLaunch& launch, std::uint64_t unit_bytes) {
  KernelEntry entry{.function = nullptr,
                    .threads = static_cast<int>(launch.threads),
                    .shared_bytes = static_cast<int>(launch.shared_bytes)};
  detail::by_unit_bytes(unit_bytes, [&](auto unit) {
    detail::with_mover<decltype(unit)::value>(launch, [&]<typename Mover>(Mover /*of the launch*/) {
      entry.function = std::visit(KernelOf<Mover>(), launch.params);
    });
  });
  return entry;
}

}  // namespace faro::cuda
