// Plans that are asked for again: the same plan, in a tenth of a millisecond; other problems and machines
// have their own; the least recently used goes first.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "api/plan_cache.hpp"
#include "engine_support.hpp"
#include "faro/faro.hpp"
#include "processor_time.hpp"

namespace faro {
namespace executable_plan_cache_test {

using detail::PlanCache;
using detail::PlanKey;

Axes reversed(const std::vector<std::uint64_t>& shape) {
  std::vector<int> order;
  for (std::size_t a = shape.size(); a-- > 0;) order.push_back(static_cast<int>(a));
  return Axes(shape, order);
}

Problem problem_of(std::uint64_t rows, std::uint64_t width = 4) {
  return {.permutation = reversed({rows, 7, 5}), .element_bytes = width};
}

// What plans and tables that are kept take: a tenth of a millisecond of the processor, where it is not
// shared.
template <typename Work>
void expect_kept(const Work& work, const std::string& what) {
  if (testing::kInstrumented) return;
  EXPECT_LT(testing::least_processor_ms(200, work), 0.1 * testing::kOnABusyMachine) << what;
}

TEST(PlanCache, KeepsTheLastThatWereAskedFor) {
  PlanCache cache;
  const auto key = [](std::uint64_t rows) {
    return PlanKey{.problem = problem_of(rows), .engine = Engine::cpu, .device = 0, .threads = 1};
  };
  const auto plan = [](std::uint64_t rows) { return Plan(problem_of(rows), cpu::target(1)); };
  EXPECT_FALSE(cache.find(key(2)));
  for (std::uint64_t rows = 2; rows < 2 + PlanCache::kMost; ++rows) cache.keep(key(rows), plan(rows));
  EXPECT_EQ(cache.size(), PlanCache::kMost);
  ASSERT_TRUE(cache.find(key(2)));  // now the last that was asked for
  EXPECT_EQ(cache.find(key(2))->explain(), plan(2).explain());
  cache.keep(key(1000), plan(1000));
  EXPECT_EQ(cache.size(), PlanCache::kMost);
  EXPECT_TRUE(cache.find(key(2)));
  EXPECT_TRUE(cache.find(key(1000)));
  EXPECT_FALSE(cache.find(key(3)));
}

TEST(PlanCache, TellsProblemsAndMachinesApart) {
  PlanCache cache;
  const PlanKey key{.problem = problem_of(9), .engine = Engine::cpu, .device = 0, .threads = 1};
  cache.keep(key, Plan(key.problem, cpu::target(1)));
  PlanKey other = key;
  other.problem.element_bytes = 8;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.problem.batch = 2;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.problem.placement = Placement::in_place;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.threads = 2;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.engine = Engine::cuda;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.problem.permutation = Cyclic{.count = 9 * 35, .shift = 1};
  EXPECT_FALSE(cache.find(other));
  EXPECT_TRUE(cache.find(key));
}

TEST(PlanCache, PlansAreTheSameAgainAndAtOnce) {
  const Problem problem{.permutation = reversed({48, 28, 28, 28, 48}), .element_bytes = 4};
  const std::string first = plan_only(problem).explain();
  EXPECT_EQ(plan_only(problem).explain(), first);
  expect_kept([&] { static_cast<void>(plan_only(problem)); }, "a plan");
  // What refuses keeps refusing.
  const Problem wrong{.permutation = reversed({3, 4}), .element_bytes = 5000};
  EXPECT_THROW(plan_only(wrong), Error);
  EXPECT_THROW(plan_only(wrong), Error);
}

TEST(PlanCache, KeepsViews) {
  PlanCache cache;
  const Strided padded{
      .extents = {300, 40, 96}, .in_strides = {128, 38400, 1}, .out_strides = {96, 28800, 1}};
  const PlanKey key{
      .problem = {.element_bytes = 4, .view = padded}, .engine = Engine::cpu, .device = 0, .threads = 1};
  cache.keep(key, Plan({.element_bytes = 4, .view = padded}, cpu::target(1)));
  EXPECT_TRUE(cache.find(key));
  PlanKey other = key;
  other.problem.view->in_offset = 1;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.problem.element_bytes = 2;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.threads = 2;
  EXPECT_FALSE(cache.find(other));
  other = key;
  other.engine = Engine::cuda;
  EXPECT_FALSE(cache.find(other));

  const std::string first = plan_only(padded, 4).explain();
  EXPECT_EQ(plan_only(padded, 4).explain(), first);
  EXPECT_NE(plan_only(padded, 4, {.threads = 1}).explain(), plan_only(padded, 8, {.threads = 1}).explain());
  expect_kept([&] { static_cast<void>(plan(padded, 4)); }, "a view");
  // What refuses keeps refusing.
  Strided meets = padded;
  meets.out_strides = {1, 28800, 1};
  EXPECT_THROW(static_cast<void>(plan_only(meets, 4)), Error);
  EXPECT_THROW(static_cast<void>(plan_only(meets, 4)), Error);
}

// The tables of a box are made with every plan that runs: those of a few long columns have thousands of
// places.
TEST(PlanCache, RunsAgainInATenthOfAMillisecond) {
  for (const Problem& problem :
       {Problem{.permutation = Axes({178, 3, 224, 224}, {0, 2, 3, 1}), .element_bytes = 2},
        Problem{.permutation = Axes({447, 223, 1342}, {2, 1, 0}), .element_bytes = 2},
        Problem{.permutation = Axes({1000, 3001, 5}, {0, 2, 1}), .element_bytes = 1}}) {
    expect_kept([&] { static_cast<void>(plan(problem)); }, to_text(problem.permutation));
  }
}

TEST(PlanCache, ManyThreadsAskAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (std::uint64_t i = 0; i < 60; ++i) {
        const std::uint64_t rows = 2 + (i * 7 + static_cast<std::uint64_t>(t)) % 40;
        EXPECT_EQ(element_count(plan_only(problem_of(rows)).problem().permutation), rows * 35);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Planning, TakesAMillisecondAtMost) {
  if (testing::kInstrumented) GTEST_SKIP() << "instrumented";
  const std::vector<std::vector<std::uint64_t>> shapes = {{7248, 7248},
                                                          {384, 355, 384},
                                                          {96, 75, 75, 96},
                                                          {48, 28, 28, 28, 48},
                                                          {32, 15, 15, 15, 15, 32},
                                                          {3, 5, 7, 11, 13, 17, 19, 23},
                                                          {10, 10, 10, 10, 10, 10, 10, 10},
                                                          std::vector<std::uint64_t>(18, 3)};
  for (const auto& shape : shapes) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
      const Problem problem{.permutation = reversed(shape), .element_bytes = width};
      for (const Target& target : {cpu::target(2), cuda::target_of_capability(9, 0)}) {
        EXPECT_LT(testing::least_processor_ms(9, [&] { static_cast<void>(Plan(problem, target)); }),
                  testing::kOnABusyMachine)
            << to_text(problem.permutation) << " of " << width << " bytes, " << name(target.engine);
      }
    }
  }
}

}  // namespace executable_plan_cache_test
}  // namespace faro
