// A schedule in device memory as launches: the passes that the planner makes of its shape (plan/gpu), loaded,
// with the schedule's tables. Where passes need a workspace, of one array, the arrays of a batch take their
// turns; else every pass is one launch for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/index_simple_kernels.hpp"
#include "engines/cuda/run/loaded_pass.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// What is permuted: like elements, like arrays.
struct IndexArrays {
  std::uint64_t element_bytes = 4;  // 1 to 4096
  std::uint64_t batch = 1;
};

struct IndexProgramOptions {
  bool as_published = false;        // rows and columns by five kernels
  std::optional<int> variant = {};  // of kernels::kCompiledPartitions, for all levels; none: what suits them
};

class IndexProgram {
 public:
  /// Loads the kernels, on the current device. The schedule must outlive the program: pointers are kept.
  /// Errors: ErrorCode::device for a failed call.
  IndexProgram(const DeviceIndexSchedule& schedule, const IndexArrays& arrays,
               const IndexProgramOptions& options = {});
  /// Of passes that need no schedule.
  IndexProgram(const std::vector<faro::detail::GpuPass>& passes, std::uint64_t count,
               const IndexArrays& arrays);

  bool empty() const { return steps_.empty(); }
  /// Of one array, or 0.
  std::uint64_t workspace_bytes() const;
  /// Tables made beside the schedule.
  std::uint64_t table_bytes() const;

  /// Queues all passes. Requires: the device is the current one; arrays aligned to the unit and a workspace
  /// aligned to 16 where one is needed (checked); no overlap. Errors: ErrorCode::value for those;
  /// ErrorCode::unsupported for an array of more blocks than a launch may have, before anything is queued;
  /// ErrorCode::device for a failed launch.
  void launch(const void* in, void* out, void* workspace, Stream stream) const;

  /// One pass by itself, all arrays of the batch: for benchmarks. Requires: pass < passes(), arrays as for
  /// launch().
  std::size_t passes() const { return steps_.size(); }
  void launch_pass(std::size_t pass, const void* in, void* out, Stream stream) const {
    steps_[pass].launch(static_cast<const std::byte*>(in), static_cast<std::byte*>(out),
                        {.count = arrays_.batch, .bytes = array_bytes()}, stream);
  }

  /// Of every pass.
  std::vector<KernelResources> resources() const;

 private:
  std::uint64_t array_bytes() const { return count_ * arrays_.element_bytes; }
  void check(const void* in, const void* out, const void* workspace) const;

  std::vector<LoadedPass> steps_;
  IndexArrays arrays_;
  std::uint64_t count_ = 0;
  RunTables runs_;
};

}  // namespace faro::cuda
