// faro synth aos-rcr --struct 8 --emit aos_rcr_8.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 256 elements, read
// O: 256 elements, written
// found: load(i, k) = 8 * (i div 8) + (i + k) mod 8
// found: column(i, k) = (i + 7 * k) mod 8
// found: store(i, k) = (28 * i + i div 8 + 4 * k) mod 32
// `y`: a barrel of 3 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_8(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[8] = {};
  uint32_t y[8] = {};
  #pragma unroll
  for (int round = 0; round < 8; ++round) {
    x[round] = I[32 * round + 8 * (t >> 3) + ((t + round) & 7)];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (0x66666666u >> t & 1u) != 0;
    const bool s_2 = (0x1e1e1e1eu >> t & 1u) != 0;
    uint32_t y_turned[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) y_turned[r] = s ? x[((r + 1) & 7)] : x[r];
    uint32_t y_turned_1[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) y_turned_1[r] = s_1 ? y_turned[((r + 2) & 7)] : y_turned[r];
    #pragma unroll
    for (int r = 0; r < 8; ++r) y[r] = s_2 ? y_turned_1[((r + 4) & 7)] : y_turned_1[r];
  }
  #pragma unroll
  for (int round = 0; round < 8; ++round) {
    O[32 * round + ((28 * t + (t >> 3) + 4 * round) & 31)] = y[round];
  }
}
