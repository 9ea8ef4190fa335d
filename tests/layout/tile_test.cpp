// layout::make_tile: the two address laws, by walking every element of every tile, and the order of the
// blocks.
#include "faro/layout/tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "drawn.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::layout {
namespace tile_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr std::uint64_t kSeed = 31;

using test::random_affine;

Affine bit_permutation(const std::vector<int>& to, Word complement) {
  const int n = static_cast<int>(to.size());
  Matrix a = Matrix::zero(n, n);
  for (int i = 0; i < n; ++i) a.set_column(i, f2::unit(to[static_cast<std::size_t>(i)]));
  return {a, complement};
}

using test::random_bpc;

Affine rotation(int n, int k) {
  std::vector<int> to(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) to[static_cast<std::size_t>(i)] = (i + k) % n;
  return bit_permutation(to, 0);
}

Affine gray(int n) {
  Matrix a = Matrix::identity(n);
  for (int i = 1; i < n; ++i) a.set_column(i, f2::unit(i) | f2::unit(i - 1));
  return {a, 0};
}

std::string describe(const Affine& map, const TileOptions& options) {
  std::string text = "n " + std::to_string(map.bits()) + ", columns";
  for (const Word c : map.matrix().column_span()) text += " " + std::to_string(c);
  return text + ", complement " + std::to_string(map.complement()) + ", s " +
         std::to_string(options.segment_bits) + ", min_row_bits " + std::to_string(options.min_row_bits) +
         ", near_bits " + std::to_string(options.near_bits) +
         (options.order == BlockOrder::target ? ", by target" : "") + ", seed " + std::to_string(kSeed);
}

// source and target of every (block, row, column): each index once, whole segments, the local map between
// them.
void expect_address_laws(const Affine& map, const Tile& tile) {
  const int s = tile.segment_bits;
  const Word segment = f2::low_mask(s);
  std::vector<int> sources(f2::unit(tile.index_bits), 0);
  std::vector<int> targets(f2::unit(tile.index_bits), 0);
  for (Word block = 0; block < f2::unit(tile.block_bits()); ++block) {
    const Word shift = tile.block_target(block) & segment;
    ASSERT_EQ(tile.block_source(block) & segment, 0U);
    for (Word place = 0; place < f2::unit(tile.tile_bits()); ++place) {
      const Word row = place >> s;
      ASSERT_EQ(tile.source_row(row) & segment, 0U);
      ASSERT_EQ(tile.target_row(row) & segment, 0U);
      const Word x = (tile.block_source(block) ^ tile.source_row(row)) | (place & segment);
      const Word there = tile.local * place ^ shift;
      const Word y =
          ((tile.block_target(block) & ~segment) ^ tile.target_row(there >> s)) | (there & segment);
      ASSERT_EQ(map(x), y) << "block " << block << ", place " << place;
      ++sources[x];
      ++targets[y];
    }
  }
  ASSERT_TRUE(std::all_of(sources.begin(), sources.end(), [](int count) { return count == 1; }));
  ASSERT_TRUE(std::all_of(targets.begin(), targets.end(), [](int count) { return count == 1; }));
}

// The tile's size is Theorem 1's, or what was asked for; its local map is invertible.
void expect_size(const Affine& map, const Tile& tile, const TileOptions& options) {
  ASSERT_EQ(tile.index_bits, map.bits());
  ASSERT_EQ(tile.segment_bits, options.segment_bits);
  ASSERT_EQ(tile.row_bits, std::max(map.rank_gamma(options.segment_bits),
                                    std::min(options.min_row_bits, map.bits() - options.segment_bits)));
  ASSERT_EQ(tile.block_bits(), tile.index_bits - tile.tile_bits());
  ASSERT_EQ(tile.local.rank(), tile.tile_bits());
  ASSERT_EQ(tile.source_rows.size(), static_cast<std::size_t>(tile.row_bits));
  ASSERT_EQ(tile.target_rows.size(), static_cast<std::size_t>(tile.row_bits));
  ASSERT_EQ(tile.block_targets.size(), tile.block_sources.size());
}

// The low block bits run through (P + A^-1 P) / T.
void expect_near_blocks_first(const Affine& map, const Tile& tile, const TileOptions& options) {
  const int n = tile.index_bits;
  Subspace space = Subspace::low(n, tile.segment_bits);
  for (const Word row : tile.source_rows) space.insert(row);
  const Subspace pages = Subspace::low(n, std::min(n, options.near_bits));
  const Subspace near = f2::sum(space, f2::sum(pages, f2::image(map.inverse_matrix(), pages)));
  for (std::size_t j = 0; space.dimension() < near.dimension(); ++j) {
    ASSERT_LT(j, tile.block_sources.size());
    ASSERT_TRUE(near.contains(tile.block_sources[j])) << "block bit " << j;
    ASSERT_TRUE(space.insert(tile.block_sources[j]));
  }
}

void expect_laws(const Affine& map, const TileOptions& options) {
  SCOPED_TRACE(describe(map, options));
  const Tile tile = make_tile(map, options);
  expect_size(map, tile, options);
  if (::testing::Test::HasFatalFailure()) return;
  expect_address_laws(map, tile);
  expect_near_blocks_first(map, tile, options);
}

TEST(Tile, BitReversalOfFourBits) {
  const Affine reversal(f2::reversal(4), 0);
  const Tile tile = make_tile(reversal, {.segment_bits = 1});
  EXPECT_EQ(tile.row_bits, 1);
  EXPECT_EQ(tile.source_rows, std::vector<Word>{0b1000});
  EXPECT_EQ(tile.target_rows, std::vector<Word>{0b1000});
  EXPECT_EQ(tile.block_sources, (std::vector<Word>{0b0010, 0b0100}));
  EXPECT_EQ(tile.block_targets, (std::vector<Word>{0b0100, 0b0010}));
  EXPECT_EQ(tile.local, f2::reversal(2));
}

// Modulo a tile's own rows, the k-th block is the k-th in memory on the side that orders them.
TEST(Tile, BlocksAscendOnTheSideThatOrdersThem) {
  std::mt19937_64 random(kSeed);
  for (const BlockOrder order : {BlockOrder::source, BlockOrder::target}) {
    for (int trial = 0; trial < 50; ++trial) {
      const Affine map(random_affine(12, random).matrix(), 0);
      const Tile tile = make_tile(map, {.segment_bits = 3, .order = order});
      const bool by_target = order == BlockOrder::target;
      Subspace own = Subspace::low(12, 3);
      for (const Word row : by_target ? tile.target_rows : tile.source_rows) own.insert(row);
      Word last = 0;
      for (Word block = 1; block < Word{1} << tile.block_bits(); ++block) {
        const Word lowest = own.reduce(by_target ? tile.block_target(block) : tile.block_source(block));
        ASSERT_GT(lowest, last) << "trial " << trial << ", seed " << kSeed;
        last = lowest;
      }
    }
  }
}

TEST(Tile, AMapOfTheHighBitsNeedsNoRows) {
  const Tile tile = make_tile(direct_sum(Affine(3), Affine(f2::reversal(5), 0)), {.segment_bits = 3});
  EXPECT_EQ(tile.row_bits, 0);
  EXPECT_EQ(tile.block_bits(), 5);
  EXPECT_EQ(tile.local, Matrix::identity(3));
}

TEST(Tile, AddressLawsForEveryOption) {
  std::mt19937_64 random(kSeed);
  for (int n = 0; n <= 7; ++n) {
    std::vector<Affine> maps = {Affine(n), Affine(f2::reversal(n), f2::low_mask(n)), gray(n),
                                random_affine(n, random), random_bpc(n, random)};
    if (n > 0) maps.push_back(rotation(n, n / 2));
    for (const Affine& map : maps) {
      for (int s = 0; s <= n; ++s) {
        for (const int rows : {0, 1, s, n}) {
          for (int near = 0; near <= n + 1; near += 2) {
            for (const BlockOrder order : {BlockOrder::source, BlockOrder::target}) {
              expect_laws(map, {.segment_bits = s, .min_row_bits = rows, .near_bits = near, .order = order});
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST(Tile, AddressLawsUpToTenBits) {
  std::mt19937_64 random(kSeed);
  for (int n = 8; n <= 10; ++n) {
    for (int trial = 0; trial < 60; ++trial) {
      const Affine map = trial % 2 == 0 ? random_affine(n, random) : random_bpc(n, random);
      const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
      expect_laws(map, {.segment_bits = below(n + 1),
                        .min_row_bits = below(n + 1),
                        .near_bits = below(n + 3),
                        .order = random() % 2 == 0 ? BlockOrder::source : BlockOrder::target});
      if (HasFatalFailure()) return;
    }
  }
}

// The tile holds the directions asked for and is no larger than they make it.
TEST(Tile, HoldsTheDirectionsAskedFor) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 1 + static_cast<int>(random() % 8);
    const Affine map = trial % 3 == 0   ? Affine(n)
                       : trial % 3 == 1 ? random_affine(n, random)
                                        : random_bpc(n, random);
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    TileOptions options{
        .segment_bits = below(n + 1), .min_row_bits = below(n + 1), .near_bits = below(n + 2)};
    for (int count = below(n + 1); count > 0; --count)
      options.directions.push_back(random() & f2::low_mask(n));
    SCOPED_TRACE(describe(map, options) + ", with " + std::to_string(options.directions.size()) +
                 " directions");
    const Tile tile = make_tile(map, options);
    const int s = options.segment_bits;
    Subspace wanted = Subspace::low(n, s);
    for (int i = 0; i < s; ++i) wanted.insert(map.inverse_matrix().column(i));
    for (const Word v : options.directions) wanted.insert(v);
    Subspace space = Subspace::low(n, s);
    for (const Word row : tile.source_rows) space.insert(row);
    EXPECT_TRUE(space.contains(wanted));
    EXPECT_EQ(tile.tile_bits(), std::max(wanted.dimension(), std::min(n, s + options.min_row_bits)));
    expect_address_laws(map, tile);
    if (map.is_identity()) {
      EXPECT_EQ(tile.source_rows, tile.target_rows);
      EXPECT_EQ(tile.block_sources, tile.block_targets);
      EXPECT_EQ(tile.local, Matrix::identity(tile.tile_bits()));
    }
    if (HasFailure()) return;
  }
}

// Too large to walk: the laws on random elements.
TEST(Tile, AddressLawsOnSamplesOfLargeMaps) {
  std::mt19937_64 random(kSeed);
  for (const int n : {16, 31, 34, 40, 64}) {
    for (int trial = 0; trial < 10; ++trial) {
      const Affine map = trial % 2 == 0 ? random_affine(n, random) : random_bpc(n, random);
      const TileOptions options{.segment_bits = 7, .min_row_bits = 7, .near_bits = 12};
      SCOPED_TRACE(describe(map, options));
      const Tile tile = make_tile(map, options);
      expect_size(map, tile, options);
      expect_near_blocks_first(map, tile, options);
      for (int sample = 0; sample < 200; ++sample) {
        const Word block = random() & f2::low_mask(tile.block_bits());
        const Word place = random() & f2::low_mask(tile.tile_bits());
        const Word segment = f2::low_mask(7);
        const Word x = (tile.block_source(block) ^ tile.source_row(place >> 7)) | (place & segment);
        const Word there = tile.local * place ^ (tile.block_target(block) & segment);
        ASSERT_EQ(map(x),
                  ((tile.block_target(block) & ~segment) ^ tile.target_row(there >> 7)) | (there & segment));
      }
    }
  }
}

}  // namespace tile_test
}  // namespace faro::layout
