// faro synth aos-sum --struct 2 --emit aos_sum_2.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// I: 64 elements, read
// O: 32 elements, written
// found: column(i, k) = (i + k) mod 2
// found: row(i, k) = (2 * i + (i div 16 + k) mod 2) mod 32
// `y`: a barrel of 1 step
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) aos_sum_2(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t x[2] = {};
  uint32_t y[2] = {};
  uint32_t v = 0;
  uint32_t sum_value = 0;
  uint32_t sum = 0;
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
    v = __shfl_sync(0xffffffffu, y[r], 2 * t + (((t >> 4) + r) & 1), 32);
    sum += v;
  }
  sum_value = sum;
  O[t] = sum_value;
}
