// Messages of slabs and blocks in slices and at lines of memory: packed, carried and unpacked slice by slice
// by loops, against the whole array by the definition.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "shard/viewed_messages.hpp"
#include "shard_support.hpp"

namespace faro::detail {
namespace {

using faro::testing::move_by_loops;
using faro::testing::WholeArray;

constexpr std::uint32_t kNotWritten = 0xa5a5a5a5;
using Words = std::vector<std::uint32_t>;

Words words_of(const std::vector<std::byte>& bytes) {
  Words words(bytes.size() / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// What a rank has: its part, what it sends and hears, and whether messages begin at lines.
struct Rank {
  ShardPlan plan;
  Words in, to_send, received, out;
};

std::vector<ViewedMessage> slices_of(const ShardPlan& plan, MessageSide side, const SliceGroup& group,
                                     int bits) {
  std::vector<ViewedMessage> made;
  for (const ViewedMessage& each : viewed_messages(plan, side)) made.push_back(part_of(each, group, bits, 4));
  return made;
}

enum class Result { in_slabs, copied };

// Whether there was something to compare: a plan with both passes on every rank.
bool expect_whole(ShardProblem problem, int ranks, int slice_bits, bool short_ends,
                  Result result = Result::in_slabs) {
  problem.element_bytes = 4;
  problem.shards.ranks = ranks;
  const WholeArray whole(problem, element_count(problem.permutation));
  ShardProblem alone = problem;
  alone.shards.ranks = 1;
  const auto wanted = [&](int rank) {
    return words_of(result == Result::copied
                        ? WholeArray(alone, element_count(problem.permutation)).out_part(0)
                        : whole.out_part(rank));
  };
  if (result == Result::copied) problem.shards.out = parse_distribution("mesh " + std::to_string(ranks));
  std::vector<Rank> all;
  for (int rank = 0; rank < ranks; ++rank) {
    problem.shards.rank = rank;
    const ShardPlan plan(problem);
    if (plan.pack().is_nothing() || plan.unpack().is_nothing()) return false;
    const Words out = wanted(rank);
    all.push_back({.plan = plan,
                   .in = words_of(whole.in_part(rank)),
                   .to_send = Words(plan.in_elements(), kNotWritten),
                   .received = Words(plan.out_elements(), kNotWritten),
                   .out = Words(out.size(), kNotWritten)});
  }
  for (const SliceGroup& group : slice_groups(slice_bits, short_ends)) {
    std::map<std::pair<int, int>, Words> links;  // from, to
    for (int rank = 0; rank < ranks; ++rank) {
      Rank& mine = all[static_cast<std::size_t>(rank)];
      for (const ViewedMessage& part : slices_of(mine.plan, MessageSide::packed, group, slice_bits)) {
        if (part.message.bytes == 0) continue;
        if (part.moves) move_by_loops(part.view, mine.in, mine.to_send);
        const auto begin = mine.to_send.begin() + static_cast<std::ptrdiff_t>(part.message.offset_bytes / 4);
        links[{rank, part.message.peer}] =
            Words(begin, begin + static_cast<std::ptrdiff_t>(part.message.bytes / 4));
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      Rank& mine = all[static_cast<std::size_t>(rank)];
      for (const ViewedMessage& part : slices_of(mine.plan, MessageSide::unpacked, group, slice_bits)) {
        if (part.message.bytes == 0) continue;
        const Words& sent = links[{part.message.peer, rank}];
        EXPECT_EQ(sent.size() * 4, part.message.bytes);
        if (sent.size() * 4 != part.message.bytes) return true;
        std::copy(sent.begin(), sent.end(),
                  mine.received.begin() + static_cast<std::ptrdiff_t>(part.message.offset_bytes / 4));
        move_by_loops(part.view, mine.received, mine.out);
      }
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    Rank& mine = all[static_cast<std::size_t>(rank)];
    for (const ShardView& each : mine.plan.stores().views) {
      if (each.peer == rank) move_by_loops(each.view, mine.in, mine.out);
    }
    EXPECT_EQ(mine.out, wanted(rank)) << "rank " << rank << " of " << ranks;
  }
  return true;
}

ShardProblem axes_problem(const std::vector<std::uint64_t>& shape, const std::vector<int>& order, int in,
                          int out) {
  return {.permutation = Axes(shape, order),
          .element_bytes = 4,
          .shards = {.ranks = 2, .rank = 0, .in = ShardAxis{in}, .out = ShardAxis{out}},
          .axes = NamedAxes{.shape = shape, .order = order}};
}

TEST(ShardViewedMessages, SlabsInSlices) {
  int compared = 0;
  for (const int ranks : {2, 3, 4, 5}) {
    for (const int slice_bits : {0, 1, 3, 4}) {
      for (const bool short_ends : {false, true}) {
        compared += expect_whole(axes_problem({61, 43}, {1, 0}, 0, 0), ranks, slice_bits, short_ends) ? 1 : 0;
        compared +=
            expect_whole(axes_problem({7, 30, 11}, {2, 0, 1}, 1, 0), ranks, slice_bits, short_ends) ? 1 : 0;
        compared +=
            expect_whole(axes_problem({6, 1, 9, 10}, {3, 2, 0, 1}, 0, 1), ranks, slice_bits, short_ends) ? 1
                                                                                                         : 0;
      }
    }
  }
  EXPECT_GT(compared, 60);
}

// Slabs that are gathered, or cut along another axis, with a packing and an unpacking for the sake of slices.
TEST(ShardViewedMessages, TwoPassesThatWereNotNeeded) {
  int compared = 0;
  for (const int ranks : {2, 3, 4}) {
    for (const int in : {0, 1}) {
      for (const Result result : {Result::in_slabs, Result::copied}) {
        ShardProblem problem = axes_problem({37, 43}, {0, 1}, in, 1 - in);
        problem.shards.ranks = ranks;
        const ShardPlan one(problem);
        EXPECT_TRUE(one.pack().is_nothing() || one.unpack().is_nothing());
        problem.slices_even_by_two_passes = true;
        for (const int slice_bits : {0, 1, 3})
          compared += expect_whole(problem, ranks, slice_bits, true, result) ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(compared, 3 * 2 * 2 * 3);
}

// What the rank's own leaves free puts every message at a line; where there is too little, they stay.
TEST(ShardViewedMessages, LinesOfMemory) {
  ShardProblem large = axes_problem({2001, 2003}, {1, 0}, 0, 0);
  large.shards.ranks = 3;
  large.element_bytes = 12;
  for (int rank = 0; rank < 3; ++rank) {
    large.shards.rank = rank;
    const ShardPlan plan(large);
    for (const MessageSide side : {MessageSide::packed, MessageSide::unpacked}) {
      const std::vector<ViewedMessage> messages = viewed_messages(plan, side);
      ASSERT_EQ(messages.size(), 2U);
      std::uint64_t end = 0;
      for (const ViewedMessage& each : messages) {
        EXPECT_EQ(each.message.offset_bytes % 512, 0U);
        EXPECT_GE(each.message.offset_bytes, end);
        end = each.message.offset_bytes + each.message.bytes;
      }
      EXPECT_LE(end, side == MessageSide::packed ? plan.in_bytes() : plan.out_bytes());
    }
  }
  const ShardPlan small(axes_problem({5, 7}, {1, 0}, 0, 0));
  const std::vector<ViewedMessage> messages = viewed_messages(small, MessageSide::packed);
  ASSERT_EQ(messages.size(), 1U);
  for (const ShardMessage& each : small.sends()) {
    if (each.peer == 0) continue;
    EXPECT_EQ(messages[0].message.offset_bytes, each.offset_bytes);
  }
}

}  // namespace
}  // namespace faro::detail
