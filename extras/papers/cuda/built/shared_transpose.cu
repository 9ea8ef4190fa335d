// The phases of kernels/shared_transpose.hpp on the device.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "cuda/device.hpp"
#include "cuda/memory.cuh"
#include "cuda/shared_transpose.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

using kernels::TransposeOrder;
using layout::Rap;
using layout::Ras;
using layout::Raw;

constexpr const char* kOperation = "transpose in shared memory";
constexpr std::uint32_t w = kTransposeWidth;
constexpr int kThreads = w * w;

template <TransposeOrder order, int bytes, typename Layout>
__global__ void __launch_bounds__(kThreads)
    transpose_repeatedly(const __grid_constant__ Layout layout, std::uint32_t repeats, const std::byte* in,
                         std::byte* out) {
  __shared__ __align__(8) std::byte shared[kernels::transpose_shared_bytes<Layout, w, bytes>()];
  papers::ArrayMemory memory{in, out, shared};
  kernels::fill_shared<w, bytes>(memory, layout, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::repeat_transpose<order, w, bytes>(memory, layout, repeats, threadIdx.x, [] { __syncthreads(); });
  kernels::drain_shared<w, bytes>(memory, layout, blockIdx.x, threadIdx.x);
}

namespace {

struct Request {
  const SharedTranspose* transpose;
  const void* in;
  void* out;
  std::uint32_t blocks;
  std::uint32_t repeats;
  Stream stream;
};

template <TransposeOrder order, int bytes, typename Layout>
void launch(Layout layout, Request request) {
  void* arguments[] = {&layout, &request.repeats, &request.in, &request.out};
  const papers::BlockKernel kernel{reinterpret_cast<const void*>(&transpose_repeatedly<order, bytes, Layout>),
                                   kThreads};
  papers::queue(kernel, request.blocks, arguments, request.stream, kOperation);
}

template <int bytes, typename Layout>
void launch_order(const Layout& layout, const Request& request) {
  switch (request.transpose->order) {
    case TransposeOrder::crsw:
      return launch<TransposeOrder::crsw, bytes>(layout, request);
    case TransposeOrder::srcw:
      return launch<TransposeOrder::srcw, bytes>(layout, request);
    case TransposeOrder::drdw:
      return launch<TransposeOrder::drdw, bytes>(layout, request);
    case TransposeOrder::crsw_as_printed:
      return launch<TransposeOrder::crsw_as_printed, bytes>(layout, request);
  }
}

template <int bytes>
void launch_layout(const Request& request) {
  const std::uint64_t seed = request.transpose->seed;
  switch (request.transpose->layout) {
    case SharedLayout::raw:
      return launch_order<bytes>(Raw<w>{}, request);
    case SharedLayout::ras:
      return launch_order<bytes>(Ras<w>::random(seed), request);
    case SharedLayout::rap:
      return launch_order<bytes>(Rap<w>::random(seed), request);
  }
}

}  // namespace

void run(const SharedTranspose& transpose, const void* in, void* out, std::uint32_t blocks,
         std::uint32_t repeats, Stream stream) {
  if (transpose.element_bytes != 4 && transpose.element_bytes != 8) {
    fail(ErrorCode::value, kOperation, "elements of " + std::to_string(transpose.element_bytes) + " bytes",
         "4 or 8 bytes");
  }
  papers::require_cuda();
  const Request request{&transpose, in, out, blocks, repeats, stream};
  if (transpose.element_bytes == 4) return launch_layout<4>(request);
  launch_layout<8>(request);
}

double time_ns(const SharedTranspose& transpose, int device) {
  constexpr std::uint32_t few = 1000;
  constexpr std::uint32_t many = 5000;
  constexpr double ns_per_ms = 1e6;
  constexpr std::size_t rounds = 7;
  const auto bytes =
      static_cast<std::uint64_t>(kThreads) * static_cast<std::uint64_t>(transpose.element_bytes);
  const DeviceArray in(bytes, device);
  const DeviceArray out(bytes, device);
  const StreamClock clock(device);
  const auto ms = [&](std::uint32_t repeats) {
    return clock.milliseconds(
        1, [&](Stream stream) { run(transpose, in.data(), out.data(), 1, repeats, stream); });
  };
  static_cast<void>(ms(many));  // the clocks rise
  std::array<double, rounds> times{};
  for (double& time : times) {
    const double long_ms = ms(many);
    time = (long_ms - ms(few)) / (many - few) * ns_per_ms;
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

}  // namespace faro::cuda
