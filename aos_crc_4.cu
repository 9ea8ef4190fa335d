// faro synth aos-crc --struct 4 --emit aos_crc_4.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 128 elements, read
// O: 128 elements, written
// found: first(i, k) = (3 * i + k) mod 4
// found: row(i, k) = (4 * i + (i div 8 + k) mod 4) mod 32
// found: last(i, k) = (i - k div 8) mod 4
// `y`: a barrel of 2 steps
// `y`: a barrel of 2 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_4(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[4] = {};
  uint32_t y[4] = {};
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
    y[0] = s_1 ? y_turned[2] : y_turned[0];
    y[1] = s_1 ? y_turned[1] : y_turned[3];
    y[2] = s_1 ? y_turned[0] : y_turned[2];
    y[3] = s_1 ? y_turned[3] : y_turned[1];
  }
  #pragma unroll
  for (int r = 0; r < 4; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 4 * t + (((t >> 3) + r) & 3), 32);
  }
  {
    const bool s_2 = (t & 8) != 0;
    const bool s_3 = (0x00ffff00u >> t & 1u) != 0;
    uint32_t y_turned_1[4];
    #pragma unroll
    for (int r_2 = 0; r_2 < 4; ++r_2) y_turned_1[r_2] = s_2 ? x[((r_2 + 1) & 3)] : x[r_2];
    #pragma unroll
    for (int r_2 = 0; r_2 < 4; ++r_2) y[r_2] = s_3 ? y_turned_1[((r_2 + 2) & 3)] : y_turned_1[r_2];
  }
  #pragma unroll
  for (int round = 0; round < 4; ++round) {
    O[32 * round + t] = y[round];
  }
}
