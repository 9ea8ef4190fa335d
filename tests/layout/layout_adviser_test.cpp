// The adviser: the layouts that engineers know, every cost against one obvious count, what random layouts
// promise, and searches that find nothing.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "layout/bank_search.hpp"
#include "layout_support.hpp"

namespace faro::layout {
namespace layout_adviser_test {

// --- what engineers know

struct Golden {
  std::uint64_t rows, columns, bytes;
  std::string accesses;
  std::string choice;
  std::uint32_t worst;
};

TEST(LayoutAdviser, FindsTheKnownLayouts) {
  const std::vector<Golden> table{
      {32, 32, 4, "row, column", "Swizzle<5,0,5>", 1},
      {32, 32, 4, "row", "RAW", 1},
      {32, 33, 4, "row, column", "RAW", 1},
      {33, 33, 4, "row, column", "RAW", 1},
      // 16-bit tiles for ldmatrix, rows of 128, 64 and 32 bytes: CUTLASS's 128B, 64B and 32B swizzles,
      // 16-byte atoms.
      {64, 64, 2, "row(8), column(8)", "Swizzle<3,3,3>", 1},
      {128, 64, 2, "row(8), column(8)", "Swizzle<3,3,3>", 1},
      {64, 32, 2, "row(8), column(8)", "Swizzle<2,3,3>", 1},
      {64, 16, 2, "row(8), column(8)", "Swizzle<1,3,3>", 1},
      {128, 128, 1, "row(16), column(16)", "Swizzle<3,4,3>", 1},
      {64, 32, 4, "row(4), column(4)", "Swizzle<3,2,3>", 1},
      {64, 128, 2, "row(8), column(8)", "Swizzle<3,3,4>", 1},
      {64, 64, 8, "row, column", "Swizzle<4,0,6>", 1},
      {64, 32, 16, "row, column", "Swizzle<3,0,5>", 1},
      {64, 64, 2, "row(2), column(2)", "Swizzle<5,1,5>", 1},
      {32, 32, 4, "stride(2)", "Swizzle<1,0,5>", 1},
      {32, 32, 4, "stride(3)", "RAW", 1},
      {32, 32, 4, "stride(32)", "Swizzle<5,0,5>", 1},
      // The arithmetic diagonal is no subspace: padding and Swizzle reach 2 everywhere, so does XOR, with
      // fewer turns.
      {32, 32, 4, "row, column, diagonal", "XOR", 2},
      // Vectors of 16 bytes leave eight places, and a column of 16-bit elements needs 32.
      {64, 64, 2, "row(8), column(8), column", "Swizzle<3,3,3>", 4},
      // No power of two.
      {48, 24, 4, "row, column(2)", "Swizzle<2,1,4>", 1},
      {32, 96, 4, "row, column", "Swizzle<5,0,5>", 1},
      {48, 40, 4, "row, column", "XOR", 1},
      {20, 30, 2, "row, column", "pad 9", 1},
      {32, 32, 4, "row, column, stride(3)", "pad 1", 2},
      {1, 1, 1, "row", "RAW", 1}};
  for (const Golden& golden : table) {
    const AdviceRequest request = request_of(golden.rows, golden.columns, golden.bytes, golden.accesses);
    SCOPED_TRACE(command_of(request));
    const Advice advice = advise(request);
    EXPECT_EQ(advice.chosen().placement.name(), golden.choice);
    EXPECT_EQ(advice.chosen().worst(), golden.worst);
    if (!golden.choice.starts_with("pad")) {
      EXPECT_EQ(advice.cute.has_value(), golden.choice.starts_with("Swizzle"));
    }
    for (const Candidate& candidate : advice.candidates) expect_sound(candidate, request);
  }
}

TEST(LayoutAdviser, ProvesLinearLayoutsByRanks) {
  const Advice advice = advise(request_of(64, 64, 2, "row(8), column(8)"));
  EXPECT_TRUE(advice.chosen().proven_by_ranks);
  // The arithmetic diagonal has nothing to prove by ranks.
  const Advice diagonal = advise(request_of(64, 64, 8, "row, diagonal"));
  EXPECT_FALSE(diagonal.chosen().proven_by_ranks);
}

// CuTe's definition, bit by bit.
TEST(LayoutAdviser, CuteSwizzleIsCutes) {
  for (const CuteSwizzle swizzle :
       {CuteSwizzle{.bits = 3, .base = 3, .shift = 3}, CuteSwizzle{.bits = 2, .base = 1, .shift = 5},
        CuteSwizzle{.bits = 5, .base = 0, .shift = 5}}) {
    for (Index x = 0; x < 1 << 12; ++x) {
      Index y = x;
      for (int b = 0; b < swizzle.bits; ++b) {
        if ((x >> (swizzle.base + swizzle.shift + b) & 1) != 0) y ^= Index{1} << (swizzle.base + b);
      }
      ASSERT_EQ(swizzle(x), y);
    }
  }
}

// --- laws over many requests

TEST(LayoutAdviser, EveryCostIsTheObviousCount) {
  std::map<PlacementKind, int> chosen;
  std::set<PlacementKind> seen;
  int estimated = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t bytes = std::uint64_t{1} << random() % 5;
    const bool powers = random() % 2 == 0;
    const auto size = [&] { return powers ? std::uint64_t{1} << random() % 7 : 1 + random() % 70; };
    const std::uint64_t rows = size();
    std::uint64_t columns = size();
    const std::uint64_t vector = std::min<std::uint64_t>(16 / bytes, std::uint64_t{1} << random() % 5);
    columns = (columns + vector - 1) / vector * vector;
    if (rows * columns * bytes > kMaxSharedBytes) continue;
    const std::string v = std::to_string(vector);
    const std::vector<std::string> all{
        "row(" + v + ")",
        "column(" + v + ")",
        "diagonal(" + v + ")",
        "row",
        "column",
        "stride(" + std::to_string(1 + random() % std::max<std::uint64_t>(1, rows * columns / vector)) +
            ", " + v + ")"};
    std::string accesses = all[random() % all.size()];
    for (std::uint64_t more = random() % 3; more > 0; --more) accesses += "," + all[random() % all.size()];
    const AdviceRequest request = request_of(rows, columns, bytes, accesses, seed);
    SCOPED_TRACE(command_of(request));
    const Advice advice = advise(request);
    for (const Candidate& candidate : advice.candidates) {
      expect_sound(candidate, request);
      EXPECT_GE(candidate.worst(), advice.chosen().worst());
      seen.insert(candidate.placement.kind);
      for (const AccessCost& cost : candidate.costs) estimated += cost.holds_always ? 0 : 1;
    }
    ++chosen[advice.chosen().placement.kind];
  }
  EXPECT_EQ(seen.size(), 5U) << "every kind of candidate was met";
  EXPECT_GE(chosen.size(), 4U);
  EXPECT_GT(estimated, 20);
}

TEST(LayoutAdviser, WhatHoldsForEverySeedDoes) {
  int proven = 0;
  for (const std::string accesses :
       {"row", "column", "stride(32)", "column(4)", "row(4)", "diagonal", "stride(64)"}) {
    for (const std::uint64_t rows : {32U, 64U, 512U}) {
      AdviceRequest request = request_of(rows, 64, 4, accesses);
      SCOPED_TRACE(command_of(request));
      const Advice advice = advise(request);
      const Candidate& rap = advice.candidates.back();
      ASSERT_EQ(rap.placement.kind, PlacementKind::rap);
      if (!rap.costs.front().holds_always) continue;
      ++proven;
      Placement placement = rap.placement;
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        placement.turns = random_turns(request.array, request.accesses.front().vector_elements, seed);
        ASSERT_EQ(count_cost(request.accesses.front(), placement).worst, rap.costs.front().worst)
            << "seed " << seed;
      }
    }
  }
  EXPECT_GE(proven, 15);
}

// 3.61 in the paper: a RAP of 32 x 32, its diagonals.
TEST(LayoutAdviser, RapsExpectationIsThePapers) {
  const Advice advice = advise(request_of(32, 32, 4, "diagonal"));
  EXPECT_NEAR(advice.candidates.back().costs.front().mean, 3.61, 0.05);
}

TEST(LayoutAdviser, RapIsTheHeadersRap) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SharedArray small = make_shared_array(32, 32, 4);
    const Placement rap{.kind = PlacementKind::rap, .array = small, .turns = random_turns(small, 1, seed)};
    const Rap<32> header = Rap<32>::random(seed);
    for (Index i = 0; i < 32; ++i) {
      for (Index j = 0; j < 32; ++j) ASSERT_EQ(rap(i, j), header(i, j));
    }
    const SharedArray large = make_shared_array(1500, 32, 4);
    const Placement three{.kind = PlacementKind::rap, .array = large, .turns = random_turns(large, 1, seed)};
    const Rap3P<32> header3 = Rap3P<32>::random(seed);
    EXPECT_EQ(three.name(), "3P");
    for (Index row = 0; row < 1500; ++row) {
      for (Index j = 0; j < 32; ++j)
        ASSERT_EQ(three(row, j), header3(row / 1024, row / 32 % 32, row % 32, j));
    }
  }
}

// --- searches that find nothing

AccessSet warps_of(const std::string& text, std::vector<std::vector<Index>> warps) {
  return {.text = text, .vector_elements = 1, .recorded = true, .warps = std::move(warps)};
}

// 2 x 32 words, modulo the directions that all three share: a plane with the lines {bank bit 0}, {row} and
// {both}. The kernel of a bank map is a fourth vector of the plane; there is none.
TEST(LayoutAdviser, ThreeLinesOfAPlaneLeaveNoXor) {
  AdviceRequest request = request_of(2, 32, 4, "row, stride(2)");
  AccessSet both = warps_of("@both", {{}, {}});
  for (Index x = 0; x < 64; ++x) both.warps[(x ^ x >> 5) & 1].push_back(x);
  request.accesses.push_back(both);
  const Advice advice = advise(request);
  std::vector<WordPhases> sets;
  for (const AccessSet& set : request.accesses) {
    sets.push_back(phases_up_to_shift(request.array, set));
    EXPECT_TRUE(sets.back().linear);
  }
  EXPECT_EQ(search_xor(request.array, sets, 1).verdict, XorVerdict::impossible);
  // All 32 XOR layouts of this array, one by one.
  for (Index mask = 0; mask < 32; ++mask) {
    Placement placement{.kind = PlacementKind::exclusive_or, .array = request.array};
    placement.exclusive_or = {.tile_bits = 6, .bank_row_bits = 5, .mask = {mask}};
    std::uint32_t worst = 0;
    for (const AccessSet& set : request.accesses) worst = std::max(worst, count_cost(set, placement).worst);
    EXPECT_EQ(worst, 2U);
  }
  EXPECT_EQ(advice.chosen().worst(), 2U);
  ASSERT_FALSE(advice.remarks.empty());
  EXPECT_NE(advice.remarks.front().find("exhaustive"), std::string::npos);
}

// The same three lines where there are more: row, column and the diagonal i ^ j of 32 x 32.
TEST(LayoutAdviser, ThreeLinesOfALargerSpaceHaveAnXor) {
  AdviceRequest request = request_of(32, 32, 4, "row, column");
  AccessSet diagonal = warps_of("@diagonal", std::vector<std::vector<Index>>(32));
  for (Index d = 0; d < 32; ++d) {
    for (Index i = 0; i < 32; ++i) diagonal.warps[d].push_back(32 * i + (i ^ d));
  }
  request.accesses.push_back(diagonal);
  const Advice advice = advise(request);
  EXPECT_EQ(advice.chosen().placement.kind, PlacementKind::exclusive_or);
  EXPECT_EQ(advice.chosen().worst(), 1U);
  EXPECT_TRUE(advice.chosen().proven_by_ranks);
  EXPECT_FALSE(advice.cute.has_value());
}

}  // namespace layout_adviser_test
}  // namespace faro::layout
