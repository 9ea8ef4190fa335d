#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "gpu/transpose_oracle.hpp"

namespace faro::testing {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 8192;

void require(cudaError_t result, const char* call) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

// Byte k of element x.
__device__ unsigned char byte_of(std::uint64_t x, std::uint64_t seed, unsigned k) {
  std::uint64_t hash = (x + 1) * 0x9e3779b97f4a7c15ULL + seed + (k / 8) * 0xd1b54a32d192ed03ULL;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 29;
  return static_cast<unsigned char>(hash >> 8 * (k % 8));
}

__global__ void draw_all(unsigned char* array, std::uint64_t elements, unsigned width, std::uint64_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t x = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; x < elements; x += step) {
    for (unsigned k = 0; k < width; ++k) array[x * width + k] = byte_of(x, seed, k);
  }
}

// A thread an element of the result: row j, column i of a columns x rows array.
__global__ void count_misplaced(const unsigned char* array, Rectangle shape, std::uint64_t seed,
                                unsigned long long* wrong) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t all = shape.arrays * shape.rows * shape.columns;
  const std::uint64_t one = shape.rows * shape.columns;
  for (std::uint64_t y = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; y < all; y += step) {
    const std::uint64_t array_number = y / one;
    const std::uint64_t in_array = y % one;
    const std::uint64_t j = in_array / shape.rows;
    const std::uint64_t i = in_array % shape.rows;
    const std::uint64_t x = array_number * one + i * shape.columns + j;
    bool same = true;
    for (unsigned k = 0; k < shape.element_bytes; ++k) {
      same = same && array[y * shape.element_bytes + k] == byte_of(x, seed, k);
    }
    if (!same) atomicAdd(wrong, 1ULL);
  }
}

}  // namespace

void draw(void* array, const Rectangle& rectangle, std::uint64_t seed, Stream stream) {
  draw_all<<<kBlocks, kThreads, 0, stream.handle()>>>(static_cast<unsigned char*>(array),
                                                      rectangle.arrays * rectangle.rows * rectangle.columns,
                                                      static_cast<unsigned>(rectangle.element_bytes), seed);
  require(cudaGetLastError(), "draw_all");
}

std::uint64_t misplaced_elements(const void* array, const Rectangle& rectangle, std::uint64_t seed,
                                 Stream stream) {
  unsigned long long* wrong = nullptr;
  require(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  require(cudaMemsetAsync(wrong, 0, sizeof(*wrong), stream.handle()), "cudaMemsetAsync");
  count_misplaced<<<kBlocks, kThreads, 0, stream.handle()>>>(static_cast<const unsigned char*>(array),
                                                             rectangle, seed, wrong);
  require(cudaGetLastError(), "count_misplaced");
  unsigned long long count = 0;
  require(cudaMemcpyAsync(&count, wrong, sizeof(count), cudaMemcpyDeviceToHost, stream.handle()),
          "cudaMemcpyAsync");
  require(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  require(cudaFree(wrong), "cudaFree");
  return count;
}

}  // namespace faro::testing
