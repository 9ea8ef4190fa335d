// faro synth conv-2d --struct 7 --element float --image --batch 8 --emit conv_2d_7_image.cu
// the cheapest solution found
//
// launch: <<<((tiles + 7) / 8), 256>>>, warps of 32 lanes
// tiles = ((width + 7) / 8) * ((height + 3) / 4), for any `width` and `height` below 2^31, not 0,
// that give at most 4294967295 tiles.
// I: height + 6 rows of width + 6 elements, read
// w: 49 elements, read
// O: height rows of width elements, written
// found: lane_x(i, k) = (i + k) mod 8
// found: lane_y(i, k) = (i + k) mod 4
// found: index_j(row, ky) = ky <= row ? 0 : ky <= row + 4 ? 1 : 2
#include <cstdint>

extern "C" __global__ void __launch_bounds__(256) conv_2d_7(const float* __restrict__ I, const float* __restrict__ w, float* __restrict__ O, uint32_t width, uint32_t height) {
  const uint32_t tile = blockIdx.x * 8 + threadIdx.x / 32;
  const uint32_t across = ((width + 7) / 8);
  const uint32_t top = tile / across * 4;
  const uint32_t left = tile % across * 8;
  if (top >= height) return;
  I += uint64_t{top} * (width + 6) + left;
  O += uint64_t{top} * width + left;
  const int t = static_cast<int>(threadIdx.x % 32);
  float rc[6] = {};
  float x = 0;
  float weight = 0;
  float sum_value = 0;
  float sum = 0;
  #pragma unroll
  for (int j = 0; j < 3; ++j) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      if ((4 * j + (t >> 3) < 10 && 8 * i + (t & 7) < 14) && top + (4 * j + (t >> 3) + (8 * i + (t & 7)) / 14) < height + 6 && left + ((8 * i + (t & 7)) % 14) < width + 6) {
        rc[2 * j + i] = I[static_cast<uint64_t>(4 * j + (t >> 3) + (8 * i + (t & 7)) / 14) * (width + 6) + ((8 * i + (t & 7)) % 14)];
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
  if (top + (t >> 3) < height && left + (t & 7) < width) {
    O[static_cast<uint64_t>((t >> 3)) * width + (t & 7)] = sum_value;
  }
}
