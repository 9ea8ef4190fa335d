// layout::make_in_place_tile: blocks that change places with each other, padded or not, and nothing lost.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "in_place_support.hpp"

namespace faro::layout {
namespace in_place_tile_test {

using f2::Subspace;
using f2::Word;

constexpr std::uint64_t kSeed = 11;

std::set<Word> segments_of(const Tile& tile, Word first, const std::vector<Word>& rows) {
  std::set<Word> segments;
  for (Word row = 0; row < f2::unit(tile.row_bits); ++row) {
    segments.insert((first ^ f2::combine(rows.data(), row)) >> tile.segment_bits);
  }
  return segments;
}

// A tile is written where the next one was read.
void expect_laws(const InPlaceTile& pass) {
  const Tile& tile = pass.tile;
  ASSERT_EQ(tile.source_rows, tile.target_rows);
  std::uint64_t longest = 0;
  for (Word block = 0; block < f2::unit(tile.block_bits()); ++block) {
    const Word next = pass.next(block);
    ASSERT_EQ(segments_of(tile, tile.block_target(block), tile.target_rows),
              segments_of(tile, tile.block_source(next), tile.source_rows));
    std::uint64_t orbit = 1;
    for (Word b = next; b != block; b = pass.next(b)) ++orbit;
    longest = std::max(longest, orbit);
  }
  ASSERT_EQ(longest, pass.orbit_tiles);
}

// Blocks of bit reversal of 4 bits with segments of 2: T = {0, 1, 8, 9}, and 2 + T goes to 4 + T.
TEST(InPlaceTile, BitReversalOfFourBits) {
  const auto factors = factor_in_place(maps::bit_reversal(4), {.segment_bits = 1, .capacity_bits = 3});
  ASSERT_EQ(factors.size(), 1U);
  const InPlaceTile pass = make_in_place_tile(factors[0], 1, 0);
  EXPECT_EQ(pass.tile.source_rows, std::vector<Word>{0b1000});
  EXPECT_EQ(pass.tile.block_sources, (std::vector<Word>{0b0010, 0b0100}));
  EXPECT_EQ(pass.orbit_tiles, 2U);
  EXPECT_EQ(pass.next(0), 0U);
  EXPECT_EQ(pass.next(1), 2U);
  EXPECT_EQ(pass.next(2), 1U);
  EXPECT_EQ(pass.next(3), 3U);
}

// Nothing left to pad with: one tile, one block.
TEST(InPlaceTile, SmallArraysBecomeOneTile) {
  for (int n = 0; n <= 5; ++n) {
    const InPlaceFactor factor{.map = maps::bit_reversal(n), .space = Subspace(n), .orbit_tiles = 2};
    const InPlaceTile pass = make_in_place_tile(factor, 0, 12);
    EXPECT_EQ(pass.tile.row_bits, n);
    EXPECT_EQ(pass.tile.block_bits(), 0);
    EXPECT_EQ(pass.orbit_tiles, 1U);
    EXPECT_EQ(pass.next(0), 0U);
  }
}

TEST(InPlaceTile, LawsForManyMaps) {
  std::mt19937_64 random(kSeed);
  std::set<std::uint64_t> orbits;
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 4 + trial % 7;
    const int s = trial % 4;
    const InPlaceOptions options = {.segment_bits = s,
                                    .capacity_bits = s + 1 + static_cast<int>(random() % 5)};
    for (const Affine& map : {random_affine(n, random), random_bit_permutation(n, random),
                              random_sparse(n, 1 + trial % 4, random)}) {
      for (const InPlaceFactor& factor : factor_in_place(map, options)) {
        SCOPED_TRACE(describe(map, options));
        const InPlaceTile pass = make_in_place_tile(factor, s, 0, trial % 2 == 0 ? 0 : s + 2);
        EXPECT_EQ(pass.tile.tile_bits(), factor.space.dimension());
        EXPECT_EQ(pass.orbit_tiles, factor.orbit_tiles);
        expect_laws(pass);
        if (HasFailure()) return;
        orbits.insert(pass.orbit_tiles);
      }
    }
  }
  for (const std::uint64_t orbit : {1U, 2U, 3U, 4U, 6U, 7U}) EXPECT_TRUE(orbits.contains(orbit)) << orbit;
}

// Orbits of one or two tiles can be padded to any size; the map does what it did.
TEST(InPlaceTile, PaddingIsExactForOrbitsOfTwo) {
  std::mt19937_64 random(kSeed);
  int padded_with_units = 0;
  int padded_otherwise = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 4 + trial % 7;
    const int s = trial % 3;
    const InPlaceOptions options = {
        .segment_bits = s, .capacity_bits = s + 1 + trial % 4, .max_orbit_tiles = 2};
    for (const Affine& map : {random_affine(n, random), random_bit_permutation(n, random)}) {
      const auto factors = factor_in_place(map, options);
      for (int rows = 0; rows <= n - s + 1; ++rows) {
        SCOPED_TRACE(describe(map, options) + ", rows " + std::to_string(rows));
        for (const InPlaceFactor& factor : factors) {
          const InPlaceTile pass = make_in_place_tile(factor, s, rows);
          const int least = factor.space.dimension() - s;
          EXPECT_EQ(pass.tile.row_bits, std::max(least, std::min(rows, n - s)));
          EXPECT_LE(pass.orbit_tiles, factor.orbit_tiles);
          expect_laws(pass);
          if (HasFailure()) return;
          const bool units = std::all_of(pass.tile.source_rows.begin(), pass.tile.source_rows.end(),
                                         [](Word row) { return f2::is_power_of_two(row); });
          ++(units ? padded_with_units : padded_otherwise);
        }
        const auto wrong = run_literally(map, factors, options, rows);
        ASSERT_FALSE(wrong) << *wrong;
      }
    }
  }
  EXPECT_GT(padded_with_units, 0);
  EXPECT_GT(padded_otherwise, 0);
}

// Three dimensions are kept, or none: padding stops below what was asked for.
TEST(InPlaceTile, PaddingStopsWhereTheMapKeepsNothing) {
  const Affine blocks = companions({0b1011, 0b1011});
  const auto factors = factor_in_place(blocks, {.segment_bits = 0, .capacity_bits = 3});
  ASSERT_EQ(factors.size(), 1U);
  ASSERT_EQ(factors[0].orbit_tiles, 7U);
  const int expected[] = {0, 0, 0, 3, 3, 3, 6};
  for (int rows = 0; rows <= 6; ++rows) {
    const InPlaceTile pass = make_in_place_tile(factors[0], 0, rows);
    EXPECT_EQ(pass.tile.row_bits, expected[rows]);
    expect_laws(pass);
  }
}

TEST(InPlaceTile, WantsASpaceThatTheMapKeeps) {
  const InPlaceFactor strange{.map = maps::bit_reversal(4), .space = Subspace::low(4, 1), .orbit_tiles = 2};
  EXPECT_THROW(make_in_place_tile(strange, 1, 0), Error);
  const InPlaceFactor empty{.map = maps::bit_reversal(4), .space = Subspace(4), .orbit_tiles = 2};
  EXPECT_THROW(make_in_place_tile(empty, 1, 0), Error);
}

}  // namespace in_place_tile_test
}  // namespace faro::layout
