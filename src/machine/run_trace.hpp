// A trace on a memory machine: how long its accesses take.
//
// All rounds are in one phase, without barriers, so that overlap has something to overlap. On the HMM warp i
// sits on DMM i mod k. Loads and stores cost the same; no data is moved.
#pragma once

#include "machine/machine_options.hpp"
#include "machine/round_timer.hpp"
#include "machine/timeline.hpp"
#include "machine/trace.hpp"

namespace faro::machine {

struct TraceRun {
  MachineOptions machine;  // with its threads
  MachineReport report;
  Timeline timeline;
};

/// `options.threads` 0: as many as the trace's longest round has warps. Otherwise a round also ends after
/// p / w lines.
/// Errors: as check(); ErrorCode::spec, naming file and line, for a line with more lanes than the width.
TraceRun run_trace(const MachineOptions& options, const Trace& trace);

}  // namespace faro::machine
