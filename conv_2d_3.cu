// faro synth conv-2d --struct 3 --element float --emit conv_2d_3.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 60 elements, read
// w: 9 elements, read
// O: 32 elements, written
// found: lane_x(i, k) = (i + k) mod 8
// found: lane_y(i, k) = (i + k) mod 4
// found: index_j(row, ky) = ky <= row ? 0 : 1
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) conv_2d_3(const float* __restrict__ I, const float* __restrict__ w, float* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  float rc[4] = {};
  float x = 0;
  float weight = 0;
  float sum_value = 0;
  float sum = 0;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (4 * j + (t >> 3) < 6 && 8 * i + (t & 7) < 10) {
        rc[2 * j + i] = I[10 * (4 * j + (t >> 3)) + 8 * i + (t & 7)];
      }
    }
  }
  #pragma unroll
  for (int ky = 0; ky < 3; ++ky) {
    #pragma unroll
    for (int kx = 0; kx < 3; ++kx) {
      weight = w[3 * ky + kx];
      x = __shfl_sync(0xffffffffu, (ky <= (t >> 3) ? (kx <= (t & 7) ? rc[0] : rc[1]) : (kx <= (t & 7) ? rc[2] : rc[3])), 8 * (((t >> 3) + ky) & 3) + ((t + kx) & 7), 32);
      sum += weight * x;
    }
  }
  sum_value = sum;
  O[t] = sum_value;
}
