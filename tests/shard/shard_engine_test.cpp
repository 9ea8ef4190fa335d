// Permutations of shards by threads as ranks: each rank's output against the whole, by the definition, with
// guard zones; bytes sent against those that have to be; errors of one rank on all.
// Sanitized: in `make test`, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine_support.hpp"
#include "refusal.hpp"
#include "shard/methods.hpp"
#include "shard_support.hpp"

namespace faro {
namespace shard_engine_test {

using ::testing::HasSubstr;
using testing::kInstrumented;
using testing::on_ranks;
using testing::text_of;
using testing::WholeArray;

constexpr std::byte kUnwritten{0xa5};
constexpr std::size_t kGuard = 64;

std::string label(const ShardProblem& problem) {
  const ShardPlan plan(problem);
  return plan.explain();
}

using PlanOf = std::function<ShardPlan(const ShardProblem&, Communicator&)>;

// Every rank plans by `plan_of`, runs twice (what the first run left must not matter) and looks at its part.
void expect_ranks(const ShardProblem& problem, std::uint64_t count, const PlanOf& plan_of) {
  const WholeArray whole(problem, count);
  const auto communicators = in_memory_communicators(problem.shards.ranks, std::chrono::seconds(60));
  std::vector<std::string> faults(communicators.size());
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    ShardProblem mine = problem;
    mine.shards.rank = communicator->rank();
    std::string& fault = faults[static_cast<std::size_t>(mine.shards.rank)];
    ShardedPlan plan(plan_of(mine, *communicator), communicator, {.threads = 1});
    const std::vector<std::byte> in = whole.in_part(mine.shards.rank);
    const std::vector<std::byte> wanted = whole.out_part(mine.shards.rank);
    if (plan.plan().in_bytes() != in.size() || plan.plan().out_bytes() != wanted.size()) {
      fault = "sizes";
      return;
    }
    if (plan.plan().sent_bytes() != whole.leaving_bytes(mine.shards.rank)) fault = "bytes sent";
    std::vector<std::byte> out(wanted.size() + 2 * kGuard, kUnwritten);
    for (int run = 0; run < 2; ++run) {
      std::fill(out.begin(), out.end(), kUnwritten);
      plan.run(in.data(), in.size(), out.data() + kGuard, wanted.size());
      const auto begin = out.begin() + kGuard;
      const auto end = out.end() - kGuard;
      if (!std::equal(begin, end, wanted.begin(), wanted.end())) fault = "elements";
      const auto unwritten = [](std::byte byte) { return byte == kUnwritten; };
      if (!std::all_of(out.begin(), begin, unwritten) || !std::all_of(end, out.end(), unwritten))
        fault = "guard zones";
    }
  });
  for (std::size_t rank = 0; rank < thrown.size(); ++rank) {
    EXPECT_EQ(text_of(thrown[rank]), "") << "rank " << rank << "\n" << label(problem);
    EXPECT_EQ(faults[rank], "") << "rank " << rank << "\n" << label(problem);
  }
}

void expect_ranks(const ShardProblem& problem) {
  expect_ranks(problem, element_count(problem.permutation),
               [](const ShardProblem& mine, Communicator&) { return ShardPlan(mine); });
}

std::vector<int> random_bits(int g, int n, std::mt19937_64& random) {
  std::vector<int> bits(static_cast<std::size_t>(n));
  std::iota(bits.begin(), bits.end(), 0);
  std::shuffle(bits.begin(), bits.end(), random);
  bits.resize(static_cast<std::size_t>(g));
  return bits;
}

TEST(ShardEngine, AffineMapsWithAnyRankBits) {
  std::mt19937_64 random(23);
  std::set<std::string> reached;
  const int trials = kInstrumented ? 30 : 90;
  for (int trial = 0; trial < trials; ++trial) {
    const int n = 4 + static_cast<int>(random() % 7);
    const int g = static_cast<int>(random() % 5);
    const std::uint64_t seed = random();
    const Affine map = trial % 3 == 0   ? maps::random_bmmc(n, seed)
                       : trial % 3 == 1 ? maps::random_bpc(n, seed)
                                        : maps::swap_bits(n, static_cast<int>(seed % 4), n - 1);
    const std::uint64_t width = std::uint64_t{1} << (trial % 5);
    ShardProblem problem{.permutation = map,
                         .element_bytes = width,
                         .shards = {.ranks = 1 << g,
                                    .rank = 0,
                                    .in = ShardBits{random_bits(g, n, random)},
                                    .out = ShardBits{random_bits(g, n, random)}}};
    if (trial % 4 == 0) problem.shards.in = problem.shards.out = ShardAxis{};  // the top bits
    if (trial % 8 == 0) {
      std::vector<int> high;
      for (int i = 0; i < g; ++i) high.push_back(n - g + i);
      problem.shards.in = problem.shards.out = ShardBits{high};
    }
    problem.slices_even_by_two_passes = trial % 5 == 4;
    expect_ranks(problem);
    const ShardPlan plan(problem);
    EXPECT_EQ(plan.method(), ShardMethod::affine);
    ASSERT_TRUE(plan.rho().has_value());
    EXPECT_EQ(plan.sends().size(), std::size_t{1} << *plan.rho());
    reached.insert(std::string(plan.pack().is_nothing() ? "-" : "pack") + " " +
                   (plan.unpack().is_nothing() ? "-" : "unpack"));
  }
  // Every combination of local passes was there.
  EXPECT_EQ(reached, (std::set<std::string>{"- -", "pack -", "- unpack", "pack unpack"}));
}

// Half of GL(3, 2), between two ranks and four, by every choice of bits.
TEST(ShardEngine, AffineMapsOfThreeBits) {
  int maps_seen = 0;
  for (std::uint64_t columns = 0; columns < 512; ++columns) {
    const std::vector<f2::Word> words{columns & 7, columns >> 3 & 7, columns >> 6 & 7};
    const f2::Matrix matrix = f2::Matrix::from_columns(3, words);
    if (matrix.rank() < 3) continue;
    ++maps_seen;
    if (maps_seen % (kInstrumented ? 16 : 4) > 1) continue;
    const f2::Word complement = columns * 5 & 7;
    for (int bit = 0; bit < 3; ++bit) {
      const int g = 1 + maps_seen % 2;
      std::vector<int> bits{bit};
      if (g == 2) bits.push_back((bit + 1) % 3);
      expect_ranks({.permutation = Affine(matrix, complement),
                    .element_bytes = 2,
                    .shards = {.ranks = 1 << g, .rank = 0, .in = ShardBits{bits}, .out = ShardBits{bits}}});
    }
  }
  EXPECT_EQ(maps_seen, 168);
}

std::vector<std::uint64_t> random_extents(std::uint64_t extent, int ranks, std::mt19937_64& random) {
  std::vector<std::uint64_t> cuts{0, extent};
  for (int rank = 1; rank < ranks; ++rank) cuts.push_back(random() % (extent + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::uint64_t> extents;
  for (std::size_t i = 1; i < cuts.size(); ++i) extents.push_back(cuts[i] - cuts[i - 1]);
  return extents;
}

ShardCut random_slabs(const std::vector<std::uint64_t>& shape, int ranks, std::mt19937_64& random) {
  const auto axis = random() % shape.size();
  if (random() % 3 == 0) return ShardAxis{.axis = static_cast<int>(axis), .extents = {}};
  return ShardAxis{.axis = static_cast<int>(axis), .extents = random_extents(shape[axis], ranks, random)};
}

TEST(ShardEngine, SlabsOfAnyAxesEvenAndUneven) {
  std::mt19937_64 random(24);
  const std::vector<int> rank_counts{1, 2, 3, 5, 7, 16};
  std::set<std::string> reached;
  const int trials = kInstrumented ? 24 : 50;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::uint64_t> shape(1 + random() % 4);
    for (std::uint64_t& extent : shape) extent = 1 + random() % 9;
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const int ranks = rank_counts[static_cast<std::size_t>(trial) % rank_counts.size()];
    const NamedAxes axes{.shape = shape, .order = order};
    const ShardProblem problem{.permutation = Axes(shape, order),
                               .element_bytes = 1 + random() % 12,
                               .shards = {.ranks = ranks,
                                          .rank = 0,
                                          .in = random_slabs(shape, ranks, random),
                                          .out = random_slabs(axes.target_shape(), ranks, random)},
                               .axes = axes};
    if (const auto map = affine_form(problem.permutation); map && problem.element_bytes % 2 != 0) continue;
    expect_ranks(problem);
    reached.insert(name(ShardPlan(problem).method()));
  }
  EXPECT_TRUE(reached.contains("slabs"));
}

// What a text names is what its cuts count: axes as a pattern writes them, also in brackets, and those of
// rolls and flips.
TEST(ShardEngine, CutsCountTheAxesOfTexts) {
  using Shape = std::vector<std::uint64_t>;
  struct Named {
    std::string text;
    Shape before;
    Shape after;
    bool by_boxes;  // wherever it is cut into whole rows
  };
  const std::vector<Named> texts{
      {"a b c -> c a b, a=4, b=5, c=6", {4, 5, 6}, {6, 4, 5}, true},
      {"a 1 c -> c a, a=7, c=6", {7, 1, 6}, {6, 7}, true},
      {"a (b c) -> (b a) c, a=4, b=6, c=5", {4, 30}, {24, 5}, true},
      {"(a b) c -> c (b a), a=12, b=1, c=5", {12, 5}, {5, 12}, true},
      {"(a b) -> (b a), a=12, b=10", {120}, {120}, true},
      {"(a 1 b) c -> b (c a), a=2, b=8, c=8", {16, 8}, {8, 16}, true},
      {"axes(4 5 6; 2 0 1; 1 0 0)", {4, 5, 6}, {6, 4, 5}, false},
      {"axes(4 5 6; 2 0 1; 1 2 3; 0 2)", {4, 5, 6}, {6, 4, 5}, false},
      {"compose(axes(6 4; 1 0), axes(4 6; 1 0; 3 0))", {4, 6}, {4, 6}, false},
      {"compose(flip(24), transpose(4, 6))", {4, 6}, {6, 4}, false},
      {"a (b c) -> (b c) a, b=2", {0, 6}, {6, 0}, false},
  };
  std::set<ShardMethod> methods;
  for (const Named& each : texts) {
    ParseOptions at_hand;
    at_hand.shape = each.before;
    const detail::NotedPermutation read = detail::parse_with_notes(each.text, at_hand);
    for (const int ranks : {1, 2, 3, 4}) {
      for (std::size_t in = 0; in < each.before.size(); ++in) {
        for (std::size_t out = 0; out < each.after.size(); ++out) {
          ShardProblem problem{.permutation = read.parsed.permutation,
                               .element_bytes = 4,
                               .shards = {.ranks = ranks,
                                          .in = ShardAxis{static_cast<int>(in)},
                                          .out = ShardAxis{static_cast<int>(out)}}};
          detail::count_axes(problem, read);
          ASSERT_EQ(problem.in_shape(), each.before) << each.text;
          ASSERT_EQ(problem.out_shape(), each.after) << each.text;
          expect_ranks(problem);
          const ShardMethod method = ShardPlan(problem).method();
          methods.insert(method);
          if (each.by_boxes && ranks == 2 && each.before[in] % 4 == 0 && each.after[out] % 4 == 0) {
            EXPECT_NE(method, ShardMethod::indices) << each.text << ", axes " << in << " and " << out;
          }
        }
      }
    }
  }
  EXPECT_TRUE(methods.contains(ShardMethod::slabs) && methods.contains(ShardMethod::indices) &&
              methods.contains(ShardMethod::affine));
  const ShardProblem wrong{.permutation = maps::flip(24),
                           .element_bytes = 4,
                           .shards = {},
                           .shapes = RegroupedShape{{4, 5}, {5, 4}}};
  EXPECT_THAT(test::refusal([&] { static_cast<void>(ShardPlan(wrong)); }).what(),
              HasSubstr("24 elements, as the permutation has"));
}

TEST(ShardEngine, TransposeOfSlabs) {
  for (const int ranks : {2, 3, 5, 7, 16}) {
    const NamedAxes axes{.shape = {30, 20}, .order = {1, 0}};
    expect_ranks({.permutation = Axes(axes.shape, axes.order),
                  .element_bytes = 4,
                  .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{0}, .out = ShardAxis{0}},
                  .axes = axes});
  }
}

TEST(ShardEngine, RollsAndFlipsOfBlocks) {
  std::mt19937_64 random(25);
  const int trials = kInstrumented ? 20 : 40;
  for (int trial = 0; trial < trials; ++trial) {
    const std::uint64_t count = random() % 60;
    const int ranks = 1 + static_cast<int>(random() % 8);
    const Cyclic map{.count = count, .shift = count == 0 ? 0 : random() % count, .reversed = trial % 2 == 1};
    const ShardProblem problem{.permutation = map,
                               .element_bytes = 1 + random() % 9,
                               .shards = {.ranks = ranks,
                                          .rank = 0,
                                          .in = ShardAxis{0, random_extents(count, ranks, random)},
                                          .out = ShardAxis{0, random_extents(count, ranks, random)}}};
    expect_ranks(problem);
  }
  const ShardPlan roll({.permutation = maps::roll(1000, 7),
                        .element_bytes = 3,
                        .shards = {.ranks = 7, .rank = 3, .in = ShardAxis{}, .out = ShardAxis{}}});
  EXPECT_EQ(roll.method(), ShardMethod::blocks);
  EXPECT_TRUE(roll.pack().is_nothing());
  EXPECT_TRUE(roll.unpack().is_nothing());
}

TEST(ShardEngine, WholeIndexArraysAndAffineMapsOverUnevenCuts) {
  std::mt19937_64 random(26);
  const int trials = kInstrumented ? 8 : 24;
  for (int trial = 0; trial < trials; ++trial) {
    const int ranks = 1 + static_cast<int>(random() % 16);
    const std::uint64_t count = trial % 2 == 0 ? 64 : 1 + random() % 200;
    const Indexed drawn = Indexed::random(count, random());
    ShardProblem problem{.permutation = trial % 4 == 0 ? Permutation(maps::gray(6)) : Permutation(drawn),
                         .element_bytes = 4,
                         .shards = {.ranks = ranks,
                                    .rank = 0,
                                    .in = ShardAxis{0, random_extents(count, ranks, random)},
                                    .out = ShardAxis{0, random_extents(count, ranks, random)}}};
    if (trial % 3 == 0 && trial % 4 != 0) problem.permutation = drawn.redirected(Direction::gather);
    expect_ranks(problem);
  }
}

// Each rank gives its own part of the array alone.
TEST(ShardEngine, IndexArraysThatLieInParts) {
  std::mt19937_64 random(27);
  const int trials = kInstrumented ? 8 : 24;
  for (int trial = 0; trial < trials; ++trial) {
    const int ranks = 1 + static_cast<int>(random() % 16);
    const std::uint64_t count = random() % 200;
    const Direction direction = trial % 2 == 0 ? Direction::scatter : Direction::gather;
    std::vector<std::uint64_t> entries(count);
    std::iota(entries.begin(), entries.end(), 0);
    std::shuffle(entries.begin(), entries.end(), random);
    const ShardProblem problem{.permutation = Indexed(entries, direction),
                               .element_bytes = 1 + random() % 9,
                               .shards = {.ranks = ranks,
                                          .rank = 0,
                                          .in = ShardAxis{0, random_extents(count, ranks, random)},
                                          .out = ShardAxis{0, random_extents(count, ranks, random)}}};
    const ShardCut& cut = direction == Direction::scatter ? problem.shards.in : problem.shards.out;
    expect_ranks(problem, count, [&](const ShardProblem& mine, Communicator& communicator) {
      std::vector<std::uint64_t> part;
      for (std::uint64_t x = 0; x < count; ++x) {
        if (testing::owner_of(x, cut, {count}, ranks) == mine.shards.rank) part.push_back(entries[x]);
      }
      return ShardPlan(mine, count, part, direction, communicator);
    });
  }
}

// One array for input and output, every method and combination of passes; what is in the way is refused.
TEST(ShardEngine, InPlace) {
  std::mt19937_64 random(31);
  const NamedAxes square{.shape = {12, 12}, .order = {1, 0}};
  const std::vector<ShardProblem> problems{
      {.permutation = maps::bit_reversal(8), .element_bytes = 4, .shards = {.ranks = 4}},
      {.permutation = maps::swap_bits(8, 5, 6), .element_bytes = 4, .shards = {.ranks = 4}},
      {.permutation = maps::random_bmmc(9, 3), .element_bytes = 8, .shards = {.ranks = 8}},
      {.permutation = maps::transpose(16, 16), .element_bytes = 1, .shards = {.ranks = 16}},
      {.permutation = maps::xor_mask(8, 0xc3), .element_bytes = 2, .shards = {.ranks = 4}},
      {.permutation = maps::roll(60, 17), .element_bytes = 3, .shards = {.ranks = 5}},
      {.permutation = maps::flip(60), .element_bytes = 3, .shards = {.ranks = 3}},
      {.permutation = Indexed::random(70, 3), .element_bytes = 4, .shards = {.ranks = 7}},
      {.permutation = Axes(square.shape, square.order),
       .element_bytes = 4,
       .shards = {.ranks = 3},
       .axes = square},
  };
  for (const ShardProblem& problem : problems) {
    const WholeArray whole(problem, element_count(problem.permutation));
    std::vector<std::string> faults(static_cast<std::size_t>(problem.shards.ranks));
    const auto thrown =
        on_ranks(in_memory_communicators(problem.shards.ranks, std::chrono::seconds(60)),
                 [&](const std::shared_ptr<Communicator>& communicator) {
                   ShardProblem mine = problem;
                   mine.shards.rank = communicator->rank();
                   ShardedPlan plan(ShardPlan(mine), communicator, {.threads = 1}, {.in_place = true});
                   std::vector<std::byte> data = whole.in_part(communicator->rank());
                   plan.run(data.data(), data.size());
                   std::string& fault = faults[static_cast<std::size_t>(communicator->rank())];
                   if (data != whole.out_part(communicator->rank())) fault = plan.explain();
                   const std::uint64_t part = plan.plan().in_bytes();
                   if (plan.workspace_bytes() < part || plan.workspace_bytes() > 2 * part)
                     fault = "workspace";
                 });
    for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
    EXPECT_THAT(faults, ::testing::Each(""));
  }
}

ShardProblem reversal(int ranks);

TEST(ShardEngine, ArraysThatAreNotWhatThePlanIsForAreRefusedOnAll) {
  const auto made = [](const std::shared_ptr<Communicator>& communicator, const ShardWays& ways) {
    ShardProblem problem = reversal(4);
    problem.shards.rank = communicator->rank();
    return ShardedPlan(ShardPlan(problem), communicator, {.threads = 1}, ways);
  };
  std::vector<std::uint32_t> one(4 * 64, 1);
  std::vector<std::uint32_t> two(4 * 64, 2);
  const auto texts_of = [&](const std::function<void(const std::shared_ptr<Communicator>&)>& work) {
    std::vector<std::string> texts;
    for (const auto& thrown : on_ranks(in_memory_communicators(4, std::chrono::seconds(20)), work))
      texts.push_back(text_of(thrown));
    return texts;
  };
  for (const std::string& text : texts_of([&](const std::shared_ptr<Communicator>& communicator) {
         made(communicator, {.in_place = true}).run(one.data(), 256, two.data(), 256);
       }))
    EXPECT_THAT(text, HasSubstr("two arrays for a plan in place"));
  for (const std::string& text : texts_of([&](const std::shared_ptr<Communicator>& communicator) {
         made(communicator, {}).run(one.data(), 256);
       }))
    EXPECT_THAT(text, HasSubstr("one array for a plan of two"));
  for (const std::string& text : texts_of([&](const std::shared_ptr<Communicator>& communicator) {
         ShardProblem problem{
             .permutation = maps::roll(10, 1),
             .element_bytes = 4,
             .shards = {.ranks = 4, .rank = communicator->rank(), .in = ShardAxis{0, {1, 2, 3, 4}}}};
         const ShardedPlan plan(ShardPlan(problem), communicator, {.threads = 1}, {.in_place = true});
       }))
    EXPECT_THAT(text, HasSubstr("parts of one size on every rank"));
}

// Host arrays are exchanged by messages, and the plan says so.
TEST(ShardEngine, TheBackendIsTold) {
  const ShardedPlan plan(ShardPlan(reversal(1)), in_memory_communicators(1).front(), {.threads = 1});
  EXPECT_STREQ(plan.backend(), "messages");
  EXPECT_EQ(plan.backend_reason(), "its memory is the host's");
  EXPECT_THAT(plan.explain(), HasSubstr("threads, as messages: its memory is the host's"));
}

ShardProblem reversal(int ranks) {
  return {.permutation = maps::bit_reversal(8), .element_bytes = 4, .shards = {.ranks = ranks}};
}

// What each rank threw in a run in which rank 1 does otherwise.
std::vector<std::string> refusals(int ranks,
                                  const std::function<void(const std::shared_ptr<Communicator>&)>& work) {
  std::vector<std::string> texts;
  for (const auto& thrown : on_ranks(in_memory_communicators(ranks, std::chrono::seconds(20)), work))
    texts.push_back(text_of(thrown));
  return texts;
}

TEST(ShardEngine, AnotherProblemOnOneRankIsRefusedOnAll) {
  const auto texts = refusals(4, [](const std::shared_ptr<Communicator>& communicator) {
    ShardProblem problem = reversal(4);
    problem.shards.rank = communicator->rank();
    if (communicator->rank() == 2) problem.permutation = maps::gray(8);
    const ShardedPlan plan(ShardPlan(problem), communicator, {.threads = 1});
  });
  for (const std::string& text : texts) {
    EXPECT_THAT(text, HasSubstr("got rank 2 with gray(8)"));
    EXPECT_THAT(text, HasSubstr("of rank 0 bit_reversal(8)"));
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(ShardEngine, WrongArraysOnOneRankAreRefusedOnAllAndNothingIsWritten) {
  std::vector<std::vector<std::uint32_t>> outs(4, std::vector<std::uint32_t>(64, 7));
  const auto texts = refusals(4, [&](const std::shared_ptr<Communicator>& communicator) {
    ShardProblem problem = reversal(4);
    problem.shards.rank = communicator->rank();
    ShardedPlan plan(ShardPlan(problem), communicator, {.threads = 1});
    const std::vector<std::uint32_t> in(64, 1);
    auto& out = outs[static_cast<std::size_t>(communicator->rank())];
    plan.run(communicator->rank() == 1 ? nullptr : in.data(), 256, out.data(), 256);
  });
  for (const std::string& text : texts) EXPECT_THAT(text, HasSubstr("rank 1: run shards: got a null input"));
  for (const auto& out : outs) EXPECT_THAT(out, ::testing::Each(7U));
}

TEST(ShardEngine, EntriesThatAreNoPermutationAreRefusedOnAll) {
  for (const std::uint64_t wrong : {std::uint64_t{8}, std::uint64_t{3}}) {
    const auto texts = refusals(2, [&](const std::shared_ptr<Communicator>& communicator) {
      const bool first = communicator->rank() == 0;
      std::vector<std::uint64_t> part =
          first ? std::vector<std::uint64_t>{0, 1, 2, 3} : std::vector<std::uint64_t>{4, 5, 6, 7};
      if (!first) part[1] = wrong;
      const ShardProblem problem{.element_bytes = 4, .shards = {.ranks = 2, .rank = communicator->rank()}};
      const ShardPlan plan(problem, 8, part, Direction::scatter, *communicator);
    });
    for (const std::string& text : texts) EXPECT_THAT(text, HasSubstr("rank "));
    EXPECT_EQ(texts[0], texts[1]);
  }
}

TEST(ShardEngine, ARankThatGivesUpEndsTheOthersWaiting) {
  // Who waits says why it no longer does: not that the time was up.
  const auto texts = refusals(3, [](const std::shared_ptr<Communicator>& communicator) {
    if (communicator->rank() == 2) {
      communicator->abort("out of luck");
      return;
    }
    communicator->all_gather("here");
  });
  EXPECT_THAT(texts[0], HasSubstr("rank 2 gave up: out of luck"));
  EXPECT_THAT(texts[1], HasSubstr("rank 2 gave up: out of luck"));
  EXPECT_EQ(texts[2], "");
}

// What is alike is compared, what is each rank's own is told; a rank that refuses is heard by all.
TEST(ShardEngine, RanksAgreeAndTellWhatIsTheirOwn) {
  const auto communicators = in_memory_communicators(3);
  std::vector<std::vector<std::string>> told(3);
  const auto agree = [&](int odd_one, int refusing) {
    return on_ranks(communicators, [&, odd_one, refusing](const std::shared_ptr<Communicator>& communicator) {
      const int rank = communicator->rank();
      told[static_cast<std::size_t>(rank)] = detail::agree_and_tell(*communicator, "agree", [&] {
        if (rank == refusing) fail(ErrorCode::value, "agree", "this", "that");
        return detail::Said{.alike = rank == odd_one ? "other\nlines" : "the same",
                            .own = rank == 1 ? std::string() : "line\n" + std::to_string(rank)};
      });
    });
  };
  for (const std::exception_ptr& each : agree(-1, -1)) EXPECT_EQ(text_of(each), "");
  for (const auto& each : told) EXPECT_EQ(each, (std::vector<std::string>{"line\n0", "", "line\n2"}));
  for (const std::exception_ptr& each : agree(2, -1))
    EXPECT_THAT(text_of(each), HasSubstr("rank 2 with other"));
  for (const std::exception_ptr& each : agree(-1, 0)) EXPECT_THAT(text_of(each), HasSubstr("rank 0: agree"));
}

TEST(ShardEngine, ARankThatNeverComesIsNotWaitedForForever) {
  const auto communicators = in_memory_communicators(2, std::chrono::milliseconds(50));
  const auto thrown = on_ranks(communicators, [](const std::shared_ptr<Communicator>& communicator) {
    if (communicator->rank() == 0) communicator->all_gather("here");
  });
  EXPECT_THAT(text_of(thrown[0]), HasSubstr("1 of 2 ranks came within 50 ms"));
}

TEST(ShardEngine, PlansOfOtherRanksAndEnginesAreRefused) {
  const auto communicators = in_memory_communicators(1);
  EXPECT_THAT(test::message_of(ErrorCode::value,
                               [&] { const ShardedPlan plan(ShardPlan(reversal(2)), communicators[0]); }),
              HasSubstr("the plan of rank 0 of 2"));
  EXPECT_THAT(test::message_of(ErrorCode::value,
                               [&] {
                                 const ShardedPlan plan(ShardPlan(reversal(1)), communicators[0],
                                                        {.engine = Engine::cuda});
                               }),
              HasSubstr("engine cuda"));
}

}  // namespace shard_engine_test
}  // namespace faro
