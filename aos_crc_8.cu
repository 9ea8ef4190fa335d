// faro synth aos-crc --struct 8 --emit aos_crc_8.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 256 elements, read
// O: 256 elements, written
// found: first(i, k) = (7 * i + k) mod 8
// found: row(i, k) = (8 * i + (i div 4 + k) mod 8) mod 32
// found: last(i, k) = (i - k div 4) mod 8
// `y`: a barrel of 3 steps
// `y`: a barrel of 3 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_8(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[8] = {};
  uint32_t y[8] = {};
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
    y[0] = s_2 ? y_turned_1[4] : y_turned_1[0];
    y[1] = s_2 ? y_turned_1[3] : y_turned_1[7];
    y[2] = s_2 ? y_turned_1[2] : y_turned_1[6];
    y[3] = s_2 ? y_turned_1[1] : y_turned_1[5];
    y[4] = s_2 ? y_turned_1[0] : y_turned_1[4];
    y[5] = s_2 ? y_turned_1[7] : y_turned_1[3];
    y[6] = s_2 ? y_turned_1[6] : y_turned_1[2];
    y[7] = s_2 ? y_turned_1[5] : y_turned_1[1];
  }
  #pragma unroll
  for (int r = 0; r < 8; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 8 * t + (((t >> 2) + r) & 7), 32);
  }
  {
    const bool s_3 = (t & 4) != 0;
    const bool s_4 = (0x0ff00ff0u >> t & 1u) != 0;
    const bool s_5 = (0x000ffff0u >> t & 1u) != 0;
    uint32_t y_turned_2[8];
    #pragma unroll
    for (int r_2 = 0; r_2 < 8; ++r_2) y_turned_2[r_2] = s_3 ? x[((r_2 + 1) & 7)] : x[r_2];
    uint32_t y_turned_3[8];
    #pragma unroll
    for (int r_2 = 0; r_2 < 8; ++r_2) y_turned_3[r_2] = s_4 ? y_turned_2[((r_2 + 2) & 7)] : y_turned_2[r_2];
    #pragma unroll
    for (int r_2 = 0; r_2 < 8; ++r_2) y[r_2] = s_5 ? y_turned_3[((r_2 + 4) & 7)] : y_turned_3[r_2];
  }
  #pragma unroll
  for (int round = 0; round < 8; ++round) {
    O[32 * round + t] = y[round];
  }
}
