// faro synth transpose --struct 7 --emit transpose_7.cu
// the cheapest solution found
//
// launch: <<<4, 32>>>, warps of 32 lanes: one problem
// I: 49 elements, read
// O: 49 elements, written
#include <cstdint>

extern "C" __global__ void __launch_bounds__(32) transpose_7(const uint32_t* __restrict__ I, uint32_t* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(blockIdx.x);
  __shared__ uint32_t tile[20];
  uint32_t copied = 0;
  uint32_t copied1 = 0;
  if (t < 16 && ((t >> 2) & 3) < 7 - 4 * (block >> 1) && (t & 3) < 7 - 4 * (block & 1)) {
    copied = I[28 * (block >> 1) + 4 * (block & 1) + 7 * ((t >> 2) & 3) + (t & 3)];
  }
  if (t < 16 && ((t >> 2) & 3) < 7 - 4 * (block >> 1) && (t & 3) < 7 - 4 * (block & 1)) {
    tile[5 * ((t >> 2) & 3) + (t & 3)] = copied;
  }
  __syncthreads();
  if (t < 16 && ((t >> 2) & 3) < 7 - 4 * (block & 1) && (t & 3) < 7 - 4 * (block >> 1)) {
    copied1 = tile[((t >> 2) & 3) + 5 * (t & 3)];
  }
  if (t < 16 && ((t >> 2) & 3) < 7 - 4 * (block & 1) && (t & 3) < 7 - 4 * (block >> 1)) {
    O[28 * (block & 1) + 4 * (block >> 1) + 7 * ((t >> 2) & 3) + (t & 3)] = copied1;
  }
}
