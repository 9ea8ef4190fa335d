// All passes of a plan as launches: what runs on a GPU, whatever the permutation.
//
//     passes p, q of arrays 0 1 2 in groups of 2:     p(0 1) q(0 1)  p(2) q(2)
//
// An Executor has them behind the checks of its arrays; staging, tests and benchmarks, whose arrays are their
// own, use them directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engines/cuda/run/loaded_pass.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/problem/pass.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

/// The arrays of a run. In place, input and output are the one array.
struct RunArrays {
  const void* in = nullptr;
  void* out = nullptr;
  void* workspace = nullptr;
  /// Where numbers change as they are written: what passes before the last write instead of the output.
  void* between = nullptr;
  AddedArrays added = {};
};

class LoadedPasses {
 public:
  /// Where a pass's tables are (run/schedule_tables.hpp).
  using TablesOf = std::function<std::vector<const void*>(const faro::detail::GpuPass& pass)>;

  /// Loads the kernels of a plan's passes, on the current device. The tables must outlive this.
  /// Errors: ErrorCode::device for a failed call.
  explicit LoadedPasses(const std::vector<Pass>& passes, const TablesOf& tables_of = {});
  /// `change`: of numbers in the first pass or in the last, whose side of RunArrays is PassChange::as_held().
  explicit LoadedPasses(const std::vector<faro::detail::GpuPass>& passes, const TablesOf& tables_of = {},
                        const PassChange* change = nullptr);

  /// Whether there is none: of an empty batch, or of the identity in place.
  bool empty() const { return passes_.empty(); }
  std::size_t size() const { return passes_.size(); }
  const LoadedPass& operator[](std::size_t index) const { return passes_[index]; }
  std::uint64_t workspace_bytes() const;
  /// LoadedPass::spread_out() of all.
  void spread_out(std::uint64_t shared_bytes) {
    for (LoadedPass& pass : passes_) pass.spread_out(shared_bytes);
  }

  /// Queues all passes and returns. Allocates nothing; may be called from many threads at once, and while a
  /// stream is captured. Whatever can be refused is, before anything is queued.
  /// Requires: the device is the current one; arrays without overlap; a workspace where one is needed
  /// (checked). Errors: ErrorCode::value for misaligned arrays; ErrorCode::unsupported for more blocks than a
  /// launch may have; ErrorCode::device for a failed launch, saying what had been queued.
  void launch(const RunArrays& arrays, Stream stream = {}, std::uint64_t target_shift = 0) const;

  /// The resources of every pass.
  std::vector<KernelResources> resources() const;

 private:
  // Calls take(pass, arrays, number) for every launch, in order.
  template <typename Take>
  void for_each_launch(const RunArrays& arrays, std::uint64_t target_shift, const Take& take) const;

  std::vector<LoadedPass> passes_;
};

}  // namespace faro::cuda
