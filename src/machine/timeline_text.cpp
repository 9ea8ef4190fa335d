#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "faro/machine/timeline.hpp"

namespace faro::machine::detail {
namespace {

std::string title_of(const MachineOptions& machine, std::uint64_t memory, std::uint64_t latency) {
  std::string title = machine.kind == MachineKind::dmm ? "DMM" : "UMM";
  if (machine.kind == MachineKind::hmm) {
    title = memory == 0 ? "UMM of the HMM" : "DMM " + std::to_string(memory - 1) + " of the HMM";
  }
  return title + ", w = " + std::to_string(machine.width) + ", l = " + std::to_string(latency);
}

// `stages` by unit. Units that see nothing enter are joined where the pipeline is not shown.
std::vector<TimelineRow> rows_of(const std::vector<const TimelineStage*>& stages, std::uint64_t units,
                                 const MemoryTimeline& memory) {
  std::vector<TimelineRow> rows;
  std::vector<const TimelineStage*> pipeline(memory.shows_pipeline() ? memory.latency : 0);
  auto next = stages.begin();
  for (std::uint64_t unit = 1; unit <= units; ++unit) {
    const bool enters = next != stages.end() && (*next)->unit == unit;
    TimelineRow row{.first_unit = unit, .last_unit = unit, .entering = enters ? *next++ : nullptr};
    if (memory.shows_pipeline()) {
      std::rotate(pipeline.begin(), pipeline.end() - 1, pipeline.end());
      pipeline.front() = row.entering;
      row.pipeline = pipeline;
    } else if (!enters) {
      row.last_unit = next == stages.end() ? units : (*next)->unit - 1;
      unit = row.last_unit;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<MemoryTimeline> memory_timelines(const Timeline& timeline) {
  std::uint64_t memories = 0;
  for (const TimelineStage& stage : timeline.stages) memories = std::max(memories, stage.memory + 1);
  std::vector<std::vector<const TimelineStage*>> stages(memories);
  for (const TimelineStage& stage : timeline.stages) stages[stage.memory].push_back(&stage);

  std::vector<MemoryTimeline> result;
  for (std::uint64_t memory = 0; memory < memories; ++memory) {
    if (stages[memory].empty()) continue;
    const std::uint64_t latency = memory == 0 ? timeline.machine.latency : timeline.machine.shared_latency;
    MemoryTimeline of{.title = title_of(timeline.machine, memory, latency),
                      .width = timeline.machine.width,
                      .latency = latency};
    of.rows = rows_of(stages[memory], timeline.units, of);
    result.push_back(std::move(of));
  }
  return result;
}

std::string units_text(const Timeline& timeline) {
  const std::string time =
      std::to_string(timeline.time) + (timeline.time == 1 ? " time unit" : " time units");
  return timeline.is_cut() ? "the first " + std::to_string(timeline.units) + " of " + time : time;
}

std::string words_text(const TimelineStage& stage, std::size_t most) {
  std::string text;
  for (const std::uint64_t word : stage.words) {
    const std::string next = (text.empty() ? "" : " ") + std::to_string(word);
    if (text.size() + next.size() > most) return text + " ...";
    text += next;
  }
  return text;
}

}  // namespace faro::machine::detail

namespace faro::machine {
namespace {

using detail::MemoryTimeline;
using detail::TimelineRow;

// Columns wide enough for everything in them.
struct Columns {
  std::size_t unit = 4;
  std::size_t enters = 6;
  std::size_t word = 1;   // of one bank
  std::size_t words = 5;  // of all, where banks are not shown
  std::size_t warp = 1;
};

std::string unit_text(const TimelineRow& row) {
  return row.first_unit == row.last_unit ? std::to_string(row.first_unit)
                                         : fmt::format("{}-{}", row.first_unit, row.last_unit);
}

std::string enters_text(const TimelineRow& row) {
  return row.entering == nullptr ? "."
                                 : fmt::format("warp {}, round {}", row.entering->warp, row.entering->round);
}

Columns columns_of(const MemoryTimeline& memory) {
  Columns columns;
  columns.word = std::to_string(memory.width - 1).size();
  for (const TimelineRow& row : memory.rows) {
    columns.unit = std::max(columns.unit, unit_text(row).size());
    columns.enters = std::max(columns.enters, enters_text(row).size());
    if (row.entering == nullptr) continue;
    columns.warp = std::max(columns.warp, 1 + std::to_string(row.entering->warp).size());
    columns.words = std::max(columns.words, detail::words_text(*row.entering, detail::kMostWordsText).size());
    for (const std::uint64_t word : row.entering->words) {
      columns.word = std::max(columns.word, std::to_string(word).size());
    }
  }
  if (memory.shows_pipeline()) columns.warp = std::max(columns.warp, std::to_string(memory.latency).size());
  return columns;
}

std::string banks_text(const MemoryTimeline& memory, const Columns& columns, const TimelineRow& row) {
  std::vector<std::string> banks(memory.width, ".");
  if (row.entering != nullptr) {
    for (const std::uint64_t word : row.entering->words) banks[word % memory.width] = std::to_string(word);
  }
  std::string text;
  for (const std::string& bank : banks) text += fmt::format(" {:>{}}", bank, columns.word);
  return text;
}

std::string pipeline_text(const Columns& columns, const TimelineRow& row) {
  std::string text;
  for (const TimelineStage* stage : row.pipeline) {
    text += fmt::format(" {:<{}}", stage == nullptr ? "." : fmt::format("W{}", stage->warp), columns.warp);
  }
  return text;
}

std::string header_text(const MemoryTimeline& memory, const Columns& columns) {
  std::string text = fmt::format("{:>{}}  {:<{}} ", "unit", columns.unit, "enters", columns.enters);
  if (memory.shows_banks()) {
    text += " bank";
    for (std::uint64_t bank = 0; bank < memory.width; ++bank)
      text += fmt::format(" {:>{}}", bank, columns.word);
  } else {
    text += fmt::format(" {:<{}}", "words", columns.words);
  }
  if (memory.shows_pipeline()) {
    text += "  stage";
    for (std::uint64_t i = 1; i <= memory.latency; ++i) text += fmt::format(" {:<{}}", i, columns.warp);
  }
  return text;
}

void trim_and_end(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
}

std::string table_text(const MemoryTimeline& memory) {
  const Columns columns = columns_of(memory);
  std::string table = header_text(memory, columns);
  trim_and_end(table);
  for (const TimelineRow& row : memory.rows) {
    std::string line =
        fmt::format("{:>{}}  {:<{}} ", unit_text(row), columns.unit, enters_text(row), columns.enters);
    if (memory.shows_banks()) {
      line += "     " + banks_text(memory, columns, row);
    } else {
      const std::string words =
          row.entering == nullptr ? "" : detail::words_text(*row.entering, detail::kMostWordsText);
      line += fmt::format(" {:<{}}", words, columns.words);
    }
    if (memory.shows_pipeline()) line += "       " + pipeline_text(columns, row);
    trim_and_end(line);
    table += line;
  }
  return table;
}

}  // namespace

std::string timeline_text(const Timeline& timeline) {
  std::string text;
  for (const MemoryTimeline& memory : detail::memory_timelines(timeline)) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}: {}\n", memory.title, detail::units_text(timeline));
    text += table_text(memory);
  }
  if (text.empty()) text = fmt::format("{}: nothing was recorded\n", detail::units_text(timeline));
  return text;
}

}  // namespace faro::machine
