// The transposition in place, unit by unit: phases of faro/kernels put on the device.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "engines/cuda/kernels/transpose_kernels.hpp"
#include "engines/cuda/kernels/transpose_memory.cuh"

namespace faro::cuda {
namespace {

template <int bytes>
__global__ void __launch_bounds__(1024)
    transpose_whole(const __grid_constant__ kernels::TransposeWholeParams params, std::byte* array,
                    std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::load_whole<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_whole<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(1024)
    transpose_rows(const __grid_constant__ kernels::C2rRowsParams params, std::byte* array,
                   std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::load_c2r_row<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_c2r_row<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(512)
    transpose_strips(const __grid_constant__ kernels::C2rStripsParams params, std::byte* array,
                     std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::list_c2r_columns(memory, params, threadIdx.x);
  __syncthreads();
  kernels::load_c2r_strip<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_c2r_strip<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(256)
    transpose_windows(const __grid_constant__ kernels::C2rWindowsParams params, std::byte* array,
                      std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::list_c2r_rows(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::load_c2r_window<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_c2r_window<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(512)
    transpose_long_rows(const __grid_constant__ kernels::C2rLongRowsParams params, std::byte* array,
                        std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::list_c2r_segments(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::load_c2r_stretch<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_c2r_stretch<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes, bool gathers>
__global__ void __launch_bounds__(kernels::kC2rHugeThreads)
    transpose_huge_rows(const __grid_constant__ kernels::C2rHugeRowsParams params, std::byte* array,
                        std::byte* scratch, std::byte* rows) {
  InPlaceMemory memory{array, scratch, rows, nullptr};
  kernels::move_c2r_huge_row<bytes, gathers>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
struct KernelOf {
  template <typename Kernel>
  static const void* address(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
  }
  const void* operator()(const kernels::TransposeWholeParams& /*params*/) const {
    return address(&transpose_whole<bytes>);
  }
  const void* operator()(const kernels::C2rRowsParams& /*params*/) const {
    return address(&transpose_rows<bytes>);
  }
  const void* operator()(const kernels::C2rStripsParams& /*params*/) const {
    return address(&transpose_strips<bytes>);
  }
  const void* operator()(const kernels::C2rWindowsParams& /*params*/) const {
    return address(&transpose_windows<bytes>);
  }
  const void* operator()(const kernels::C2rLongRowsParams& /*params*/) const {
    return address(&transpose_long_rows<bytes>);
  }
  const void* operator()(const detail::GpuHugeStep& step) const {
    return step.gathers ? address(&transpose_huge_rows<bytes, true>)
                        : address(&transpose_huge_rows<bytes, false>);
  }
  template <typename Params>
  const void* operator()(const Params& /*others go in vectors*/) const {
    return nullptr;
  }
};

KernelEntry entry_of(const void* function, const detail::GpuTransposeLaunch& launch) {
  return {.function = function,
          .threads = static_cast<int>(launch.threads),
          .shared_bytes = static_cast<int>(launch.shared_bytes)};
}

}  // namespace

KernelEntry transpose_kernel(const detail::GpuTransposeLaunch& launch, std::uint64_t unit_bytes) {
  const void* function = transpose_vector_kernel(launch, unit_bytes);
  if (function != nullptr) return entry_of(function, launch);
  if (unit_bytes == 1) function = std::visit(KernelOf<1>(), launch.params);
  if (unit_bytes == 2) function = std::visit(KernelOf<2>(), launch.params);
  if (unit_bytes == 4) function = std::visit(KernelOf<4>(), launch.params);
  if (unit_bytes == 8) function = std::visit(KernelOf<8>(), launch.params);
  if (unit_bytes == 16) function = std::visit(KernelOf<16>(), launch.params);
  return entry_of(function, launch);
}

}  // namespace faro::cuda
