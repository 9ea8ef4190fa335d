#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include "bench/gpu_rows/peers.hpp"

namespace faro::bench::gpu {
namespace {

template <typename Element>
void gather(const std::uint32_t* from, std::uint64_t count, const void* in, void* out, Stream stream) {
  thrust::gather(thrust::cuda::par_nosync.on(stream.handle()), from, from + count,
                 static_cast<const Element*>(in), static_cast<Element*>(out));
}

__global__ void atomic_kernel(const std::uint32_t* to, std::uint64_t count, const float* in, float* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(out + to[i], in[i]);
}

}  // namespace

void add_by_atomics(const std::uint32_t* to, std::uint64_t count, const float* in, float* out,
                    Stream stream) {
  constexpr unsigned kThreads = 256;
  atomic_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream.handle()>>>(
      to, count, in, out);
}

bool thrust_gather(const std::uint32_t* from, std::uint64_t count, std::uint64_t width, const void* in,
                   void* out, Stream stream) {
  if (width == sizeof(float)) {
    gather<float>(from, count, in, out, stream);
    return true;
  }
  if (width == sizeof(float4)) {
    gather<float4>(from, count, in, out, stream);
    return true;
  }
  return false;
}

}  // namespace faro::bench::gpu
