#include "faro/measure.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace faro {

double clock_ms(bool of_thread) {
  constexpr double kInSecond = 1e3;
  constexpr double kInNanosecond = 1e-6;
  timespec time{};
  clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * kInSecond + static_cast<double>(time.tv_nsec) * kInNanosecond;
}

namespace {

double milliseconds_of(const std::function<void()>& run, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) run();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

struct Contestant {
  const TimedRun* run = nullptr;
  int calls_per_sample = 1;
  double spent_ms = 0;
  std::vector<double> samples_ms;
};

// Also the warming call. Doubling finds the calls of a sample without trusting one short, cold measurement.
Contestant prepare(const TimedRun& run, const MeasureOptions& options) {
  constexpr int kMostCalls = 1 << 20;
  Contestant contestant{.run = &run, .samples_ms = {}};
  double elapsed_ms = run(1);
  while (elapsed_ms < options.min_sample_ms && contestant.calls_per_sample < kMostCalls) {
    contestant.calls_per_sample *= 2;
    elapsed_ms = run(contestant.calls_per_sample);
  }
  return contestant;
}

void take_sample(Contestant& contestant) {
  const double elapsed_ms = (*contestant.run)(contestant.calls_per_sample);
  contestant.spent_ms += elapsed_ms;
  contestant.samples_ms.push_back(elapsed_ms / contestant.calls_per_sample);
}

// By this process's clock.
std::vector<TimedRun> timed(std::span<const std::function<void()>> contestants) {
  std::vector<TimedRun> runs;
  runs.reserve(contestants.size());
  for (const auto& run : contestants) {
    runs.emplace_back([&run](int calls) { return milliseconds_of(run, calls); });
  }
  return runs;
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Timing summarise(std::span<const double> milliseconds) {
  Timing timing{.median_ms = median(milliseconds), .samples = static_cast<int>(milliseconds.size())};
  std::vector<double> deviations;
  deviations.reserve(milliseconds.size());
  for (const double value : milliseconds) deviations.push_back(std::abs(value - timing.median_ms));
  timing.mad_ms = median(deviations);
  return timing;
}

std::vector<Timing> measure_alternating(std::span<const std::function<void()>> contestants,
                                        const MeasureOptions& options) {
  return measure_alternating(timed(contestants), options);
}

std::vector<Timing> measure_alternating(std::span<const TimedRun> contestants,
                                        const MeasureOptions& options) {
  std::vector<Contestant> states;
  states.reserve(contestants.size());
  for (const auto& run : contestants) states.push_back(prepare(run, options));

  const double share_ms =
      options.budget_ms / static_cast<double>(std::max<std::size_t>(contestants.size(), 1));
  const auto wants_more = [&](const Contestant& contestant) {
    const int samples = static_cast<int>(contestant.samples_ms.size());
    return samples < options.min_samples || (contestant.spent_ms < share_ms && samples < options.max_samples);
  };
  for (bool any = true; any;) {
    any = false;
    for (Contestant& contestant : states) {
      if (!wants_more(contestant)) continue;
      take_sample(contestant);
      any = true;
    }
  }
  std::vector<Timing> timings;
  timings.reserve(states.size());
  for (const Contestant& contestant : states) timings.push_back(summarise(contestant.samples_ms));
  return timings;
}

std::vector<double> quietest_medians_ms(std::span<const std::function<void()>> contestants, int rounds,
                                        const MeasureOptions& options) {
  return quietest_medians_ms(timed(contestants), rounds, options);
}

std::vector<double> quietest_medians_ms(std::span<const TimedRun> contestants, int rounds,
                                        const MeasureOptions& options) {
  MeasureOptions share = options;
  share.budget_ms /= std::max(rounds, 1);
  std::vector<double> least;
  for (int round = 0; round < std::max(rounds, 1); ++round) {
    const std::vector<Timing> timings = measure_alternating(contestants, share);
    if (round == 0) least.resize(timings.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < timings.size(); ++i) least[i] = std::min(least[i], timings[i].median_ms);
  }
  return least;
}

}  // namespace faro
