// faro synth aos-sum --struct 6 --emit aos_sum_6.cu
// the closed form, since the space has no solution
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 192 elements, read
// O: 32 elements, written
// found: column(i, k) = 3 * ((i - k) mod 2) + ((i - k) mod 6 + 1) div 2 mod 3
// found: row(i, k) = (6 * i + (k + i div 16) mod 6) mod 32
// `y`: a barrel of 3 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_sum_6(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[6] = {};
  uint32_t y[6] = {};
  uint32_t v = 0;
  uint32_t sum_value = 0;
  uint32_t sum = 0;
  #pragma unroll
  for (int round = 0; round < 6; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (0x18618618u >> t & 1u) != 0;
    const bool s_2 = (0x86186186u >> t & 1u) != 0;
    uint32_t y_turned[6];
    y_turned[0] = s ? x[4] : x[0];
    y_turned[1] = s ? x[1] : x[4];
    y_turned[2] = s ? x[5] : x[1];
    y_turned[3] = s ? x[2] : x[5];
    y_turned[4] = s ? x[3] : x[2];
    y_turned[5] = s ? x[0] : x[3];
    uint32_t y_turned_1[6];
    #pragma unroll
    for (int r_1 = 0; r_1 < 6; ++r_1) y_turned_1[r_1] = s_1 ? y_turned[(r_1 + 2) % 6] : y_turned[r_1];
    #pragma unroll
    for (int r_1 = 0; r_1 < 6; ++r_1) y[r_1] = s_2 ? y_turned_1[(r_1 + 4) % 6] : y_turned_1[r_1];
  }
  #pragma unroll
  for (int r = 0; r < 6; ++r) {
    v = __shfl_sync(0xffffffffu, y[r], 6 * t + (r + (t >> 4)) % 6, 32);
    sum += v;
  }
  sum_value = sum;
  O[t] = sum_value;
}
