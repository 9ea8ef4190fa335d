// Bytes over links: counted against the messages of every rank's plan, and times worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.hpp"
#include "shard/topology.hpp"
#include "shard/traffic.hpp"

namespace faro {
namespace shard_simulation_test {

using test::message_of;
using ::testing::HasSubstr;

// Every plan of every rank, message by message.
void expect_counts(ShardProblem problem, const std::vector<std::uint64_t>& sizes) {
  const detail::CrossingElements made = detail::crossing_elements(problem, sizes);
  detail::CrossingElements wanted = detail::no_crossings(problem.shards.ranks, sizes);
  for (int rank = 0; rank < problem.shards.ranks; ++rank) {
    problem.shards.rank = rank;
    const ShardPlan plan(problem);
    for (const auto* const messages : {&plan.sends(), &plan.passed_on().sends}) {
      for (const ShardMessage& message : *messages)
        detail::add_crossing(
            wanted, sizes,
            {.from = rank, .to = message.peer, .elements = message.bytes / problem.element_bytes});
    }
  }
  EXPECT_EQ(made.sent, wanted.sent) << ShardPlan(problem).explain();
  EXPECT_EQ(made.heard, wanted.heard) << ShardPlan(problem).explain();
}

TEST(ShardTraffic, OfAffineMapsEqualsTheMessages) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Affine map = seed % 2 == 0 ? maps::random_bmmc(14, seed) : maps::random_bpc(14, seed);
    ShardProblem problem{.permutation = map, .element_bytes = 4, .shards = {.ranks = 32}};
    if (seed % 3 == 0) problem.shards.in = ShardBits{{0, 3, 5, 8, 13}};
    expect_counts(problem, {1, 2, 8, 32});
    expect_counts(problem, {1, 3, 12, 64});
  }
}

TEST(ShardTraffic, OfSlabsAndBlocksAndIndicesEqualsTheMessages) {
  const NamedAxes axes{.shape = {11, 9, 6}, .order = {2, 0, 1}};
  for (int in = 0; in < 3; ++in) {
    for (int out = 0; out < 3; ++out) {
      expect_counts({.permutation = Axes(axes.shape, axes.order),
                     .element_bytes = 3,
                     .shards = {.ranks = 7, .rank = 0, .in = ShardAxis{in}, .out = ShardAxis{out}},
                     .axes = axes},
                    {1, 2, 4, 8});
    }
  }
  expect_counts({.permutation = maps::roll(100, 17), .element_bytes = 1, .shards = {.ranks = 5}}, {1, 2, 6});
  expect_counts({.permutation = Indexed::random(300, 1), .element_bytes = 1, .shards = {.ranks = 6}}, {1, 3});
}

TEST(ShardTraffic, OfCopiesThatAreLookedUpEqualsTheMessages) {
  ShardProblem problem{.permutation = maps::bit_reversal(9), .element_bytes = 2, .shards = {.ranks = 12}};
  problem.shards.in = parse_distribution("mesh 2x3; axis 0 over 1");
  problem.shards.out = parse_distribution("mesh 2x2x3; axis 0 over 0 2 in blocks of 7");
  expect_counts(problem, {1, 2, 4, 6});
  problem.shards.out = parse_distribution("mesh 12; axis 0 over 0");
  problem.shards.island = 4;
  expect_counts(problem, {1, 2, 4, 6});
  // What an island passes on.
  problem.shards.out = parse_distribution("mesh 2x2x3; axis 0 over 0 2 in blocks of 7");
  expect_counts(problem, {1, 2, 4, 6});
}

TEST(ShardTraffic, InverseOfTheInverse) {
  ShardProblem problem{.permutation = maps::random_bmmc(10, 1), .element_bytes = 4, .shards = {.ranks = 4}};
  problem.shards.in = ShardBits{{0, 1}};
  const ShardProblem twice = detail::inverse_of(detail::inverse_of(problem));
  EXPECT_EQ(to_text(twice.permutation), to_text(problem.permutation));
  EXPECT_TRUE(std::holds_alternative<ShardBits>(twice.shards.in));
}

// Two GPUs of one host, a transpose of 32768 x 32768 elements of 4 bytes: an all-to-all of 1 GiB from each
// was measured at 3.26 ms at 331 GB/s out of each.
TEST(ShardSimulation, TheMeasuredExchangeOfTwoGpus) {
  const ShardProblem problem{
      .permutation = maps::transpose(32768, 32768), .element_bytes = 4, .shards = {.ranks = 2}};
  const auto topology = detail::parse_topology(detail::topology_text("islands"), "islands");
  const detail::ShardSimulation made = detail::simulate_shards(problem, topology);
  EXPECT_NEAR(made.exchange_seconds * 1e3, 3.26, 0.05);
  ASSERT_EQ(made.levels.size(), 1U);
  EXPECT_EQ(made.levels[0].busiest_bytes, std::uint64_t{1} << 30);
}

// 16 ranks in two islands of 8: half of what a bit reversal sends meets above.
TEST(ShardSimulation, LevelsByHand) {
  const ShardProblem problem{
      .permutation = maps::bit_reversal(20), .element_bytes = 16, .shards = {.ranks = 16}};
  const auto topology = detail::parse_topology(R"({"levels": [
      {"name": "inside", "ranks": 8, "gb_per_s": 4, "only_inside": true},
      {"name": "above", "ranks": 16, "gb_per_s": 1, "oversubscription": 2}], "message_us": 0})",
                                               "test");
  const detail::ShardSimulation made = detail::simulate_shards(problem, topology);
  // A part has 2^16 elements, 2^20 bytes: 1/16 for each rank.
  ASSERT_EQ(made.levels.size(), 2U);
  EXPECT_EQ(made.levels[0].busiest_bytes, 7U << 16);
  EXPECT_EQ(made.levels[1].busiest_bytes, 8U << 19);
  EXPECT_DOUBLE_EQ(made.levels[0].busiest_seconds, (7 << 16) / 4e9);
  EXPECT_DOUBLE_EQ(made.levels[1].busiest_seconds, 2 * (1 << 19) / 1e9);
  EXPECT_DOUBLE_EQ(made.exchange_seconds, made.levels[1].busiest_seconds);
  EXPECT_EQ(made.sent_bytes, std::uint64_t{16} * 15 << 16);
}

TEST(ShardSimulation, ManyRanks) {
  const auto topology = detail::parse_topology(detail::topology_text("islands"), "islands");
  double last = 0;
  for (const int ranks : {8, 64, 4096, 65536}) {
    const ShardProblem problem{
        .permutation = maps::bit_reversal(40), .element_bytes = 4, .shards = {.ranks = ranks}};
    const detail::ShardSimulation made = detail::simulate_shards(problem, topology);
    EXPECT_EQ(made.ranks_met, static_cast<std::uint64_t>(ranks) - 1);
    EXPECT_NE(made.seconds(), last);
    last = made.seconds();
  }
}

// Rank 0 of four keeps all that it has of a Gray code, ranks 2 and 3 change places; rank 0 of uneven slabs
// has nothing.
TEST(ShardSimulation, RankZeroIsNotTheBusiest) {
  const auto topology = detail::parse_topology(
      R"({"levels": [{"name": "a", "ranks": 4, "gb_per_s": 1}], "message_us": 10, "copy_gb_per_s": 1})",
      "t.json");
  EXPECT_EQ(topology.name, "t.json");
  const detail::ShardSimulation gray = detail::simulate_shards(
      {.permutation = maps::gray(12), .element_bytes = 1, .shards = {.ranks = 4}}, topology);
  EXPECT_EQ(gray.ranks_met, 1U);
  EXPECT_DOUBLE_EQ(gray.exchange_seconds, 1024 / 1e9 + 10e-6);
  ShardProblem slabs{.permutation = Axes({8, 6}, {1, 0}),
                     .element_bytes = 1,
                     .shards = {.ranks = 3, .in = ShardAxis{0, {0, 5, 3}}, .out = ShardAxis{0}},
                     .axes = NamedAxes{.shape = {8, 6}, .order = {1, 0}}};
  const detail::ShardSimulation uneven = detail::simulate_shards(slabs, topology);
  EXPECT_EQ(uneven.ranks_met, 2U);
  EXPECT_EQ(uneven.most_sent_bytes, 20U);
  EXPECT_GT(uneven.passes_seconds, 0);
}

TEST(ShardSimulation, TopologiesAreChecked) {
  const auto refused = [](ErrorCode code, const std::string& text) {
    return message_of(code, [&] { detail::parse_topology(text, "t.json"); });
  };
  EXPECT_THAT(refused(ErrorCode::spec, "{"), HasSubstr("read the topology `t.json`: got no JSON object"));
  EXPECT_THAT(refused(ErrorCode::value, "{}"), HasSubstr("no `levels`"));
  EXPECT_THAT(refused(ErrorCode::value, R"({"levels": [], "speed": 1})"), HasSubstr("the field `speed`"));
  EXPECT_THAT(refused(ErrorCode::value, R"({"levels": [{"name": "a", "ranks": 0, "gb_per_s": 1}]})"),
              HasSubstr("number of `ranks`"));
  EXPECT_THAT(refused(ErrorCode::value, R"({"levels": [{"name": "a", "ranks": 4, "gb_per_s": 0}]})"),
              HasSubstr("`gb_per_s` of 0"));
  EXPECT_THAT(refused(ErrorCode::value, R"({"levels": [{"name": "a", "ranks": 4, "gb_per_s": 1},
                                                       {"name": "b", "ranks": 6, "gb_per_s": 1}]})"),
              HasSubstr("groups of 6 ranks above groups of 4"));
  EXPECT_THAT(
      refused(ErrorCode::value, R"({"name": 3, "levels": [{"name": "a", "ranks": 4, "gb_per_s": 1}]})"),
      HasSubstr("a `name` of 3"));
  EXPECT_THAT(refused(ErrorCode::value,
                      R"({"levels": [{"name": "a", "ranks": 4, "gb_per_s": 1, "oversubscription": 0.5}]})"),
              HasSubstr("`oversubscription` of 0.5, wanted a number of 1 or more"));
  const ShardProblem problem{.permutation = maps::gray(10), .element_bytes = 4, .shards = {.ranks = 8}};
  const auto small = detail::parse_topology(R"({"levels": [{"name": "a", "ranks": 4, "gb_per_s": 1}]})", "t");
  EXPECT_THAT(message_of(ErrorCode::value, [&] { detail::simulate_shards(problem, small); }),
              HasSubstr("at most 4"));
}

}  // namespace shard_simulation_test
}  // namespace faro
