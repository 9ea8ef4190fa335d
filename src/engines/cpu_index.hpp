// The CPU engine for permutations that are not affine: index arrays, axes, rolls and flips.
//
// A partition pass scatters a chunk in the L2 cache and writes its runs with stores that bypass the caches;
// docs/notes/index-experiments.md tells what that costs and what was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "faro/plan/calibration.hpp"
#include "faro/plan/index_plan.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cpu {

/// A plan made ready: its schedule is made once. Runs allocate nothing where a workspace is lent.
class IndexExecutor {
 public:
  /// Requires: a plan whose target is this engine (checked). Makes the schedule of plan.chosen().
  /// Errors: ErrorCode::value for an index array on a device.   Cost: two sweeps a pass of the index array.
  explicit IndexExecutor(const IndexPlan& plan);
  /// With a schedule that was made before, of any machine and shape. Errors: ErrorCode::value where its count
  /// is not the plan's. The plan then only says widths, batch and target; its chosen() may differ.
  IndexExecutor(const IndexPlan& plan, std::shared_ptr<const schedule::IndexSchedule> schedule);
  IndexExecutor(IndexExecutor&&) noexcept;
  IndexExecutor& operator=(IndexExecutor&&) noexcept;
  ~IndexExecutor();

  /// Runs the plan once, all arrays of the batch. May be called from many threads at once, each with its own
  /// workspace. `workspace`: workspace_bytes(), any alignment; null: allocated and returned by the run.
  /// Requires: arrays of plan.array_bytes() without overlap (unchecked). Any alignment.
  void run(const void* in, void* out, void* workspace = nullptr) const;

  /// Bytes that a run needs; of this schedule, which may be another than the plan's.
  std::uint64_t workspace_bytes() const;

  /// Null for axes and cyclic, which need none.
  std::shared_ptr<const schedule::IndexSchedule> schedule() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Measures the curves of this machine. `quick`: fewer sizes and widths, some seconds.   Cost: a minute.
IndexCalibration tune(int threads = 0, bool quick = false);

}  // namespace faro::cpu
