// Traces: recorded or invented accesses of warps, as a text file. Independent of any machine: an address is a
// number.
//
//     # two warps of four lanes, two rounds          one line, one access of one warp
//     0 1 10 6                                       warp 0: its lanes' addresses, lane 0 first
//     8,9,0xe,15                                     warp 1
//                                                    a blank line ends the round
//     - 4 -                                          warp 0: lanes 0, 2, 3 ask for nothing
//     shared store 3 3 7 7                           warp 1, in the block's memory
//
// Addresses are decimal, 0x or 2^k, with blanks or commas between. A lane written `-`, and every lane past
// the line's end, asks for nothing; a line of only `-` is a warp without requests. In front may stand
// `global` or `shared` (which memory of a machine that has both; `global` if neither) and `load` or `store`
// (`load`). `#` starts a comment, to the end of the line. Lines of a round belong to warps 0, 1, 2, ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/machine/machine_options.hpp"
#include "faro/machine/round_timer.hpp"
#include "faro/machine/timeline.hpp"

namespace faro::machine {

/// Where a lane of a trace asks for nothing.
inline constexpr std::uint64_t kIdleLane = ~std::uint64_t{0};
inline constexpr std::uint64_t kMaxTraceAddress = (std::uint64_t{1} << 63) - 1;

enum class TraceSpace : std::uint8_t { global, shared };
enum class TraceOperation : std::uint8_t { load, store };

struct TraceAccess {
  std::size_t first_lane = 0;  // in Trace::lanes
  std::uint32_t lanes = 0;     // written in the line, at least 1
  TraceSpace space = TraceSpace::global;
  TraceOperation operation = TraceOperation::load;
  std::uint64_t line = 0;  // in the file, from 1
};

struct Trace {
  std::string name;                   // for errors: the file's
  std::vector<std::uint64_t> lanes;   // addresses and kIdleLane, access after access
  std::vector<TraceAccess> accesses;  // line after line, at least one
  std::vector<std::size_t> rounds;    // the first access of each round that a blank line ends
  std::uint64_t longest_round = 0;    // lines
  std::uint64_t longest_line = 0;     // lanes

  std::span<const std::uint64_t> lanes_of(const TraceAccess& access) const {
    return std::span(lanes).subspan(access.first_lane, access.lanes);
  }
  /// Where round `round` ends in `accesses`.
  std::size_t round_end(std::size_t round) const {
    return round + 1 < rounds.size() ? rounds[round + 1] : accesses.size();
  }
};

/// Reads a trace. `name` is what errors call it.
/// Errors: ErrorCode::file, naming file and line: what is no address or word known here, an address past
/// kMaxTraceAddress, a line with more lanes than kMaxWidth or with none; a text without any access.
/// Cost: linear.
Trace parse_trace(std::string_view text, std::string name);

/// Errors: also ErrorCode::file where the file is missing, unreadable or past 1 GiB.
Trace read_trace(const std::string& path);

// A trace on a memory machine: how long its accesses take.
//
// All rounds are in one phase, without barriers, so that overlap has something to overlap. On the HMM warp i
// sits on DMM i mod k. Loads and stores cost the same; no data is moved.

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
