// Redistributions over meshes against the whole array: drawn pairs of distributions over 1 to 16 ranks, by
// threads as ranks; every byte sent against what has to be; islands; and plans of very many ranks in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "engine_support.hpp"
#include "mesh_oracle.hpp"
#include "refusal.hpp"
#include "shard/holdings.hpp"
#include "shard/mesh_method.hpp"
#include "shard/rounds.hpp"
#include "shard_support.hpp"

namespace faro {
namespace shard_mesh_test {

using test::message_of;
using ::testing::HasSubstr;
using testing::kInstrumented;
using testing::on_ranks;
using testing::text_of;
using namespace mesh_oracle;

ShardPlan plan_of(ShardProblem problem, int rank) {
  problem.shards.rank = rank;
  return ShardPlan(problem);
}

// What is received is what is missing, over no border of an island twice.
void expect_bounds(const ShardProblem& problem, const Whole& whole) {
  const std::uint64_t width = problem.element_bytes;
  const std::size_t island = static_cast<std::size_t>(std::max(1, problem.shards.island));
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::vector<std::uint64_t> over_borders(whole.ranks, 0);
  for (std::size_t rank = 0; rank < whole.ranks; ++rank) {
    const ShardPlan plan = plan_of(problem, static_cast<int>(rank));
    EXPECT_EQ(plan.received_bytes(), whole.missing(rank, rank + 1) * width) << "rank " << rank;
    sent += plan.sent_bytes();
    received += plan.received_bytes();
    EXPECT_LE(plan.workspace_bytes(), plan.in_bytes() + plan.out_bytes());
    for (const auto* const list : {&plan.receives(), &plan.passed_on().receives}) {
      for (const ShardMessage& message : *list) {
        if (static_cast<std::size_t>(message.peer) / island != rank / island)
          over_borders[rank / island] += message.bytes;
      }
    }
  }
  EXPECT_EQ(sent, received);
  for (std::size_t first = 0; first < whole.ranks; first += island)
    EXPECT_EQ(over_borders[first / island], whole.missing(first, first + island) * width)
        << "island at " << first;
}

void expect_moves(const ShardProblem& problem, const Whole& whole, const ShardWays& ways = {}) {
  const auto communicators = in_memory_communicators(problem.shards.ranks, std::chrono::seconds(60));
  std::vector<std::string> faults(whole.ranks);
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    const auto rank = static_cast<std::size_t>(communicator->rank());
    ShardedPlan plan(plan_of(problem, communicator->rank()), communicator, {.threads = 1}, ways);
    if (ways.memory_bytes != 0 && plan.workspace_bytes() > ways.memory_bytes) faults[rank] = "memory";
    const std::vector<std::uint32_t> in = whole.in_part(rank);
    const std::vector<std::uint32_t> wanted = whole.out_part(rank);
    constexpr std::size_t guard = 16;
    constexpr std::uint32_t unwritten = 0xa5a5a5a5;
    std::vector<std::uint32_t> out(wanted.size() + 2 * guard, unwritten);
    plan.run(in.data(), in.size() * sizeof(std::uint32_t), out.data() + guard,
             wanted.size() * sizeof(std::uint32_t));
    if (!std::equal(wanted.begin(), wanted.end(), out.begin() + guard)) faults[rank] = "elements";
    for (std::size_t i = 0; i < guard; ++i) {
      if (out[i] != unwritten || out[out.size() - 1 - i] != unwritten) faults[rank] = "guard zones";
    }
  });
  for (std::size_t rank = 0; rank < whole.ranks; ++rank) {
    EXPECT_EQ(text_of(thrown[rank]), "") << "rank " << rank;
    EXPECT_EQ(faults[rank], "") << "rank " << rank;
  }
}

void expect_redistributed(const ShardProblem& problem) {
  const Whole whole(problem);
  SCOPED_TRACE(label(problem));
  expect_bounds(problem, whole);
  expect_moves(problem, whole);
}

TEST(ShardMesh, DrawnPairsAgainstTheWholeArray) {
  std::set<std::string> reached;
  const int trials = kInstrumented ? 60 : 400;
  for (int trial = 0; trial < trials && !::testing::Test::HasFailure(); ++trial) {
    SCOPED_TRACE("seed " + std::to_string(trial));
    Drawn drawn(static_cast<std::uint64_t>(trial));
    ShardProblem problem = drawn.problem(1 + static_cast<int>(drawn.below(16)));
    const ShardPlan plan(problem);
    reached.insert(std::string(name(plan.method())) + (plan.passes_on() ? ", passed on" : ""));
    expect_redistributed(problem);
  }
  EXPECT_THAT(reached, ::testing::IsSupersetOf({"mesh", "mesh, passed on", "indices", "indices, passed on"}));
}

// Several arrays at once, and what is refused on all ranks.
TEST(ShardMesh, ManyTogether) {
  constexpr int kRanks = 4;
  std::vector<ShardProblem> problems;
  for (std::uint64_t seed = 9000; problems.size() < 12; ++seed) {
    Drawn drawn(seed);
    problems.push_back(drawn.problem(kRanks));
  }
  std::vector<Whole> wholes;
  for (const ShardProblem& problem : problems) wholes.emplace_back(problem);
  std::vector<std::string> faults(kRanks);
  const auto thrown = on_ranks(
      in_memory_communicators(kRanks, std::chrono::seconds(60)),
      [&](const std::shared_ptr<Communicator>& communicator) {
        const auto rank = static_cast<std::size_t>(communicator->rank());
        std::vector<ShardedPlan> plans;
        std::vector<std::vector<std::uint32_t>> ins;
        std::vector<std::vector<std::uint32_t>> outs;
        for (std::size_t i = 0; i < problems.size(); ++i) {
          plans.emplace_back(plan_of(problems[i], communicator->rank()), communicator,
                             PlanOptions{.threads = 1});
          ins.push_back(wholes[i].in_part(rank));
          outs.emplace_back(wholes[i].out_part(rank).size() + 1, 0xa5a5a5a5U);
        }
        std::vector<ShardedRun> runs;
        for (std::size_t i = 0; i < problems.size(); ++i) {
          runs.push_back({.plan = &plans[i],
                          .in = ins[i].data(),
                          .in_bytes = 4 * ins[i].size(),
                          .out = outs[i].data(),
                          .out_bytes = 4 * (outs[i].size() - 1)});
        }
        ShardedPlan::run_all({});
        ShardedPlan::run_all(runs);
        for (std::size_t i = 0; i < problems.size(); ++i) {
          std::vector<std::uint32_t> wanted = wholes[i].out_part(rank);
          wanted.push_back(0xa5a5a5a5U);
          if (outs[i] != wanted) faults[rank] += label(problems[i]) + "\n";
        }
        const auto refused = [&](const char* text) {
          const std::string told = message_of(ErrorCode::value, [&] { ShardedPlan::run_all(runs); });
          if (told.find(text) == std::string::npos) faults[rank] += told + "\n";
        };
        // Sizes of one rank, outputs of all that overlap, another communicator's plan.
        if (rank == 2) runs[3].in_bytes += 4;
        refused("rank 2: run shards: got an input");
        if (rank == 2) runs[3].in_bytes -= 4;
        const ShardedRun kept = runs[1];
        runs[1] = runs[0];
        refused("disjoint");
        runs[1] = kept;
        const auto alone = in_memory_communicators(1).front();
        ShardedPlan other(
            ShardPlan(ShardProblem{.permutation = maps::flip(8), .element_bytes = 4, .shards = {.ranks = 1}}),
            alone);
        const std::vector<std::uint32_t> eight(8);
        std::vector<std::uint32_t> flipped(8);
        runs.push_back(
            {.plan = &other, .in = eight.data(), .in_bytes = 32, .out = flipped.data(), .out_bytes = 32});
        refused("several communicators");
      });
  for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
  EXPECT_THAT(faults, ::testing::Each(""));
}

// Maps that no axes say, from and to copies: each element crosses once to each that wants it.
TEST(ShardMesh, AnyPermutationBetweenCopies) {
  for (std::uint64_t seed = 0; seed < (kInstrumented ? 12 : 60) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Drawn drawn(seed);
    const int ranks = 1 + static_cast<int>(drawn.below(9));
    const std::vector<Permutation> maps{maps::bit_reversal(7), maps::random_bmmc(8, seed),
                                        Indexed::random(90, seed), maps::roll(77, 5),
                                        Indexed::random(1, seed)};
    ShardProblem problem{
        .permutation = maps[seed % maps.size()], .element_bytes = 4, .shards = {.ranks = ranks}};
    problem.shards.in = drawn.distribution(problem.in_shape(), ranks);
    problem.shards.out = drawn.distribution(problem.out_shape(), ranks);
    expect_redistributed(problem);
  }
}

ShardProblem pencils(int rows, int columns, int rank) {
  const Mesh mesh{.axes = {{.name = "row", .ranks = rows}, {.name = "column", .ranks = columns}}};
  const Shape shape{3000, 5000, 4096};
  ShardProblem problem{.permutation = Axes(shape, {1, 2, 0}),
                       .element_bytes = 8,
                       .shards = {.ranks = rows * columns, .rank = rank},
                       .axes = NamedAxes{.shape = shape, .order = {1, 2, 0}}};
  problem.shards.in =
      Distribution{.mesh = mesh, .axes = {{.axis = 0, .over = {0}}, {.axis = 1, .over = {1}}}};
  problem.shards.out =
      Distribution{.mesh = mesh, .axes = {{.axis = 0, .over = {1}}, {.axis = 1, .over = {0}}}};
  return problem;
}

// Within any memory that holds an element of each message.
TEST(ShardMesh, RoundsWithinAnyMemory) {
  std::set<std::uint64_t> reached;
  for (std::uint64_t seed = 5000; seed < (kInstrumented ? 5030 : 5150) && !::testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Drawn drawn(seed);
    ShardProblem problem = drawn.problem(1 + static_cast<int>(drawn.below(8)));
    std::uint64_t messages = 0;
    std::uint64_t most = 0;
    bool has_views = true;
    try {
      for (int rank = 0; rank < problem.shards.ranks; ++rank) {
        const ShardPlan plan = plan_of(problem, rank);
        has_views = has_views && plan.method() == ShardMethod::mesh;
        messages = std::max<std::uint64_t>(
            messages, plan.sends().size() + plan.receives().size() + plan.passed_on().receives.size());
        most = std::max(most, plan.workspace_bytes());
      }
    } catch (const Error&) {
      has_views = false;  // replicas that are looked up
    }
    if (!has_views) continue;
    const Whole whole(problem);
    const ShardWays ways{.memory_bytes = messages * 4 + drawn.below(most + 1)};
    SCOPED_TRACE(label(problem));
    expect_moves(problem, whole, ways);
    for (int rank = 0; rank < problem.shards.ranks; ++rank)
      reached.insert(detail::rounds_within(plan_of(problem, rank), ways.memory_bytes));
  }
  EXPECT_THAT(reached, ::testing::IsSupersetOf({1U, 2U, 4U, 8U}));
}

TEST(ShardMesh, RefusesTooLittleMemory) {
  ShardProblem problem = pencils(2, 1, 0);
  EXPECT_THAT(message_of(ErrorCode::value, [&] { detail::rounds_within(ShardPlan(problem), 3); }),
              HasSubstr("an element of each message"));
  const ShardPlan looked_up(
      {.permutation = Indexed::random(64, 1), .element_bytes = 4, .shards = {.ranks = 2}});
  EXPECT_EQ(test::code_of([&] { detail::rounds_within(looked_up, 16); }), ErrorCode::unsupported);
}

// x pencils to y pencils of 4 x 6 x 4, worked by hand: rows of the mesh exchange among themselves.
TEST(ShardMesh, PencilsByHand) {
  ShardProblem problem{.permutation = Axes({4, 6, 4}, {0, 1, 2}),
                       .element_bytes = 4,
                       .shards = {.ranks = 6, .rank = 4},
                       .axes = NamedAxes{.shape = {4, 6, 4}, .order = {0, 1, 2}}};
  problem.shards.in = parse_distribution("mesh 2x3; axis 0 over 0; axis 1 over 1");
  problem.shards.out = parse_distribution("mesh 2x3; axis 0 over 0; axis 2 over 1");
  const ShardPlan plan(problem);  // rows 2 and 3, places 2 and 3 of axis 1: 2 x 2 x 4
  EXPECT_EQ(plan.method(), ShardMethod::mesh);
  EXPECT_EQ(plan.in_elements(), 16U);
  EXPECT_EQ(plan.out_elements(), 12U);  // axis 2 in 2 1 1, and all of axis 1
  ASSERT_EQ(plan.sends().size(), 3U);
  EXPECT_EQ(plan.sends()[0], (ShardMessage{.peer = 3, .offset_bytes = 0, .bytes = 32}));
  EXPECT_EQ(plan.sends()[1], (ShardMessage{.peer = 4, .offset_bytes = 32, .bytes = 16}));
  EXPECT_EQ(plan.sends()[2], (ShardMessage{.peer = 5, .offset_bytes = 48, .bytes = 16}));
  EXPECT_EQ(plan.sent_bytes(), 48U);
  EXPECT_EQ(plan.received_bytes(), 32U);
}

// Blocks of 64 dealt out over a grid to slabs: each pair shares runs that repeat, one view and no list.
TEST(ShardMesh, CyclicBlocksAreFewViews) {
  const Shape shape{1 << 16, 1 << 16};
  ShardProblem problem{.permutation = Axes(shape, {1, 0}),
                       .element_bytes = 8,
                       .shards = {.ranks = 15, .rank = 7},
                       .axes = NamedAxes{.shape = shape, .order = {1, 0}}};
  problem.shards.in =
      parse_distribution("mesh 3x5; axis 0 over 0 in blocks of 64; axis 1 over 1 in blocks of 48");
  problem.shards.out = parse_distribution("mesh 15; axis 0 over 0");
  const ShardPlan plan(problem);
  EXPECT_LE(plan.pack().views.size(), 15U * 3 * 2);
}

TEST(ShardMesh, PlansOfManyRanksTakeNoLonger) {
  const auto microseconds = [](int rows, int columns) {
    double least = 1e9;
    for (int turn = 0; turn < 5; ++turn) {
      const ShardProblem problem = pencils(rows, columns, rows * columns / 2 + 1);
      const auto begin = std::chrono::steady_clock::now();
      const ShardPlan plan(problem);
      const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
      EXPECT_GE(plan.sends().size(), static_cast<std::size_t>(std::min(rows, columns)));
      least = std::min(least, spent.count());
    }
    return least;
  };
  const double few = microseconds(16, 16);
  const double many = microseconds(256, 256);
  RecordProperty("us_of_256_ranks", static_cast<int>(few));
  RecordProperty("us_of_65536_ranks", static_cast<int>(many));
  // 16 times the messages, and 256 times the ranks.
  EXPECT_LT(many, kInstrumented ? 2e6 : 2e4) << "with 256 ranks " << few;
}

TEST(Distribution, TextsAndJsonReadBack) {
  for (const char* const text :
       {"mesh 2x3; axis 0 over 0; axis 1 over 1", "mesh 2x3 at 4; axis 2 over 0 1 in blocks of 64",
        "mesh data=2,model=3; axis 0 over model data in 1 2 3 4 5 0", "mesh 7",
        "mesh 3; rank 0 holds 0:4 0:2; rank 2 holds 0:4 2:6"}) {
    const Distribution read = parse_distribution(text);
    EXPECT_EQ(to_text(read), text);
    EXPECT_EQ(parse_distribution(to_text(read)), read);
    EXPECT_EQ(parse_distribution(to_json(read)), read);
  }
  Drawn drawn(5);
  for (int trial = 0; trial < 300; ++trial) {
    const Distribution made = drawn.distribution({5, 8, 3}, 1 + static_cast<int>(drawn.below(16)));
    EXPECT_EQ(parse_distribution(to_text(made)), made) << to_text(made);
    EXPECT_EQ(parse_distribution(to_json(made)), made) << to_json(made);
  }
}

TEST(Distribution, RefusesWhatIsNone) {
  for (const char* const text :
       {"", "grid 2x3", "mesh", "mesh 2x", "mesh x", "mesh 2 at", "mesh a=2,3", "mesh a=2,a=3",
        "mesh 2; axis 0", "mesh 2; axis 0 over 0 in", "mesh 2; axis 0 over 0 in blocks of 0",
        "mesh 2; axis 0 over model", "mesh 2; rank 0 holds 0-4", "{}", "{\"mesh\": 3}",
        "mesh 99999999999999999999"}) {
    EXPECT_EQ(test::code_of([&] { parse_distribution(text); }), ErrorCode::value) << text;
  }
  const auto refused = [](const char* text) {
    return message_of(ErrorCode::value, [&] { part_of(parse_distribution(text), {4, 6}, 0); });
  };
  EXPECT_THAT(refused("mesh 2; axis 2 over 0"), HasSubstr("axis 2"));
  EXPECT_THAT(refused("mesh 2; axis 0 over 1"), HasSubstr("mesh axis 1"));
  EXPECT_THAT(refused("mesh 2x2; axis 0 over 0; axis 1 over 0"), HasSubstr("each over one array axis"));
  EXPECT_THAT(refused("mesh 2; axis 0 over 0 in 1 2"), HasSubstr("whose sum is 4"));
  EXPECT_THAT(refused("mesh 2; axis 0 over 0 in 1 2 1"), HasSubstr("one for each slab"));
  EXPECT_THAT(refused("mesh 0; axis 0 over 0"), HasSubstr("axes of 1 rank or more"));
  EXPECT_THAT(refused("mesh 2; rank 0 holds 0:4 0:3"), HasSubstr("all 24"));
  EXPECT_THAT(refused("mesh 2; rank 0 holds 0:4 0:4; rank 1 holds 0:4 3:6"),
              HasSubstr("share elements but differ"));
  EXPECT_THAT(refused("mesh 2; rank 2 holds 0:4 0:6"), HasSubstr("one of 2 ranks"));
}

TEST(Distribution, PartsByHand) {
  const Distribution dealt = parse_distribution("mesh 2x2; axis 0 over 0; axis 1 over 1 in blocks of 2");
  const RankPart part = part_of(dealt, {5, 7}, 3);
  EXPECT_EQ(part.shape(), (Shape{2, 3}));  // rows 3 4, columns 2 3 and 6
  EXPECT_EQ(part.axes[0], (std::vector<AxisRuns>{{.begin = 3, .length = 2}}));
  EXPECT_EQ(part.axes[1], (std::vector<AxisRuns>{{.begin = 2, .length = 2}, {.begin = 6, .length = 1}}));
  EXPECT_EQ(part_of(parse_distribution("mesh 2 at 4; axis 0 over 0"), {5}, 3).elements(), 0U);
}

}  // namespace shard_mesh_test
}  // namespace faro
