#include "kernels/axes_lines_banks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "faro/machine/access_counts.hpp"
#include "faro/machine/congestion.hpp"
#include "kernels/axes_params.hpp"

namespace faro::kernels {
namespace {

// Turns of one phase, of at most as many words as there are banks: hundreds of places are tried a plan.
class PhaseTurns {
 public:
  void begin() {
    count_.fill(0);
    most_ = 0;
  }
  void add(std::uint32_t word) {
    const std::uint32_t bank = word % kBanks;
    auto& met = met_[bank];
    std::uint32_t& count = count_[bank];
    if (std::find(met.begin(), met.begin() + count, word) != met.begin() + count) return;
    met[count++] = word;
    most_ = std::max(most_, count);
  }
  std::uint32_t turns() const { return most_; }

 private:
  static constexpr std::size_t kBanks = machine::MemoryGeometry{}.banks;
  std::uint32_t most_ = 0;
  std::array<std::uint32_t, kBanks> count_{};
  std::array<std::array<std::uint32_t, kBanks>, kBanks> met_;  // of each bank, as many as are counted
};

// Units that a few warps read of lines, whose places depend on the pitch, and not on how words are exchanged.
class LinesReads {
 public:
  LinesReads(const AxesLinesParams& p, int unit_bytes)
      : unit_(static_cast<std::uint32_t>(unit_bytes)),
        phase_(static_cast<std::uint32_t>(machine::MemoryGeometry{}.lanes_per_phase(unit_bytes))) {
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      std::uint32_t slot = thread;
      const std::uint32_t line = p.line_slots.divide(slot);
      std::uint32_t digit = slot * (kMovedBytes / unit_);
      const std::uint32_t rest = p.digit0.divide(digit);
      place_[thread] = digit * p.stride0 + rest * p.stride1 + line * p.line_stride;
    }
  }

  /// Bank turns over those without conflict; where they cannot be below `limit`, something not below it.
  double congestion(const LinesExchange& exchange,
                    double limit = std::numeric_limits<double>::infinity()) const {
    const double needed = static_cast<double>(kThreads) / phase_;
    PhaseTurns turns;
    std::uint32_t taken = 0;
    std::uint32_t left = kThreads / phase_;
    for (std::uint32_t first = 0; first < kThreads; first += phase_) {
      turns.begin();
      for (std::uint32_t thread = first; thread < first + phase_; ++thread) {
        const std::uint32_t exchanged = exchange.place(place_[thread]);
        for (std::uint32_t byte = 0; byte < unit_; byte += 4) turns.add((exchanged + byte) / 4);
      }
      taken += turns.turns();
      const double least = (taken + --left) / needed;
      if (least >= limit) return least;
    }
    return taken / needed;
  }

 private:
  static constexpr std::uint32_t kThreads = 4 * 32;
  std::uint32_t unit_;
  std::uint32_t phase_;  // lanes of one access of the hardware
  std::array<std::uint32_t, kThreads> place_{};
};

}  // namespace

void choose_lines_banks(AxesLinesParams& p, int unit_bytes, std::uint32_t pitches) {
  constexpr double good_enough = 1.05;
  constexpr std::uint32_t masks[] = {0, 0x7c, 0x0c, 0x70};
  const double plain_gain = p.digit0.divisor() == 1 ? 0.75 : 1;
  const std::uint32_t within = static_cast<std::uint32_t>(unit_bytes) - 1;
  std::uint32_t& stride = p.form == AxesLinesForm::few_rows ? p.stride0 : p.stride1;
  const std::uint32_t least = p.pitch;
  double best = std::numeric_limits<double>::infinity();
  LinesExchange best_exchange;
  std::uint32_t best_pitch = least;
  for (std::uint32_t i = 0; i < pitches; ++i) {
    if (pitches > 1) stride = p.pitch = least + i * kMovedBytes;
    if (best <= good_enough) break;
    const LinesReads reads(p, unit_bytes);
    for (const std::uint32_t mask : masks) {
      // Without an exchange no shift is another, and places take a third of the instructions.
      const std::uint32_t last_shift = (mask & ~within) == 0 ? 3 : 10;
      for (std::uint32_t shift = 3; shift <= last_shift && best > good_enough; ++shift) {
        p.exchange = {.shift = shift, .mask = mask & ~within};
        const double gain = mask == 0 ? plain_gain : 1;
        constexpr double rounding = 1 + 1e-9;
        const double congestion = reads.congestion(p.exchange, best / gain * rounding) * gain;
        if (congestion >= best) continue;
        best = congestion;
        best_exchange = p.exchange;
        best_pitch = p.pitch;
      }
    }
  }
  if (pitches > 1) stride = p.pitch = best_pitch;
  p.exchange = best_exchange;
}

AxesSkinnyShape choose_skinny_banks(AxesLinesParams& p, AxesSkinnyShape shape) {
  // Places that are exchanged cost two instructions a unit, so few conflicts are borne.
  const double borne = shape.unit_bytes == 1 ? 2 : 4;
  shape.exchanged = false;
  p.exchange = {};
  double best = axes_skinny_congestion(p, shape);
  if (best <= borne) return shape;
  shape.exchanged = true;
  LinesExchange best_exchange;
  for (const std::uint32_t mask : {0x7cU, 0x70U, 0x0cU}) {
    for (std::uint32_t shift = 3; shift <= 10; ++shift) {
      p.exchange = {.shift = shift, .mask = mask & ~(static_cast<std::uint32_t>(shape.unit_bytes) - 1)};
      const double congestion = axes_skinny_congestion(p, shape);
      if (congestion >= best) continue;
      best = congestion;
      best_exchange = p.exchange;
    }
  }
  p.exchange = best_exchange;
  return shape;
}

double axes_skinny_congestion(const AxesLinesParams& p, const AxesSkinnyShape& shape) {
  const machine::MemoryGeometry geometry;
  const auto lanes = static_cast<std::uint32_t>(geometry.warp_size);
  const int access = shape.few > 0 ? kMovedBytes : shape.unit_bytes;
  const auto phase = static_cast<std::uint32_t>(geometry.lanes_per_phase(access));
  const std::uint32_t few = shape.by_rows ? p.rows : p.tile_columns;
  const std::uint32_t stride = few * static_cast<std::uint32_t>(std::max(access, 4));
  machine::TurnCounter turns(static_cast<std::uint64_t>(geometry.banks));
  std::vector<std::uint64_t> words;
  std::uint64_t taken = 0;
  std::uint64_t needed = 0;
  constexpr std::uint32_t sampled_warps = 4;
  for (std::uint32_t first = 0; first < sampled_warps * lanes; first += phase) {
    words.clear();
    for (std::uint32_t thread = first; thread < first + phase; ++thread) {
      const std::uint32_t place = p.exchange.place(thread * stride);
      for (int byte = 0; byte < access; byte += 4) {
        words.push_back((place + static_cast<std::uint32_t>(byte)) / 4);
      }
    }
    taken += turns.by_bank(words);
    ++needed;
  }
  return static_cast<double>(taken) / static_cast<double>(needed);
}

}  // namespace faro::kernels
