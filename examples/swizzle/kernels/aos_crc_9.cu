// faro synth aos-crc --struct 9 --emit aos_crc_9.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 288 elements, read
// O: 288 elements, written
// found: first(i, k) = (2 * i + 7 * k) mod 9
// found: row(i, k) = (9 * i + k) mod 32
// found: last(i, k) = i
// `y`: a barrel of 4 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_9(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[9] = {};
  uint32_t y[9] = {};
  #pragma unroll
  for (int round = 0; round < 9; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (0xf0783c1eu >> t & 1u) != 0;
    const bool s_1 = (0x552a954au >> t & 1u) != 0;
    const bool s_2 = (0x33198cc6u >> t & 1u) != 0;
    const bool s_3 = (0x00804020u >> t & 1u) != 0;
    uint32_t y_turned[9];
    #pragma unroll
    for (int r_1 = 0; r_1 < 9; ++r_1) y_turned[r_1] = s ? x[(r_1 + 1) % 9] : x[r_1];
    uint32_t y_turned_1[9];
    #pragma unroll
    for (int r_1 = 0; r_1 < 9; ++r_1) y_turned_1[r_1] = s_1 ? y_turned[(r_1 + 2) % 9] : y_turned[r_1];
    uint32_t y_turned_2[9];
    #pragma unroll
    for (int r_1 = 0; r_1 < 9; ++r_1) y_turned_2[r_1] = s_2 ? y_turned_1[(r_1 + 4) % 9] : y_turned_1[r_1];
    y[0] = s_3 ? y_turned_2[8] : y_turned_2[0];
    y[1] = s_3 ? y_turned_2[1] : y_turned_2[2];
    y[2] = s_3 ? y_turned_2[3] : y_turned_2[4];
    y[3] = s_3 ? y_turned_2[5] : y_turned_2[6];
    y[4] = s_3 ? y_turned_2[7] : y_turned_2[8];
    y[5] = s_3 ? y_turned_2[0] : y_turned_2[1];
    y[6] = s_3 ? y_turned_2[2] : y_turned_2[3];
    y[7] = s_3 ? y_turned_2[4] : y_turned_2[5];
    y[8] = s_3 ? y_turned_2[6] : y_turned_2[7];
  }
  #pragma unroll
  for (int r = 0; r < 9; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 9 * t + r, 32);
  }
  y[0] = x[0];
  y[1] = x[1];
  y[2] = x[2];
  y[3] = x[3];
  y[4] = x[4];
  y[5] = x[5];
  y[6] = x[6];
  y[7] = x[7];
  y[8] = x[8];
  #pragma unroll
  for (int round = 0; round < 9; ++round) {
    O[32 * round + t] = y[round];
  }
}
