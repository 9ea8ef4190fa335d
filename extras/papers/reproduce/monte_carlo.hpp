// Estimates of a congestion over random layouts and accesses, the same for every number of threads.
//
// A cell of a table is `trials` trials. Trial t draws all its random numbers from seeds that are a function
// of (the caller's seed, the cell's name, t), and adds integers to a Tally; integers may be added in any
// order. Only at the end are they divided.
//
//     seed, "rap-table2, RAP, diagonal, w = 32", t   --mix-->   seeds {layout, access}   -->   congestion
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "faro/layout/shared.hpp"
#include "faro/machine/congestion.hpp"
#include "faro/threads.hpp"
#include "reproduce/address_recorder.hpp"

namespace faro::reproduce {

/// The congestions of many trials, each of the same number of warp accesses.
class Tally {
 public:
  /// One trial of a single access.
  void add(std::uint32_t congestion) {
    add_access(congestion);
    end_trial();
  }

  /// One access of the current trial, which end_trial() closes. Accesses of one trial may depend on each
  /// other.
  void add_access(std::uint32_t congestion) {
    ++accesses_;
    trial_sum_ += congestion;
    least_ = std::min(least_, congestion);
    most_ = std::max(most_, congestion);
  }
  void end_trial() {
    ++trials_;
    sum_ += trial_sum_;
    squares_ += trial_sum_ * trial_sum_;
    trial_sum_ = 0;
  }

  Tally& operator+=(const Tally& other) {
    trials_ += other.trials_;
    accesses_ += other.accesses_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
    return *this;
  }

  std::uint64_t accesses() const { return accesses_; }
  std::uint32_t least() const { return least_; }
  std::uint32_t most() const { return most_; }
  bool is_constant() const { return least_ == most_; }
  double mean() const { return static_cast<double>(sum_) / static_cast<double>(accesses_); }

  /// The standard error of mean(), from the spread of the trials' sums.
  double standard_error() const {
    const auto trials = static_cast<double>(trials_);
    const double trial_mean = static_cast<double>(sum_) / trials;
    const double variance = std::max(0.0, static_cast<double>(squares_) / trials - trial_mean * trial_mean);
    return std::sqrt(variance / (trials - 1)) * trials / static_cast<double>(accesses_);
  }

 private:
  std::uint64_t trials_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t trial_sum_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t squares_ = 0;  // of the trials' sums
  std::uint32_t least_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t most_ = 0;
};

/// What a trial may draw its layout and its access from.
struct TrialSeeds {
  std::uint64_t layout = 0;
  std::uint64_t access = 0;
};

/// The seeds of the trials of one cell.
class CellSeeds {
 public:
  CellSeeds(std::uint64_t seed, std::string_view cell) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : cell) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    layout::SplitMix64 mix{seed};
    mix.state = mix.next() ^ hash;
    first_ = mix.next();
  }

  TrialSeeds of(std::uint64_t trial) const {
    layout::SplitMix64 mix{first_ + trial};
    const std::uint64_t layout = mix.next();
    return {.layout = layout, .access = mix.next()};
  }

 private:
  std::uint64_t first_ = 0;
};

/// What one thread keeps from trial to trial.
struct Worker {
  explicit Worker(std::uint64_t width) : counter(width), addresses(width) {}

  std::uint32_t congestion() { return counter.by_bank(addresses); }

  machine::TurnCounter counter;
  AddressRecorder recorder;
  std::vector<std::uint64_t> addresses;  // of a warp's lanes
  std::vector<std::uint8_t> table;       // a layout's, where it needs one
};

struct Trials {
  std::uint64_t count = 0;
  std::uint64_t width = 0;  // w
  CellSeeds seeds;
};

/// Calls trial(seeds, worker, tallies) for every trial, on all threads; gives the `cells` tallies added up.
template <typename Trial>
std::vector<Tally> run_trials(const Trials& trials, std::size_t cells, const Trial& trial) {
  const auto threads = static_cast<std::size_t>(detail::thread_count());
  std::vector<Worker> workers(threads, Worker(trials.width));
  std::vector<std::vector<Tally>> tallies(threads, std::vector<Tally>(cells));
  const auto count = static_cast<std::int64_t>(trials.count);
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(threads))
  for (std::int64_t t = 0; t < count; ++t) {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    trial(trials.seeds.of(static_cast<std::uint64_t>(t)), workers[thread], tallies[thread]);
  }
  std::vector<Tally> total(cells);
  for (const auto& own : tallies) {
    for (std::size_t cell = 0; cell < cells; ++cell) total[cell] += own[cell];
  }
  return total;
}

}  // namespace faro::reproduce
