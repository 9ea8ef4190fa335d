// Kernel plans before they are text: bit moves, the published plan's hand-checked values, and plans run on
// real data under the counting memory.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "drawn.hpp"
#include "emit/bit_moves.hpp"
#include "emit_support.hpp"
#include "tell/published_class.hpp"

namespace faro::emit {
namespace emit_plan_test {

using f2::Matrix;
using f2::Word;

constexpr const char* kElementOf[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint4"};

// 32 x 32 elements, or as many columns as a bank row of 128 bytes holds.
TEST(PublishedClass, TilesFillABankRow) {
  for (const auto& [bytes, bits] : std::map<std::uint64_t, int>{
           {1, 5}, {2, 5}, {4, 5}, {8, 4}, {12, 3}, {16, 3}, {32, 2}, {128, 0}, {4096, 0}}) {
    EXPECT_EQ(published_tile_bits_of(bytes), bits) << bytes;
  }
}

// --- bit moves

std::vector<Word> columns_of(const Affine& map) {
  return {map.matrix().column_span().begin(), map.matrix().column_span().end()};
}

void expect_merged(const std::vector<Word>& columns, const std::string& what) {
  const BitMoves merged = merge(columns);
  const BitMoves plain = one_by_one(columns);
  const int n = static_cast<int>(columns.size());
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 256; ++trial) {
    const Word x = (n <= 8 ? static_cast<Word>(trial) : random()) & f2::low_mask(n);
    ASSERT_EQ(merged(x), f2::combine(columns.data(), x)) << what << ", x = " << x;
    ASSERT_EQ(plain(x), merged(x)) << what << ", x = " << x;
  }
  EXPECT_LE(merged.operations(), plain.operations()) << what;
}

TEST(BitMoves, MergedAndOneByOneAreTheMap) {
  for (int n = 1; n <= 40; ++n) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const Affine& map : {maps::random_bp(n, seed), maps::random_bmmc(n, seed), maps::gray(n),
                                maps::bit_reversal(n), maps::shuffle(n)}) {
        expect_merged(columns_of(map), to_text(map));
      }
    }
  }
}

// A cyclic shift is two moves; a transpose, too; a bit reversal has no two bits that move equally far.
TEST(BitMoves, EqualDistancesMoveTogether) {
  const BitMoves cyclic = merge(columns_of(maps::rotate_bits(5, -1)));
  EXPECT_EQ(cyclic.moves.size() + cyclic.selects.size(), 2U);
  EXPECT_EQ(merge(columns_of(map_of("transpose(4096, 1024)"))).moves.size(), 2U);
  EXPECT_EQ(merge(columns_of(maps::bit_reversal(15))).moves.size(), 15U);
  EXPECT_EQ(merge(columns_of(maps::gray(30))).moves.size(), 2U);
  EXPECT_EQ(merge(columns_of(Affine(20))).operations(), 1);
  EXPECT_TRUE(merge({}).moves.empty());
}

// The publication measured about half the instructions on average for its kernels, whose stitching moves
// whole runs of bits; here, of the three stitches that are not the map itself.
TEST(BitMoves, MergingHalvesTheStitching) {
  int merged = 0;
  int plain = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Options options;
    options.rung = Rung::tile;
    const KernelPlan kernel = plan_published(maps::random_bp(24, seed), find_element(options), options);
    for (const Form& form : {kernel.source, kernel.stored, kernel.loaded}) {
      for (const auto& columns : {form.thread, form.warp, form.block}) {
        merged += merge(columns).operations();
        plain += one_by_one(columns).operations();
      }
    }
  }
  EXPECT_LT(2 * merged, plain);
}

TEST(BitMoves, TermsNeedNoMaskWhereNoBitIsLost) {
  const std::vector<Word> shifted{f2::unit(5), f2::unit(6), f2::unit(7)};
  EXPECT_EQ(terms(merge(shifted), "x", "u"), std::vector<std::string>{"(x << 5)"});
  const std::vector<Word> split{f2::unit(5), f2::unit(6), f2::unit(9)};
  EXPECT_EQ(terms(merge(split), "x", "u"),
            (std::vector<std::string>{"((x & 0x3u) << 5)", "((x & 0x4u) << 7)"}));
  const std::vector<Word> down{0, 0, f2::unit(0)};
  EXPECT_EQ(terms(merge(down), "x", "ull"), std::vector<std::string>{"(x >> 2)"});
}

// --- the published plan: section 4.1's example, n = 10, n_tile = 5, n_over = 4

TEST(PublishedPlan, StitchesOfTheCyclicShift) {
  Options options;
  options.rung = Rung::banks;
  const Affine shift = maps::rotate_bits(10, -1);
  ASSERT_EQ(shift(0b0000000001), Word{0b1000000000});
  const KernelPlan plan = plan_published(shift, find_element(options), options);
  EXPECT_EQ(plan.thread_bits, 5);
  EXPECT_EQ(plan.warp_bits, 1);
  EXPECT_EQ(plan.block_bits, 4);
  EXPECT_EQ(plan.tile_bits, 6);
  const Place read{.block = 0b1100, .thread = 0b11010, .warp = 1, .iteration = 0, .component = 0};
  EXPECT_EQ(plan.source(read), Word{0b1100111010});
  EXPECT_EQ(plan.stored(read), Word{0b111010});
  const Place write{.block = 0b1011, .thread = 0b00110, .warp = 0, .iteration = 0, .component = 0};
  EXPECT_EQ(plan.origin(write), Word{0b1011001100});
  EXPECT_EQ(plan.loaded(write), Word{0b001100});
  EXPECT_EQ(plan.target(write), shift(0b1011001100));
}

// n_over = 0: row i of the tile is turned by i.
TEST(PublishedPlan, RowsOfBitReversalTurnByTheirNumber) {
  Options options;
  options.rung = Rung::banks;
  const KernelPlan plan = plan_published(maps::bit_reversal(15), find_element(options), options);
  for (std::uint32_t row = 0; row < 32; ++row) {
    for (std::uint32_t column = 0; column < 32; ++column) {
      ASSERT_EQ(plan.turn(row * 32 + column), row * 32 + (column + row) % 32);
    }
  }
}

TEST(PublishedPlan, LowestBlockBitsAreIterations) {
  Options options;
  options.rung = Rung::iters;
  const KernelPlan plan = plan_published(maps::bit_reversal(15), find_element(options), options);
  EXPECT_EQ(plan.source.iteration, (std::vector<Word>{1U << 5, 1U << 6, 1U << 7}));
  EXPECT_EQ(plan.target.iteration, (std::vector<Word>{1U << 9, 1U << 8, 1U << 7}));
  EXPECT_EQ(plan.shared_bytes(), 32768U);
  options.iteration_bits = 10;
  EXPECT_EQ(plan_published(maps::bit_reversal(15), find_element(options), options).iteration_bits, 5);
}

TEST(TwoPass, FactorsAreTiledForEverySegment) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Affine map = maps::random_bmmc(24, seed);
    Options options;
    options.rung = Rung::two_pass;
    const auto plans = plan_kernels(map, find_element(options), options);
    ASSERT_EQ(plans.size(), 2U);
    EXPECT_EQ(compose(plans[1].map, plans[0].map), map);
    for (const KernelPlan& plan : plans) {
      for (int t = 0; t <= 24; ++t) EXPECT_NE(plan.map.classify(t), AffineClass::bmmc) << to_text(plan.map);
    }
  }
}

// --- plans on real data

// Moves bytes 0, 1, 2 … by the plan's phases and returns what came out.
std::vector<std::byte> moved(const KernelPlan& plan, const std::vector<std::byte>& in,
                             machine::AccessCounts& counts) {
  std::vector<std::byte> out(in.size(), std::byte{0xee});
  machine::CountingMemory memory(
      {.shared_bytes = static_cast<std::size_t>(plan.shared_bytes()), .geometry = {}});
  memory.add_input(in);
  memory.add_output(out);
  run(memory, plan, std::uint64_t{1} << plan.block_bits);
  EXPECT_TRUE(memory.output_complete());
  counts = memory.counts();
  return out;
}

using test::random_bytes;

// Every kernel of the plan, whole, against out[pi(x)] = in[x] and against its prediction.
void expect_right(const Affine& map, const Options& options) {
  const std::string what = command_of(map, options);
  SCOPED_TRACE(what);
  const ElementType& element = find_element(options);
  const auto bytes = static_cast<std::size_t>(element.bytes);
  const std::vector<std::byte> in = random_bytes(bytes << map.bits(), 1);
  std::vector<std::byte> out = in;
  for (const KernelPlan& plan : plan_kernels(map, element, options)) {
    machine::AccessCounts counts;
    out = moved(plan, out, counts);
    ASSERT_EQ(counts, predict(plan)) << what;
  }
  for (Word x = 0; x < Word{1} << map.bits(); ++x) {
    ASSERT_EQ(std::memcmp(&out[map(x) * bytes], &in[x * bytes], bytes), 0) << what << ", x = " << x;
  }
}

TEST(Plans, EveryRungMovesEveryKindOfMapAsPredicted) {
  std::set<std::string> done;
  for (const int n : {0, 1, 2, 5, 9, 11}) {
    for (const Affine& map :
         {maps::bit_reversal(n), maps::random_bpc(n, 3), maps::gray(n), maps::random_bmmc(n, 5), Affine(n)}) {
      for (const Rung rung : kRungs) {
        for (const char* const element : kElementOf) {
          Options options;
          options.rung = rung;
          options.element = element;
          options.iteration_bits = 2;
          if (!can_do(map, options)) continue;
          expect_right(map, options);
          done.insert(name(rung) + std::string(" ") + element);
        }
      }
    }
  }
  EXPECT_EQ(done.size(), std::size(kRungs) * std::size(kElementOf));
}

TEST(Plans, OtherSizesOfTiles) {
  for (const Rung rung : {Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass}) {
    for (const int tile_bits : {1, 2, 3, 4, 6}) {
      Options options;
      options.rung = rung;
      options.tile_bits = tile_bits;
      for (const int iteration_bits : {0, 1, 5}) {
        options.iteration_bits = iteration_bits;
        if (rung != Rung::iters && iteration_bits != 0) continue;
        const Affine map = maps::random_bpc(10, static_cast<std::uint64_t>(tile_bits));
        if (can_do(map, options)) expect_right(map, options);
      }
    }
  }
}

// However the rows lie and however long they are, no two lanes meet in a bank.
TEST(Plans, TurnedRowsAreFreeOfConflicts) {
  std::vector<int> bits{0, 1, 2, 3, 4, 5, 6, 7};
  std::mt19937 random(5);
  for (const char* const element : kElementOf) {
    for (int trial = 0; trial < 200; ++trial) {
      std::shuffle(bits.begin(), bits.end(), random);
      std::vector<Word> columns;
      for (const int bit : bits) columns.push_back(f2::unit(bit));
      columns.push_back(f2::unit(8));
      const Affine map(Matrix::from_columns(9, columns), 0);
      Options options;
      options.rung = Rung::banks;
      options.element = element;
      options.tile_bits = trial % 9;
      if (!can_do(map, options)) continue;
      const auto counts = predict(plan_published(map, find_element(options), options));
      ASSERT_EQ(counts.shared_loads.max_congestion(), 1) << command_of(map, options);
      ASSERT_EQ(counts.shared_stores.max_congestion(), 1) << command_of(map, options);
    }
  }
}

// The law of each rung's traffic, at a size that only virtual buffers hold.
TEST(Plans, TrafficIsTheRungs) {
  const auto counts_of = [](const std::string& spec, Rung rung) {
    Options options;
    options.rung = rung;
    return predict(plan_kernels(map_of(spec), find_element(options), options).back());
  };
  constexpr std::uint64_t least = std::uint64_t{1} << (30 - 3);  // sectors of 2^30 elements of 4 bytes
  const auto naive = counts_of("bit_reversal(30)", Rung::naive);
  EXPECT_EQ(naive.global_loads.sectors, least);
  EXPECT_EQ(naive.global_stores.sectors, 8 * least);
  const auto tile = counts_of("bit_reversal(30)", Rung::tile);
  EXPECT_EQ(tile.global_stores.sectors, least);
  EXPECT_EQ(tile.shared_loads.max_congestion(), 32);
  EXPECT_EQ(counts_of("bit_reversal(30)", Rung::banks).shared_loads.max_congestion(), 1);
  for (const Rung rung : {Rung::iters, Rung::two_pass, Rung::one_pass}) {
    const auto counts = counts_of(rung == Rung::iters ? "random_bpc(30, 1)" : "random_bmmc(30, 1)", rung);
    EXPECT_EQ(counts.global_loads.sectors, least) << name(rung);
    EXPECT_EQ(counts.global_stores.sectors, least) << name(rung);
    EXPECT_EQ(counts.shared_loads.max_congestion(), 1) << name(rung);
    EXPECT_EQ(counts.shared_stores.max_congestion(), 1) << name(rung);
  }
}

}  // namespace emit_plan_test
}  // namespace faro::emit
