#include "kernels/axes_lines_banks.hpp"

#include <limits>
#include <vector>

#include "faro/machine/memory_geometry.hpp"
#include "kernels/axes_lines_params.hpp"
#include "machine/congestion.hpp"

namespace faro::kernels {

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
      for (std::uint32_t shift = 3; shift <= 10 && best > good_enough; ++shift) {
        p.exchange = {.shift = shift, .mask = mask & ~within};
        // Without an exchange places take a third of the instructions.
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
  machine::TurnCounter turns(banks);
  std::vector<std::uint64_t> words;
  std::uint64_t taken = 0;
  std::uint64_t needed = 0;
  constexpr std::uint32_t sampled_warps = 4;
  for (std::uint32_t first = 0; first < sampled_warps * lanes; first += phase) {
    words.clear();
    for (std::uint32_t thread = first; thread < first + phase; ++thread) {
      std::uint32_t slot = thread;
      const std::uint32_t line = p.line_slots.divide(slot);
      std::uint32_t digit = slot * (kMovedBytes / unit);
      const std::uint32_t rest = p.digit0.divide(digit);
      const std::uint32_t place = digit * p.stride0 + rest * p.stride1 + line * p.line_stride;
      const std::uint32_t exchanged = p.exchange.place(place);
      for (std::uint32_t byte = 0; byte < unit; byte += 4) words.push_back((exchanged + byte) / 4);
    }
    taken += turns.by_bank(words);
    ++needed;
  }
  return static_cast<double>(taken) / static_cast<double>(needed);
}

}  // namespace faro::kernels
