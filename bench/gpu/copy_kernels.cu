#include <cuda_runtime.h>

#include <string>

#include "bench/gpu/copy_kernels.hpp"
#include "faro/error.hpp"

namespace faro::bench::gpu {
namespace {

constexpr unsigned kThreads = 256;

template <typename Element>
__global__ void __launch_bounds__(kThreads)
    scalar_copy_kernel(const Element* in, Element* out, std::uint64_t elements) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < elements) out[i] = in[i];
}

__global__ void __launch_bounds__(kThreads)
    vector_copy_kernel(const uint4* in, uint4* out, std::uint64_t vectors) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < vectors) __stcs(out + i, __ldcs(in + i));
}

template <typename Element>
void launch(void (*kernel)(const Element*, Element*, std::uint64_t), const std::byte* in, std::byte* out,
            std::uint64_t bytes, Stream stream) {
  std::uint64_t elements = bytes / sizeof(Element);
  const auto* from = reinterpret_cast<const Element*>(in);
  auto* to = reinterpret_cast<Element*>(out);
  void* arguments[] = {&from, &to, &elements};
  const auto blocks = static_cast<unsigned>((elements + kThreads - 1) / kThreads);
  const cudaError_t result = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                              dim3(kThreads), arguments, 0, stream.handle());
  if (result == cudaSuccess) return;
  fail(ErrorCode::device, "launch a copy kernel",
       std::string("cudaLaunchKernel: ") + cudaGetErrorString(result), "cudaSuccess");
}

}  // namespace

void scalar_copy(const std::byte* in, std::byte* out, std::uint64_t bytes, std::uint64_t element_bytes,
                 Stream stream) {
  switch (element_bytes) {
    case 1:
      return launch(scalar_copy_kernel<unsigned char>, in, out, bytes, stream);
    case 2:
      return launch(scalar_copy_kernel<unsigned short>, in, out, bytes, stream);
    case 4:
      return launch(scalar_copy_kernel<unsigned>, in, out, bytes, stream);
    case 8:
      return launch(scalar_copy_kernel<uint2>, in, out, bytes, stream);
    default:
      FARO_CHECK(element_bytes == 16);
      return launch(scalar_copy_kernel<uint4>, in, out, bytes, stream);
  }
}

void vector_copy(const std::byte* in, std::byte* out, std::uint64_t bytes, Stream stream) {
  launch(vector_copy_kernel, in, out, bytes, stream);
}

}  // namespace faro::bench::gpu
