// faro synth aos-rcr --struct 10 --emit aos_rcr_10.cu
// the closed form, since the space has no solution
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 320 elements, read
// O: 320 elements, written
// found: load(i, k) = 2 * (i div 2) + (i - k div 5) mod 2
// found: column(i, k) = 5 * ((k - i) mod 2) + (i div 2 - k div 2) mod 5
// found: store(i, k) = 16 * ((i - k) mod 2) + 13 * (i div 2 - k div 2) mod 16
// `y`: a barrel of 4 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_10(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[10] = {};
  uint32_t y[10] = {};
  #pragma unroll
  for (int round = 0; round < 10; ++round) {
    x[round] = I[32 * round + 2 * (t >> 1) + ((t - round / 5) & 1)];
  }
  {
    const bool s = (0x330cc330u >> t & 1u) != 0;
    const bool s_1 = (0x0f03c0f0u >> t & 1u) != 0;
    const bool s_2 = (0x00c0300cu >> t & 1u) != 0;
    const bool s_3 = (t & 1) != 0;
    uint32_t y_turned[10];
    #pragma unroll
    for (int r = 0; r < 10; ++r) y_turned[r] = s ? x[5 * (r / 5) + (r + 1) % 5] : x[r];
    uint32_t y_turned_1[10];
    #pragma unroll
    for (int r = 0; r < 10; ++r) y_turned_1[r] = s_1 ? y_turned[5 * (r / 5) + (r + 2) % 5] : y_turned[r];
    uint32_t y_turned_2[10];
    #pragma unroll
    for (int r = 0; r < 10; ++r) y_turned_2[r] = s_2 ? y_turned_1[5 * (r / 5) + (r + 4) % 5] : y_turned_1[r];
    y[0] = s_3 ? y_turned_2[5] : y_turned_2[0];
    y[1] = s_3 ? y_turned_2[0] : y_turned_2[5];
    y[2] = s_3 ? y_turned_2[6] : y_turned_2[1];
    y[3] = s_3 ? y_turned_2[1] : y_turned_2[6];
    y[4] = s_3 ? y_turned_2[7] : y_turned_2[2];
    y[5] = s_3 ? y_turned_2[2] : y_turned_2[7];
    y[6] = s_3 ? y_turned_2[8] : y_turned_2[3];
    y[7] = s_3 ? y_turned_2[3] : y_turned_2[8];
    y[8] = s_3 ? y_turned_2[9] : y_turned_2[4];
    y[9] = s_3 ? y_turned_2[4] : y_turned_2[9];
  }
  #pragma unroll
  for (int round = 0; round < 10; ++round) {
    O[32 * round + 16 * ((t - round) & 1) + (13 * ((t >> 1) - (round >> 1)) & 15)] = y[round];
  }
}
