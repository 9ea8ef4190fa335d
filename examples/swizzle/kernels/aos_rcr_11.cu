// faro synth aos-rcr --struct 11 --emit aos_rcr_11.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 352 elements, read
// O: 352 elements, written
// found: load(i, k) = i
// found: column(i, k) = (10 * i + k) mod 11
// found: store(i, k) = (3 * i + 29 * k) mod 32
// `y`: a barrel of 4 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_11(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[11] = {};
  uint32_t y[11] = {};
  #pragma unroll
  for (int round = 0; round < 11; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (0xaa9552aau >> t & 1u) != 0;
    const bool s_1 = (0x332664ccu >> t & 1u) != 0;
    const bool s_2 = (0x3c0780f0u >> t & 1u) != 0;
    const bool s_3 = (0xc0380700u >> t & 1u) != 0;
    uint32_t y_turned[11];
    #pragma unroll
    for (int r = 0; r < 11; ++r) y_turned[r] = s ? x[(r + 1) % 11] : x[r];
    uint32_t y_turned_1[11];
    #pragma unroll
    for (int r = 0; r < 11; ++r) y_turned_1[r] = s_1 ? y_turned[(r + 2) % 11] : y_turned[r];
    uint32_t y_turned_2[11];
    #pragma unroll
    for (int r = 0; r < 11; ++r) y_turned_2[r] = s_2 ? y_turned_1[(r + 4) % 11] : y_turned_1[r];
    y[0] = s_3 ? y_turned_2[8] : y_turned_2[0];
    y[1] = s_3 ? y_turned_2[7] : y_turned_2[10];
    y[2] = s_3 ? y_turned_2[6] : y_turned_2[9];
    y[3] = s_3 ? y_turned_2[5] : y_turned_2[8];
    y[4] = s_3 ? y_turned_2[4] : y_turned_2[7];
    y[5] = s_3 ? y_turned_2[3] : y_turned_2[6];
    y[6] = s_3 ? y_turned_2[2] : y_turned_2[5];
    y[7] = s_3 ? y_turned_2[1] : y_turned_2[4];
    y[8] = s_3 ? y_turned_2[0] : y_turned_2[3];
    y[9] = s_3 ? y_turned_2[10] : y_turned_2[2];
    y[10] = s_3 ? y_turned_2[9] : y_turned_2[1];
  }
  #pragma unroll
  for (int round = 0; round < 11; ++round) {
    O[32 * round + ((3 * t + 29 * round) & 31)] = y[round];
  }
}
