// How many blocks a multiprocessor shall hold, for __launch_bounds__, where its generation has room for so
// many threads: 2048 of 8.0, 9.0 and 10.0, 1536 of 8.6 to 8.9, 11.0 and 12.x. A bound that asks for more is
// none: ptxas leaves it out, and gives each thread so many registers that fewer blocks than possible are
// held.
#pragma once

namespace faro::cuda {

#if defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100)
inline constexpr int kMostResidentThreads = 1536;
#else
inline constexpr int kMostResidentThreads = 2048;
#endif

constexpr int least_blocks(int wanted, int threads) {
  const int most = kMostResidentThreads / threads;
  return wanted < most ? wanted : most;
}

}  // namespace faro::cuda
