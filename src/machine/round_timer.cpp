#include "faro/machine/round_timer.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "faro/error.hpp"

namespace faro::machine {
namespace {

void add_time(std::uint64_t& time, std::uint64_t more) {
  if (__builtin_add_overflow(time, more, &time)) {
    fail(ErrorCode::value, "time a program on a memory machine", "more than 2^64 - 1 time units",
         "a time that 64 bits can hold", "take a smaller latency or a smaller program");
  }
}

}  // namespace

RoundTimer::RoundTimer(const MachineOptions& options)
    : options_((check(options), options)),
      turns_(options.width),
      // DMMs past the number of warps stay empty: no round shall pay for them.
      memories_(options.kind == MachineKind::hmm ? 1 + std::min(options.dmms, options.threads / options.width)
                                                 : 1) {
  if (options.overlap) report_.overlap_time = 0;
}

void RoundTimer::begin_warp(std::uint64_t dmm) {
  ++warps_;
  dmm_ = dmm;
  if (options_.overlap) first_access_.push_back(accesses_.size());
  keeping_ = report_.time < options_.timeline_units;
  kept_round_ = 0;
  kept_start_ = report_.time;
}

void RoundTimer::add(std::uint64_t round, Space space, std::span<const std::uint64_t> words,
                     std::uint64_t lanes) {
  if (words.empty()) return;
  const bool by_bank =
      options_.kind == MachineKind::dmm || (options_.kind == MachineKind::hmm && space == Space::shared);
  const std::uint64_t memory = options_.kind == MachineKind::hmm && space == Space::shared ? 1 + dmm_ : 0;
  const std::uint64_t stages = by_bank ? turns_.by_bank(words) : turns_.by_group(words);

  const std::size_t needed = (round + 1) * memories_;
  if (stages_.size() < needed) stages_.resize(needed);
  if (keeping_) keep(round, memory, words);
  stages_of(round, memory) += stages;
  if (options_.overlap) accesses_.push_back({.round = round, .stages = stages, .memory = memory});

  ++report_.requests;
  report_.accesses += lanes;
  report_.stages += stages;
  if (report_.congestion.size() <= stages) report_.congestion.resize(stages + 1);
  ++report_.congestion[stages];
}

std::uint64_t RoundTimer::time_of(std::uint64_t round) const {
  const std::uint64_t* stages = stages_.data() + round * memories_;
  const std::uint64_t global = stages[0] == 0 ? 0 : stages[0] + options_.latency - 1;
  if (memories_ == 1) return global;
  const std::uint64_t worst = *std::max_element(stages + 1, stages + memories_);
  const std::uint64_t shared = worst == 0 ? 0 : worst + options_.shared_latency - 1;
  return std::max(global, shared);
}

void RoundTimer::end_phase() {
  std::uint64_t time = report_.time;
  std::uint64_t asked = 0;
  const std::uint64_t rounds = stages_.size() / memories_;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t taken = time_of(round);
    asked += taken != 0 ? 1 : 0;
    add_time(time, taken);
  }
  if (!kept_.empty()) record();
  report_.time = time;
  report_.rounds += asked;
  if (options_.overlap && !accesses_.empty()) {
    // No more than what was just added, so it fits.
    *report_.overlap_time += overlap_time(
        accesses_, first_access_,
        {.memories = memories_, .latency = options_.latency, .shared_latency = options_.shared_latency});
  }
  abandon_phase();
}

void RoundTimer::abandon_phase() {
  stages_.clear();
  warps_ = 0;
  first_access_.clear();
  accesses_.clear();
  kept_.clear();
  kept_words_.clear();
}

// A round begins no earlier than the rounds before it take with the warps known so far, and an access enters
// no earlier than those before it in its round: what this bounds past the last unit is not kept.
void RoundTimer::keep(std::uint64_t round, std::uint64_t memory, std::span<const std::uint64_t> words) {
  for (; kept_round_ < round; ++kept_round_) {
    kept_start_ += time_of(kept_round_);
    if (kept_start_ >= options_.timeline_units) {
      keeping_ = false;
      return;
    }
  }
  if (kept_start_ + stages_of(round, memory) >= options_.timeline_units) return;
  const std::size_t begin = kept_words_.size();
  kept_words_.insert(kept_words_.end(), words.begin(), words.end());
  const auto first = kept_words_.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, kept_words_.end());
  kept_words_.erase(std::unique(first, kept_words_.end()), kept_words_.end());
  kept_.push_back({round, memory, warps_ - 1, begin, kept_words_.size()});
}

void RoundTimer::record() {
  std::stable_sort(kept_.begin(), kept_.end(),
                   [](const Kept& a, const Kept& b) { return a.round < b.round; });
  std::uint64_t round = 0;
  std::uint64_t round_number = report_.rounds;
  std::uint64_t start = report_.time;
  std::vector<std::uint64_t> entered(memories_);  // stages of the round, so far
  std::vector<TimelineStage> stages;              // of one access
  for (const Kept& kept : kept_) {
    for (; round < kept.round; ++round) {
      const std::uint64_t time = time_of(round);
      round_number += time != 0 ? 1 : 0;
      start += time;
      std::fill(entered.begin(), entered.end(), 0);
    }
    const bool by_bank = options_.kind == MachineKind::dmm || kept.memory != 0;
    stages.clear();
    std::unordered_map<std::uint64_t, std::size_t> in_bank;  // words so far
    for (std::size_t i = kept.begin; i < kept.end; ++i) {
      const std::uint64_t word = kept_words_[i];
      std::size_t stage = 0;
      if (by_bank) {
        stage = in_bank[word % options_.width]++;
      } else if (!stages.empty()) {
        const bool same_group = stages.back().words.back() / options_.width == word / options_.width;
        stage = stages.size() - (same_group ? 1 : 0);
      }
      if (stage == stages.size()) {
        stages.push_back({.unit = start + entered[kept.memory] + stage + 1,
                          .memory = kept.memory,
                          .warp = kept.warp,
                          .round = round_number});
      }
      stages[stage].words.push_back(word);
    }
    entered[kept.memory] += stages.size();
    for (TimelineStage& stage : stages) {
      if (stage.unit <= options_.timeline_units) timeline_.stages.push_back(std::move(stage));
    }
  }
}

Timeline RoundTimer::timeline() const {
  Timeline timeline = timeline_;
  timeline.machine = options_;
  timeline.time = report_.time;
  timeline.units = std::min(report_.time, options_.timeline_units);
  std::stable_sort(timeline.stages.begin(), timeline.stages.end(),
                   [](const TimelineStage& a, const TimelineStage& b) {
                     return a.unit != b.unit ? a.unit < b.unit : a.memory < b.memory;
                   });
  return timeline;
}

}  // namespace faro::machine
