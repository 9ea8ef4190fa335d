// The laws of micro_tile.hpp, walked element by element: the three steps move every place of a tile where the
// tile's map sends it.
#include "engines/cpu/tile/micro_tile.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "faro/error.hpp"

namespace faro::testing {
namespace micro_tile_test {

using f2::Word;

Word at(const std::vector<Word>& list, Word index) { return list[static_cast<std::size_t>(index)]; }

// Follows every element of the tile through the three steps. Returns what is wrong.
std::string walk(const layout::Tile& tile, int v, cpu::MicroOrder order) {
  const cpu::MicroTile micro = cpu::make_micro_tile(tile, v, order);
  const int q = micro.exchange_bits;
  if (micro.lane_bits != v) return "lane_bits";
  if (micro.exchange.rank() != q || micro.exchange.rows() != q || micro.exchange.columns() != v)
    return "rank of Q";
  if (micro.source_vectors.size() != f2::unit(q)) return "number of vectors";
  if (micro.source_blocks.size() != f2::unit(tile.tile_bits() - v - q)) return "number of micro tiles";

  const Word lanes = f2::low_mask(v);
  std::set<Word> sources;
  std::set<Word> targets;
  for (Word block = 0; block < micro.source_blocks.size(); ++block) {
    // What lands in lane l' of vector j', as the kernel works it out: from the target back.
    std::vector<Word> came_from(f2::unit(q + v));
    for (Word j = 0; j < f2::unit(q); ++j) {
      const Word source = at(micro.source_blocks, block) ^ at(micro.source_vectors, j);
      if ((source & lanes) != 0) return "a source vector that does not begin at lane 0";
      for (Word l = 0; l <= lanes; ++l) {
        const Word l1 = l ^ micro.first_lanes * j;
        const Word j1 = j ^ micro.exchange * l1;
        came_from[static_cast<std::size_t>(j1 << v | l1)] = source | l;
      }
    }
    for (Word j = 0; j < f2::unit(q); ++j) {
      const Word target_block = at(micro.target_blocks, block);
      const Word target = (target_block & ~lanes) ^ at(micro.target_vectors, j);
      if ((target & lanes) != 0) return "a target vector that does not begin at lane 0";
      for (Word l = 0; l <= lanes; ++l) {
        const Word before = l ^ (target_block & lanes);
        const Word l1 = micro.last_lanes_inverse * before ^ micro.last_lanes_offset * j;
        const Word source = came_from[static_cast<std::size_t>(j << v | l1)];
        if (tile.local * source != (target | l)) {
          return "place " + std::to_string(source) + " arrives at " + std::to_string(target | l) +
                 " and not at " + std::to_string(tile.local * source);
        }
        sources.insert(source);
        targets.insert(target | l);
      }
    }
  }
  if (sources.size() != f2::unit(tile.tile_bits()) || targets.size() != sources.size())
    return "places left out";
  return "";
}

TEST(MicroTile, TheThreeStepsAreTheTilesMap) {
  std::set<int> exchanged;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SplitMix64 random{seed};
    const int n = 1 + static_cast<int>(random() % 12);
    const int s = static_cast<int>(random() % static_cast<std::uint64_t>(std::min(n, 6) + 1));
    const int rank = static_cast<int>(random() % static_cast<std::uint64_t>(std::min(s, n - s) + 1));
    const Affine map = random() % 4 == 0 ? maps::random_bpc(n, seed) : map_of_rank(n, s, rank, seed);
    const layout::Tile tile = layout::make_tile(map, {.segment_bits = s, .near_bits = n / 2});
    for (int v = 0; v <= s; ++v) {
      const std::string wrong =
          walk(tile, v, random() % 2 == 0 ? cpu::MicroOrder::source : cpu::MicroOrder::target);
      ASSERT_EQ(wrong, "") << to_text(map) << ", segments of 2^" << s << ", vectors of 2^" << v << ", seed "
                           << seed;
      exchanged.insert(cpu::make_micro_tile(tile, v).exchange_bits);
    }
  }
  EXPECT_EQ(*exchanged.begin(), 0);
  EXPECT_GE(*exchanged.rbegin(), 5) << "many vectors exchange";
}

// Reversing four bits, two elements a vector: vectors {0, 8} become {0, 8}, each pair a 2 x 2 transpose.
TEST(MicroTile, ReversalOfFourBits) {
  const layout::Tile tile = layout::make_tile(maps::bit_reversal(4), {.segment_bits = 1});
  const cpu::MicroTile micro = cpu::make_micro_tile(tile, 1);
  EXPECT_EQ(micro.exchange_bits, 1);
  EXPECT_EQ(micro.source_blocks, std::vector<Word>{0});
  EXPECT_EQ(micro.source_vectors, (std::vector<Word>{0, 2}));  // places: column below, row above
  EXPECT_EQ(micro.target_vectors, (std::vector<Word>{0, 2}));
  EXPECT_EQ(micro.exchange, f2::Matrix::identity(1));
  EXPECT_EQ(micro.first_lanes, f2::Matrix::identity(1));  // Q H = P + I with P = 0
}

// Lines of four vectors: all vectors of a line are read before another line is, except where a micro tile
// holds several vectors of one line.
TEST(MicroTile, InTheOrderOfTheSourceEveryLineIsReadOnce) {
  for (const Affine& map : {maps::bit_reversal(12), maps::random_bmmc(12, 3), maps::transpose(64, 64)}) {
    const layout::Tile tile = layout::make_tile(map, {.segment_bits = 5});
    const cpu::MicroTile micro = cpu::make_micro_tile(tile, 2);
    std::set<Word> open;
    std::set<Word> closed;
    for (const Word block : micro.source_blocks) {
      std::set<Word> lines;
      for (const Word vector : micro.source_vectors) lines.insert((block ^ vector) >> 4);
      if (lines != open) {
        for (const Word line : lines)
          EXPECT_FALSE(closed.contains(line)) << to_text(map) << ", line " << line;
        closed.insert(lines.begin(), lines.end());
        open = lines;
      }
    }
    EXPECT_EQ(closed.size(), f2::unit(tile.tile_bits() - 4)) << to_text(map);
  }
}

TEST(MicroTile, NoLanesExchangesNothing) {
  const layout::Tile tile = layout::make_tile(maps::random_bmmc(9, 7), {.segment_bits = 4});
  const cpu::MicroTile micro = cpu::make_micro_tile(tile, 0);
  EXPECT_EQ(micro.exchange_bits, 0);
  EXPECT_EQ(micro.source_blocks.size(), f2::unit(tile.tile_bits()));
}

TEST(MicroTile, VectorsLongerThanSegmentsAreRefused) {
  const layout::Tile tile = layout::make_tile(maps::bit_reversal(8), {.segment_bits = 3});
  EXPECT_THROW(cpu::make_micro_tile(tile, 4), Error);
}

}  // namespace micro_tile_test
}  // namespace faro::testing
