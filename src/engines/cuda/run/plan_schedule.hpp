// The schedule that a plan of an index array runs by, in its device's memory: made there, or one that was
// made before; and the passes that it is run by, which are the plan's.
//
//     the plan asks for                     what is taken
//     a scatter inverted, a gather          the inverse array; where that does not fit, a scatter's passes
//     a direct schedule that was given      passes for its entries, which may be of another width
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/schedule_tables.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cuda {

/// Whether a plan's passes read a schedule.
bool has_schedule(const Plan& plan);

class PlanSchedule {
 public:
  /// Requires, both: has_schedule(plan); its device is the current one. Errors: ErrorCode::value for an index
  /// array that is no permutation, or another device's; ErrorCode::device, saying how much is needed, for too
  /// little memory.
  explicit PlanSchedule(const Plan& plan);
  /// Errors: also ErrorCode::value for a schedule of another count or method than the plan's.
  PlanSchedule(const Plan& plan, const schedule::IndexSchedule& made);
  PlanSchedule(const PlanSchedule&) = delete;  // tables know where the schedule is
  PlanSchedule& operator=(const PlanSchedule&) = delete;

  /// The plan whose passes are run.
  const Plan& plan() const { return plan_; }
  std::vector<const void*> tables_of(const faro::detail::GpuPass& pass) const { return tables_->of(pass); }
  std::uint64_t bytes() const { return schedule_.bytes() + tables_->bytes(); }

  /// A copy on the host, as it was given or as one is made there.
  schedule::IndexSchedule fetched() const;

 private:
  void finish();
  void turn_round();

  std::optional<Indexed> source_;                 // what it was made from, where that is known
  std::optional<schedule::IndexSchedule> given_;  // a direct one, which may be run another way round
  DeviceIndexSchedule schedule_;
  Plan plan_;
  std::optional<ScheduleTables> tables_;  // of schedule_
};

}  // namespace faro::cuda
