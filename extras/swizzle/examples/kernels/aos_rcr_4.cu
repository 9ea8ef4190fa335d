// faro synth aos-rcr --struct 4 --emit aos_rcr_4.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 128 elements, read
// O: 128 elements, written
// found: load(i, k) = 4 * (i div 4) + (i + k) mod 4
// found: column(i, k) = (i + 3 * k) mod 4
// found: store(i, k) = (24 * i + i div 4 + 8 * k) mod 32
// `y`: a barrel of 2 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_4(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[4] = {};
  uint32_t y[4] = {};
  #pragma unroll
  for (int round = 0; round < 4; ++round) {
    x[round] = I[32 * round + 4 * (t >> 2) + ((t + round) & 3)];
  }
  {
    const bool s = (t & 1) != 0;
    const bool s_1 = (0x66666666u >> t & 1u) != 0;
    uint32_t y_turned[4];
    #pragma unroll
    for (int r = 0; r < 4; ++r) y_turned[r] = s ? x[((r + 1) & 3)] : x[r];
    #pragma unroll
    for (int r = 0; r < 4; ++r) y[r] = s_1 ? y_turned[((r + 2) & 3)] : y_turned[r];
  }
  #pragma unroll
  for (int round = 0; round < 4; ++round) {
    O[32 * round + ((24 * t + (t >> 2) + 8 * round) & 31)] = y[round];
  }
}
