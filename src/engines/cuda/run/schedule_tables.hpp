// The tables that passes of index arrays read (TableId of plan/gpu/gpu_pass.hpp), found in a schedule of the
// device's memory.
//
//     table                 of
//     entries               the index array itself
//     shifts                a window
//     begins, froms, firsts runs, made here: sorted by where they are written, and the first run of every
//                           stretch of output
//     places, starts, ...   a partition; first, middle and last: rows and columns
#pragma once

#include <cstdint>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

class ScheduleTables {
 public:
  /// The schedule must outlive this: pointers are kept. For runs it makes at most 16 bytes of tables a run,
  /// and waits. Requires: its device is the current one. Errors: ErrorCode::device.
  explicit ScheduleTables(const DeviceIndexSchedule& schedule);

  /// The addresses of pass.tables, in their order. Requires: a pass of the schedule's kind.
  std::vector<const void*> of(const faro::detail::GpuPass& pass) const;

  /// Bytes of what was made beside the schedule.
  std::uint64_t bytes() const { return sorted_.bytes() + sources_.bytes() + firsts_.bytes(); }

 private:
  void make_runs(const DeviceRuns& runs);
  const void* table(const faro::detail::TableId& id) const;

  const DeviceIndexSchedule* schedule_;
  const std::uint64_t* begins_ = nullptr;  // of runs, as are all below
  const std::uint64_t* froms_ = nullptr;
  DeviceBuffer<std::uint64_t> sorted_;   // forwards only, since a schedule's are sorted backwards: targets,
  DeviceBuffer<std::uint64_t> sources_;  // and what goes there
  DeviceBuffer<std::uint64_t> firsts_;
};

}  // namespace faro::cuda
