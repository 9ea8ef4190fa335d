// What the tables of gpu_axes_bench share: options, ways to move the same axes otherwise, and turns of calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/page.hpp"
#include "bench/gpu/runtime.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/faro.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {

struct AxesOptions : PageOptions {
  std::vector<std::string> suites = {};  // none: all
  std::string only = {};
  std::string view = {};
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  int drawn = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> as = {};
  bool cutensor = false;
};

/// "boxes+small": all of them at once. Errors: ErrorCode::value for another word.
detail::AxesVariant variant_of(const std::string& words);

/// A cell of each of `--as`.
template <typename TextOf>
std::string repeated(const AxesOptions& options, const TextOf& text_of) {
  std::string all;
  for (const std::string& as : options.as) all += text_of(as);
  return all;
}

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

/// Of a plan's first pass.
std::string kernel_of(const Plan& plan);

/// Elements of the output that the oracle has elsewhere. Errors: ErrorCode::verification where there are any,
/// with `as` before them.
void require_none_elsewhere(std::uint64_t wrong, const std::string& as = "");

/// Tables of their own. Return how many shapes failed.
int measure_views(const AxesOptions& options, Page& page);
int measure_small(const AxesOptions& options, Page& page);

}  // namespace faro::bench::gpu
