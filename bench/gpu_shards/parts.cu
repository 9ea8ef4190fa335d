#include "bench/gpu_shards/parts.hpp"

namespace faro::bench::gpu {
namespace {

constexpr unsigned kBlocks = 4096;
constexpr unsigned kThreads = 256;

__device__ std::uint32_t hashed(std::uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::uint32_t>((x ^ x >> 29) >> 16);
}

__global__ void fill_kernel(std::uint32_t* part, std::uint64_t count, std::uint64_t first) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads)
    part[i] = hashed(first + i);
}

__global__ void check_kernel(const std::uint32_t* part, std::uint64_t count, std::uint64_t first,
                             const __grid_constant__ SourceOf source, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    const std::uint64_t y = first + i;
    std::uint64_t x = source.complement;
    if (source.is_affine) {
      for (int j = 0; j < source.bits; ++j) {
        if ((y >> j & 1) != 0) x ^= source.column[j];
      }
    } else {
      x = y % source.rows * source.columns + y / source.rows;
    }
    if (part[i] != hashed(x)) ++mine;
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

__global__ void check_indices_kernel(const std::uint32_t* part, std::uint64_t count,
                                     const std::uint32_t* from, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    if (part[i] != hashed(from[i])) ++mine;
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

}  // namespace

void fill_part(std::uint32_t* part, std::uint64_t count, std::uint64_t first, Stream stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(part, count, first);
}

void count_wrong(const std::uint32_t* part, std::uint64_t count, std::uint64_t first, const SourceOf& source,
                 unsigned long long* wrong, Stream stream) {
  check_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(part, count, first, source, wrong);
}

void count_wrong(const std::uint32_t* part, std::uint64_t count, const std::uint32_t* from,
                 unsigned long long* wrong, Stream stream) {
  check_indices_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(part, count, from, wrong);
}

}  // namespace faro::bench::gpu
