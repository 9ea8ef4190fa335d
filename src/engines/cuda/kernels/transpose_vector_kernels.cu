// The transposition in place, in vectors: phases of faro/kernels put on the device.
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
    transpose_vector_rows(const __grid_constant__ kernels::C2rVectorRowsParams params, std::byte* array,
                          std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::load_c2r_vector_row<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_c2r_vector_row<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(512, 2)
    transpose_vector_strips(const __grid_constant__ kernels::C2rVectorStripsParams params, std::byte* array,
                            std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::list_c2r_strip_in<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::load_c2r_vector_strip<bytes>(memory, params, threadIdx.x);
  __syncthreads();
  kernels::list_c2r_strip_out<bytes>(memory, params, blockIdx.x, threadIdx.x);
  memory.wait();
  __syncthreads();
  kernels::store_c2r_vector_strip<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(256, 4)
    transpose_vector_windows(const __grid_constant__ kernels::C2rVectorWindowsParams params, std::byte* array,
                             std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::list_c2r_window_in<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::load_c2r_vector_window<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::list_c2r_window_out<bytes>(memory, params, blockIdx.x, threadIdx.x);
  memory.wait();
  __syncthreads();
  kernels::store_c2r_vector_window<bytes>(memory, params, blockIdx.x, threadIdx.x);
}

template <int bytes>
__global__ void __launch_bounds__(512, 2)
    transpose_vector_long_rows(const __grid_constant__ kernels::C2rVectorLongRowsParams params,
                               std::byte* array, std::byte* scratch, std::byte* rows) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{array, scratch, rows, shared};
  kernels::list_c2r_vector_segments<bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::load_c2r_vector_stretch<bytes>(memory, params, threadIdx.x);
  memory.wait();
  __syncthreads();
  kernels::store_c2r_vector_stretch<bytes>(memory, params, threadIdx.x);
}

template <int bytes>
struct VectorKernelOf {
  template <typename Kernel>
  static const void* address(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
  }
  const void* operator()(const kernels::C2rVectorRowsParams& /*params*/) const {
    return address(&transpose_vector_rows<bytes>);
  }
  const void* operator()(const kernels::C2rVectorStripsParams& /*params*/) const {
    return address(&transpose_vector_strips<bytes>);
  }
  const void* operator()(const kernels::C2rVectorWindowsParams& /*params*/) const {
    return address(&transpose_vector_windows<bytes>);
  }
  const void* operator()(const kernels::C2rVectorLongRowsParams& /*params*/) const {
    return address(&transpose_vector_long_rows<bytes>);
  }
  template <typename Params>
  const void* operator()(const Params& /*others go unit by unit*/) const {
    return nullptr;
  }
};

}  // namespace

const void* transpose_vector_kernel(const detail::GpuTransposeLaunch& launch, std::uint64_t unit_bytes) {
  if (unit_bytes == 1) return std::visit(VectorKernelOf<1>(), launch.params);
  if (unit_bytes == 2) return std::visit(VectorKernelOf<2>(), launch.params);
  if (unit_bytes == 4) return std::visit(VectorKernelOf<4>(), launch.params);
  if (unit_bytes == 8) return std::visit(VectorKernelOf<8>(), launch.params);
  return nullptr;
}

}  // namespace faro::cuda
