#include "bench/gpu_rows/peers.hpp"

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

namespace faro::bench::gpu {
namespace {

template <typename Element>
void gather(const std::uint32_t* from, std::uint64_t count, const void* in, void* out, Stream stream) {
  thrust::gather(thrust::cuda::par_nosync.on(stream.handle()), from, from + count, static_cast<const Element*>(in),
                 static_cast<Element*>(out));
}

}  // namespace

bool thrust_gather(const std::uint32_t* from, std::uint64_t count, std::uint64_t width, const void* in, void* out,
                   Stream stream) {
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
