// faro synth poly-64 --emit poly_64.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// a: 64 elements, read
// b: 64 elements, read
// c: 128 elements, written
// found: lane_a1(i, k) = k
// found: lane_a2(i, k) = k
// found: lane_b1(i, k) = (i + 31 * k) mod 32
// found: lane_b2(i, k) = (i + 31 * k) mod 32
// found: part_a1(t, i) = 0
// found: part_a2(t, i) = 1
// found: part_b1(t, i) = 32 - i <= t ? 0 : 1
// found: part_b2(t, i) = t < 32 - i ? 0 : 1
// found: use1_a1b1(t, i) = 0
// found: use1_a1b2(t, i) = i <= t
// found: use1_a2b1(t, i) = 0
// found: use1_a2b2(t, i) = 0
// found: use2_a1b1(t, i) = 1
// found: use2_a1b2(t, i) = 0
// found: use2_a2b1(t, i) = 0
// found: use2_a2b2(t, i) = i <= t
// found: use3_a1b1(t, i) = 0
// found: use3_a1b2(t, i) = t < i
// found: use3_a2b1(t, i) = 1
// found: use3_a2b2(t, i) = 0
// found: use4_a1b1(t, i) = 0
// found: use4_a1b2(t, i) = 0
// found: use4_a2b1(t, i) = 0
// found: use4_a2b2(t, i) = t < i
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) poly_64(const uint32_t* __restrict__ a, const uint32_t* __restrict__ b, uint32_t* __restrict__ c) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t ra[2] = {};
  uint32_t rb[2] = {};
  uint32_t a1 = 0;
  uint32_t a2 = 0;
  uint32_t b1 = 0;
  uint32_t b2 = 0;
  uint32_t sum1_value = 0;
  uint32_t sum2_value = 0;
  uint32_t sum3_value = 0;
  uint32_t sum4_value = 0;
  uint32_t sum1 = 0;
  uint32_t sum2 = 0;
  uint32_t sum3 = 0;
  uint32_t sum4 = 0;
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    ra[round] = a[32 * round + t];
  }
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    rb[round] = b[32 * round + t];
  }
  #pragma unroll
  for (int i = 0; i < 32; ++i) {
    a1 = __shfl_sync(0xffffffffu, ra[0], i, 32);
    a2 = __shfl_sync(0xffffffffu, ra[1], i, 32);
    b1 = __shfl_sync(0xffffffffu, (32 - i <= t ? rb[0] : rb[1]), t + 31 * i, 32);
    b2 = __shfl_sync(0xffffffffu, (t < 32 - i ? rb[0] : rb[1]), t + 31 * i, 32);
    if (i <= t) {
      sum1 ^= a1 & b2;
    }
    sum2 ^= a1 & b1;
    if (i <= t) {
      sum2 ^= a2 & b2;
    }
    if (t < i) {
      sum3 ^= a1 & b2;
    }
    sum3 ^= a2 & b1;
    if (t < i) {
      sum4 ^= a2 & b2;
    }
  }
  sum1_value = sum1;
  c[t] = sum1_value;
  sum2_value = sum2;
  c[t + 32] = sum2_value;
  sum3_value = sum3;
  c[t + 64] = sum3_value;
  sum4_value = sum4;
  c[t + 96] = sum4_value;
}
