#include "plan/gpu/value_box_lanes.hpp"

#include <algorithm>
#include <bit>

#include "faro/machine/congestion.hpp"
#include "kernels/value_arrays.hpp"
#include "layout/shared_geometry.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

// Lanes of a warp that meet in a bank, in the mean over a vector's numbers.
double wavefronts(machine::TurnCounter& banks, const SideOfBox& side, std::uint32_t lanes_log2) {
  const auto lanes =
      static_cast<std::uint64_t>(layout::kGeometry.lanes_per_phase(static_cast<int>(side.held_bytes)));
  const std::uint64_t along = std::uint64_t{1} << lanes_log2;
  std::vector<std::uint64_t> words;
  double total = 0;
  for (std::uint64_t j = 0; j < side.vector; ++j) {
    words.clear();
    for (std::uint64_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t number = lane % along * side.vector + j;
      const std::uint64_t row = lane / along;
      if (number < side.run.size() && row < side.rows.size())
        words.push_back((side.run[number] + side.rows[row]) * side.held_bytes / layout::kGeometry.bank_bytes);
    }
    total += banks.by_bank(words);
  }
  return total / static_cast<double>(side.vector);
}

}  // namespace

// As measured: lanes that write less than a sector together take twice the time that four wavefronts take.
LaneSpread best_spread(const SideOfBox& side) {
  machine::TurnCounter banks{layout::kGeometry.banks};
  constexpr std::uint64_t kSector = layout::kGeometry.sector_bytes;
  const std::uint64_t slots = std::max<std::uint64_t>(side.run.size() / side.vector, 1);
  LaneSpread best;
  for (std::uint32_t log2 = 0; log2 <= 5; ++log2) {
    const std::uint64_t along = std::uint64_t{1} << log2;
    if (along / 2 >= slots && log2 > 0) break;
    LaneSpread spread{.lanes_log2 = log2, .wavefronts = wavefronts(banks, side, log2)};
    const std::uint64_t used =
        std::min(along, slots) * std::min<std::uint64_t>(kernels::kValueWarpLanes / along, side.rows.size());
    const double idle = static_cast<double>(kernels::kValueWarpLanes) / static_cast<double>(used);
    const std::uint64_t joint = std::min(along, slots) * side.vector * side.bytes;
    const double parts = side.whole ? 1 : 4;
    const double partial = joint >= 4 * kSector   ? 0
                           : joint >= 2 * kSector ? parts
                           : joint >= kSector     ? 4 * parts
                                                  : 16 * parts;
    spread.cost = spread.wavefronts * idle + partial;
    if (log2 == 0 || spread.cost < best.cost) best = spread;
  }
  return best;
}

std::uint32_t warps_along(std::uint64_t slots, std::uint32_t lanes_log2) {
  constexpr std::uint32_t kWarps = kernels::kValueThreads / kernels::kValueWarpLanes;
  const std::uint64_t wanted = ceil_div(slots, std::uint64_t{1} << lanes_log2);
  return static_cast<std::uint32_t>(
      std::bit_width(std::bit_floor(std::clamp<std::uint64_t>(wanted, 1, kWarps))) - 1);
}

std::uint32_t copied_lanes(std::uint64_t slots, std::uint64_t rows, std::uint64_t vector_bytes) {
  constexpr std::uint64_t kLine = 128;
  std::uint32_t best = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t log2 = 0; log2 <= 5; ++log2) {
    const std::uint64_t along = std::uint64_t{1} << log2;
    const std::uint64_t warps = std::uint64_t{1} << warps_along(slots, log2);
    const std::uint64_t rows_at_once = kernels::kValueThreads / along / warps;
    const std::uint64_t steps = ceil_div(slots, along * warps) * ceil_div(rows, rows_at_once);
    const bool is_short = along * vector_bytes < kLine && along < slots;
    const std::uint64_t cost = 2 * steps + (is_short ? steps : 0);
    if (cost >= least && log2 > 0) continue;
    least = cost;
    best = log2;
  }
  return best;
}

}  // namespace faro::detail
