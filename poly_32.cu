// faro synth poly-32 --emit poly_32.cu
// the cheapest solution found
//
// launch: <<<1, 32>>>, warps of 32 lanes: one problem
// a: 32 elements, read
// b: 32 elements, read
// c: 64 elements, written
// found: lane_a(i, k) = k
// found: lane_b(i, k) = (i + 31 * k) mod 32
// found: use1(t, i) = i <= t
// found: use2(t, i) = t < i
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) poly_32(const uint32_t* __restrict__ a, const uint32_t* __restrict__ b, uint32_t* __restrict__ c) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t ra = 0;
  uint32_t rb = 0;
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t low_value = 0;
  uint32_t high_value = 0;
  uint32_t low = 0;
  uint32_t high = 0;
  ra = a[t];
  rb = b[t];
  #pragma unroll
  for (int i = 0; i < 32; ++i) {
    x = __shfl_sync(0xffffffffu, ra, i, 32);
    y = __shfl_sync(0xffffffffu, rb, t + 31 * i, 32);
    if (i <= t) {
      low ^= x & y;
    }
    if (t < i) {
      high ^= x & y;
    }
  }
  low_value = low;
  c[t] = low_value;
  high_value = high;
  c[t + 32] = high_value;
}
