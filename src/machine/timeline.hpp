// The pipeline of a memory machine, unit by unit: which stage enters, and what is on its way.
//
//     the papers' example on the DMM, w = 4, l = 3: warp 0 asks for 0 1 10 6, warp 1 for 8 9 14 15
//
//     unit  enters            bank 0  1  2  3     in the pipeline, stages 1 to 3
//        1  warp 0, round 0        0  1  6  .     W0  .   .
//        2  warp 0, round 0        .  . 10  .     W0  W0  .
//        3  warp 1, round 0        8  9 14 15     W1  W0  W0
//        4  .                                     .   W1  W0
//        5  .                                     .   .   W1
//
// A request is completed at the end of the unit in which it sits in the last stage. Rounds are shown one
// after another, never overlapped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine_options.hpp"

namespace faro::machine {

/// A stage that enters a memory's pipeline.
struct TimelineStage {
  std::uint64_t unit = 0;                 // from 1
  std::uint64_t memory = 0;               // 0: the only one, or the UMM; 1 + d: DMM d of an HMM
  std::uint64_t warp = 0;                 // of the machine
  std::uint64_t round = 0;                // from 0, of those in which somebody asked
  std::vector<std::uint64_t> words = {};  // addresses, ascending; no two in one bank
};

struct Timeline {
  MachineOptions machine = {};
  std::uint64_t time = 0;                  // of all that was timed
  std::uint64_t units = 0;                 // recorded: at most so many of `time`
  std::vector<TimelineStage> stages = {};  // by unit; of an HMM also by memory
  bool is_cut() const { return units < time; }
};

/// A table, a line a unit, as above; for an HMM one for every memory that was used. Says where it is cut.
std::string timeline_text(const Timeline& timeline);

/// The same as a picture in one standalone SVG file: time goes down, banks and pipeline stages across,
/// requests are coloured by warp. `name` is what was run.
std::string timeline_svg(const Timeline& timeline, std::string_view name = "Memory pipeline");

}  // namespace faro::machine
