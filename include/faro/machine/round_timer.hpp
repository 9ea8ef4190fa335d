// Counts the time of a memory machine: the one place where that happens.
//
// Threads run in warps. Between two barriers the k-th accesses of all warps are round k; the warps are served
// one after another, warp 0 first, each access taking as many *stages* as its memory needs turns
// (congestion.hpp). One stage enters the memory's pipeline in a time unit and leaves it l units later. The
// papers' example, w = 4, l = 3, two warps:
//
//     warp 0 asks for 0 1 10 6, warp 1 for 8 9 14 15
//
//     DMM   unit 1: 0 1 6   2: 10   3: 8 9 14 15   4, 5: the last stage goes through        3 + l - 1 = 5
//     UMM   unit 1: 0 1   2: 6   3: 10   4: 8 9   5: 14 15   6, 7                           5 + l - 1 = 7
//
// The rules, exactly:
//   - A warp access takes by_bank() stages in a DMM and by_group() stages in a UMM; lanes that ask for one
//     word are merged, a warp without requests takes none.
//   - A round takes the sum of its stages, plus l - 1. The next one begins when it has ended. A round
//     without requests takes no time and is not counted.
//   - On the HMM a round's shared part takes the largest of its DMMs' sums plus the shared latency minus 1,
//     its global part as on the UMM. In a round that has both, the memories work side by side and the longer
//     counts.
//   - *Overlap*: the time of asynchronous issue, one outstanding access a warp. A warp may issue as soon as
//     its last access has completed: a stage that enters in unit t completes at the end of unit t + l - 1.
//     Warps take turns: in every unit a memory admits one stage, of the ready warp that has made the fewest
//     accesses since the barrier, the first of these. Then round k is over no later than with rounds one
//     after another, so this time never exceeds that one. Barriers still wait for everybody.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/machine/congestion.hpp"
#include "faro/machine/machine_options.hpp"
#include "faro/machine/overlap.hpp"
#include "faro/machine/timeline.hpp"

namespace faro::machine {

struct MachineReport {
  std::uint64_t time = 0;                     // rounds one after another
  std::optional<std::uint64_t> overlap_time;  // asynchronous issue, where MachineOptions::overlap asks for it
  std::uint64_t rounds = 0;                   // in which somebody asked
  std::uint64_t requests = 0;                 // accesses of warps
  std::uint64_t accesses = 0;                 // accesses of lanes
  std::uint64_t stages = 0;
  std::vector<std::uint64_t> congestion;  // [c] warp accesses took c stages; [0] is unused

  friend bool operator==(const MachineReport&, const MachineReport&) = default;
};

/// Times warp accesses that are told to it; moves no data.
///
/// Use: for every warp of a phase begin_warp() and then its accesses; end_phase() at the barrier.
class RoundTimer {
 public:
  enum class Space : std::uint8_t { global, shared };

  /// Errors: as check().
  explicit RoundTimer(const MachineOptions& options);

  /// The next warp since the barrier, in the order in which warps take turns. `dmm`: where it sits, of an
  /// HMM.
  /// Requires: dmm < options.dmms and dmm < p / w (unchecked).
  void begin_warp(std::uint64_t dmm = 0);

  /// The warp's access in round `round`, 0 the first since the barrier; rounds ascend within a warp
  /// (unchecked), and those left out are ones in which it asks for nothing. `words`: addresses; `lanes`: how
  /// many lanes asked for them. No words: nothing happens.
  void add(std::uint64_t round, Space space, std::span<const std::uint64_t> words, std::uint64_t lanes);

  /// The barrier: adds the time of all rounds since the last one to the report.
  /// Errors: ErrorCode::value where the time does not fit into 64 bits.
  void end_phase();

  /// Forgets the warps since the last barrier.
  void abandon_phase();

  const MachineOptions& options() const { return options_; }
  const MachineReport& report() const { return report_; }
  /// Empty unless MachineOptions::timeline_units asks for it.
  Timeline timeline() const;

 private:
  struct Kept {  // for the timeline: an access that may enter early enough
    std::uint64_t round;
    std::uint64_t memory;
    std::uint64_t warp;
    std::size_t begin;  // in kept_words_
    std::size_t end;
  };

  std::uint64_t& stages_of(std::uint64_t round, std::uint64_t memory) {
    return stages_[round * memories_ + memory];
  }
  std::uint64_t time_of(std::uint64_t round) const;
  void keep(std::uint64_t round, std::uint64_t memory, std::span<const std::uint64_t> words);
  void record();
  std::uint64_t latency_of(std::uint64_t memory) const {
    return memory == 0 ? options_.latency : options_.shared_latency;
  }

  MachineOptions options_;
  TurnCounter turns_;
  std::uint64_t memories_;  // 0: the only one, or the UMM; 1 + d: DMM d of an HMM
  MachineReport report_;
  Timeline timeline_;

  // Since the last barrier.
  std::vector<std::uint64_t> stages_;  // [round * memories_ + memory]
  std::uint64_t warps_ = 0;
  std::uint64_t dmm_ = 0;                  // of the current warp
  std::vector<std::size_t> first_access_;  // of each warp in accesses_, for the overlap
  std::vector<OverlapAccess> accesses_;

  // For the timeline.
  bool keeping_ = false;          // an access of the current warp may still enter in time
  std::uint64_t kept_round_ = 0;  // no round before it begins later than
  std::uint64_t kept_start_ = 0;  // this unit
  std::vector<Kept> kept_;
  std::vector<std::uint64_t> kept_words_;
};

}  // namespace faro::machine
