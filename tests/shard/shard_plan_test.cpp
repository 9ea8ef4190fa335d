// Plans of shards: worked by hand, refusals, and laws between ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "faro/shards.hpp"
#include "refusal.hpp"
#include "shard/methods.hpp"

namespace faro {
namespace shard_plan_test {

using test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ShardProblem problem_of(Permutation permutation, int ranks, int rank = 0) {
  return {.permutation = std::move(permutation),
          .element_bytes = 4,
          .shards = {.ranks = ranks, .rank = rank, .in = ShardAxis{}, .out = ShardAxis{}}};
}

// The 4 x 4 transpose between 4 ranks: each has a row and gives an element to each.
TEST(ShardPlan, TransposeByHand) {
  const ShardPlan plan(problem_of(maps::transpose(4, 4), 4, 1));
  EXPECT_EQ(plan.method(), ShardMethod::affine);
  EXPECT_EQ(plan.rho(), 2);
  EXPECT_TRUE(plan.pack().is_nothing());
  EXPECT_TRUE(plan.unpack().is_nothing());
  EXPECT_THAT(plan.sends(), ElementsAre(ShardMessage{0, 0, 4}, ShardMessage{1, 4, 4}, ShardMessage{2, 8, 4},
                                        ShardMessage{3, 12, 4}));
  EXPECT_EQ(plan.receives(), plan.sends());
  EXPECT_EQ(plan.ranks_met(), 3U);
  EXPECT_EQ(plan.sent_bytes(), 12U);
  EXPECT_EQ(plan.workspace_bytes(), 0U);
}

// An exchange of the top local bit with the rank's: one pass over the links, nothing else.
TEST(ShardPlan, ExchangeOfHighBitsIsNothingButTheExchange) {
  const ShardPlan plan(problem_of(maps::swap_bits(20, 17, 18), 4, 2));
  EXPECT_EQ(plan.rho(), 1);
  EXPECT_TRUE(plan.pack().is_nothing());
  EXPECT_TRUE(plan.unpack().is_nothing());
  EXPECT_EQ(plan.sent_bytes(), std::uint64_t{1} << 19);  // half of 2^18 elements
}

// Whole parts that change ranks, and the identity, send no more than they must.
TEST(ShardPlan, PartsThatMoveWhole) {
  const ShardPlan flipped(problem_of(maps::xor_mask(10, 0x200), 4, 1));
  EXPECT_EQ(flipped.rho(), 0);
  EXPECT_TRUE(flipped.unpack().is_nothing());
  EXPECT_THAT(flipped.sends(), ElementsAre(ShardMessage{3, 0, 1024}));
  EXPECT_EQ(ShardPlan(problem_of(maps::identity(10), 4, 1)).sent_bytes(), 0U);
}

TEST(ShardPlan, RowsBetweenSlabsOfTheSameAxisNeedNoPasses) {
  ShardProblem problem = problem_of(Axes({10, 6}, {0, 1}), 3, 1);
  problem.axes = NamedAxes{.shape = {10, 6}, .order = {0, 1}};
  problem.shards.in = ShardAxis{0, {1, 2, 7}};
  const ShardPlan plan(problem);  // 4 3 3 out: rows 1 and 2 go to rank 0, rows 4 to 6 come from rank 2
  EXPECT_EQ(plan.method(), ShardMethod::slabs);
  EXPECT_TRUE(plan.pack().is_nothing());
  EXPECT_TRUE(plan.unpack().is_nothing());
  EXPECT_THAT(plan.sends(), ElementsAre(ShardMessage{0, 0, 48}));
  EXPECT_THAT(plan.receives(), ElementsAre(ShardMessage{2, 0, 72}));
}

// What a rank says it sends is what the other says it receives, for many ranks.
TEST(ShardPlan, AllRanksAgreeWithoutAWord) {
  for (const Affine& map : {maps::random_bmmc(20, 3), maps::random_bpc(20, 4), maps::gray(20)}) {
    constexpr int kRanks = 64;
    std::vector<std::vector<ShardMessage>> sends(kRanks);
    std::vector<ShardPlan> plans;
    for (int rank = 0; rank < kRanks; ++rank) plans.emplace_back(problem_of(map, kRanks, rank));
    std::size_t heard = 0;
    for (const ShardPlan& plan : plans) {
      for (const ShardMessage& message : plan.receives()) {
        const auto& theirs = plans[static_cast<std::size_t>(message.peer)].sends();
        const auto to_me = std::count_if(theirs.begin(), theirs.end(), [&](const ShardMessage& each) {
          return each.peer == plan.problem().shards.rank && each.bytes == message.bytes;
        });
        heard += static_cast<std::size_t>(to_me);
      }
    }
    EXPECT_EQ(heard, kRanks * plans[0].sends().size());
  }
}

// The plan of a rank among very many is as quick to make.
TEST(ShardPlan, ManyRanks) {
  const ShardPlan plan(problem_of(maps::random_bmmc(40, 1), 65536, 4711));
  EXPECT_EQ(plan.rho(), 16);
  EXPECT_EQ(plan.sends().size(), 65536U);
}

TEST(ShardPlan, IsToldInWordsAndJson) {
  const ShardPlan plan(problem_of(maps::bit_reversal(20), 8));
  EXPECT_THAT(plan.explain(), HasSubstr("rho = 3, messages of 64 KiB"));
  EXPECT_THAT(plan.explain(), HasSubstr("448 KiB to 7 other ranks"));
  const auto json = nlohmann::json::parse(plan.explain_json());
  EXPECT_EQ(json["rho"], 3);
  EXPECT_EQ(json["sent_bytes"], 7 * 65536);
  EXPECT_EQ(json["method"], "affine");
  EXPECT_GT(plan.predicted_seconds({.link_gb_per_s = 1}), plan.predicted_seconds({.link_gb_per_s = 10}));
}

TEST(ShardPlan, RefusesWhatDoesNotFit) {
  const auto refused = [](const ShardProblem& problem) {
    return message_of(ErrorCode::value, [&] { const ShardPlan plan(problem); });
  };
  const Permutation map = maps::gray(4);
  EXPECT_THAT(refused(problem_of(detail::no_permutation(), 2)), HasSubstr("without a permutation"));
  EXPECT_THAT(refused(problem_of(map, 0)), HasSubstr("0 ranks"));
  EXPECT_THAT(refused(problem_of(map, 2, 2)), HasSubstr("rank 2"));
  ShardProblem narrow = problem_of(map, 2);
  narrow.element_bytes = 0;
  EXPECT_THAT(refused(narrow), HasSubstr("elements of 0 bytes"));
  ShardProblem bits = problem_of(map, 4);
  bits.shards.in = ShardBits{{3}};
  EXPECT_THAT(refused(bits), HasSubstr("1 bits for 4 ranks"));
  bits.shards.in = ShardBits{{3, 3}};
  EXPECT_THAT(refused(bits), HasSubstr("bits 3 3"));
  bits.shards.in = ShardBits{{3, 4}};
  EXPECT_THAT(refused(bits), HasSubstr("bits 3 4"));
  ShardProblem roll = problem_of(maps::roll(10, 3), 2);
  roll.shards.out = ShardBits{{0}};
  EXPECT_THAT(refused(roll), HasSubstr("index bits of 10 elements"));
  ShardProblem slabs = problem_of(map, 2);
  slabs.shards.in = ShardAxis{1};
  EXPECT_THAT(refused(slabs), HasSubstr("axis 1"));
  slabs.shards.in = ShardAxis{0, {16}};
  EXPECT_THAT(refused(slabs), HasSubstr("1 extents"));
  slabs.shards.in = ShardAxis{0, {8, 9}};
  EXPECT_THAT(refused(slabs), HasSubstr("slabs of 8, 9"));
  slabs.shards.in = ShardAxis{0, {~std::uint64_t{0}, 17}};
  EXPECT_THAT(refused(slabs), HasSubstr("whose sum is 16"));
  ShardProblem axes = problem_of(map, 2);
  axes.axes = NamedAxes{.shape = {4, 4}, .order = {1, 0}};
  EXPECT_THAT(refused(axes), HasSubstr("axes that say the same"));
}

}  // namespace shard_plan_test
}  // namespace faro
