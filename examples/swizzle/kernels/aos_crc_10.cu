// faro synth aos-crc --struct 10 --emit aos_crc_10.cu
// the closed form, since the space has no solution
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 320 elements, read
// O: 320 elements, written
// found: first(i, k) = 5 * ((i - k) mod 2) + ((i - k) mod 10 + 1) div 2 mod 5
// found: row(i, k) = (10 * i + (k + i div 16) mod 10) mod 32
// found: last(i, k) = (i - k div 16) mod 10
// `y`: a barrel of 4 steps
// `y`: a barrel of 1 step
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_10(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[10] = {};
  uint32_t y[10] = {};
  #pragma unroll
  for (int round = 0; round < 10; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (0x19866198u >> t & 1u) != 0;
    const bool s_2 = (0x0781e078u >> t & 1u) != 0;
    const bool s_3 = (0x80601806u >> t & 1u) != 0;
    uint32_t y_turned[10];
    y_turned[0] = s ? x[6] : x[0];
    y_turned[1] = s ? x[1] : x[6];
    y_turned[2] = s ? x[7] : x[1];
    y_turned[3] = s ? x[2] : x[7];
    y_turned[4] = s ? x[8] : x[2];
    y_turned[5] = s ? x[3] : x[8];
    y_turned[6] = s ? x[9] : x[3];
    y_turned[7] = s ? x[4] : x[9];
    y_turned[8] = s ? x[5] : x[4];
    y_turned[9] = s ? x[0] : x[5];
    uint32_t y_turned_1[10];
    #pragma unroll
    for (int r_1 = 0; r_1 < 10; ++r_1) y_turned_1[r_1] = s_1 ? y_turned[(r_1 + 2) % 10] : y_turned[r_1];
    uint32_t y_turned_2[10];
    #pragma unroll
    for (int r_1 = 0; r_1 < 10; ++r_1) y_turned_2[r_1] = s_2 ? y_turned_1[(r_1 + 4) % 10] : y_turned_1[r_1];
    #pragma unroll
    for (int r_1 = 0; r_1 < 10; ++r_1) y[r_1] = s_3 ? y_turned_2[(r_1 + 8) % 10] : y_turned_2[r_1];
  }
  #pragma unroll
  for (int r = 0; r < 10; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 10 * t + (r + (t >> 4)) % 10, 32);
  }
  {
    const bool s_4 = (t & 16) != 0;
    #pragma unroll
    for (int r_2 = 0; r_2 < 10; ++r_2) y[r_2] = s_4 ? x[(r_2 + 9) % 10] : x[r_2];
  }
  #pragma unroll
  for (int round = 0; round < 10; ++round) {
    O[32 * round + t] = y[round];
  }
}
