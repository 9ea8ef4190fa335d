// faro synth aos-sum --struct 4 --emit aos_sum_4.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 128 elements, read
// O: 32 elements, written
// found: column(i, k) = (i + k) mod 4
// found: row(i, k) = (4 * i + (i div 8 + 3 * k) mod 4) mod 32
// `y`: a barrel of 2 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_sum_4(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[4] = {};
  uint32_t y[4] = {};
  uint32_t v = 0;
  uint32_t sum_value = 0;
  uint32_t sum = 0;
  #pragma unroll
  for (int round = 0; round < 4; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (t & 2) != 0;
    uint32_t y_turned[4];
    #pragma unroll
    for (int r_1 = 0; r_1 < 4; ++r_1) y_turned[r_1] = s ? x[((r_1 + 1) & 3)] : x[r_1];
    #pragma unroll
    for (int r_1 = 0; r_1 < 4; ++r_1) y[r_1] = s_1 ? y_turned[((r_1 + 2) & 3)] : y_turned[r_1];
  }
  #pragma unroll
  for (int r = 0; r < 4; ++r) {
    v = __shfl_sync(0xffffffffu, y[r], 4 * t + (((t >> 3) + 3 * r) & 3), 32);
    sum += v;
  }
  sum_value = sum;
  O[t] = sum_value;
}
