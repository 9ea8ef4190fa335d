// The register-blocked kernel for 1- and 2-byte elements: the laws of affine_tile_kernel_test.cpp, a word an
// access.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/error.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace affine_blocked_kernel_test {

using layout::make_tile;
using layout::Tile;
using machine::CountingMemory;
using machine::MemoryGeometry;

TEST(BlockedTile, GathersAnyPermutationOfBytes) {
  // 0xf0 + place, taken backwards.
  const device::Packet<16> vector{{0xf3f2f1f0, 0xf7f6f5f4, 0xfbfaf9f8, 0xfffefdfc}};
  ByteGather backwards{};
  for (int k = 0; k < 4; ++k) {
    backwards.from_low[k] = k == 2 ? 0x4567 : 0x0123;  // word 2 is word 1 backwards, word 3 is word 0
    backwards.from_high[k] = k == 0 ? 0x4567 : 0x0123;
    backwards.from_both[k] = k < 2 ? 0x7654 : 0x3210;
  }
  const device::Packet<16> reversed = gather_bytes(vector, backwards);
  EXPECT_EQ(reversed.unit[0], 0xfcfdfeffU);
  EXPECT_EQ(reversed.unit[1], 0xf8f9fafbU);
  EXPECT_EQ(reversed.unit[2], 0xf4f5f6f7U);
  EXPECT_EQ(reversed.unit[3], 0xf0f1f2f3U);
}

// What a sweep exercised, so that it can assert that every kind of group was reached.
struct Tally {
  int runs = 0;
  int refused = 0;
  bool words_shifted = false;     // a vector's words were exchanged before it was stored
  bool vectors_permuted = false;  // a loaded vector's elements were put into another order
  std::set<int> stages;           // how many stages exchanged elements: 0 .. u
};

// Stages that gather something of both words.
int exchanging_stages(const AffineBlockedParams& params, const AffineTileShape& shape) {
  int stages = 0;
  for (int t = 0; t < word_element_bits(shape); ++t) stages += params.stage_low[t] != 0x3210 ? 1 : 0;
  return stages;
}

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
        load_tile<shape>(m, params, block, thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_tile<shape>(m, params, block, thread);
      });
  expect_permuted(map, static_cast<std::size_t>(shape.element_bytes()), arrays);
  ASSERT_TRUE(memory.output_complete());
  expect_conflict_free_segments(memory.counts(), shape, arrays.in.size(), geometry);
  ++tally.runs;
  for (const std::uint32_t shift : params.unit_shift) tally.words_shifted |= shift != 0;
  tally.vectors_permuted |= params.gather.from_low[0] != 0x3210;
  tally.stages.insert(exchanging_stages(params, shape));
}

// width_bits, s, r, v, thread_bits
using BlockedShapes =
    Shapes<AffineTileShape{0, 5, 5, 4, 4}, AffineTileShape{0, 6, 6, 4, 6}, AffineTileShape{0, 7, 7, 4, 7},
           AffineTileShape{0, 8, 8, 4, 8}, AffineTileShape{0, 6, 6, 4, 5}, AffineTileShape{0, 7, 6, 4, 7},
           AffineTileShape{0, 4, 4, 4, 2}, AffineTileShape{1, 3, 3, 3, 2}, AffineTileShape{1, 4, 4, 3, 4},
           AffineTileShape{1, 6, 6, 3, 8}, AffineTileShape{1, 7, 7, 3, 8}, AffineTileShape{1, 5, 5, 3, 6}>;

TEST(BlockedTile, RandomMapsOfEveryShape) {
  std::mt19937_64 random(kSeed);
  BlockedShapes::for_each([&]<AffineTileShape shape>() {
    Tally tally;
    for (int n = shape.tile_bits(); n <= std::max(15, shape.tile_bits()); ++n) {
      for (int trial = 0; trial < 3; ++trial) {
        const Affine map = trial == 0   ? random_affine(n, random)
                           : trial == 1 ? random_bpc(n, random)
                                        : Affine(f2::reversal(n), random() & f2::low_mask(n));
        run_blocked<shape>(map, n < 12 ? 3 : 1, {}, random, tally);
        if (::testing::Test::HasFailure())
          FAIL() << describe(map) << ", " << describe(shape) << ", seed " << kSeed;
      }
    }
    EXPECT_GE(tally.runs, 1) << describe(shape);
  });
}

TEST(BlockedTile, ManyMaps) {
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
  // Nearly every map: what is refused keeps three of four components within their sector.
  EXPECT_EQ(random_maps.refused, 0);
  EXPECT_LT(bit_permutations.refused, 30);
  EXPECT_TRUE(random_maps.words_shifted);
  EXPECT_TRUE(bit_permutations.vectors_permuted);
}

// Maps that keep elements near each other: in their word, in their vector, in their sector.
TEST(BlockedTile, MapsThatKeepElementsTogether) {
  std::mt19937_64 random(kSeed + 2);
  Tally bytes;
  Tally halves;
  for (int trial = 0; trial < 200; ++trial) {
    for (int low = 1; low <= 7; ++low) {
      const Affine inner = trial % 2 == 0 ? random_affine(low, random) : random_bpc(low, random);
      const Affine map = direct_sum(inner, random_affine(13 - low, random));
      run_blocked<AffineTileShape{0, 6, 6, 4, 6}>(map, 1, {}, random, bytes);
      run_blocked<AffineTileShape{1, 5, 5, 3, 6}>(map, 1, {}, random, halves);
      if (HasFailure()) FAIL() << describe(map) << ", seed " << kSeed + 2;
    }
  }
  EXPECT_EQ(bytes.stages, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(halves.stages, (std::set<int>{0, 1}));
  EXPECT_GT(bytes.runs, 400);
  EXPECT_GT(bytes.refused, 100);
  EXPECT_GT(halves.refused, 50);
}

// Word by word where the plain phase goes byte by byte: a quarter of the requests.
TEST(BlockedTile, AQuarterOfTheSharedLoads) {
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
      [&](auto& m, auto block, auto thread) { load_tile<shape>(m, params, block, thread); },
      [&](auto& m, auto block, auto thread) { store_tile<shape>(m, params, block, thread); });
  EXPECT_EQ(memory.counts().shared_loads.requests, 4096U / 128);
  EXPECT_EQ(memory.counts().shared_loads.wavefronts, 4096U / 128);
}

// A sector of this machine is a vector, so that whole tiles of few elements have room to move.
constexpr MemoryGeometry kShortSectors{.warp_size = 4, .banks = 8, .sector_bytes = 16, .line_bytes = 32};

TEST(BlockedTile, EveryMapOfThreeBitsInTheHighBits) {
  // All of GL(3, 2) on three bits above, below and around the components, and bits that they change places
  // with.
  std::mt19937_64 random(kSeed);
  Tally tally;
  for (f2::Word code = 0; code < f2::Word{1} << 9; ++code) {
    const std::vector<f2::Word> columns = {code & 7, code >> 3 & 7, code >> 6};
    const f2::Matrix a = f2::Matrix::from_columns(3, columns);
    if (a.rank() < 3) continue;
    for (int place = 0; place <= 5; ++place) {
      const Affine inner = direct_sum(direct_sum(Affine(place), Affine(a, random() & 7)), Affine(5 - place));
      const Affine map = compose(Affine(f2::reversal(8), random() & 255), inner);
      run_blocked<AffineTileShape{0, 4, 4, 4, 2}>(map, 1, kShortSectors, random, tally);
      run_blocked<AffineTileShape{0, 4, 4, 4, 2}>(inner, 1, kShortSectors, random, tally);
      run_blocked<AffineTileShape{1, 4, 4, 3, 3}>(map, 1, kShortSectors, random, tally);
      if (HasFailure()) FAIL() << describe(map);
    }
  }
  EXPECT_EQ(tally.runs + tally.refused, 168 * 6 * 3);
  EXPECT_GT(tally.runs, 2000);
}

}  // namespace affine_blocked_kernel_test
}  // namespace faro::kernels
