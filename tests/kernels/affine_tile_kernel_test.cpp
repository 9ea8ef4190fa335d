// The affine kernels, the very phases that a GPU runs, on the counting memory.
//
// Law, for every map, width, batch and shape: out[pi(x)] = in[x] for x = 0 .. N-1, every byte of the output
// stored once and none around it; congestion 1 in both shared-memory phases; and no sector fetched or written
// but the array's own, where a warp covers sectors at all.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/error.hpp"
#include "kernels/affine_naive.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/affine_tile.hpp"

namespace faro::kernels {
namespace affine_tile_kernel_test {

using f2::Matrix;
using f2::Word;
using layout::make_tile;
using layout::Tile;
using machine::AccessCounts;
using machine::CountingMemory;
using machine::MemoryGeometry;

// --- running a shape

// What a run exercised, so that the sweeps can assert that both sides of each branch were reached.
struct Reached {
  int runs = 0;
  bool words_exchanged = false;  // a vector's words were exchanged before the shared store
  bool words_kept = false;
  bool columns_shifted = false;  // the complement reached into a segment
};

template <AffineTileShape shape>
void run_shape(const Affine& map, std::uint64_t batch, int near_bits, const MemoryGeometry& geometry,
               std::mt19937_64& random, Reached& reached) {
  static_assert(is_valid(shape));
  const Tile tile = make_tile(
      map, {.segment_bits = shape.segment_bits, .min_row_bits = shape.row_bits, .near_bits = near_bits});
  ASSERT_TRUE(fits(tile, shape));
  const AffineTileParams params = make_affine_tile_params(tile, shape, batch, geometry);

  Arrays arrays((batch << map.bits()) * shape.element_bytes(), random);
  CountingMemory memory({.shared_bytes = shape.tile_bytes(), .geometry = geometry});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  memory.run(
      {.blocks = params.blocks(), .threads = static_cast<std::uint32_t>(shape.threads())},
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        load_tile<shape>(m, params, block, thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_tile<shape>(m, params, block, thread);
      });
  expect_permuted(map, static_cast<std::size_t>(shape.element_bytes()), arrays);
  ASSERT_TRUE(memory.output_complete());

  expect_conflict_free_segments(memory.counts(), shape, arrays.in.size(), geometry);

  ++reached.runs;
  Word exchanges = 0;
  for (int i = 0; i < shape.tile_bits(); ++i)
    exchanges |= params.swizzle[i] & f2::low_mask(shape.vector_bits);
  (exchanges != 0 ? reached.words_exchanged : reached.words_kept) = true;
  Word shifts = map.complement();
  for (const Word target : tile.block_targets) shifts |= target;
  reached.columns_shifted |= (shifts & f2::low_mask(shape.segment_bits)) != 0;
}

// --- every affine map of four bits

constexpr MemoryGeometry kFourBanks{
    .warp_size = 4, .banks = 4, .bank_bytes = 4, .sector_bytes = 8, .line_bytes = 16};

// width_bits, s, r, v, thread_bits. On four banks the second and third already need their swizzle.
using FourBitShapes = Shapes<AffineTileShape{2, 1, 1, 1, 1}, AffineTileShape{2, 2, 2, 2, 1},
                             AffineTileShape{0, 2, 2, 1, 2}, AffineTileShape{3, 2, 2, 1, 3}>;

TEST(AffineTileKernel, EveryMapOfFourBits) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  int maps = 0;
  int turn = 0;
  for (Word code = 0; code < Word{1} << 16; ++code) {
    const std::vector<Word> columns = {code & 15, code >> 4 & 15, code >> 8 & 15, code >> 12};
    const Matrix a = Matrix::from_columns(4, columns);
    if (a.rank() < 4) continue;
    for (Word complement = 0; complement < 16; ++complement) {
      const Affine map(a, complement);
      ++maps;
      FourBitShapes::for_each([&]<AffineTileShape shape>() {
        const std::uint64_t batch = turn++ % 64 == 0 ? 3 : 1;
        run_shape<shape>(map, batch, 0, kFourBanks, random, reached);
        if (HasFailure()) ADD_FAILURE() << describe(map) << ", " << describe(shape);
      });
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(maps, 322560);
  EXPECT_EQ(reached.runs, 4 * maps);
  EXPECT_TRUE(reached.words_exchanged && reached.words_kept && reached.columns_shifted);
}

// --- larger maps, on 32 banks

// width_bits, s, r, v, thread_bits: every width, vectors from one element to 16 bytes, one and several
// iterations, fewer threads than a warp, rows shorter and longer than a bank row, square tiles and not.
using LargeShapes =
    Shapes<AffineTileShape{0, 1, 1, 0, 1}, AffineTileShape{0, 2, 2, 1, 2}, AffineTileShape{0, 4, 4, 3, 4},
           AffineTileShape{0, 5, 5, 4, 5}, AffineTileShape{0, 6, 6, 4, 6}, AffineTileShape{0, 7, 7, 2, 8},
           AffineTileShape{0, 7, 7, 4, 7}, AffineTileShape{0, 8, 8, 4, 9}, AffineTileShape{0, 7, 7, 0, 10},
           AffineTileShape{1, 2, 2, 1, 2}, AffineTileShape{1, 4, 4, 3, 3}, AffineTileShape{1, 6, 6, 3, 6},
           AffineTileShape{1, 7, 7, 3, 8}, AffineTileShape{1, 6, 6, 0, 9}, AffineTileShape{1, 5, 5, 2, 8},
           AffineTileShape{2, 1, 1, 1, 1}, AffineTileShape{2, 3, 3, 2, 3}, AffineTileShape{2, 5, 5, 2, 6},
           AffineTileShape{2, 5, 5, 0, 8}, AffineTileShape{2, 6, 6, 1, 8}, AffineTileShape{2, 6, 6, 2, 8},
           AffineTileShape{2, 7, 7, 2, 9}, AffineTileShape{2, 5, 7, 2, 6}, AffineTileShape{2, 2, 6, 2, 4},
           AffineTileShape{3, 2, 2, 1, 2}, AffineTileShape{3, 4, 4, 1, 6}, AffineTileShape{3, 5, 5, 1, 8},
           AffineTileShape{3, 6, 6, 1, 9}, AffineTileShape{3, 5, 5, 0, 8}, AffineTileShape{4, 1, 1, 0, 1},
           AffineTileShape{4, 3, 3, 0, 5}, AffineTileShape{4, 4, 4, 0, 7}, AffineTileShape{4, 5, 5, 0, 8}>;

TEST(AffineTileKernel, RandomMapsOfEveryWidthAndShape) {
  std::mt19937_64 random(kSeed);
  const std::uint64_t batches[] = {1, 2, 3, 5};
  int turn = 0;
  bool words_kept = false;
  LargeShapes::for_each([&]<AffineTileShape shape>() {
    Reached reached;
    const int smallest = std::max(6, shape.tile_bits());
    for (int n = smallest; n <= std::max(smallest, 16) && n <= smallest + 4; ++n) {
      std::vector<Affine> maps = {random_affine(n, random), random_bpc(n, random), random_bpc(n, random),
                                  Affine(f2::reversal(n), random() & f2::low_mask(n)), Affine(n)};
      for (int k = 1; k <= 3; ++k) maps.push_back(fixing_low_bits(n, k, random));
      for (const Affine& map : maps) {
        ++turn;
        // Large arrays come alone, small ones in batches.
        const std::uint64_t batch = n >= 14 ? 1 : batches[turn % 4];
        run_shape<shape>(map, batch, turn % 3 == 0 ? shape.segment_bits + 3 : 0, {}, random, reached);
        if (::testing::Test::HasFailure()) {
          FAIL() << describe(map) << ", batch " << batch << ", " << describe(shape) << ", seed " << kSeed;
        }
      }
    }
    EXPECT_GE(reached.runs, 8) << describe(shape);
    EXPECT_TRUE(reached.columns_shifted) << describe(shape);
    const bool wide_enough = shape.vector_bytes() > std::max(4, shape.element_bytes());
    const bool banked = shape.tile_bytes() > 4 * MemoryGeometry{}.bank_row_bytes();
    if (wide_enough && banked) {
      EXPECT_TRUE(reached.words_exchanged) << describe(shape);
    }
    words_kept |= wide_enough && reached.words_kept;
  });
  EXPECT_TRUE(words_kept) << "no wide vector kept its words in order";
}

// Tiles with fewer rows than columns: maps that mix only some of the low bits with the high ones, or none.
TEST(AffineTileKernel, FewRows) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (int n = 11; n <= 13; ++n) {
    for (int trial = 0; trial < 8; ++trial) {
      run_shape<AffineTileShape{2, 6, 0, 2, 4}>(of_rank(n, 6, 0, random), 2, 0, {}, random, reached);
      run_shape<AffineTileShape{2, 6, 3, 2, 6}>(of_rank(n, 6, 3, random), 2, 0, {}, random, reached);
      run_shape<AffineTileShape{0, 8, 2, 4, 6}>(of_rank(n, 8, 2, random), 1, 10, {}, random, reached);
      run_shape<AffineTileShape{3, 5, 4, 1, 8}>(of_rank(n, 5, 4, random), 1, 0, {}, random, reached);
      if (HasFailure()) FAIL() << "n " << n << ", trial " << trial << ", seed " << kSeed;
    }
  }
  EXPECT_EQ(reached.runs, 3 * 8 * 4);
}

// Half the banks, half the warp: no size is built in.
TEST(AffineTileKernel, SixteenBanks) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  const MemoryGeometry sixteen{.warp_size = 16, .banks = 16};
  for (int trial = 0; trial < 40; ++trial) {
    const Affine map = trial % 2 == 0 ? random_affine(12, random) : random_bpc(12, random);
    run_shape<AffineTileShape{2, 5, 5, 2, 7}>(map, 1, 0, sixteen, random, reached);
    run_shape<AffineTileShape{0, 6, 6, 4, 6}>(map, 1, 0, sixteen, random, reached);
    run_shape<AffineTileShape{4, 4, 4, 0, 6}>(map, 1, 0, sixteen, random, reached);
    if (HasFailure()) FAIL() << describe(map) << ", seed " << kSeed;
  }
}

// --- refusals

TEST(AffineTileKernel, RefusesWhatDoesNotFit) {
  std::mt19937_64 random(kSeed);
  const Tile tile = make_tile(Affine(f2::reversal(12), 0), {.segment_bits = 5});
  const AffineTileShape good{2, 5, 5, 2, 6};
  EXPECT_TRUE(fits(tile, good));
  EXPECT_NO_THROW(make_affine_tile_params(tile, good, 1));
  const AffineTileShape bad[] = {{2, 6, 5, 2, 6}, {2, 5, 6, 2, 6}, {2, 5, 5, 3, 6}, {5, 5, 5, 0, 6},
                                 {2, 5, 5, 2, 9}, {0, 5, 5, 6, 0}, {2, 5, 5, 2, 11}};
  for (const AffineTileShape& shape : bad) {
    EXPECT_FALSE(fits(tile, shape)) << describe(shape);
    EXPECT_EQ(code_of([&] { make_affine_tile_params(tile, shape, 1); }), ErrorCode::unsupported)
        << describe(shape);
  }
  EXPECT_EQ(code_of([&] { make_affine_tile_params(tile, good, 0); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { make_affine_tile_params(tile, good, 1ULL << 52); }), ErrorCode::unsupported);
  const auto tile_of_bits = [&](int n) {
    return make_tile(random_affine(n, random), {.segment_bits = 5, .min_row_bits = 5});
  };
  EXPECT_NO_THROW(make_affine_tile_params(tile_of_bits(50), good, 1));  // 2^40 blocks
  EXPECT_EQ(code_of([&] { make_affine_tile_params(tile_of_bits(51), good, 1); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { make_affine_naive_params(random_affine(41, random), 1, 8); }),
            ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { make_affine_naive_params(Affine(3), 0, 8); }), ErrorCode::value);
}

// Base addresses beyond 32 bits: the index functions alone, against the map.
TEST(AffineTileKernel, AddressesOfFortyBits) {
  constexpr AffineTileShape shape{2, 6, 6, 2, 8};
  std::mt19937_64 random(kSeed);
  const Affine map = random_affine(40, random);
  const Tile tile = make_tile(map, {.segment_bits = 6, .min_row_bits = 6});
  const AffineTileParams params = make_affine_tile_params(tile, shape, 5);
  EXPECT_EQ(params.blocks(), std::uint64_t{5} << 28);
  const layout::Xor layout = make_tile_layout(tile, shape);
  for (int sample = 0; sample < 2000; ++sample) {
    const std::uint64_t block = random() % params.blocks();
    const auto place = static_cast<std::uint32_t>(random() & f2::low_mask(12));
    const Word source = block_source(params, block);
    const Word target = block_target(params, block);
    const Word x = (source ^ source_offset<shape>(params, place >> 2)) | (place & 3);
    const std::uint32_t shift = low_bits(static_cast<std::uint32_t>(target), 6);
    const auto there = static_cast<std::uint32_t>(tile.local * place) ^ shift;
    const Word y = (target ^ shift ^ target_offset<shape>(params, there >> 2)) | (there & 3);
    ASSERT_EQ(y >> 40, x >> 40);
    ASSERT_EQ(y & f2::low_mask(40), map(x & f2::low_mask(40)));
    ASSERT_EQ(write_address<shape>(params, place >> 2) ^ (place & 3), layout(place));
    ASSERT_EQ(read_address<shape>(params, there ^ shift), layout(place));
  }
}

// --- the naive rung

template <int element_bytes>
AccessCounts run_naive(const Affine& map, std::uint64_t batch, int thread_bits, std::mt19937_64& random) {
  const AffineNaiveParams params = make_affine_naive_params(map, batch, thread_bits);
  Arrays arrays((batch << map.bits()) * element_bytes, random);
  CountingMemory memory({});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  memory.run({.blocks = params.blocks(), .threads = 1U << thread_bits},
             [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
               move_element<element_bytes>(m, params, block, thread);
             });
  expect_permuted(map, element_bytes, arrays);
  EXPECT_TRUE(memory.output_complete());
  return memory.counts();
}

TEST(AffineNaiveKernel, AnyMapAnySize) {
  std::mt19937_64 random(kSeed);
  for (int n = 0; n <= 12; ++n) {
    for (const std::uint64_t batch : {1U, 2U, 3U, 5U}) {
      const Affine map = random_affine(n, random);
      SCOPED_TRACE(describe(map) + ", batch " + std::to_string(batch));
      run_naive<1>(map, batch, 5, random);
      run_naive<2>(map, batch, 3, random);
      run_naive<4>(map, batch, 8, random);
      run_naive<8>(map, batch, 6, random);
      run_naive<16>(map, batch, 0, random);
      if (HasFailure()) return;
    }
  }
}

TEST(AffineNaiveKernel, CostsASectorAnElement) {
  std::mt19937_64 random(kSeed);
  const AccessCounts counts = run_naive<4>(Affine(f2::reversal(12), 0), 1, 8, random);
  EXPECT_EQ(counts.global_loads.sectors, 4096U * 4 / 32);
  EXPECT_EQ(counts.global_stores.sectors, 4096U);  // lanes 2^7 elements apart
}

}  // namespace affine_tile_kernel_test
}  // namespace faro::kernels
