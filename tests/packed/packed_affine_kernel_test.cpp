// The kernel for affine maps of packed elements: against the definition, bit for bit; every access counted.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "affine_kernel_support.hpp"
#include "kernels/packed_affine_params.hpp"

namespace faro::kernels {
namespace packed_affine_kernel_test {

using machine::CountingMemory;

std::uint32_t element_of(std::span<const std::byte> array, std::uint64_t x, int bits) {
  const std::uint64_t bit = x * static_cast<std::uint64_t>(bits);
  const auto byte = static_cast<unsigned>(array[bit / 8]);
  return byte >> bit % 8 & ((1U << bits) - 1);
}

void expect_elements_permuted(const Affine& map, int bits, Arrays& arrays) {
  const std::uint64_t count = arrays.in.size() * 8 / static_cast<std::uint64_t>(bits);
  const std::uint64_t array = std::uint64_t{1} << map.bits();
  for (std::uint64_t x = 0; x < count; ++x) {
    const std::uint64_t y = x / array * array + map(x % array);
    ASSERT_EQ(element_of(arrays.in, x, bits), element_of(arrays.output(), y, bits)) << "element " << x;
  }
  expect_guards(arrays);
}

struct Tally {
  int runs = 0;
  int turned = 0;   // of maps for which places change inside words
  int sheared = 0;  // and bits between words
  int plain = 0;    // only transposed
  int all_steps = 0;
  int conflicts = 0;
  int unfit = 0;  // of those that have no squares
};

template <PackedAffineShape shape>
void run_packed(const Affine& map, std::uint64_t batch, std::mt19937_64& random, Tally& tally) {
  static_assert(is_valid(shape));
  if (!fits(map, shape)) {
    ++tally.unfit;
    return;
  }
  constexpr int bits = 32 >> shape.word_index_bits;
  const PackedAffineParams params = make_packed_affine_params(map, shape, batch);
  const std::uint64_t bytes = (batch << map.bits()) * bits / 8;
  Arrays arrays(bytes, random);
  CountingMemory memory({.shared_bytes = static_cast<std::size_t>(shape.words.tile_bytes())});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  const CountingMemory::Launch launch{.blocks = params.tile.blocks(),
                                      .threads = static_cast<std::uint32_t>(shape.words.threads())};
  if constexpr (shape.has_squares()) {
    const auto run = [&]<SquareSteps steps>() {
      memory.run(
          launch,
          [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
            first_of_squares<shape, steps>(m, params, block, thread);
          },
          [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
            second_of_squares<shape, steps>(m, params, block, thread);
          });
    };
    if (params.steps == SquareSteps::transpose) run.template operator()<SquareSteps::transpose>();
    if (params.steps == SquareSteps::asked) run.template operator()<SquareSteps::asked>();
    if (params.steps == SquareSteps::all) run.template operator()<SquareSteps::all>();
    tally.all_steps += params.steps == SquareSteps::all ? 1 : 0;
  } else {
    memory.run(
        launch,
        [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
          load_tile<shape.words>(m, params.tile, block, thread);
        },
        [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
          exchange_words<shape>(m, params, block, thread);
        },
        [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
          store_tile<shape.words>(m, params.tile, block, thread);
        });
  }
  expect_elements_permuted(map, bits, arrays);
  ASSERT_TRUE(memory.output_complete());
  // Each byte once over the bus in whole segments, and twice through shared memory, by squares once.
  constexpr std::uint64_t trips = shape.has_squares() ? 1 : 2;
  const machine::AccessCounts& counts = memory.counts();
  const ExchangeCongestion predicted = predicted_exchange_congestion(params, shape);
  ASSERT_EQ(counts.shared_loads.max_congestion(), predicted.loads);
  ASSERT_EQ(counts.shared_stores.max_congestion(), predicted.stores);
  ASSERT_EQ(counts.shared_loads.bytes, trips * bytes);
  ASSERT_EQ(counts.shared_stores.bytes, trips * bytes);
  const int segment_bytes = 4 << shape.words.segment_bits;
  for (const machine::GlobalCounts* global : {&counts.global_loads, &counts.global_stores}) {
    ASSERT_EQ(global->bytes, bytes);
    if (segment_bytes >= 32) {
      ASSERT_EQ(global->sectors, bytes / 32);
    }
  }
  ++tally.runs;
  const auto any = [](const std::uint32_t(&masks)[kMostWordIndexBits]) {
    return std::any_of(std::begin(masks), std::end(masks), [](std::uint32_t mask) { return mask != 0; });
  };
  const bool turned = any(params.exchange.turned);
  const bool sheared = any(params.exchange.before) || any(params.exchange.after);
  tally.turned += turned ? 1 : 0;
  tally.sheared += sheared ? 1 : 0;
  tally.plain += turned || sheared ? 0 : 1;
  tally.conflicts += predicted.loads > 1 || predicted.stores > 1 ? 1 : 0;
}

// q, width, s, r, v, threads
template <PackedAffineShape... shapes>
struct PackedShapes {
  template <typename F>
  static void for_each(F&& f) {
    (f.template operator()<shapes>(), ...);
  }
};
using AllShapes =
    PackedShapes<kPackedTiles[0].shape, kPackedTiles[1].shape, kPackedTiles[2].shape, kPackedTiles[3].shape,
                 kPackedTiles[4].shape, kPackedTiles[5].shape, kPackedTiles[6].shape, kPackedTiles[7].shape,
                 kPackedTiles[8].shape, kPackedTiles[9].shape, kPackedTiles[10].shape, kPackedTiles[11].shape,
                 PackedAffineShape{5, {2, 3, 8, 2, 6}}, PackedAffineShape{3, {2, 3, 6, 2, 5}},
                 PackedAffineShape{4, {2, 3, 7, 2, 8}},
                 PackedAffineShape{5, {2, 3, 8, 1, 5}, PackedSquares::loaded},
                 PackedAffineShape{4, {2, 3, 7, 2, 4}, PackedSquares::loaded},
                 PackedAffineShape{3, {2, 3, 6, 2, 4}, PackedSquares::loaded},
                 PackedAffineShape{3, {2, 3, 6, 1, 5}, PackedSquares::loaded},
                 PackedAffineShape{5, {2, 3, 8, 1, 5}, PackedSquares::stored},
                 PackedAffineShape{4, {2, 3, 7, 2, 4}, PackedSquares::stored},
                 PackedAffineShape{3, {2, 3, 6, 2, 4}, PackedSquares::stored}>;

TEST(PackedAffine, MapsOfEveryKindAndShape) {
  std::mt19937_64 random(kSeed);
  AllShapes::for_each([&]<PackedAffineShape shape>() {
    Tally tally;
    const int least = element_tile_bits(shape);
    for (int trial = 0; trial < (least > 14 ? 12 : 40); ++trial) {
      const int n = least + trial % 3;
      const Affine map = trial % 3 == 0   ? random_affine(n, random)
                         : trial % 3 == 1 ? random_bpc(n, random)
                                          : Affine(f2::reversal(n), random() & f2::low_mask(n));
      run_packed<shape>(map, least > 14 ? 1 : 1 + random() % 3, random, tally);
      if (::testing::Test::HasFailure()) FAIL() << describe(map) << ", seed " << kSeed;
    }
    EXPECT_GT(tally.turned, 0);
    EXPECT_GT(tally.sheared, 0);
    EXPECT_LE(tally.unfit, shape.has_squares() ? tally.runs / 2 : 0);
    RecordProperty("conflicts", tally.conflicts);
    if (shape.has_squares()) {
      EXPECT_GT(tally.all_steps, 0);
      EXPECT_LT(tally.all_steps, tally.runs);
      EXPECT_EQ(tally.conflicts, 0);
    }
  });
}

// Maps of the low bits alone, whose words stay, and of bits in words with others.
TEST(PackedAffine, MapsInsideOfWordsAndAround) {
  std::mt19937_64 random(kSeed + 1);
  constexpr PackedAffineShape nibbles{3, {2, 3, 6, 2, 5}};
  constexpr PackedAffineShape bits{5, {2, 2, 7, 2, 7}};
  Tally of_nibbles;
  Tally of_bits;
  for (int trial = 0; trial < 40; ++trial) {
    for (int low = 0; low <= 9; ++low) {
      const Affine inner = trial % 2 == 0 ? random_affine(low, random) : random_bpc(low, random);
      run_packed<nibbles>(direct_sum(inner, random_affine(13 - low, random)), 1, random, of_nibbles);
      run_packed<bits>(direct_sum(inner, random_affine(15 - low, random)), 1, random, of_bits);
      if (HasFailure()) FAIL() << describe(inner) << ", seed " << kSeed + 1;
    }
  }
  EXPECT_GT(of_nibbles.turned, 100);
  EXPECT_GT(of_bits.turned, 100);
}

TEST(PackedAffine, TransposesNeedNoMoreThanSquares) {
  std::mt19937_64 random(kSeed + 2);
  Tally tally;
  run_packed<kPackedTiles[9].shape>(maps::transpose(1 << 8, 1 << 8), 1, random, tally);
  run_packed<kPackedTiles[11].shape>(maps::transpose(1 << 6, 1 << 7), 2, random, tally);
  run_packed<kPackedTiles[0].shape>(maps::transpose(1 << 10, 1 << 10), 1, random, tally);
  run_packed<kPackedTiles[1].shape>(maps::transpose(1 << 9, 1 << 10), 1, random, tally);
  run_packed<kPackedTiles[2].shape>(maps::transpose(1 << 8, 1 << 9), 1, random, tally);
  EXPECT_EQ(tally.unfit, 0);
  EXPECT_EQ(tally.plain, 5);
  EXPECT_EQ(tally.conflicts, 0);
}

// All 720 orders of 6 index bits with all constants, of each width: what they do inside words and around.
TEST(PackedAffine, EveryOrderOfSixIndexBits) {
  std::mt19937_64 random(kSeed + 3);
  Tally tally;
  std::vector<int> order{0, 1, 2, 3, 4, 5};
  do {
    f2::Matrix matrix = f2::Matrix::identity(6);
    for (int i = 0; i < 6; ++i) matrix.set_column(i, f2::unit(order[static_cast<std::size_t>(i)]));
    const Affine inner(matrix, random() & 63);
    run_packed<kPackedTiles[11].shape>(direct_sum(inner, Affine(4)), 1, random, tally);
    run_packed<kPackedTiles[10].shape>(direct_sum(inner, Affine(6)), 1, random, tally);
    run_packed<kPackedTiles[9].shape>(direct_sum(inner, Affine(8)), 1, random, tally);
    if (HasFailure()) FAIL() << describe(inner);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(tally.runs, 3 * 720);
}

// Words of two and of four elements, of which there are maps enough to take all: 168 of GL(3, 2) of 16 bits,
// 20160 of GL(4, 2) of bytes, the last on the bits in two words and around.
TEST(PackedAffine, EveryLinearMapOfFourIndexBits) {
  std::mt19937_64 random(kSeed + 4);
  constexpr PackedAffineShape bytes{2, {2, 2, 4, 2, 3}};
  Tally tally;
  for (f2::Word code = 0; code < f2::Word{1} << 16; ++code) {
    const std::vector<f2::Word> columns = {code & 15, code >> 4 & 15, code >> 8 & 15, code >> 12};
    const f2::Matrix matrix = f2::Matrix::from_columns(4, columns);
    if (matrix.rank() < 4) continue;
    // The bits change places with those of the tile's rows, too.
    const Affine map = direct_sum(Affine(matrix, random() & 15), Affine(4));
    run_packed<bytes>(tally.runs % 2 == 0 ? map : compose(Affine(f2::reversal(8), 0), map), 1, random, tally);
    if (HasFailure()) FAIL() << describe(map);
  }
  EXPECT_EQ(tally.runs, 20160);
  EXPECT_GT(tally.turned, 1000);
}

// The tiles of one and the next few blocks hold 256 bytes of both sides, whole.
TEST(PackedAffine, NearTilesMakeLinesOfBothSides) {
  std::mt19937_64 random(kSeed + 5);
  for (const std::size_t index : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const PackedAffineShape& shape = kPackedTiles[index].shape;
    const int near = shape.word_index_bits + 6;
    for (const Affine& map : {maps::bit_reversal(24), random_affine(24, random), random_bpc(25, random)}) {
      const layout::Tile tile = make_packed_tile(map, shape);
      f2::Subspace held = f2::Subspace::low(map.bits(), tile.segment_bits);
      for (const f2::Word row : tile.source_rows) held.insert(row);
      for (int k = 0; k < 2 * (near - tile.segment_bits); ++k)
        held.insert(tile.block_sources[static_cast<std::size_t>(k)]);
      for (int i = 0; i < near; ++i) {
        EXPECT_TRUE(held.contains(f2::unit(i))) << describe(map);
        EXPECT_TRUE(held.contains(map.inverse_matrix().column(i))) << describe(map);
      }
    }
  }
}

TEST(PackedAffine, RefusesWhatDoesNotFit) {
  EXPECT_EQ(code_of([] { make_packed_affine_params(Affine(18), kPackedTiles[0].shape, 1); }),
            ErrorCode::unsupported);
  EXPECT_EQ(code_of([] { make_packed_affine_params(Affine(20), kPackedTiles[0].shape, 0); }),
            ErrorCode::value);
}

}  // namespace packed_affine_kernel_test
}  // namespace faro::kernels
