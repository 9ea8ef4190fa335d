// faro synth aos-crc --struct 2 --emit aos_crc_2.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 64 elements, read
// O: 64 elements, written
// found: first(i, k) = (i + k) mod 2
// found: row(i, k) = (2 * i + (i div 16 + k) mod 2) mod 32
// found: last(i, k) = (i + k div 16) mod 2
// `y`: a barrel of 1 step
// `y`: a barrel of 1 step
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_2(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[2] = {};
  uint32_t y[2] = {};
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (t & 1) != 0;
    #pragma unroll
    for (int r_1 = 0; r_1 < 2; ++r_1) y[r_1] = s ? x[((r_1 + 1) & 1)] : x[r_1];
  }
  #pragma unroll
  for (int r = 0; r < 2; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 2 * t + (((t >> 4) + r) & 1), 32);
  }
  {
    const bool s_1 = (t & 16) != 0;
    #pragma unroll
    for (int r_2 = 0; r_2 < 2; ++r_2) y[r_2] = s_1 ? x[((r_2 + 1) & 1)] : x[r_2];
  }
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    O[32 * round + t] = y[round];
  }
}
