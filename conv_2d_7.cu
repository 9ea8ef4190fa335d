// faro synth conv-2d --struct 7 --element float --emit conv_2d_7.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 140 elements, read
// w: 49 elements, read
// O: 32 elements, written
// found: lane_x(i, k) = (i + k) mod 8
// found: lane_y(i, k) = (i + k) mod 4
// found: index_j(row, ky) = ky <= row ? 0 : ky <= row + 4 ? 1 : 2
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) conv_2d_7(const float* __restrict__ I, const float* __restrict__ w, float* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  float rc[6] = {};
  float x = 0;
  float weight = 0;
  float sum_value = 0;
  float sum = 0;
  #pragma unroll
  for (int j = 0; j < 3; ++j) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (4 * j + (t >> 3) < 10 && 8 * i + (t & 7) < 14) {
        rc[2 * j + i] = I[14 * (4 * j + (t >> 3)) + 8 * i + (t & 7)];
      }
    }
  }
  #pragma unroll
  for (int ky = 0; ky < 7; ++ky) {
    #pragma unroll
    for (int kx = 0; kx < 7; ++kx) {
      weight = w[7 * ky + kx];
      x = __shfl_sync(0xffffffffu, (ky <= (t >> 3) ? (kx <= (t & 7) ? rc[0] : rc[1]) : (ky <= (t >> 3) + 4 ? (kx <= (t & 7) ? rc[2] : rc[3]) : (kx <= (t & 7) ? rc[4] : rc[5]))), 8 * (((t >> 3) + ky) & 3) + ((t + kx) & 7), 32);
      sum += weight * x;
    }
  }
  sum_value = sum;
  O[t] = sum_value;
}
