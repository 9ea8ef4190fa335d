// faro synth stencil-1d --element float --emit stencil_1d.cu
// the cheapest solution found
//
// launch: <<<2, 64>>>, warps of 32 lanes: one problem
// I: 128 elements, read
// O: 126 elements, written
// found: index(t, i) = i <= t ? 0 : 1
// found: lane(i, k) = (i + k) mod 32
// found: use(t, i) = 1
#include <cstdint>

extern "C" __global__ void __launch_bounds__(64) stencil_1d(const float* __restrict__ I, float* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int block = static_cast<int>(blockIdx.x);
  float rc[2] = {};
  float x = 0;
  float sum_value = 0;
  float sum = 0;
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    if (64 * block + 32 * warp + 32 * round + t < 128 && 32 * round + t < 34) {
      rc[round] = I[64 * block + 32 * warp + 32 * round + t];
    }
  }
  #pragma unroll
  for (int i = 0; i < 3; ++i) {
    x = __shfl_sync(0xffffffffu, (i <= t ? rc[0] : rc[1]), t + i, 32);
    sum += x;
  }
  sum_value = sum / 3u;
  if (64 * block + 32 * warp + t < 126) {
    O[64 * block + 32 * warp + t] = sum_value;
  }
}
