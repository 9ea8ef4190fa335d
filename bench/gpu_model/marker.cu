#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "bench/gpu/runtime.hpp"
#include "bench/gpu_model/marker.hpp"

namespace faro::bench::gpu_model {

namespace {

__global__ void begin_case_kernel() {}

}  // namespace

void begin_case() {
  gpu::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  gpu::check_cuda(cudaProfilerStart(), "cudaProfilerStart");
  begin_case_kernel<<<1, 1>>>();
  gpu::check_cuda(cudaGetLastError(), "begin_case");
  gpu::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void end_case() {
  gpu::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  gpu::check_cuda(cudaProfilerStop(), "cudaProfilerStop");
}

}  // namespace faro::bench::gpu_model
