#include "bench/gpu/runtime.hpp"
#include "bench/gpu_index/baselines.hpp"

namespace faro::bench::gpu {
namespace {

constexpr unsigned kThreads = 256;

template <typename Element, typename Entry>
__global__ void gather_kernel(const Entry* entries, std::uint64_t count, const Element* in, Element* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = in[entries[i]];
}

template <typename Element, typename Entry>
__global__ void scatter_kernel(const Entry* entries, std::uint64_t count, const Element* in, Element* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[entries[i]] = in[i];
}

template <typename Entry>
__global__ void misplaced_kernel(const Entry* entries, std::uint64_t count, std::uint64_t bytes,
                                 bool gathered, const unsigned char* in, const unsigned char* out,
                                 unsigned long long* wrong) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const unsigned char* from = in + (gathered ? std::uint64_t{entries[i]} : i) * bytes;
  const unsigned char* to = out + (gathered ? i : std::uint64_t{entries[i]}) * bytes;
  for (std::uint64_t b = 0; b < bytes; ++b) {
    if (from[b] == to[b]) continue;
    atomicAdd(wrong, 1ULL);
    return;
  }
}

__global__ void fill_kernel(unsigned char* array, std::uint64_t bytes) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < bytes; i += step) {
    std::uint64_t x = i * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    array[i] = static_cast<unsigned char>(x * 0xbf58476d1ce4e5b9ULL >> 32);
  }
}

unsigned blocks_of(std::uint64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

template <typename Element, typename Entry>
void queue(bool gathered, const Indices& indices, const void* in, void* out, Stream stream) {
  const auto* entries = static_cast<const Entry*>(indices.entries);
  const auto* from = static_cast<const Element*>(in);
  auto* to = static_cast<Element*>(out);
  const unsigned blocks = blocks_of(indices.count);
  if (gathered) {
    gather_kernel<<<blocks, kThreads, 0, stream.handle()>>>(entries, indices.count, from, to);
  } else {
    scatter_kernel<<<blocks, kThreads, 0, stream.handle()>>>(entries, indices.count, from, to);
  }
  check_cuda(cudaGetLastError(), "cudaLaunchKernel");
}

template <typename Element>
void queue_any(bool gathered, const Indices& indices, const void* in, void* out, Stream stream) {
  if (indices.entry_bytes == 4) return queue<Element, std::uint32_t>(gathered, indices, in, out, stream);
  queue<Element, std::uint64_t>(gathered, indices, in, out, stream);
}

void queue_width(bool gathered, const Indices& indices, const void* in, void* out, Stream stream) {
  switch (indices.element_bytes) {
    case 1:
      return queue_any<unsigned char>(gathered, indices, in, out, stream);
    case 2:
      return queue_any<unsigned short>(gathered, indices, in, out, stream);
    case 4:
      return queue_any<unsigned>(gathered, indices, in, out, stream);
    case 8:
      return queue_any<uint2>(gathered, indices, in, out, stream);
    default:
      return queue_any<uint4>(gathered, indices, in, out, stream);
  }
}

}  // namespace

void queue_gather(const Indices& indices, const void* in, void* out, Stream stream) {
  queue_width(true, indices, in, out, stream);
}

void queue_scatter(const Indices& indices, const void* in, void* out, Stream stream) {
  queue_width(false, indices, in, out, stream);
}

std::uint64_t misplaced(const Indices& indices, bool gathered, const void* in, const void* out) {
  unsigned long long* wrong = nullptr;
  check_cuda(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  check_cuda(cudaMemset(wrong, 0, sizeof(*wrong)), "cudaMemset");
  const auto* from = static_cast<const unsigned char*>(in);
  const auto* to = static_cast<const unsigned char*>(out);
  const unsigned blocks = blocks_of(indices.count);
  if (indices.entry_bytes == 4) {
    misplaced_kernel<<<blocks, kThreads>>>(static_cast<const std::uint32_t*>(indices.entries), indices.count,
                                           indices.element_bytes, gathered, from, to, wrong);
  } else {
    misplaced_kernel<<<blocks, kThreads>>>(static_cast<const std::uint64_t*>(indices.entries), indices.count,
                                           indices.element_bytes, gathered, from, to, wrong);
  }
  check_cuda(cudaGetLastError(), "cudaLaunchKernel");
  unsigned long long found = 0;
  check_cuda(cudaMemcpy(&found, wrong, sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check_cuda(cudaFree(wrong), "cudaFree");
  return found;
}

void fill(void* array, std::uint64_t bytes) {
  fill_kernel<<<4096, kThreads>>>(static_cast<unsigned char*>(array), bytes);
  check_cuda(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace faro::bench::gpu
