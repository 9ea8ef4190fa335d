#include "layout/axes_tile_banks.hpp"

#include <algorithm>
#include <vector>

#include "faro/machine/memory_geometry.hpp"
#include "machine/congestion.hpp"

namespace faro::layout::detail {
namespace {

using Strides = std::vector<std::uint32_t>;  // by axis

std::uint32_t place_in(const std::vector<TileDigit>& digits, std::uint32_t number) {
  std::uint32_t place = 0;
  for (const TileDigit& digit : digits) {
    place += number % digit.extent * digit.shared;
    number /= digit.extent;
  }
  return place;
}

void set_strides(TileSide& side, const Strides& strides) {
  for (auto* digits : {&side.run, &side.rows}) {
    for (TileDigit& digit : *digits) {
      digit.shared = digit.step * strides[static_cast<std::size_t>(digit.axis)];
    }
  }
}

struct Turns {
  std::uint64_t taken = 0;
  std::uint64_t needed = 0;
};

class Counter {
 public:
  Counter() : turns_(static_cast<std::uint64_t>(geometry_.banks)) {}

  // The accesses of a warp to its lanes' k-th units of a vector, in their `round`-th rows.
  void count(const TileSide& side, int unit_bytes, std::uint32_t threads, std::uint32_t warp,
             std::uint32_t round, int k, Turns& sum) {
    const auto lanes = static_cast<std::uint32_t>(geometry_.warp_size);
    const auto vector = static_cast<std::uint32_t>(side.vector_units);
    const std::uint32_t slots = side.run_units() / vector;
    const std::uint32_t groups = threads / slots;
    const std::uint32_t rows = side.row_count();
    const auto phase = static_cast<std::uint32_t>(geometry_.lanes_per_phase(unit_bytes));
    for (std::uint32_t first = 0; first < lanes; first += phase) {
      words_.clear();
      for (std::uint32_t lane = first; lane < first + phase; ++lane) {
        const std::uint32_t thread = warp * lanes + lane;
        const std::uint32_t group = thread / slots;
        const std::uint32_t row = group + round * groups;
        if (group >= groups || row >= rows) continue;
        const std::uint32_t unit =
            place_in(side.rows, row) +
            place_in(side.run, thread % slots * vector + static_cast<std::uint32_t>(k));
        const std::uint64_t byte = std::uint64_t{unit} * static_cast<unsigned>(unit_bytes);
        const auto bank = static_cast<std::uint64_t>(geometry_.bank_bytes);
        for (std::uint64_t word = byte / bank; word * bank < byte + static_cast<unsigned>(unit_bytes);
             ++word) {
          words_.push_back(word);
        }
      }
      if (words_.empty()) continue;
      sum.taken += turns_.by_bank(words_);
      sum.needed += 1;
    }
  }

 private:
  machine::MemoryGeometry geometry_;
  machine::TurnCounter turns_;
  std::vector<std::uint64_t> words_;
};

// The tile's axes, slower ones outside, each stride the product of the faster and a pad of its own.
struct Candidate {
  std::vector<std::size_t> axes;  // fastest first
  std::vector<std::uint32_t> pads;
};

void apply(AxesTile& tile, const Candidate& candidate) {
  Strides strides(tile.extent.size(), 0);
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < candidate.axes.size(); ++i) {
    const std::size_t a = candidate.axes[i];
    stride += candidate.pads[i];
    strides[a] = stride;
    stride *= static_cast<std::uint32_t>(tile.extent[a]);
  }
  tile.shared_units = stride;
  set_strides(tile.in, strides);
  set_strides(tile.out, strides);
}

std::vector<Candidate> orders_of(const AxesTile& tile) {
  const std::size_t n = tile.extent.size();
  std::vector<Candidate> candidates(2);
  for (std::size_t i = n; i-- > 0;) {
    const auto by_output = static_cast<std::size_t>(tile.axes.order[i]);
    if (tile.extent[i] > 1) candidates[0].axes.push_back(i);
    if (tile.extent[by_output] > 1) candidates[1].axes.push_back(by_output);
  }
  for (Candidate& c : candidates) c.pads.assign(c.axes.size(), 0);
  return candidates;
}

}  // namespace

double mean_congestion(const AxesTile& tile, std::uint32_t threads) {
  constexpr std::uint32_t sampled_rounds = 2;
  Counter counter;
  Turns sum;
  for (const TileSide* side : {&tile.in, &tile.out}) {
    for (const std::uint32_t warp : {0U, 1U, threads / 32 - 1}) {
      for (std::uint32_t round = 0; round < sampled_rounds; ++round) {
        counter.count(*side, tile.unit_bytes, threads, warp, round, 0, sum);
        if (side->vector_units > 1) {
          counter.count(*side, tile.unit_bytes, threads, warp, round, side->vector_units - 1, sum);
        }
      }
    }
  }
  return static_cast<double>(sum.taken) / static_cast<double>(std::max<std::uint64_t>(1, sum.needed));
}

void choose_shared_strides(AxesTile& tile, std::uint32_t threads) {
  constexpr double good_enough = 1.02;
  constexpr double worth_a_pad = 0.97;
  std::uint32_t volume = 1;
  for (const std::uint64_t extent : tile.extent) volume *= static_cast<std::uint32_t>(extent);
  Candidate best;
  double least = 0;
  const auto consider = [&](const Candidate& candidate) {
    apply(tile, candidate);
    if (tile.shared_units > volume + volume / 4 + 64) return;
    const double congestion = mean_congestion(tile, threads);
    if (!best.axes.empty() && congestion > least * worth_a_pad) return;
    best = candidate;
    least = congestion;
  };
  for (const Candidate& candidate : orders_of(tile)) consider(candidate);
  // A pad, and where that is not enough, one more.
  for (int round = 0; round < 2 && least > good_enough; ++round) {
    for (const Candidate& order : round == 0 ? orders_of(tile) : std::vector<Candidate>{best}) {
      for (std::size_t level = 1; level < order.axes.size(); ++level) {
        for (std::uint32_t pad = 1; pad <= 32 && least > good_enough; ++pad) {
          Candidate candidate = order;
          candidate.pads[level] += pad;
          consider(candidate);
        }
      }
    }
  }
  apply(tile, best);
}

}  // namespace faro::layout::detail
