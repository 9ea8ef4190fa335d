// The tables that the passes of an index array read beside their input, on the host: what it takes to count
// what they touch.
//
//     array at hand, and short enough     its schedule, made here: counts are what the hardware will count
//     else                                any tables, and counts widened to what no others can exceed
//
//     elements moved by their entries     a sector and a line each
//     runs of a chunk                     two sectors and two lines more than their bytes, two accesses more
//     shared memory, by places            every lane of an access in one bank
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "faro/plan/index_plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "tell/counts/block_phases.hpp"
#include "tell/counts/counting.hpp"

namespace faro::detail {

class ScheduleTables {
 public:
  /// The tables of the plan's index array, where it is the host's and, unless `however_long`, making the
  /// schedule takes about a second at most; nothing else.   Cost: that of the schedule.
  static std::optional<ScheduleTables> made(const IndexPlan& plan, bool however_long = false);
  /// The tables of a schedule that a plan's passes go by.
  static ScheduleTables of(const schedule::IndexSchedule& schedule, Way way);

  /// The tables of a pass. Requires: the pass is one of the schedule's (checked).
  PassTables operator()(const GpuPass& pass) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// What a pass of a schedule costs at most, whatever its tables say; nothing for runs, whose search takes as
/// long as the array says. Requires: a pass with tables. Cost: as count_blocks().
std::optional<Counted> bounded_blocks(const GpuPass& pass, const CountedArrays& arrays,
                                      const machine::MemoryGeometry& geometry);

}  // namespace faro::detail
