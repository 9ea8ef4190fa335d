#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

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

void keep_workspaces() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  gpu::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  gpu::check_cuda(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  gpu::check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most),
                  "cudaMemPoolSetAttribute");
}

}  // namespace faro::bench::gpu_model
