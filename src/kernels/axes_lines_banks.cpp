#include "kernels/axes_lines_banks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "faro/machine/access_counts.hpp"
#include "kernels/axes_params.hpp"
#include "machine/congestion.hpp"

namespace faro::kernels {
namespace {

// Turns of one phase, of at most as many words as there are banks: hundreds of places are tried a plan.
class PhaseTurns {
 public:
  explicit PhaseTurns(std::uint32_t banks) : banks_(banks) {}

  void begin() {
    count_.fill(0);
    most_ = 0;
  }
  void add(std::uint32_t word) {
    const std::uint32_t bank = word % banks_;
    auto& met = met_[bank];
    std::uint32_t& count = count_[bank];
    if (std::find(met.begin(), met.begin() + count, word) != met.begin() + count) return;
    met[count++] = word;
    most_ = std::max(most_, count);
  }
  std::uint32_t turns() const { return most_; }

 private:
  static constexpr std::size_t kMostBanks = 32;
  std::uint32_t banks_;
  std::uint32_t most_ = 0;
  std::array<std::uint32_t, kMostBanks> count_{};
  std::array<std::array<std::uint32_t, kMostBanks>, kMostBanks> met_{};
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
    for (const std::uint32_t mask : masks) {
      // Without an exchange no shift is another, and places take a third of the instructions.
      const std::uint32_t last_shift = (mask & ~within) == 0 ? 3 : 10;
      for (std::uint32_t shift = 3; shift <= last_shift && best > good_enough; ++shift) {
        p.exchange = {.shift = shift, .mask = mask & ~within};
        const double congestion = axes_lines_congestion(p, unit_bytes) * (mask == 0 ? plain_gain : 1);
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
  const auto phase = static_cast<std::uint32_t>(geometry.lanes_per_phase(shape.unit_bytes));
  const std::uint32_t few = shape.by_rows ? p.rows : p.tile_columns;
  const std::uint32_t stride =
      few * (shape.unit_bytes < 4 ? 4 : static_cast<std::uint32_t>(shape.unit_bytes));
  machine::TurnCounter turns(static_cast<std::uint64_t>(geometry.banks));
  std::vector<std::uint64_t> words;
  std::uint64_t taken = 0;
  std::uint64_t needed = 0;
  constexpr std::uint32_t sampled_warps = 4;
  for (std::uint32_t first = 0; first < sampled_warps * lanes; first += phase) {
    words.clear();
    for (std::uint32_t thread = first; thread < first + phase; ++thread) {
      const std::uint32_t place = p.exchange.place(thread * stride);
      for (int byte = 0; byte < shape.unit_bytes; byte += 4) {
        words.push_back((place + static_cast<std::uint32_t>(byte)) / 4);
      }
    }
    taken += turns.by_bank(words);
    ++needed;
  }
  return static_cast<double>(taken) / static_cast<double>(needed);
}

double axes_lines_congestion(const AxesLinesParams& p, int unit_bytes) {
  const machine::MemoryGeometry geometry;
  const auto banks = static_cast<std::uint64_t>(geometry.banks);
  const auto lanes = static_cast<std::uint32_t>(geometry.warp_size);
  const auto phase = static_cast<std::uint32_t>(geometry.lanes_per_phase(unit_bytes));
  const auto unit = static_cast<std::uint32_t>(unit_bytes);
  PhaseTurns turns(static_cast<std::uint32_t>(banks));
  std::uint64_t taken = 0;
  std::uint64_t needed = 0;
  constexpr std::uint32_t sampled_warps = 4;
  for (std::uint32_t first = 0; first < sampled_warps * lanes; first += phase) {
    turns.begin();
    for (std::uint32_t thread = first; thread < first + phase; ++thread) {
      std::uint32_t slot = thread;
      const std::uint32_t line = p.line_slots.divide(slot);
      std::uint32_t digit = slot * (kMovedBytes / unit);
      const std::uint32_t rest = p.digit0.divide(digit);
      const std::uint32_t place = digit * p.stride0 + rest * p.stride1 + line * p.line_stride;
      const std::uint32_t exchanged = p.exchange.place(place);
      for (std::uint32_t byte = 0; byte < unit; byte += 4) turns.add((exchanged + byte) / 4);
    }
    taken += turns.turns();
    ++needed;
  }
  return static_cast<double>(taken) / static_cast<double>(needed);
}

}  // namespace faro::kernels
