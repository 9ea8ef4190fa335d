#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "gpu/index_oracle.hpp"

namespace faro::testing {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 4096;

void require(cudaError_t result, const char* call) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

__global__ void fill_kernel(unsigned char* array, std::uint64_t bytes, std::uint64_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += step) {
    std::uint64_t x = (i + seed) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    array[i] = static_cast<unsigned char>(x >> 32);
  }
}

template <typename Entry>
__global__ void compare_kernel(IndexOracle oracle, const unsigned char* in, const unsigned char* out,
                               unsigned long long* wrong) {
  const auto* entries = static_cast<const Entry*>(oracle.entries);
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t elements = oracle.count * oracle.batch;
  for (std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; g < elements; g += step) {
    const std::uint64_t array = g / oracle.count * oracle.count;
    const std::uint64_t other = array + entries[g - array];
    const unsigned char* from = in + (oracle.forwards ? g : other) * oracle.element_bytes;
    const unsigned char* to = out + (oracle.forwards ? other : g) * oracle.element_bytes;
    unsigned bad = 0;
    for (std::uint64_t b = 0; b < oracle.element_bytes; ++b) bad += from[b] != to[b] ? 1 : 0;
    if (bad > 0) atomicAdd(wrong, static_cast<unsigned long long>(bad));
  }
}

}  // namespace

void fill_bytes(void* array, std::uint64_t bytes, std::uint64_t seed, Stream stream) {
  if (bytes == 0) return;
  fill_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(static_cast<unsigned char*>(array), bytes, seed);
  require(cudaGetLastError(), "fill_kernel");
}

std::uint64_t misplaced_bytes(const IndexOracle& oracle, const void* in, const void* out, Stream stream) {
  if (oracle.count == 0) return 0;
  unsigned long long* wrong = nullptr;
  require(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  require(cudaMemsetAsync(wrong, 0, sizeof(*wrong), stream.handle()), "cudaMemsetAsync");
  const auto* from = static_cast<const unsigned char*>(in);
  const auto* to = static_cast<const unsigned char*>(out);
  if (oracle.entry_bytes == 4) {
    compare_kernel<std::uint32_t><<<kBlocks, kThreads, 0, stream.handle()>>>(oracle, from, to, wrong);
  } else {
    compare_kernel<std::uint64_t><<<kBlocks, kThreads, 0, stream.handle()>>>(oracle, from, to, wrong);
  }
  require(cudaGetLastError(), "compare_kernel");
  unsigned long long found = 0;
  require(cudaMemcpyAsync(&found, wrong, sizeof(found), cudaMemcpyDeviceToHost, stream.handle()),
          "cudaMemcpyAsync");
  require(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  require(cudaFree(wrong), "cudaFree");
  return found;
}

}  // namespace faro::testing
