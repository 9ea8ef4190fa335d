// All affine maps of up to 16 indices in place, with tiles of every size.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_in_place_support.hpp"

namespace faro::testing {
namespace cpu_in_place_exhaustive_engine_test {

std::vector<Affine> all_maps(int n) {
  std::vector<Affine> list;
  const f2::Word columns = f2::low_mask(n);
  for (f2::Word code = 0; code < f2::unit(n * n); ++code) {
    f2::Matrix a = f2::Matrix::zero(n, n);
    for (int j = 0; j < n; ++j) a.set_column(j, code >> n * j & columns);
    if (a.rank() != n) continue;
    for (f2::Word c = 0; c < f2::unit(n); ++c) list.emplace_back(a, c);
  }
  return list;
}

// Segments of 2^s elements, of 16 bytes, and tiles of 2^m.
struct SmallTiles {
  int s = 0;
  int m = 0;
};

void check_small(const Affine& map, SmallTiles tiles, Reached& reached) {
  const std::uint64_t width = std::uint64_t{16} >> tiles.s;
  EngineCase c{.problem = {.permutation = map, .element_bytes = width},
               .target = test_target(16, Stores::cached)};
  c.target.tile_bytes_max = width << tiles.m;
  c.target.in_place_tile_bytes = 0;
  c.target.segment_bytes_max = c.target.tile_bytes_max;
  check_in_place(c, &reached);
}

TEST(CpuInPlace, EveryMapOfUpToThreeBits) {
  Reached reached;
  for (int n = 0; n <= 3; ++n) {
    for (const Affine& map : all_maps(n)) {
      for (int s = 0; s < std::min(n, 4); ++s) {
        for (int m = s; m <= n; ++m) check_small(map, {.s = s, .m = m}, reached);
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(reached.contains("1 passes") && reached.contains("2 passes"));
}

// All 322,560, each with one kind of tile, in turn.
TEST(CpuInPlace, EveryMapOfFourBits) {
  constexpr std::uint64_t kIndices = 16;
  std::vector<SmallTiles> kinds;
  for (int s = 0; s < 4; ++s) {
    for (int m = s + 1; m <= 4; ++m) kinds.push_back({.s = s, .m = m});
  }
  std::vector<std::byte> room(3 * kIndices * 16);
  std::byte* const data = room.data() + kIndices * 16;
  std::uint64_t number = 0;
  for (const Affine& map : all_maps(4)) {
    const SmallTiles tiles = kinds[static_cast<std::size_t>(++number % kinds.size())];
    if (kInstrumented && number % 23 != 0) continue;
    const std::uint64_t width = std::uint64_t{16} >> tiles.s;
    Target target = test_target(16, Stores::cached);
    target.tile_bytes_max = width << tiles.m;
    target.in_place_tile_bytes = 0;
    target.segment_bytes_max = target.tile_bytes_max;
    const Problem problem{
        .permutation = map, .element_bytes = width, .batch = 1, .placement = Placement::in_place};
    const cpu::Executor executor(Plan(problem, target));
    std::fill(room.begin(), room.end(), kPoison);
    for (std::uint64_t i = 0; i < kIndices * width; ++i) data[i] = static_cast<std::byte>(i);
    executor.run_in_place(data);
    bool right = std::all_of(room.data(), data, [](std::byte b) { return b == kPoison; }) &&
                 std::all_of(data + kIndices * width, room.data() + room.size(),
                             [](std::byte b) { return b == kPoison; });
    for (std::uint64_t x = 0; x < kIndices; ++x) {
      std::uint64_t y = map.complement();
      for (int j = 0; j < 4; ++j) y ^= (x >> j & 1) * map.matrix().column(j);
      for (std::uint64_t i = 0; i < width; ++i) {
        right = right && data[y * width + i] == static_cast<std::byte>(x * width + i);
      }
    }
    ASSERT_TRUE(right) << describe(problem) << "\n  s = " << tiles.s << ", m = " << tiles.m;
  }
  EXPECT_EQ(number, 322560U);
}

}  // namespace cpu_in_place_exhaustive_engine_test
}  // namespace faro::testing
