// faro synth aos-rcr --struct 6 --emit aos_rcr_6.cu
// the closed form, since the space has no solution
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 192 elements, read
// O: 192 elements, written
// found: load(i, k) = 2 * (i div 2) + (i - k div 3) mod 2
// found: column(i, k) = 3 * ((k - i) mod 2) + (i div 2 - k div 2) mod 3
// found: store(i, k) = 16 * ((i - k) mod 2) + 11 * (i div 2 - k div 2) mod 16
// `y`: a barrel of 3 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_6(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[6] = {};
  uint32_t y[6] = {};
  #pragma unroll
  for (int round = 0; round < 6; ++round) {
    x[round] = I[32 * round + 2 * (t >> 1) + ((t - round / 3) & 1)];
  }
  {
    const bool s = (0x30c30c30u >> t & 1u) != 0;
    const bool s_1 = (0x0c30c30cu >> t & 1u) != 0;
    const bool s_2 = (t & 1) != 0;
    uint32_t y_turned[6];
    #pragma unroll
    for (int r = 0; r < 6; ++r) y_turned[r] = s ? x[3 * (r / 3) + (r + 1) % 3] : x[r];
    uint32_t y_turned_1[6];
    #pragma unroll
    for (int r = 0; r < 6; ++r) y_turned_1[r] = s_1 ? y_turned[3 * (r / 3) + (r + 2) % 3] : y_turned[r];
    y[0] = s_2 ? y_turned_1[3] : y_turned_1[0];
    y[1] = s_2 ? y_turned_1[0] : y_turned_1[3];
    y[2] = s_2 ? y_turned_1[4] : y_turned_1[1];
    y[3] = s_2 ? y_turned_1[1] : y_turned_1[4];
    y[4] = s_2 ? y_turned_1[5] : y_turned_1[2];
    y[5] = s_2 ? y_turned_1[2] : y_turned_1[5];
  }
  #pragma unroll
  for (int round = 0; round < 6; ++round) {
    O[32 * round + 16 * ((t - round) & 1) + (11 * ((t >> 1) - (round >> 1)) & 15)] = y[round];
  }
}
