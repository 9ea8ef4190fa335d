// faro synth aos-sum --struct 8 --emit aos_sum_8.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 256 elements, read
// O: 32 elements, written
// found: column(i, k) = (i + k) mod 8
// found: row(i, k) = (8 * i + (i div 4 + 7 * k) mod 8) mod 32
// `y`: a barrel of 3 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_sum_8(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[8] = {};
  uint32_t y[8] = {};
  uint32_t v = 0;
  uint32_t sum_value = 0;
  uint32_t sum = 0;
  #pragma unroll
  for (int round = 0; round < 8; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (t & 2) != 0;
    const bool s_2 = (t & 4) != 0;
    uint32_t y_turned[8];
    #pragma unroll
    for (int r_1 = 0; r_1 < 8; ++r_1) y_turned[r_1] = s ? x[((r_1 + 1) & 7)] : x[r_1];
    uint32_t y_turned_1[8];
    #pragma unroll
    for (int r_1 = 0; r_1 < 8; ++r_1) y_turned_1[r_1] = s_1 ? y_turned[((r_1 + 2) & 7)] : y_turned[r_1];
    #pragma unroll
    for (int r_1 = 0; r_1 < 8; ++r_1) y[r_1] = s_2 ? y_turned_1[((r_1 + 4) & 7)] : y_turned_1[r_1];
  }
  #pragma unroll
  for (int r = 0; r < 8; ++r) {
    v = __shfl_sync(0xffffffffu, y[r], 8 * t + (((t >> 2) + 7 * r) & 7), 32);
    sum += v;
  }
  sum_value = sum;
  O[t] = sum_value;
}
