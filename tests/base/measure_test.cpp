// Medians by hand, and the order in which contestants are called.
#include "faro/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace faro {
namespace measure_test {

TEST(Measure, MedianAndDeviation) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median(std::array{3.0}), 3);
  EXPECT_EQ(median(std::array{5.0, 1.0, 3.0}), 3);
  EXPECT_EQ(median(std::array{4.0, 1.0, 3.0, 100.0}), 3.5);
  const Timing timing = summarise(std::array{1.0, 2.0, 4.0, 8.0, 100.0});
  EXPECT_EQ(timing.median_ms, 4);
  EXPECT_EQ(timing.mad_ms, 3);  // of 3 2 0 4 96
  EXPECT_EQ(timing.samples, 5);
}

TEST(Measure, TakesTurns) {
  std::string calls;
  const auto slow = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  const std::array<std::function<void()>, 2> contestants{[&] { slow(), calls += 'a'; },
                                                         [&] { slow(), calls += 'b'; }};
  const auto timings = measure_alternating(contestants, {.budget_ms = 0, .min_samples = 3});
  EXPECT_EQ(calls, "abababab");  // one warming call each, then three rounds
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_GE(timings[0].median_ms, 1);
  EXPECT_EQ(timings[1].samples, 3);
}

TEST(Measure, RepeatsWhatIsTooFastForTheClock) {
  long calls = 0;
  const std::function<void()> contestant = [&] { ++calls; };
  const auto timings = measure_alternating(std::span(&contestant, 1),
                                           {.budget_ms = 0, .min_samples = 5, .min_sample_ms = 0.01});
  EXPECT_GT(calls, 100);
  EXPECT_GT(timings.front().median_ms, 0);
}

// A clock that says a call takes 2 ms, or 0.001 ms, whatever it is asked to run.
TEST(Measure, TakesAContestantsOwnClock) {
  int longest = 0;
  const std::array<TimedRun, 2> contestants{[](int calls) { return 2.0 * calls; },
                                            [&](int calls) {
                                              longest = std::max(longest, calls);
                                              return 0.001 * calls;
                                            }};
  const auto timings = measure_alternating(contestants, {.min_samples = 3, .min_sample_ms = 0.05});
  EXPECT_EQ(timings[0].median_ms, 2);
  EXPECT_DOUBLE_EQ(timings[1].median_ms, 0.001);
  EXPECT_EQ(longest, 64);  // the power of two that fills a sample
}

// A clock that lies for a while: every measurement of the first two rounds is disturbed, of the last none.
TEST(Measure, KeepsTheQuietestRound) {
  int samples = 0;
  const std::array<TimedRun, 2> contestants{[&](int calls) {
                                              // A round is the warming call and three samples.
                                              const int round = samples++ / 4;
                                              const double disturbed_ms[] = {7, 9, 2};
                                              return calls * disturbed_ms[std::min(round, 2)];
                                            },
                                            [](int calls) { return calls * 5.0; }};
  const MeasureOptions options{.budget_ms = 0.003, .min_samples = 3, .max_samples = 3};
  EXPECT_EQ(quietest_medians_ms(contestants, 3, options), (std::vector<double>{2, 5}));
  samples = 0;
  EXPECT_EQ(quietest_medians_ms(contestants, 2, options), (std::vector<double>{7, 5}));
  samples = 0;
  EXPECT_EQ(quietest_medians_ms(contestants, 0, options), (std::vector<double>{7, 5}));
  EXPECT_TRUE(quietest_medians_ms(std::span<const TimedRun>(), 3, options).empty());
}

TEST(Measure, QuietestOfPlainCalls) {
  const std::array<std::function<void()>, 1> sleeper{
      [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }};
  const auto least = quietest_medians_ms(sleeper, 3, {.budget_ms = 20});
  ASSERT_EQ(least.size(), 1U);
  EXPECT_GE(least[0], 2.0);
}

}  // namespace measure_test
}  // namespace faro
