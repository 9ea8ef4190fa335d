// faro synth aos-crc --struct 3 --emit aos_crc_3.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 96 elements, read
// O: 96 elements, written
// found: first(i, k) = (2 * i + k) mod 3
// found: row(i, k) = (3 * i + k) mod 32
// found: last(i, k) = i
// `y`: a barrel of 2 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_crc_3(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[3] = {};
  uint32_t y[3] = {};
  #pragma unroll
  for (int round = 0; round < 3; ++round) {
    x[round] = I[32 * round + t];
  }
  {
    const bool s = (0x92492492u >> t & 1u) != 0;
    const bool s_1 = (0x24924924u >> t & 1u) != 0;
    uint32_t y_turned[3];
    #pragma unroll
    for (int r_1 = 0; r_1 < 3; ++r_1) y_turned[r_1] = s ? x[(r_1 + 1) % 3] : x[r_1];
    y[0] = s_1 ? y_turned[2] : y_turned[0];
    y[1] = s_1 ? y_turned[1] : y_turned[2];
    y[2] = s_1 ? y_turned[0] : y_turned[1];
  }
  #pragma unroll
  for (int r = 0; r < 3; ++r) {
    x[r] = __shfl_sync(0xffffffffu, y[r], 3 * t + r, 32);
  }
  y[0] = x[0];
  y[1] = x[1];
  y[2] = x[2];
  #pragma unroll
  for (int round = 0; round < 3; ++round) {
    O[32 * round + t] = y[round];
  }
}
