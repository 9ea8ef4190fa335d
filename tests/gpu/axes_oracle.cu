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

// Where element number `i` of a view lies, in elements.
struct AxesPlaces {
  std::uint64_t in;
  std::uint64_t out;
};

__device__ AxesPlaces axes_places(const AxesOracle& oracle, std::uint64_t i) {
  AxesPlaces at{oracle.in_offset, oracle.out_offset};
  for (int a = oracle.axes; a-- > 0;) {
    const std::uint64_t digit = i % oracle.extent[a];
    at.in += digit * static_cast<std::uint64_t>(oracle.in_stride[a]);  // modulo 2^64
    at.out += digit * static_cast<std::uint64_t>(oracle.out_stride[a]);
    i /= oracle.extent[a];
  }
  return at;
}

__global__ void move_each(const unsigned char* in, unsigned char* out,
                          const __grid_constant__ AxesOracle oracle, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    const AxesPlaces at = axes_places(oracle, i);
    for (std::uint64_t k = 0; k < oracle.element_bytes; ++k) {
      out[at.out * oracle.element_bytes + k] = in[at.in * oracle.element_bytes + k];
    }
  }
}

__global__ void count_different(const unsigned char* a, const unsigned char* b, std::uint64_t bytes,
                                unsigned long long* different) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < bytes; i += step) {
    if (a[i] != b[i]) atomicAdd(different, 1ULL);
  }
}

__global__ void count_axes_misplaced(const unsigned char* in, const unsigned char* out,
                                     const __grid_constant__ AxesOracle oracle, std::uint64_t count,
                                     unsigned long long* wrong) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    const AxesPlaces at = axes_places(oracle, i);
    bool same = true;
    for (std::uint64_t k = 0; k < oracle.element_bytes; ++k) {
      same = same && in[at.in * oracle.element_bytes + k] == out[at.out * oracle.element_bytes + k];
    }
    if (!same) atomicAdd(wrong, 1ULL);
  }
}

// Queues count(counter), a number that starts at 0, and waits for it.
template <typename Count>
std::uint64_t counted(Stream stream, const Count& count) {
  unsigned long long* counter = nullptr;
  require_success(cudaMalloc(&counter, sizeof(*counter)), "cudaMalloc");
  require_success(cudaMemsetAsync(counter, 0, sizeof(*counter), stream.handle()), "cudaMemsetAsync");
  count(counter);
  require_success(cudaGetLastError(), "a kernel that counts");
  unsigned long long result = 0;
  require_success(cudaMemcpyAsync(&result, counter, sizeof(result), cudaMemcpyDeviceToHost, stream.handle()),
                  "cudaMemcpyAsync");
  require_success(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  require_success(cudaFree(counter), "cudaFree");
  return result;
}

}  // namespace

void draw_bytes(void* array, std::uint64_t bytes, std::uint64_t seed, Stream stream) {
  draw_each<<<kOracleBlocks, kOracleThreads, 0, stream.handle()>>>(static_cast<unsigned char*>(array), bytes,
                                                                   seed);
  require_success(cudaGetLastError(), "draw_each");
}

std::uint64_t misplaced_elements(const void* in, const void* out, const AxesOracle& oracle, Stream stream) {
  return counted(stream, [&](unsigned long long* wrong) {
    count_axes_misplaced<<<kOracleBlocks, kOracleThreads, 0, stream.handle()>>>(
        static_cast<const unsigned char*>(in), static_cast<const unsigned char*>(out), oracle, oracle.count(),
        wrong);
  });
}

std::uint64_t different_bytes(const void* a, const void* b, std::uint64_t bytes, Stream stream) {
  return counted(stream, [&](unsigned long long* different) {
    count_different<<<kOracleBlocks, kOracleThreads, 0, stream.handle()>>>(
        static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b), bytes, different);
  });
}

void move_elements(const void* in, void* out, const AxesOracle& oracle, Stream stream) {
  move_each<<<kOracleBlocks, kOracleThreads, 0, stream.handle()>>>(
      static_cast<const unsigned char*>(in), static_cast<unsigned char*>(out), oracle, oracle.count());
  require_success(cudaGetLastError(), "move_each");
}

}  // namespace faro::testing
