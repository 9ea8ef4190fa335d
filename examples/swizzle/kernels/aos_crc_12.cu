// faro synth aos-crc --struct 12 --emit aos_crc_12.cu
// the closed form, since the space has no solution
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 384 elements, read
// O: 384 elements, written
// found: first(i, k) = 3 * ((3 * i - 3 * k) mod 4) + 2 * (((i - k) mod 12 + 3) div 4) mod 3
// found: row(i, k) = (12 * i + (k + i div 8) mod 12) mod 32
// found: last(i, k) = (i - k div 8) mod 12
// `y`: a barrel of 4 steps
// `y`: a barrel of 2 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_12(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[12] = {};
  uint32_t y[12] = {};
  #pragma unroll
  for (int round = 0; round < 12; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (0x66666666u >> t & 1u) != 0;
    const bool s_2 = (0xe01e01e0u >> t & 1u) != 0;
    const bool s_3 = (0x1e01e01eu >> t & 1u) != 0;
    uint32_t y_turned[12];
    y_turned[0] = s ? x[11] : x[0];
    y_turned[1] = s ? x[8] : x[11];
    y_turned[2] = s ? x[5] : x[8];
    y_turned[3] = s ? x[2] : x[5];
    y_turned[4] = s ? x[10] : x[2];
    y_turned[5] = s ? x[7] : x[10];
    y_turned[6] = s ? x[4] : x[7];
    y_turned[7] = s ? x[1] : x[4];
    y_turned[8] = s ? x[9] : x[1];
    y_turned[9] = s ? x[6] : x[9];
    y_turned[10] = s ? x[3] : x[6];
    y_turned[11] = s ? x[0] : x[3];
    uint32_t y_turned_1[12];
    #pragma unroll
    for (int r_1 = 0; r_1 < 12; ++r_1) y_turned_1[r_1] = s_1 ? y_turned[(r_1 + 2) % 12] : y_turned[r_1];
    uint32_t y_turned_2[12];
    #pragma unroll
    for (int r_1 = 0; r_1 < 12; ++r_1) y_turned_2[r_1] = s_2 ? y_turned_1[(r_1 + 4) % 12] : y_turned_1[r_1];
    #pragma unroll
    for (int r_1 = 0; r_1 < 12; ++r_1) y[r_1] = s_3 ? y_turned_2[(r_1 + 8) % 12] : y_turned_2[r_1];
  }
  #pragma unroll
  for (int r = 0; r < 12; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 12 * t + (r + (t >> 3)) % 12, 32);
  }
  {
    const bool s_4 = (t & 8) != 0;
    const bool s_5 = (t & 16) != 0;
    uint32_t y_turned_3[12];
    #pragma unroll
    for (int r_2 = 0; r_2 < 12; ++r_2) y_turned_3[r_2] = s_4 ? x[(r_2 + 11) % 12] : x[r_2];
    #pragma unroll
    for (int r_2 = 0; r_2 < 12; ++r_2) y[r_2] = s_5 ? y_turned_3[(r_2 + 10) % 12] : y_turned_3[r_2];
  }
  #pragma unroll
  for (int round = 0; round < 12; ++round) {
    O[32 * round + t] = y[round];
  }
}
