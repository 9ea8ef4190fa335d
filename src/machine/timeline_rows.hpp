// A timeline as the rows of a table, for those who print or draw it: a memory's units one after another, and
// what each finds in the pipeline.
//
// Long waits are one row. With latency 100 most units see nothing enter; where the pipeline is too deep to
// show stage by stage, such units in a row become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/timeline.hpp"

namespace faro::machine::detail {

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

/// Of every memory that anything entered.
std::vector<MemoryTimeline> memory_timelines(const Timeline& timeline);

/// "5 time units", "the first 100 of 123456 time units".
std::string units_text(const Timeline& timeline);

/// "8 9 14 15", with dots where it is longer than `most` characters.
std::string words_text(const TimelineStage& stage, std::size_t most);

}  // namespace faro::machine::detail
