// Timing that survives a noisy machine: contestants take turns, and the median and its spread are reported.
//
//     round 1   faro  naive  copy     round 2   faro  naive  copy     …     until the time is spent
//
// A shared machine's speed changes by a factor of two within minutes, so two numbers are only comparable when
// they come from one alternating run. A contestant that is much slower drops out of the rounds when its part
// of the time is spent; one that is too fast for the clock is called several times in a row.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace faro {

/// Milliseconds of a clock that only goes forward, or of this thread's processor time.
double clock_ms(bool of_thread);

struct Timing {
  double median_ms = 0;  // of one call
  double mad_ms = 0;     // median of the absolute deviations from median_ms
  int samples = 0;
};

/// The middle value, or the mean of the middle two; 0 of nothing.
double median(std::span<const double> values);

/// Median and median absolute deviation.
Timing summarise(std::span<const double> milliseconds);

struct MeasureOptions {
  double budget_ms = 2000;      // of all contestants together, the first warming call of each not counted
  int min_samples = 3;          // of each, even past the budget
  int max_samples = 201;        // of each
  double min_sample_ms = 0.05;  // calls are repeated until a sample is this long
};

/// One Timing for each contestant, in order. Each is called once before timing starts.
std::vector<Timing> measure_alternating(std::span<const std::function<void()>> contestants,
                                        const MeasureOptions& options = {});

/// A contestant with a clock of its own, such as a GPU's: runs `calls` times in a row and gives the
/// milliseconds of all of them together.
using TimedRun = std::function<double(int calls)>;
std::vector<Timing> measure_alternating(std::span<const TimedRun> contestants,
                                        const MeasureOptions& options = {});

/// What each contestant takes where nothing disturbs it, in milliseconds of a call: the least of the medians
/// of `rounds` measurements, which share the budget. Other programs only ever add time; a median is proof
/// against a few slow samples, not against a busy second.
std::vector<double> quietest_medians_ms(std::span<const std::function<void()>> contestants, int rounds,
                                        const MeasureOptions& options = {});
std::vector<double> quietest_medians_ms(std::span<const TimedRun> contestants, int rounds,
                                        const MeasureOptions& options = {});

}  // namespace faro
