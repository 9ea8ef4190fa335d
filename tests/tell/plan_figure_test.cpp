// The published tile's index functions on the paper's own example, their laws, and the drawings of the
// figures.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>

#include <set>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "tell/figure.hpp"
#include "text_search.hpp"

namespace faro {
namespace plan_figure_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// n = 10, n_tile = 5, every bit one place towards bit 0, bit 0 to the top.
TEST(PublishedTile, StitchesAsThePaperDoes) {
  const Affine shift = maps::rotate_bits(10, -1);
  EXPECT_EQ(maps::rotate_bits(5, -1)(0b11001), 0b11100U);
  const PublishedTile tile = published_tile(shift, 5);
  EXPECT_THAT(tile.columns, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(tile.rows, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(tile.overlap, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(tile.blocks, ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(tile.iteration_bits, 3);
  EXPECT_EQ(stitch_col(tile, 0b11010, 0b1100, 1), 0b1100111010U);
  EXPECT_EQ(stitch_tile_col(tile, 0b11010, 1), 0b111010U);
  EXPECT_EQ(stitch_row(tile, 0, 0b1011, 0b00110), 0b1011001100U);
  EXPECT_EQ(stitch_tile_row(tile, 0, 0b00110), 0b001100U);
}

TEST(PublishedTile, ReadsAndWritesWholeSegmentsOnce) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Affine map = maps::random_bpc(9, seed);
    const PublishedTile tile = published_tile(map, 3);
    const auto own_rows = static_cast<int>(tile.rows.size() - tile.overlap.size());
    std::set<f2::Word> read;
    std::set<f2::Word> written;
    for (f2::Word block = 0; block < f2::unit(static_cast<int>(tile.blocks.size())); ++block) {
      for (f2::Word warp = 0; warp < f2::unit(own_rows); ++warp) {
        std::set<f2::Word> source_segments;
        std::set<f2::Word> target_segments;
        for (f2::Word thread = 0; thread < 8; ++thread) {
          const f2::Word source = stitch_col(tile, thread, block, warp);
          const f2::Word target = map(stitch_row(tile, warp, block, thread));
          read.insert(source);
          written.insert(target);
          source_segments.insert(source >> 3);
          target_segments.insert(target >> 3);
        }
        EXPECT_EQ(source_segments.size(), 1U) << "random_bpc(9, " << seed << ")";
        EXPECT_EQ(target_segments.size(), 1U) << "random_bpc(9, " << seed << ")";
      }
    }
    EXPECT_EQ(read.size(), 512U);
    EXPECT_EQ(written.size(), 512U);
  }
}

TEST(PublishedTile, RefusesWhatIsNotTiled) {
  EXPECT_THROW(
      {
        try {
          published_tile(maps::random_bmmc(10, 3), 5);
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::unsupported);
          EXPECT_THAT(error.report().remedy, HasSubstr("figure 8"));
          throw;
        }
      },
      Error);
  EXPECT_THROW(published_tile(maps::gray(4), 0), Error);
  EXPECT_THROW(published_tile(maps::gray(4), 5), Error);
}

TEST(Figures, ShowWhatTheyAreAbout) {
  const Affine reversal = maps::bit_reversal(10);
  EXPECT_EQ(test::occurrences(figure_svg(1, reversal), "class=\"bank b"), 256U);
  // 4 warps of 4 threads, in the source and in the target.
  EXPECT_EQ(test::occurrences(figure_svg(2, maps::transpose(32, 32)), "class=\"bank b"), 32U);
  const std::string roles = figure_svg(4, maps::rotate_bits(10, -1));
  EXPECT_EQ(test::occurrences(roles, ">o</text>"), 4U);
  EXPECT_EQ(test::occurrences(roles, ">b</text>"), 4U);
  EXPECT_EQ(test::occurrences(roles, ">i</text>"), 0U);
  EXPECT_EQ(test::occurrences(figure_svg(6, maps::rotate_bits(10, -1)), ">i</text>"), 3U);
  // Unshifted: a warp's words lie in one column of 32 rows; shifted they do not meet.
  const std::string tile = figure_svg(5, reversal);
  EXPECT_EQ(test::occurrences(tile, "32 turns"), 1U);
  EXPECT_EQ(test::occurrences(tile, "1 turn<"), 2U);
  EXPECT_EQ(test::occurrences(figure_svg(7, reversal), "class=\"row\""), 25U + 1);
  // Ones of the three matrices.
  const Affine map = maps::random_bmmc(8, 3);
  const f2::UlpFactors factors = f2::factor_ulp(map.matrix());
  std::size_t ones = 0;
  for (const f2::Matrix& matrix : {map.matrix(), factors.upper, factors.lower * factors.permutation}) {
    for (const f2::Word column : matrix.column_span())
      ones += static_cast<std::size_t>(std::popcount(column));
  }
  EXPECT_EQ(test::occurrences(figure_svg(8, map), ">1</text>"), ones);
}

// The ones of both factors stand in the shaded parts: the drawing's claim.
TEST(Figures, FactorsAreTiled) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Affine map = maps::random_bmmc(12, seed);
    const f2::UlpFactors factors = f2::factor_ulp(map.matrix());
    const f2::Matrix reversal = f2::reversal(12);
    const f2::Matrix first = factors.upper * reversal;
    const f2::Matrix second = reversal * factors.lower * factors.permutation;
    EXPECT_EQ(first * second, map.matrix());
    for (const f2::Matrix& factor : {first, second}) {
      EXPECT_NO_THROW(published_tile(Affine(factor, 0), 5)) << "random_bmmc(12, " << seed << ")";
    }
  }
}

TEST(Figures, RefuseOthers) {
  for (const int figure : {0, 3, 9, 13, 14}) EXPECT_THROW(figure_svg(figure, maps::gray(4)), Error) << figure;
  EXPECT_THROW(figure_svg(4, maps::gray(0)), Error);
  EXPECT_THROW(figure_svg(2, maps::bit_reversal(13)), Error);
  EXPECT_THROW(figure_svg(5, maps::random_bmmc(10, 3)), Error);
  for (int n = 1; n <= 12; ++n) {
    for (const int figure : {1, 2, 4, 5, 6, 7, 8}) EXPECT_NO_THROW(figure_svg(figure, maps::bit_reversal(n)));
  }
}

}  // namespace plan_figure_test
}  // namespace faro
