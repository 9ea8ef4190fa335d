// faro synth aos-rcr --struct 12 --emit aos_rcr_12.cu
// the closed form, since the space has no solution
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 384 elements, read
// O: 384 elements, written
// found: load(i, k) = 4 * (i div 4) + (i - k div 3) mod 4
// found: column(i, k) = 3 * ((k - i) mod 4) + 2 * (i div 4 - k div 4) mod 3
// found: store(i, k) = 8 * ((i - k) mod 4) + 3 * (i div 4 - k div 4) mod 8
// `y`: a barrel of 4 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_12(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[12] = {};
  uint32_t y[12] = {};
  #pragma unroll
  for (int round = 0; round < 12; ++round) {
    x[round] = I[32 * round + 4 * (t >> 2) + ((t - round / 3) & 3)];
  }
  {
    const bool s = (0xf00f00f0u >> t & 1u) != 0;
    const bool s_1 = (0x00f00f00u >> t & 1u) != 0;
    const bool s_2 = (t & 1) != 0;
    const bool s_3 = (t & 2) != 0;
    uint32_t y_turned[12];
    #pragma unroll
    for (int r = 0; r < 12; ++r) y_turned[r] = s ? x[3 * (r / 3) + (r + 1) % 3] : x[r];
    uint32_t y_turned_1[12];
    #pragma unroll
    for (int r = 0; r < 12; ++r) y_turned_1[r] = s_1 ? y_turned[3 * (r / 3) + (r + 2) % 3] : y_turned[r];
    uint32_t y_turned_2[12];
    #pragma unroll
    for (int r = 0; r < 12; ++r) y_turned_2[r] = s_2 ? y_turned_1[3 * ((r / 3 + 1) & 3) + r % 3] : y_turned_1[r];
    y[0] = s_3 ? y_turned_2[6] : y_turned_2[0];
    y[1] = s_3 ? y_turned_2[3] : y_turned_2[9];
    y[2] = s_3 ? y_turned_2[0] : y_turned_2[6];
    y[3] = s_3 ? y_turned_2[9] : y_turned_2[3];
    y[4] = s_3 ? y_turned_2[8] : y_turned_2[2];
    y[5] = s_3 ? y_turned_2[5] : y_turned_2[11];
    y[6] = s_3 ? y_turned_2[2] : y_turned_2[8];
    y[7] = s_3 ? y_turned_2[11] : y_turned_2[5];
    y[8] = s_3 ? y_turned_2[7] : y_turned_2[1];
    y[9] = s_3 ? y_turned_2[4] : y_turned_2[10];
    y[10] = s_3 ? y_turned_2[1] : y_turned_2[7];
    y[11] = s_3 ? y_turned_2[10] : y_turned_2[4];
  }
  #pragma unroll
  for (int round = 0; round < 12; ++round) {
    O[32 * round + 8 * ((t - round) & 3) + (3 * ((t >> 2) - (round >> 2)) & 7)] = y[round];
  }
}
