// faro synth aos-rcr --struct 2 --emit aos_rcr_2.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 64 elements, read
// O: 64 elements, written
// found: load(i, k) = (2 * i + (i div 16 + k) mod 2) mod 32
// found: column(i, k) = (i + k div 16) mod 2
// found: store(i, k) = (i + 16 * k) mod 32
// `y`: a barrel of 1 step
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_2(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[2] = {};
  uint32_t y[2] = {};
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    x[round] = I[32 * round + ((2 * t + (((t >> 4) + round) & 1)) & 31)];
  }
  {
    const bool s = (t & 16) != 0;
    #pragma unroll
    for (int r = 0; r < 2; ++r) y[r] = s ? x[((r + 1) & 1)] : x[r];
  }
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    O[32 * round + ((t + 16 * round) & 31)] = y[round];
  }
}
