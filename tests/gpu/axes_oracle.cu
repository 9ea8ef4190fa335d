#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "gpu/axes_oracle.hpp"

namespace faro::testing {
namespace {

constexpr unsigned kOracleThreads = 256;
constexpr unsigned kOracleBlocks = 8192;

void require_success(cudaError_t result, const char* call) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

__global__ void draw_each(unsigned char* array, std::uint64_t bytes, std::uint64_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t x = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; x < bytes; x += step) {
    std::uint64_t hash = (x + 1) * 0x9e3779b97f4a7c15ULL + seed;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
    array[x] = static_cast<unsigned char>(hash >> 40);
  }
}

__global__ void count_axes_misplaced(const unsigned char* in, const unsigned char* out,
                                     const __grid_constant__ AxesOracle oracle, std::uint64_t count,
                                     unsigned long long* wrong) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    std::uint64_t left = i;
    std::uint64_t x = oracle.in_offset;
    std::uint64_t y = oracle.out_offset;
    for (int a = oracle.axes; a-- > 0;) {
      const std::uint64_t digit = left % oracle.extent[a];
      x += digit * static_cast<std::uint64_t>(oracle.in_stride[a]);  // modulo 2^64
      y += digit * static_cast<std::uint64_t>(oracle.out_stride[a]);
      left /= oracle.extent[a];
    }
    bool same = true;
    for (std::uint64_t k = 0; k < oracle.element_bytes; ++k) {
      same = same && in[x * oracle.element_bytes + k] == out[y * oracle.element_bytes + k];
    }
    if (!same) atomicAdd(wrong, 1ULL);
  }
}

}  // namespace

void draw_bytes(void* array, std::uint64_t bytes, std::uint64_t seed, Stream stream) {
  draw_each<<<kOracleBlocks, kOracleThreads, 0, stream.handle()>>>(static_cast<unsigned char*>(array), bytes,
                                                                   seed);
  require_success(cudaGetLastError(), "draw_each");
}

std::uint64_t misplaced_elements(const void* in, const void* out, const AxesOracle& oracle, Stream stream) {
  unsigned long long* wrong = nullptr;
  require_success(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  require_success(cudaMemsetAsync(wrong, 0, sizeof(*wrong), stream.handle()), "cudaMemsetAsync");
  count_axes_misplaced<<<kOracleBlocks, kOracleThreads, 0, stream.handle()>>>(
      static_cast<const unsigned char*>(in), static_cast<const unsigned char*>(out), oracle, oracle.count(),
      wrong);
  require_success(cudaGetLastError(), "count_axes_misplaced");
  unsigned long long count = 0;
  require_success(cudaMemcpyAsync(&count, wrong, sizeof(count), cudaMemcpyDeviceToHost, stream.handle()),
                  "cudaMemcpyAsync");
  require_success(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  require_success(cudaFree(wrong), "cudaFree");
  return count;
}

}  // namespace faro::testing
