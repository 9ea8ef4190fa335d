#include <algorithm>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/trace.hpp"
#include "permutation/text.hpp"

namespace faro::machine {
namespace {

void require_lines_fit(const MachineOptions& options, const Trace& trace) {
  if (trace.longest_line <= options.width) return;
  const auto longer = std::find_if(trace.accesses.begin(), trace.accesses.end(),
                                   [&](const TraceAccess& a) { return a.lanes > options.width; });
  fail(ErrorCode::spec, "run " + faro::detail::in_quotes(trace.name, faro::detail::kLongestPathBytes),
       std::to_string(longer->lanes) + " lanes at " + faro::detail::line_of(trace.name, longer->line),
       "at most the width, " + std::to_string(options.width),
       "take a wider machine, or one line for each warp");
}

MachineOptions with_threads(MachineOptions options, const Trace& trace) {
  if (options.threads == 0) options.threads = trace.longest_round * options.width;
  return options;
}

RoundTimer::Space space_of(const TraceAccess& access) {
  return access.space == TraceSpace::shared ? RoundTimer::Space::shared : RoundTimer::Space::global;
}

struct Placed {
  std::size_t access = 0;
  std::uint64_t round = 0;  // of the machine, which has at most `warps` accesses in each
};

// The timer wants warp after warp, the file has round after round. Only warps that the trace speaks of.
std::vector<std::vector<Placed>> by_warp(const Trace& trace, std::uint64_t warps) {
  std::vector<std::vector<Placed>> result(std::min(warps, trace.longest_round));
  std::uint64_t machine_round = 0;
  for (std::size_t round = 0; round < trace.rounds.size(); ++round) {
    std::uint64_t warp = 0;
    for (std::size_t i = trace.rounds[round]; i < trace.round_end(round); ++i, ++warp) {
      if (warp == warps) {
        warp = 0;
        ++machine_round;
      }
      result[warp].push_back({.access = i, .round = machine_round});
    }
    ++machine_round;
  }
  return result;
}

}  // namespace

TraceRun run_trace(const MachineOptions& options, const Trace& trace) {
  if (options.width >= 1 && options.width <= kMaxWidth) require_lines_fit(options, trace);
  RoundTimer timer(with_threads(options, trace));
  const std::uint64_t warps = timer.options().threads / options.width;
  std::uint64_t dmm = 0;
  std::vector<std::uint64_t> words;
  for (const std::vector<Placed>& warp : by_warp(trace, warps)) {
    timer.begin_warp(dmm++ % timer.options().dmms);
    for (const Placed& placed : warp) {
      const TraceAccess& access = trace.accesses[placed.access];
      words.clear();
      for (const std::uint64_t lane : trace.lanes_of(access)) {
        if (lane != kIdleLane) words.push_back(lane);
      }
      timer.add(placed.round, space_of(access), words, words.size());
    }
  }
  timer.end_phase();
  return {timer.options(), timer.report(), timer.timeline()};
}

}  // namespace faro::machine
