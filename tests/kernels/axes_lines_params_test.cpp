// Which kernel and which tiles a transpose gets, and in which order its blocks come: by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "axes_kernel_support.hpp"
#include "faro/error.hpp"
#include "kernels/axes_params.hpp"
#include "refusal.hpp"

namespace faro::kernels {
namespace axes_lines_params_test {

struct Tile {
  int row_bytes = 0;
  int line_bytes = 0;

  friend bool operator==(const Tile&, const Tile&) = default;
};

std::optional<Tile> tile_of(const StridedAxes& axes, int unit_bytes) {
  const auto choice = make_axes_lines(axes, unit_bytes);
  if (!choice || !choice->plane) return std::nullopt;
  return Tile{.row_bytes = choice->plane->row_bytes, .line_bytes = choice->plane->line_bytes};
}

TEST(AxesLinesParams, LargeArraysHaveLargeTiles) {
  const StridedAxes large = normal({100003, 100003}, {1, 0});
  EXPECT_EQ(tile_of(large, 1), (Tile{.row_bytes = 256, .line_bytes = 256}));
  EXPECT_EQ(tile_of(large, 2), (Tile{.row_bytes = 256, .line_bytes = 512}));
  EXPECT_EQ(tile_of(large, 4), (Tile{.row_bytes = 512, .line_bytes = 512}));
  EXPECT_EQ(tile_of(large, 8), (Tile{.row_bytes = 512, .line_bytes = 512}));
  // A mebibyte has 16 of 64 KiB, too few for a GPU.
  EXPECT_EQ(tile_of(normal({1023, 1025}, {1, 0}), 1), (Tile{.row_bytes = 128, .line_bytes = 256}));
  // Lines of 600 bytes are three of 256, or two of 512 that are half empty.
  EXPECT_EQ(tile_of(normal({300, 100000003}, {1, 0}), 2), (Tile{.row_bytes = 256, .line_bytes = 256}));
  // Rows shorter than any tile's take the smallest.
  EXPECT_EQ(tile_of(normal({130, 130}, {1, 0}), 1), (Tile{.row_bytes = 128, .line_bytes = 128}));
}

struct Bands {
  std::uint64_t tiles = 0;  // of a line in a band
  std::uint64_t bands = 0;

  friend bool operator==(const Bands&, const Bands&) = default;
};

std::optional<Bands> bands_of(const StridedAxes& axes, int unit_bytes) {
  const auto choice = make_axes_lines(axes, unit_bytes);
  if (!choice) return std::nullopt;
  return Bands{.tiles = choice->params.band.divisor(), .bands = choice->params.bands};
}

TEST(AxesLinesParams, BandsAreAlikeAndOfEightMebibytes) {
  // Lines of 16127 x 16 bytes, and less than a sector: 504 tiles of 512 x 32, where 512 are a band.
  EXPECT_EQ(bands_of(normal({16127, 16645}, {1, 0}), 16), (Bands{.tiles = 504, .bands = 1}));
  EXPECT_EQ(bands_of(normal({17637, 15220}, {1, 0}), 16), (Bands{.tiles = 276, .bands = 2}));  // of 552
  // 554 of 512 bytes x 128, where 128 are a band.
  EXPECT_EQ(bands_of(normal({70857, 15153}, {1, 0}), 4), (Bands{.tiles = 111, .bands = 5}));
  // Tiles that share nothing need no bands: 4 MiB of 256 bytes. Rows of 4112 bytes share.
  EXPECT_EQ(bands_of(normal({1 << 20, 1024}, {1, 0}), 4), (Bands{.tiles = 16384, .bands = 1}));
  EXPECT_EQ(bands_of(normal({1 << 20, 1028}, {1, 0}), 4), (Bands{.tiles = 512, .bands = 32}));
}

TEST(AxesLinesParams, FewRowsOrColumnsAreStretches) {
  const auto skinny = [](std::uint64_t rows, std::uint64_t columns, int unit_bytes) {
    const auto choice = make_axes_lines(normal({rows, columns}, {1, 0}), unit_bytes);
    return choice && choice->skinny ? (choice->skinny->by_rows ? "rows" : "columns") : "";
  };
  EXPECT_STREQ(skinny(253, 1000001, 1), "rows");
  EXPECT_STREQ(skinny(257, 1000001, 1), "");
  EXPECT_STREQ(skinny(128, 1000001, 4), "rows");
  EXPECT_STREQ(skinny(129, 1000001, 4), "");
  EXPECT_STREQ(skinny(64, 1000001, 8), "rows");
  EXPECT_STREQ(skinny(65, 1000001, 8), "");
  EXPECT_STREQ(skinny(1000001, 127, 1), "columns");
  EXPECT_STREQ(skinny(1000001, 128, 1), "");
  EXPECT_STREQ(skinny(1000001, 63, 4), "columns");
  EXPECT_STREQ(skinny(1000001, 64, 4), "");
  EXPECT_STREQ(skinny(3, 1000001, 16), "");
}

TEST(AxesLinesParams, LeavesOthersToOtherKernels) {
  EXPECT_FALSE(make_axes_lines(normal({7, 5, 100000}, {2, 1, 0}), 4));  // lines of 7 far apart
  EXPECT_FALSE(make_axes_lines(normal({20, 30}, {1, 0}), 1));           // both short
  EXPECT_FALSE(make_axes_lines(normal({20, 30, 1000}, {1, 0, 2}), 4));  // rows stay
  EXPECT_FALSE(make_axes_lines(layout::unit_axes(Axes({3, 100000}, {1, 0}), 3, 1).axes, 4));
}

// More than 2^30 planes, of 1 KiB each, and as many as tiles can be numbered: each is another plane.
TEST(AxesLinesParams, NumbersPlanesOfATebibyte) {
  for (const std::uint64_t planes : {(std::uint64_t{1} << 30) + 3, (std::uint64_t{1} << 31) - 1}) {
    const auto choice = make_axes_lines(normal({planes, 8, 8}, {0, 2, 1}), 16);
    ASSERT_TRUE(choice) << planes;
    const AxesLinesParams& p = choice->params;
    EXPECT_EQ(p.tiles, planes);
    ASSERT_EQ(p.axes, 1);
    EXPECT_EQ(p.axis[0].extent.divisor(), planes);
    const AxesLinesTile last = axes_lines_tile(p, planes - 1);
    EXPECT_EQ(last.in, (planes - 1) * 1024);
    EXPECT_EQ(last.out, (planes - 1) * 1024);
  }
  EXPECT_FALSE(make_axes_lines(normal({std::uint64_t{1} << 31, 8, 8}, {0, 2, 1}), 16));
}

TEST(AxesLinesParams, RefusesWhatCannotBeCounted) {
  test::expect_refused(ErrorCode::unsupported, [&] {
    make_axes_lines(layout::unit_axes(Axes({1 << 20, 1 << 19}, {1, 0}), 1, std::uint64_t{1} << 30).axes, 16);
  });
}

}  // namespace axes_lines_params_test
}  // namespace faro::kernels
