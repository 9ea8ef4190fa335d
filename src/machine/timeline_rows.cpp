#include "machine/timeline_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

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
