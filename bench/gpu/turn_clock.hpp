// Turns of calls, of a stream that is never idle: a call alone pays for its launch, too, some microseconds,
// which of arrays that are moved in a tenth of a millisecond are several points of a copy.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/gpu/runtime.hpp"
#include "faro/engines/cuda_measure.hpp"

namespace faro::bench::gpu {

/// A turn: what a call takes of a stream that is never idle.
class TurnClock {
 public:
  TurnClock() {
    check_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }
  TurnClock(const TurnClock&) = delete;
  TurnClock& operator=(const TurnClock&) = delete;
  ~TurnClock() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }

  /// Milliseconds of one of `calls`, which follow as many that are not counted: what is timed first after
  /// other work reads up to a point less.
  template <typename Queue>
  double milliseconds(int calls, const Queue& queue) const {
    static_cast<void>(clock_.milliseconds(1, [&](Stream stream) {
      for (int call = 0; call < calls; ++call) queue(stream);
      check_cuda(cudaEventRecord(begin_, stream.handle()), "cudaEventRecord");
      for (int call = 0; call < calls; ++call) queue(stream);
      check_cuda(cudaEventRecord(end_, stream.handle()), "cudaEventRecord");
    }));
    float elapsed = 0;
    check_cuda(cudaEventElapsedTime(&elapsed, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(elapsed) / calls;
  }

 private:
  cuda::StreamClock clock_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Calls of a turn, of arrays of so many bytes.
inline int calls_of(std::uint64_t bytes) {
  return static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / bytes, 1, 20));
}

}  // namespace faro::bench::gpu
