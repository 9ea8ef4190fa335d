#include "bench/gpu_shards/parts.hpp"

namespace faro::bench::gpu {
namespace {

constexpr unsigned kBlocks = 4096;
constexpr unsigned kThreads = 256;

__device__ std::uint64_t mixed(std::uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15ULL;
  return x ^ x >> 29;
}

__device__ std::uint32_t hashed(std::uint64_t x) { return static_cast<std::uint32_t>(mixed(x) >> 16); }

__global__ void fill_kernel(std::uint32_t* part, std::uint64_t count, std::uint64_t first) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads)
    part[i] = hashed(first + i);
}

__device__ std::uint64_t source_at(const SourceOf& source, std::uint64_t y) {
  if (source.kind == SourceOf::Kind::mixed) return source.mixed(y);
  if (source.kind == SourceOf::Kind::transposition) return y % source.rows * source.columns + y / source.rows;
  std::uint64_t x = source.complement;
  for (int j = 0; j < source.bits; ++j) {
    if ((y >> j & 1) != 0) x ^= source.column[j];
  }
  return x;
}

__global__ void check_kernel(const std::uint32_t* part, std::uint64_t count, std::uint64_t first,
                             const __grid_constant__ SourceOf source, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    const std::uint64_t y = first + i;
    if (part[i] != hashed(source_at(source, y))) ++mine;
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

template <typename Element>
__global__ void fill_places_kernel(Element* part, std::uint64_t count,
                                   const __grid_constant__ PartPlaces places) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads)
    part[i] = static_cast<Element>(mixed(places(i)) >> (sizeof(Element) < 8 ? 16 : 0));
}

template <typename Element>
__global__ void check_places_kernel(const Element* part, std::uint64_t count,
                                    const __grid_constant__ PartPlaces places, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    if (part[i] != static_cast<Element>(mixed(places(i)) >> (sizeof(Element) < 8 ? 16 : 0))) ++mine;
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

// `call` with a null pointer to an element.
template <typename Call>
void with_element(int bytes, const Call& call) {
  if (bytes == 2) return call(static_cast<std::uint16_t*>(nullptr));
  if (bytes == 4) return call(static_cast<std::uint32_t*>(nullptr));
  call(static_cast<std::uint64_t*>(nullptr));
}

__global__ void sorted_kernel(const std::uint32_t* part, std::uint64_t count, SortedCounts* counts) {
  SortedCounts mine;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    if (i > 0 && part[i] < part[i - 1]) ++mine.descents;
    mine.sum += part[i];
    mine.hashes += hashed(part[i]);
  }
  if (mine.descents > 0) atomicAdd(&counts->descents, mine.descents);
  atomicAdd(&counts->sum, mine.sum);
  atomicAdd(&counts->hashes, mine.hashes);
}

}  // namespace

void fill_part(std::uint32_t* part, std::uint64_t count, std::uint64_t first, Stream stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(part, count, first);
}

void count_wrong(const std::uint32_t* part, std::uint64_t count, std::uint64_t first, const SourceOf& source,
                 unsigned long long* wrong, Stream stream) {
  check_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(part, count, first, source, wrong);
}

void fill_places(void* part, std::uint64_t count, int element_bytes, const PartPlaces& places,
                 Stream stream) {
  with_element(element_bytes, [&]<typename Element>(Element*) {
    fill_places_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(static_cast<Element*>(part), count, places);
  });
}

void count_wrong_places(const void* part, std::uint64_t count, int element_bytes, const PartPlaces& places,
                        unsigned long long* wrong, Stream stream) {
  with_element(element_bytes, [&]<typename Element>(Element*) {
    check_places_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(static_cast<const Element*>(part), count,
                                                                   places, wrong);
  });
}

void count_sorted(const std::uint32_t* part, std::uint64_t count, SortedCounts* counts, Stream stream) {
  sorted_kernel<<<kBlocks, kThreads, 0, stream.handle()>>>(part, count, counts);
}

}  // namespace faro::bench::gpu
