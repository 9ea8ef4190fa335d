// faro synth aos-sum --struct 7 --emit aos_sum_7.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 224 elements, read
// O: 32 elements, written
// found: column(i, k) = (2 * i + 5 * k) mod 7
// found: row(i, k) = (7 * i + k) mod 32
// `y`: a barrel of 3 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_sum_7(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[7] = {};
  uint32_t y[7] = {};
  uint32_t v = 0;
  uint32_t sum_value = 0;
  uint32_t sum = 0;
  #pragma unroll
  for (int round = 0; round < 7; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (0xe1c3870eu >> t & 1u) != 0;
    const bool s_1 = (0x4a952a54u >> t & 1u) != 0;
    const bool s_2 = (0x264c9932u >> t & 1u) != 0;
    uint32_t y_turned[7];
    #pragma unroll
    for (int r_1 = 0; r_1 < 7; ++r_1) y_turned[r_1] = s ? x[(r_1 + 1) % 7] : x[r_1];
    uint32_t y_turned_1[7];
    #pragma unroll
    for (int r_1 = 0; r_1 < 7; ++r_1) y_turned_1[r_1] = s_1 ? y_turned[(r_1 + 2) % 7] : y_turned[r_1];
    y[0] = s_2 ? y_turned_1[4] : y_turned_1[0];
    y[1] = s_2 ? y_turned_1[6] : y_turned_1[2];
    y[2] = s_2 ? y_turned_1[1] : y_turned_1[4];
    y[3] = s_2 ? y_turned_1[3] : y_turned_1[6];
    y[4] = s_2 ? y_turned_1[5] : y_turned_1[1];
    y[5] = s_2 ? y_turned_1[0] : y_turned_1[3];
    y[6] = s_2 ? y_turned_1[2] : y_turned_1[5];
  }
  #pragma unroll
  for (int r = 0; r < 7; ++r) {
    v = __shfl_sync(0xffffffffu, y[r], 7 * t + r, 32);
    sum += v;
  }
  sum_value = sum;
  O[t] = sum_value;
}
