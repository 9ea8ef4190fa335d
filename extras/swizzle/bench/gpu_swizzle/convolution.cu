#include "bench/gpu/runtime.hpp"
#include "bench/gpu_swizzle/convolution_kernels.hpp"
#include "bench/gpu_swizzle/kernels.hpp"

namespace faro::bench::gpu {
namespace {

constexpr int kWarps = kConvolutionThreads / kWarpLanes;

int divided_up(int a, int b) { return (a + b - 1) / b; }

template <int taps>
void launch(const Convolution& call, Stream stream) {
  const Picture picture{.in = static_cast<const float*>(call.in),
                        .out = static_cast<float*>(call.out),
                        .width = call.image.width,
                        .height = call.image.height,
                        .pitch = call.image.pitch};
  Weights<taps> weights;
  for (int ky = 0; ky < taps; ++ky)
    for (int kx = 0; kx < taps; ++kx) weights.of[ky][kx] = weight_of(ky, kx);
  const int width = call.image.width - taps + 1, height = call.image.height - taps + 1;
  const auto start = [&](auto* kernel, int columns, int rows) {
    const int across = divided_up(width, columns);
    kernel<<<static_cast<unsigned>(across * divided_up(height, rows)), kConvolutionThreads, 0,
             stream.handle()>>>(picture, weights, across, rows);
    check_cuda(cudaGetLastError(), "convolution kernel");
  };
  switch (call.way) {
    case ConvolutionWay::direct:
      return start(convolve_direct<taps>, kWarpLanes, kWarps);
    case ConvolutionWay::shared:
      return start(convolve_shared<taps>, kColumnsOfLine, kSharedRows);
    case ConvolutionWay::tiles:
      return start(convolve_tiles<taps>, kTileColumns * kWarps, call.rows);
    case ConvolutionWay::lines:
      return start(convolve_lines<taps>, kColumnsOfLine * kWarps, call.rows);
  }
}

}  // namespace

float weight_of(int ky, int kx) {
  constexpr int most = 4;
  return static_cast<float>((5 * ky * ky + 7 * kx + 3 * ky * kx + 1) % (2 * most + 1) - most);
}

void queue(const Convolution& call, Stream stream) {
  if (call.taps == 3) launch<3>(call, stream);
  if (call.taps == 7) launch<7>(call, stream);
}

}  // namespace faro::bench::gpu
