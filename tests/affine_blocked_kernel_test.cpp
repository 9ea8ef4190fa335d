// The register-blocked store phase for 1- and 2-byte elements: the laws of affine_tile_kernel_test.cpp, a
// word an access.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/error.hpp"
#include "faro/kernels/affine_blocked_params.hpp"

namespace faro::kernels {
namespace {

using layout::make_tile;
using layout::Tile;
using machine::CountingMemory;
using machine::MemoryGeometry;

TEST(BlockedStore, TransposesTheBytesOfFourWords) {
  std::uint32_t words[] = {0xd0c0b0a0, 0xd1c1b1a1, 0xd2c2b2a2, 0xd3c3b3a3};
  transpose_words<0>(words);
  const std::uint32_t expected[] = {0xa3a2a1a0, 0xb3b2b1b0, 0xc3c2c1c0, 0xd3d2d1d0};
  for (int k = 0; k < 4; ++k) EXPECT_EQ(words[k], expected[k]);

  std::uint32_t halves[] = {0xb0b0a0a0, 0xb1b1a1a1, 0xd0d0c0c0, 0xd1d1c1c1};
  transpose_words<1>(halves);
  const std::uint32_t swapped[] = {0xa1a1a0a0, 0xb1b1b0b0, 0xc1c1c0c0, 0xd1d1d0d0};
  for (int k = 0; k < 4; ++k) EXPECT_EQ(halves[k], swapped[k]);

  EXPECT_EQ(exchange_elements<0>(0x33221100, 1), 0x22330011U);
  EXPECT_EQ(exchange_elements<0>(0x33221100, 2), 0x11003322U);
  EXPECT_EQ(exchange_elements<1>(0x22221111, 1), 0x11112222U);
}

struct Tally {
  int runs = 0;
  int refused = 0;
  bool components_shifted = false;
};

template <AffineTileShape shape>
void run_blocked(const Affine& map, std::uint64_t batch, const MemoryGeometry& geometry,
                 std::mt19937_64& random, Tally& tally) {
  static_assert(is_valid_blocked(shape));
  const Tile tile = make_tile(map, {.segment_bits = shape.segment_bits, .min_row_bits = shape.row_bits});
  if (!fits_blocked(tile, shape, geometry)) {
    ++tally.refused;
    EXPECT_THROW(make_affine_blocked_params(tile, shape, batch, geometry), Error);
    return;
  }
  const AffineBlockedParams params = make_affine_blocked_params(tile, shape, batch, geometry);
  Arrays arrays((batch << map.bits()) * shape.element_bytes(), random);
  CountingMemory memory({.shared_bytes = shape.tile_bytes(), .geometry = geometry});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  memory.run(
      {.blocks = params.tile.blocks(), .threads = static_cast<std::uint32_t>(shape.threads())},
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        load_tile<shape>(m, params.tile, block, thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_tile_blocked<shape>(m, params, block, thread);
      });
  expect_permuted(map, static_cast<std::size_t>(shape.element_bytes()), arrays);
  ASSERT_TRUE(memory.output_complete());
  expect_conflict_free_segments(memory.counts(), shape, arrays.in.size(), geometry);
  ++tally.runs;
  for (const std::uint32_t shift : params.group_shift) tally.components_shifted |= shift != 0;
}

// width_bits, s, r, v, thread_bits
using BlockedShapes =
    Shapes<AffineTileShape{0, 5, 5, 4, 4}, AffineTileShape{0, 6, 6, 4, 6}, AffineTileShape{0, 7, 7, 4, 7},
           AffineTileShape{0, 8, 8, 4, 9}, AffineTileShape{0, 6, 6, 2, 8}, AffineTileShape{0, 7, 7, 3, 8},
           AffineTileShape{1, 4, 4, 3, 4}, AffineTileShape{1, 6, 6, 3, 8}, AffineTileShape{1, 7, 7, 3, 8},
           AffineTileShape{1, 5, 5, 1, 8}, AffineTileShape{1, 6, 6, 2, 7}>;

TEST(BlockedStore, RandomMapsOfEveryShape) {
  std::mt19937_64 random(kSeed);
  BlockedShapes::for_each([&]<AffineTileShape shape>() {
    Tally tally;
    for (int n = shape.tile_bits(); n <= std::max(15, shape.tile_bits()); ++n) {
      for (int trial = 0; trial < 3; ++trial) {
        const Affine map = trial == 0   ? random_affine(n, random)
                           : trial == 1 ? random_bpc(n, random)
                                        : Affine(f2::reversal(n), random() & f2::low_mask(n));
        run_blocked<shape>(map, n < 12 ? 3 : 1, {}, random, tally);
        if (testing::Test::HasFailure())
          FAIL() << describe(map) << ", " << describe(shape) << ", seed " << kSeed;
      }
    }
    EXPECT_GE(tally.runs, 1) << describe(shape);
  });
}

TEST(BlockedStore, ManyMaps) {
  std::mt19937_64 random(kSeed + 1);
  Tally random_maps;
  Tally bit_permutations;
  for (int trial = 0; trial < 300; ++trial) {
    const Affine map = random_affine(13, random);
    run_blocked<AffineTileShape{0, 6, 6, 4, 6}>(map, 1, {}, random, random_maps);
    run_blocked<AffineTileShape{1, 5, 5, 3, 6}>(map, 1, {}, random, random_maps);
    const Affine bpc = random_bpc(13, random);
    run_blocked<AffineTileShape{0, 6, 6, 4, 6}>(bpc, 1, {}, random, bit_permutations);
    run_blocked<AffineTileShape{1, 5, 5, 3, 6}>(bpc, 1, {}, random, bit_permutations);
    if (HasFailure()) FAIL() << describe(map) << " or " << describe(bpc) << ", seed " << kSeed + 1;
  }
  EXPECT_LT(random_maps.refused, 30);
  EXPECT_TRUE(random_maps.components_shifted);
  EXPECT_GT(bit_permutations.runs, 100);
  EXPECT_GT(bit_permutations.refused, 50);
}

// Word by word where the plain phase goes byte by byte: a quarter of the requests.
TEST(BlockedStore, AQuarterOfTheSharedLoads) {
  std::mt19937_64 random(kSeed);
  constexpr AffineTileShape shape{0, 6, 6, 4, 6};
  const Affine map(f2::reversal(12), 0);
  const Tile tile = make_tile(map, {.segment_bits = 6});
  const AffineBlockedParams params = make_affine_blocked_params(tile, shape, 1);
  Arrays arrays(4096, random);
  CountingMemory memory({.shared_bytes = shape.tile_bytes()});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  memory.run(
      {.blocks = 1, .threads = static_cast<std::uint32_t>(shape.threads())},
      [&](auto& m, auto block, auto thread) { load_tile<shape>(m, params.tile, block, thread); },
      [&](auto& m, auto block, auto thread) { store_tile_blocked<shape>(m, params, block, thread); });
  EXPECT_EQ(memory.counts().shared_loads.requests, 4096U / 128);
  EXPECT_EQ(memory.counts().shared_loads.wavefronts, 4096U / 128);
}

TEST(BlockedStore, EveryMapOfFourBitsInWords) {
  // Four-bit maps fit no blocked shape of bytes with whole sectors; two-byte elements on four banks do.
  std::mt19937_64 random(kSeed);
  const MemoryGeometry four_banks{.warp_size = 4, .banks = 4, .sector_bytes = 4, .line_bytes = 8};
  Tally tally;
  for (f2::Word code = 0; code < f2::Word{1} << 16; ++code) {
    const std::vector<f2::Word> columns = {code & 15, code >> 4 & 15, code >> 8 & 15, code >> 12};
    const f2::Matrix a = f2::Matrix::from_columns(4, columns);
    if (a.rank() < 4) continue;
    const Affine map(a, random() & 15);
    run_blocked<AffineTileShape{1, 2, 2, 1, 2}>(map, 1, four_banks, random, tally);
    run_blocked<AffineTileShape{0, 2, 2, 2, 0}>(map, 1, four_banks, random, tally);
    if (HasFailure()) FAIL() << describe(map);
  }
  EXPECT_EQ(tally.runs + tally.refused, 2 * 20160);
  EXPECT_GT(tally.runs, 10000);
  EXPECT_GT(tally.refused, 1000);
}

}  // namespace
}  // namespace faro::kernels
