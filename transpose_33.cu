// faro synth transpose --struct 33 --emit transpose_33.cu
// the cheapest solution found
//
// launch: <<<4, 32>>>, warps of 32 lanes: one problem
// I: 1089 elements, read
// O: 1089 elements, written
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) transpose_33(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(blockIdx.x);
  __shared__ uint32_t tile[1056];
  uint32_t copied = 0;
  uint32_t copied1 = 0;
  #pragma unroll
  for (int round = 0; round < 32; ++round) {
    if (round < 33 - 32 * (block >> 1) && t < 33 - 32 * (block & 1)) {
      copied = I[1056 * (block >> 1) + 32 * (block & 1) + 33 * round + t];
    }
    if (round < 33 - 32 * (block >> 1) && t < 33 - 32 * (block & 1)) {
      tile[33 * round + t] = copied;
    }
  }
  __syncthreads();
  #pragma unroll
  for (int round = 0; round < 32; ++round) {
    if (round < 33 - 32 * (block & 1) && t < 33 - 32 * (block >> 1)) {
      copied1 = tile[round + 33 * t];
    }
    if (round < 33 - 32 * (block & 1) && t < 33 - 32 * (block >> 1)) {
      O[1056 * (block & 1) + 32 * (block >> 1) + 33 * round + t] = copied1;
    }
  }
}
