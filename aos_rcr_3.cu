// faro synth aos-rcr --struct 3 --emit aos_rcr_3.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 96 elements, read
// O: 96 elements, written
// found: load(i, k) = i
// found: column(i, k) = (2 * i + k) mod 3
// found: store(i, k) = (11 * i + 21 * k) mod 32
// `y`: a barrel of 2 steps
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_rcr_3(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
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
    for (int r = 0; r < 3; ++r) y_turned[r] = s ? x[(r + 1) % 3] : x[r];
    y[0] = s_1 ? y_turned[2] : y_turned[0];
    y[1] = s_1 ? y_turned[1] : y_turned[2];
    y[2] = s_1 ? y_turned[0] : y_turned[1];
  }
  #pragma unroll
  for (int round = 0; round < 3; ++round) {
    O[32 * round + ((11 * t + 21 * round) & 31)] = y[round];
  }
}
