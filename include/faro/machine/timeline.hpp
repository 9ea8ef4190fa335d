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

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faro/machine/machine_options.hpp"

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

namespace faro::machine::detail {

// A timeline as the rows of a table, for those who print or draw it: a memory's units one after another, and
// what each finds in the pipeline.
//
// Long waits are one row. With latency 100 most units see nothing enter; where the pipeline is too deep to
// show stage by stage, such units in a row become one.

// What is wider or deeper is not shown in columns.
inline constexpr std::uint64_t kMostBankColumns = 64;
inline constexpr std::uint64_t kMostPipelineColumns = 32;
inline constexpr std::size_t kMostWordsText = 60;

struct TimelineRow {
  std::uint64_t first_unit = 0;
  std::uint64_t last_unit = 0;
  const TimelineStage* entering = nullptr;          // none: nothing enters
  std::vector<const TimelineStage*> pipeline = {};  // stages 1 to l, none where empty; empty: not shown
};

struct MemoryTimeline {
  std::string title;  // "DMM 2 of the HMM, w = 32, l = 1"
  std::uint64_t width = 1;
  std::uint64_t latency = 1;
  std::vector<TimelineRow> rows = {};

  bool shows_banks() const { return width <= kMostBankColumns; }
  bool shows_pipeline() const { return latency <= kMostPipelineColumns; }
};

/// The timelines of all memories that anything entered.
std::vector<MemoryTimeline> memory_timelines(const Timeline& timeline);

/// "5 time units", "the first 100 of 123456 time units".
std::string units_text(const Timeline& timeline);

/// "8 9 14 15", with dots where it is longer than `most` characters.
std::string words_text(const TimelineStage& stage, std::size_t most);

}  // namespace faro::machine::detail
