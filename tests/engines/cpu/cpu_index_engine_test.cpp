// The CPU engine for index arrays, held to the definition between guard zones.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cpu_index_support.hpp"
#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "refusal.hpp"

namespace faro {
namespace cpu_index_engine_test {

using schedule::IndexSchedule;
using testing::expect_run;
using testing::Numbers;
using testing::Places;
using testing::plan_of;
using testing::SplitMix64;
using testing::Stores;

void expect_schedule(const Plan& plan, const std::shared_ptr<const IndexSchedule>& schedule, const Places& p,
                     const std::string& what) {
  const cpu::Executor executor(plan, schedule);
  expect_run(
      executor, schedule->count * p.element_bytes, p,
      [&](const std::byte* in, std::byte* out) { run_by_definition(*schedule, in, out, p.element_bytes); },
      what + " of " + std::to_string(schedule->count) +
          (schedule->applied == Direction::scatter ? " forwards" : " backwards"));
}

// Forwards and backwards.
void expect_both_ways(const Indexed& indexed, const IndexSchedule& schedule, const Places& p,
                      const std::string& what) {
  const Plan plan = plan_of(indexed, p);
  expect_schedule(plan, std::make_shared<const IndexSchedule>(schedule), p, what);
  expect_schedule(plan, std::make_shared<const IndexSchedule>(schedule.inverse()), p, what);
}

std::string text_of(const schedule::PartitionShape& shape) {
  std::string text = "chunks of 2^" + std::to_string(shape.chunk_bits) + ", levels";
  for (const int bits : shape.level_bits) text += " " + std::to_string(bits);
  return text;
}

// Everything moves less than `window`: pairs far enough apart not to meet change places.
Indexed nearly_sorted(std::uint64_t count, std::uint64_t window, std::uint64_t seed) {
  std::vector<std::uint32_t> entries(count);
  std::iota(entries.begin(), entries.end(), 0U);
  SplitMix64 random{seed};
  for (std::uint64_t i = 0; i < count; i += window) {
    const std::uint64_t length = std::min(window, count - i);
    for (std::uint64_t k = length; k > 1; --k) std::swap(entries[i + k - 1], entries[i + random() % k]);
  }
  return {std::move(entries), Direction::scatter};
}

// Runs of 1 to `longest` elements in a random order.
Indexed shuffled_runs(std::uint64_t count, std::uint64_t longest, std::uint64_t seed) {
  SplitMix64 random{seed};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  for (std::uint64_t at = 0; at < count;) {
    const std::uint64_t length = std::min(count - at, 1 + random() % longest);
    runs.emplace_back(at, length);
    at += length;
  }
  for (std::size_t k = runs.size(); k > 1; --k) std::swap(runs[k - 1], runs[random() % k]);
  std::vector<std::uint32_t> entries(count);
  std::uint32_t target = 0;
  for (const auto& [begin, length] : runs) {
    for (std::uint64_t i = 0; i < length; ++i) entries[begin + i] = target++;
  }
  return {std::move(entries), Direction::scatter};
}

TEST(CpuIndexEngine, EveryLengthOfSmallPartitions) {
  const std::vector<schedule::PartitionShape> shapes{
      {.count = 0, .chunk_bits = 12, .level_bits = {}},
      {.count = 0, .chunk_bits = 6, .level_bits = {6}},
      {.count = 0, .chunk_bits = 5, .level_bits = {4, 3}},
      {.count = 0, .chunk_bits = 4, .level_bits = {2, 3, 3}},
  };
  const std::uint64_t step = testing::kInstrumented ? 37 : 1;
  for (std::uint64_t count = 0; count <= 4096; count += step) {
    const Indexed indexed = Indexed::random(count, count);
    // A shape a length, each with both kinds of stores by turns; every length below 300 with all of them.
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      if (count >= 300 && s != count % shapes.size()) continue;
      schedule::PartitionShape shape = shapes[s];
      shape.count = count;
      const Places p{.stores = count / shapes.size() % 2 == 0 ? Stores::streamed : Stores::cached};
      expect_both_ways(indexed, schedule::partition_index_schedule(indexed, shape, 1), p, text_of(shape));
      if (HasFailure()) return;
    }
  }
}

TEST(CpuIndexEngine, EveryWidthAndMethod) {
  constexpr std::uint64_t kCount = 3000;  // 50 x 60
  const Indexed random = Indexed::random(kCount, 5);
  const Indexed wide(std::vector<std::uint64_t>([&] {
                       const auto entries = random.entries32();
                       return std::vector<std::uint64_t>(entries.begin(), entries.end());
                     }()),
                     Direction::gather);
  const Indexed near = nearly_sorted(kCount, 40, 6);
  const Indexed runs = shuffled_runs(kCount, 300, 7);
  const schedule::PartitionShape shape{.count = kCount, .chunk_bits = 6, .level_bits = {3, 3}};
  const std::vector<std::pair<std::string, std::pair<Indexed, IndexSchedule>>> cases{
      {"partition", {random, schedule::partition_index_schedule(random, shape, 1)}},
      {"direct", {random, schedule::direct_schedule(random)}},
      {"direct by 64-bit entries", {wide, schedule::direct_schedule(wide)}},
      {"window", {near, schedule::window_schedule(near, 40, 1)}},
      {"runs", {runs, schedule::runs_schedule(runs)}},
      {"row_column", {random, schedule::row_column_schedule(random)}},
  };
  for (const auto& [name, made] : cases) {
    for (const std::uint64_t width :
         Numbers{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64, 100, 256, 4096}) {
      for (const Stores stores : {Stores::cached, Stores::streamed}) {
        expect_both_ways(made.first, made.second, {.element_bytes = width, .stores = stores}, name);
      }
    }
    // Unaligned, in batches.
    for (const std::uint64_t width : Numbers{1, 4, 12}) {
      for (const std::uint64_t offset : Numbers{1, 4, 33, 63}) {
        const Places p{.element_bytes = width,
                       .batch = 3,
                       .stores = Stores::streamed,
                       .in_offset = 64 - offset,
                       .out_offset = offset};
        expect_both_ways(made.first, made.second, p, name);
      }
    }
  }
}

TEST(CpuIndexEngine, ChunksTooWideForCachesAreGathered) {
  const Indexed indexed = Indexed::random(5000, 3);
  const schedule::PartitionShape shape{.count = 5000, .chunk_bits = 12, .level_bits = {1}};
  const IndexSchedule schedule = schedule::partition_index_schedule(indexed, shape, 1);
  const Places wide{.element_bytes = 4096};
  const cpu::Executor executor(plan_of(indexed, wide), std::make_shared<const IndexSchedule>(schedule));
  EXPECT_EQ(executor.workspace_bytes(), 0U) << "no chunk of 16 MiB";
  expect_both_ways(indexed, schedule, wide, text_of(shape));
}

// Threads meet within lines, batches within regions; the arrays are large enough for all threads to take
// part.
TEST(CpuIndexEngine, Threads) {
  const std::uint64_t count = testing::kInstrumented ? 140'003 : 300'007;
  const Indexed indexed = Indexed::random(count, 11);
  const std::vector<schedule::PartitionShape> shapes{
      {.count = count, .chunk_bits = 15, .level_bits = {4}},
      {.count = count, .chunk_bits = 12, .level_bits = {3, 4}},
      {.count = count, .chunk_bits = 9, .level_bits = {2, 3, 5}},
  };
  for (const auto& shape : shapes) {
    const IndexSchedule made = schedule::partition_index_schedule(indexed, shape);
    for (const int threads : {1, 2, 3, 4}) {
      for (const Stores stores : {Stores::cached, Stores::streamed}) {
        for (const std::uint64_t offset : Numbers{0, 5}) {
          expect_both_ways(
              indexed, made,
              {.element_bytes = 4, .batch = 1, .threads = threads, .stores = stores, .out_offset = offset},
              text_of(shape));
        }
      }
    }
    expect_both_ways(indexed, made,
                     {.element_bytes = 3, .batch = 2, .threads = 4, .stores = Stores::streamed},
                     text_of(shape));
  }
  const Places p{.element_bytes = 8, .batch = 2, .threads = 4, .stores = Stores::streamed};
  expect_both_ways(indexed, schedule::direct_schedule(indexed), p, "direct");
  const Indexed near = nearly_sorted(count, 1000, 3);
  expect_both_ways(near, schedule::window_schedule(near, 1000), p, "window");
  const Indexed runs = shuffled_runs(count, 5000, 4);
  expect_both_ways(runs, schedule::runs_schedule(runs), p, "runs");
  const Indexed matrix = Indexed::random(std::uint64_t{1} << 17, 9);
  expect_both_ways(matrix, schedule::row_column_schedule(matrix), p, "row_column");
}

TEST(CpuIndexEngine, ManySmallArrays) {
  const Indexed indexed = Indexed::random(1000, 2);
  for (const int threads : {1, 4}) {
    for (const auto& levels : std::vector<std::vector<int>>{{}, {2}, {1, 1}}) {
      const schedule::PartitionShape shape{
          .count = 1000, .chunk_bits = levels.empty() ? 10 : 8, .level_bits = levels};
      expect_both_ways(indexed, schedule::partition_index_schedule(indexed, shape, 1),
                       {.element_bytes = 4, .batch = 2500, .threads = threads}, text_of(shape));
    }
    expect_both_ways(indexed, schedule::direct_schedule(indexed),
                     {.element_bytes = 4, .batch = 2500, .threads = threads}, "direct");
  }
}

TEST(CpuIndexEngine, RunsWithoutOwnBytes) {
  // All of a chunk to one bucket, none to the others; buckets that end where the next begins, within a line.
  constexpr std::uint64_t kCount = 1 << 12;
  std::vector<std::vector<std::uint32_t>> arrays(3, std::vector<std::uint32_t>(kCount));
  for (std::uint32_t i = 0; i < kCount; ++i) {
    arrays[0][i] = i;
    arrays[1][i] = kCount - 1 - i;
    arrays[2][i] = (i % 64) * 64 + i / 64;
  }
  for (const auto& entries : arrays) {
    const Indexed indexed(entries, Direction::scatter);
    for (const auto& levels : std::vector<std::vector<int>>{{6}, {3, 3}, {1, 1, 1, 1, 1, 1}}) {
      const schedule::PartitionShape shape{.count = kCount, .chunk_bits = 6, .level_bits = levels};
      const IndexSchedule made = schedule::partition_index_schedule(indexed, shape, 1);
      for (const std::uint64_t width : Numbers{1, 3, 4, 16}) {
        expect_both_ways(indexed, made, {.element_bytes = width, .stores = Stores::streamed, .out_offset = 7},
                         text_of(shape));
      }
    }
  }
}

TEST(CpuIndexEngine, ForwardsThenBackwardsIsIdentity) {
  const Indexed indexed = Indexed::random(100'000, 8);
  for (const IndexMethod method : {IndexMethod::direct, IndexMethod::partition, IndexMethod::row_column_5}) {
    const Plan there = plan_of(indexed, {.threads = 2}, {.method = method});
    const Plan back = plan_of(indexed.inverse(), {.threads = 2}, {.method = method});
    std::vector<std::uint32_t> values(indexed.count());
    std::iota(values.begin(), values.end(), 7U);
    std::vector<std::uint32_t> moved(values.size());
    std::vector<std::uint32_t> returned(values.size());
    cpu::Executor(there).run(values.data(), moved.data());
    cpu::Executor(back).run(moved.data(), returned.data());
    EXPECT_EQ(returned, values) << name(method);
    for (std::size_t i = 0; i < values.size(); i += 1001)
      EXPECT_EQ(moved[indexed.entries32()[i]], values[i]) << name(method);
  }
}

// The five passes as published do what the three do, and need room for an array.
TEST(CpuIndexEngine, RowColumnInFivePasses) {
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    const Indexed indexed = Indexed::random(64 * 96, 4).redirected(direction);
    for (const std::uint64_t width : Numbers{1, 4, 12}) {
      const Places p{.element_bytes = width, .batch = 2, .stores = Stores::streamed};
      const cpu::Executor executor(plan_of(indexed, p, {.method = IndexMethod::row_column_5}));
      EXPECT_GE(executor.workspace_bytes(), 2 * 64 * 96 * width);
      expect_run(
          executor, indexed.count() * width, p,
          [&](const std::byte* in, std::byte* out) {
            run_by_definition(*executor.schedule(), in, out, width);
          },
          "row_column_5");
    }
  }
}

TEST(CpuIndexEngine, EmptyAndSingle) {
  for (const std::uint64_t count : Numbers{0, 1}) {
    const Indexed indexed = Indexed::random(count, 1);
    expect_both_ways(indexed, schedule::direct_schedule(indexed), {.batch = 3}, "direct");
    const cpu::Executor executor(plan_of(indexed, {.batch = 0}));
    executor.run(nullptr, nullptr);
  }
}

TEST(CpuIndexEngine, AnotherCountIsRefused) {
  const Indexed indexed = Indexed::random(100, 1);
  const auto other =
      std::make_shared<const IndexSchedule>(schedule::direct_schedule(Indexed::random(101, 1)));
  test::expect_refused(ErrorCode::value, {"101", "100"},
                       [&] { const cpu::Executor executor(plan_of(indexed, {}), other); });
}

TEST(CpuIndexEngine, ManyCallersAtOnce) {
  const Indexed indexed = Indexed::random(200'000, 21);
  const schedule::PartitionShape shape{.count = 200'000, .chunk_bits = 12, .level_bits = {3, 3}};
  const cpu::Executor executor(
      plan_of(indexed, {.threads = 2}),
      std::make_shared<const IndexSchedule>(schedule::partition_index_schedule(indexed, shape)));
  std::vector<std::uint32_t> values(indexed.count());
  std::iota(values.begin(), values.end(), 0U);
  std::vector<std::vector<std::uint32_t>> results(4, std::vector<std::uint32_t>(values.size()));
  std::vector<std::thread> callers;
  callers.reserve(results.size());
  for (auto& result : results)
    callers.emplace_back([&executor, &values, &result] { executor.run(values.data(), result.data()); });
  for (std::thread& caller : callers) caller.join();
  for (const auto& result : results) {
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(result[indexed.entries32()[i]], values[i]);
  }
}

}  // namespace cpu_index_engine_test
}  // namespace faro
