// The passes of a plan with the schedule that they read, for arrays of any alignment.
//
//     an index array of blocks     elements of 64 bytes, which are 16 of the caller's of 4
//     arrays aligned to 16         units of 16 bytes
//     arrays aligned to 4          units of 4 bytes, whose kernels are loaded when they are first asked for
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda/run/plan_schedule.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cuda {

class ScheduledPasses {
 public:
  /// `made`: the schedule, or null. Requires: the plan's device is the current one. Errors: those of
  /// PlanSchedule and LoadedPasses.
  ScheduledPasses(const Plan& plan, const schedule::IndexSchedule* made,
                  std::optional<PassChange> change = {});

  /// Null for a plan that needs none.
  const PlanSchedule* schedule() const { return schedule_.get(); }
  /// Those of aligned arrays.
  const LoadedPasses& aligned() const { return aligned_; }
  /// Those of these arrays, whose addresses are given as address_or() has them.
  const LoadedPasses& of(std::uintptr_t addresses) const;

 private:
  LoadedPasses load(const std::vector<faro::detail::GpuPass>& passes) const;

  std::uint64_t least_unit_;
  std::optional<PassChange> change_;
  std::unique_ptr<const PlanSchedule> schedule_;
  LoadedPasses aligned_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::unique_ptr<const LoadedPasses>> narrower_;  // by bytes of a unit
};

}  // namespace faro::cuda
