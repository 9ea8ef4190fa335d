#include "reproduce/matrix_access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "faro/error.hpp"

namespace faro::reproduce {
namespace {

using layout::Index;

template <typename Layout>
Layout fresh(std::uint64_t seed) {
  if constexpr (Layout::kRandomNumbers == 0) {
    return Layout{};
  } else {
    return Layout::random(seed);
  }
}

constexpr std::uint64_t kMostLayoutsOfCertainCells = 256;

template <Index w, typename Layout>
Tally measure_with(const MatrixCell& cell, const MatrixTrials& trials) {
  const CellSeeds seeds(trials.seed, trials.table + ", " + to_text(cell));
  if (is_certain(cell)) {
    const std::uint64_t layouts =
        Layout::kRandomNumbers == 0 ? 1 : std::min(trials.count, kMostLayoutsOfCertainCells);
    return run_trials({.count = layouts, .width = w, .seeds = seeds}, 1,
                      [&](const TrialSeeds& of_trial, Worker& worker, std::vector<Tally>& tallies) {
                        const auto at = fresh<Layout>(of_trial.layout);
                        layout::SplitMix64 random{of_trial.access};
                        for (Index i = 0; i < w; ++i) {
                          address_lanes<w>(at, cell.access, i, random, worker.addresses);
                          tallies[0].add_access(worker.congestion());
                        }
                        tallies[0].end_trial();
                      })[0];
  }
  return run_trials({.count = trials.count, .width = w, .seeds = seeds}, 1,
                    [&](const TrialSeeds& of_trial, Worker& worker, std::vector<Tally>& tallies) {
                      const auto at = fresh<Layout>(of_trial.layout);
                      layout::SplitMix64 random{of_trial.access};
                      const Index warp = random.below(w);
                      address_lanes<w>(at, cell.access, warp, random, worker.addresses);
                      tallies[0].add(worker.congestion());
                    })[0];
}

template <Index w>
Tally measure_width(const MatrixCell& cell, const MatrixTrials& trials) {
  switch (cell.layout) {
    case Layout2::raw:
      return measure_with<w, layout::Raw<w>>(cell, trials);
    case Layout2::ras:
      return measure_with<w, layout::Ras<w>>(cell, trials);
    case Layout2::rap:
      return measure_with<w, layout::Rap<w>>(cell, trials);
  }
  return {};
}

}  // namespace

std::string to_text(const MatrixCell& cell) {
  return fmt::format("{}, {}, w = {}", name(cell.layout), name(cell.access), cell.width);
}

Tally measure(const MatrixCell& cell, const MatrixTrials& trials) {
  switch (cell.width) {
    case 16:
      return measure_width<16>(cell, trials);
    case 32:
      return measure_width<32>(cell, trials);
    case 64:
      return measure_width<64>(cell, trials);
    case 128:
      return measure_width<128>(cell, trials);
    case 256:
      return measure_width<256>(cell, trials);
    default:
      break;
  }
  FARO_CHECK(std::find(kWidths.begin(), kWidths.end(), cell.width) != kWidths.end());
  return {};
}

}  // namespace faro::reproduce
