// The tables that the passes of an index array read beside their input, on the host: what it takes to count
// what they touch.
//
//     array at hand, and short enough     its schedule, made here: counts are what the hardware will count
//     else                                tables with which nothing can cost more: counts are a bound
//
//     place of element i of a chunk       bound: places a row of banks apart for neighbours, all in one bank
//     runs of a chunk                     bound: of one length, each from the last element of a sector on
//     entries                             bound: a sector apart
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "faro/plan/index_plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "plan/gpu/block_phases.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::detail {

class ScheduleTables {
 public:
  /// Of the plan's index array, where it is the host's and making the schedule takes about a second at most;
  /// nothing else.   Cost: that of the schedule.
  static std::optional<ScheduleTables> made(const IndexPlan& plan);
  /// Of a schedule that a plan's passes go by.
  static ScheduleTables of(const schedule::IndexSchedule& schedule, Way way);

  /// Of a pass. Requires: the pass is one of the schedule's (checked).
  PassTables operator()(const GpuPass& pass) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Tables with which a pass of a schedule costs the most. Requires: a pass with tables.
PassTables worst_tables(const GpuPass& pass);

}  // namespace faro::detail
