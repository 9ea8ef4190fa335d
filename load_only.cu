// faro synth load-only --element float --emit load_only.cu
// the cheapest solution found
//
// launch: <<<2, 64>>>, warps of 32 lanes: one problem
// I: 128 elements, read
// O: 126 elements, written
// found: offset(block, warp) = 64 * block + 32 * warp
// found: size() = 34
#include <cstdint>

extern "C" __global__ void __launch_bounds__(64) load_only(const float* __restrict__ I, float* __restrict__ O) {
  const int t = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int block = static_cast<int>(blockIdx.x);
  [[maybe_unused]] float rc[2] = {};
  #pragma unroll
  for (int round = 0; round < 2; ++round) {
    if (64 * block + 32 * warp + 32 * round + t < 128 && 32 * round + t < 34) {
      rc[round] = I[64 * block + 32 * warp + 32 * round + t];
    }
  }
  // Here the warp's `rc` hold all that it needs for `O`.
}
