// layout::factor_in_place beyond the smallest sizes: examples by hand, laws at up to 40 bits, maps that were
// made to be hard, what is refused, and the time that it takes.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "in_place_support.hpp"
#include "plan_support.hpp"
#include "processor_time.hpp"
#include "refusal.hpp"

namespace faro::layout {
namespace in_place_factor_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr std::uint64_t kSeed = 7;

Affine product(int n, const std::vector<InPlaceFactor>& factors) {
  Affine result(n);
  for (const InPlaceFactor& factor : factors) result = compose(factor.map, result);
  return result;
}

int held_bits(const InPlaceFactor& factor) {
  int bits = factor.space.dimension();
  while ((std::uint64_t{1} << (bits - factor.space.dimension())) < factor.orbit_tiles) ++bits;
  return bits;
}

// `orbit_tiles` steps bring every coset of the space back.
void expect_orbits(const InPlaceFactor& factor) {
  const Affine round = factor.map.power(static_cast<std::int64_t>(factor.orbit_tiles));
  EXPECT_TRUE(factor.space.contains(round.complement()));
  for (int j = 0; j < round.bits(); ++j) {
    EXPECT_TRUE(factor.space.contains(round.matrix().column(j) ^ f2::unit(j)));
  }
}

std::vector<InPlaceFactor> expect_laws(const Affine& map, const InPlaceOptions& options) {
  SCOPED_TRACE(describe(map, options));
  std::vector<InPlaceFactor> factors = factor_in_place(map, options);
  EXPECT_EQ(product(map.bits(), factors), map);
  for (const InPlaceFactor& factor : factors) {
    EXPECT_EQ(f2::image(factor.map.matrix(), factor.space), factor.space);
    EXPECT_TRUE(factor.space.contains(Subspace::low(map.bits(), options.segment_bits)));
    EXPECT_LE(held_bits(factor), options.capacity_bits);
    EXPECT_LE(factor.space.dimension(), options.tile_bits_max);
    EXPECT_LE(factor.orbit_tiles, options.max_orbit_tiles);
    expect_orbits(factor);
  }
  return factors;
}

// The low s bits stay, and no other bit depends on them.
void expect_whole_segments(const Affine& map, int s) {
  const Word low = f2::low_mask(s);
  EXPECT_EQ(map.complement() & low, 0U);
  for (int j = 0; j < map.bits(); ++j) {
    EXPECT_EQ(map.matrix().column(j) & (j < s ? ~Word{0} : low), f2::unit(j) & low);
  }
}

TEST(InPlaceFactor, OrderThreeInOnePassOrTwoSwaps) {
  const std::vector<Word> columns = {0b10, 0b11};
  const Affine map(Matrix::from_columns(2, columns), 0);  // 01 -> 10 -> 11 -> 01
  const auto one = expect_laws(map, {.segment_bits = 0, .capacity_bits = 2});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].orbit_tiles, 3U);
  EXPECT_EQ(one[0].space.dimension(), 0);
  const auto two = expect_laws(map, {.segment_bits = 0, .capacity_bits = 1});
  ASSERT_EQ(two.size(), 2U);
  for (const InPlaceFactor& factor : two) {
    EXPECT_TRUE(factor.map.is_involution());
    EXPECT_EQ(factor.space.dimension(), 0);
  }
}

// The perfect shuffle of 16: bits 3 and 1 change places, which moves whole segments of two; then 3 and 2, 1
// and 0, within tiles of four.
TEST(InPlaceFactor, RotatingFourBits) {
  const auto factors = expect_laws(maps::shuffle(4), {.segment_bits = 1, .capacity_bits = 3});
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_EQ(factors[0].map, maps::swap_bits(4, 1, 3));
  EXPECT_EQ(factors[0].space, Subspace::low(4, 1));
  EXPECT_EQ(factors[0].orbit_tiles, 2U);
  EXPECT_EQ(factors[1].map, compose(maps::swap_bits(4, 2, 3), maps::swap_bits(4, 0, 1)));
  EXPECT_EQ(factors[1].space, Subspace::low(4, 2));
  EXPECT_EQ(factors[1].orbit_tiles, 2U);
}

TEST(InPlaceFactor, InvolutionsTakeOnePass) {
  const int n = 20;
  const int s = 6;
  Matrix cnot = Matrix::identity(n);
  cnot.set_column(3, f2::unit(3) | f2::unit(17));
  const struct {
    const char* what;
    Affine map;
    int dimension;
    std::uint64_t orbit;
  } cases[] = {
      {"bit reversal", maps::bit_reversal(n), 12, 2},
      {"a square transpose", maps::transpose(1024, 1024), 12, 2},
      {"array reversal", maps::reverse(n), 6, 2},
      {"X on a low bit", maps::xor_mask(n, 1), 6, 1},
      {"X on a high bit", maps::xor_mask(n, f2::unit(15)), 6, 2},
      {"a swap of high bits", maps::swap_bits(n, 10, 19), 6, 2},
      {"a swap across", maps::swap_bits(n, 2, 19), 7, 1},
      {"CNOT from a low bit to a high one", {cnot, 0}, 7, 1},
  };
  for (const auto& [what, map, dimension, orbit] : cases) {
    SCOPED_TRACE(what);
    const auto factors = expect_laws(map, {.segment_bits = s, .capacity_bits = 13});
    ASSERT_EQ(factors.size(), 1U);
    EXPECT_EQ(factors[0].space.dimension(), dimension);
    EXPECT_EQ(factors[0].orbit_tiles, orbit);
  }
}

TEST(InPlaceFactor, NothingForTheIdentityWhateverTheCapacity) {
  for (const int n : {0, 1, 5, 40}) EXPECT_TRUE(factor_in_place(Affine(n), {.segment_bits = n}).empty());
}

// 2^13 elements with segments of 2^6 hold two tiles of every map: the first pass moves whole segments.
TEST(InPlaceFactor, RandomMapsAreTwoPasses) {
  std::mt19937_64 random(kSeed);
  for (const int n : {30, 34, 40, 63}) {
    for (int trial = 0; trial < 20; ++trial) {
      for (const Affine& map : {random_affine(n, random), random_bit_permutation(n, random)}) {
        const auto factors = expect_laws(map, {.segment_bits = 6, .capacity_bits = 13});
        ASSERT_EQ(factors.size(), 2U);
        EXPECT_EQ(factors[0].space, Subspace::low(n, 6));
        EXPECT_LE(factors[1].space.dimension(), 6 + map.rank_gamma(6));
        expect_whole_segments(factors[0].map, 6);
      }
    }
  }
}

TEST(InPlaceFactor, LawsForManyMapsSegmentsAndCapacities) {
  std::mt19937_64 random(kSeed);
  std::set<std::size_t> passes;
  for (int trial = 0; trial < 600; ++trial) {
    const int n = 2 + trial % 29;
    const int s = static_cast<int>(random() % static_cast<std::uint64_t>(std::min(n, 8)));
    const int m = s + 1 + static_cast<int>(random() % static_cast<std::uint64_t>(std::min(8, n - s)));
    const Affine maps[] = {random_affine(n, random), random_bit_permutation(n, random),
                           random_sparse(n, 1 + trial % 12, random)};
    for (const std::uint64_t orbit : {1U, 2U, 5U, 64U}) {
      for (const Affine& map : maps) {
        // A tile of half of what a block holds, or of all of it.
        const int tile_bits = trial % 2 == 0 ? m : std::max(s + 1, m - 1);
        const auto factors = expect_laws(
            map,
            {.segment_bits = s, .capacity_bits = m, .max_orbit_tiles = orbit, .tile_bits_max = tile_bits});
        if (::testing::Test::HasFailure()) return;
        passes.insert(factors.size());
      }
    }
  }
  for (const std::size_t count : {1U, 2U, 3U, 5U, 8U}) EXPECT_TRUE(passes.contains(count)) << count;
}

// As the kernels would: random maps of up to 12 bits, literally, one after another on one array.
TEST(InPlaceFactor, CarriedOutLiterally) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 5 + trial % 8;
    const int s = trial % 5;
    const int m = s + 1 + static_cast<int>(random() % 6);
    for (const Affine& map : {random_affine(n, random), random_bit_permutation(n, random),
                              random_sparse(n, 1 + trial % 5, random)}) {
      for (const std::uint64_t orbit : {1U, 2U, 64U}) {
        const InPlaceOptions options = {.segment_bits = s, .capacity_bits = m, .max_orbit_tiles = orbit};
        const auto wrong = run_literally(map, factor_in_place(map, options), options);
        ASSERT_FALSE(wrong) << *wrong << ": " << describe(map, options);
      }
    }
  }
}

// Segments and tiles of the sizes that kernels have; blocks without reciprocals on top of chains.
TEST(InPlaceFactor, LargeTilesLiterally) {
  std::mt19937_64 random(kSeed);
  const InPlaceOptions options = {.segment_bits = 6, .capacity_bits = 13, .max_orbit_tiles = 2};
  for (const Affine& map : {random_affine(17, random), random_bit_permutation(17, random)}) {
    const auto factors = factor_in_place(map, options);
    EXPECT_EQ(factors.size(), 2U);
    const auto wrong = run_literally(map, factors, options);
    ASSERT_FALSE(wrong) << *wrong << ": " << describe(map, options);
  }
  for (int trial = 0; trial < 4; ++trial) {
    const Affine hard = direct_sum(maps::shuffle(4), companions({0b1011, 0b1011, 0b1011, 0b1101}));
    const Affine change = direct_sum(Affine(2), random_affine(14, random));
    const Affine map = compose(change, compose(hard, change.inverse()));
    const InPlaceOptions tight = {.segment_bits = 2, .capacity_bits = 5 - trial % 3, .max_orbit_tiles = 6};
    const auto wrong = run_literally(map, factor_in_place(map, tight), tight);
    ASSERT_FALSE(wrong) << *wrong << ": " << describe(map, tight);
  }
}

// Blocks of x^3 + x + 1, which is not its own reciprocal, x^3 + x^2 + 1: none has a partner, and each costs a
// dimension. No segment meets them; their orbits are of 7.
TEST(InPlaceFactor, EightBlocksWithoutReciprocals) {
  std::mt19937_64 random(kSeed);
  const Affine blocks = companions(std::vector<Word>(8, 0b1011));
  for (const bool shuffled : {false, true}) {
    const Affine map = shuffled ? shuffled_basis(blocks, random) : blocks;
    const auto one = expect_laws(map, {.segment_bits = 0, .capacity_bits = 3});
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].orbit_tiles, 7U);
    // Four dimensions each, and two tiles.
    const auto two = expect_laws(map, {.segment_bits = 0, .capacity_bits = 5, .max_orbit_tiles = 6});
    ASSERT_EQ(two.size(), 2U);
    EXPECT_LE(two[0].space.dimension(), 4);
    EXPECT_LE(two[1].space.dimension(), 4);
    // No room for that: single tiles, 24 dimensions by 4.
    const auto many = expect_laws(map, {.segment_bits = 0, .capacity_bits = 4, .max_orbit_tiles = 6});
    EXPECT_EQ(many.size(), 6U);
  }
}

// The same on top of chains that end in the segments: 30 bits.
TEST(InPlaceFactor, BlocksWithoutReciprocalsAndChains) {
  std::mt19937_64 random(kSeed);
  const int s = 3;
  Affine map = random_affine(6, random);
  while (map.rank_gamma(s) != 3) map = random_affine(6, random);
  map = direct_sum(map, companions(std::vector<Word>(8, 0b1011)));
  // One dimension of the low bits added to a high bit everywhere: mixed, the segments as they are.
  const Affine change = direct_sum(Affine(s), random_affine(27, random));
  map = compose(change, compose(map, change.inverse()));
  // Orbits are of 7 at least. r = 3, and 8 leftovers: 3 + 6 and 3 + 3 + 2 dimensions.
  const auto factors = expect_laws(map, {.segment_bits = s, .capacity_bits = 10, .max_orbit_tiles = 6});
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_LE(factors[0].space.dimension(), 9);
  EXPECT_LE(factors[1].space.dimension(), 9);
  // One less: single tiles.
  EXPECT_EQ(expect_laws(map, {.segment_bits = s, .capacity_bits = 9, .max_orbit_tiles = 6}).size(), 5U);
}

// A block and its reciprocal cost nothing.
TEST(InPlaceFactor, ReciprocalPairs) {
  std::mt19937_64 random(kSeed);
  const Affine map = companions({0b1011, 0b1011, 0b1101, 0b1011, 0b1101, 0b1101});
  for (const Affine& m : {map, shuffled_basis(map, random)}) {
    const auto factors = expect_laws(m, {.segment_bits = 0, .capacity_bits = 1, .max_orbit_tiles = 2});
    ASSERT_EQ(factors.size(), 2U);
    for (const InPlaceFactor& factor : factors) EXPECT_TRUE(factor.map.is_involution());
  }
}

TEST(InPlaceFactor, RefusesWhatNoTheoremCanDo) {
  const Affine reversal(f2::reversal(8), 0);
  const auto refused = [](const Affine& map, const InPlaceOptions& options) {
    SCOPED_TRACE(describe(map, options));
    return test::report_of([&] { factor_in_place(map, options); });
  };
  ErrorReport report = refused(reversal, {.segment_bits = 3, .capacity_bits = 3});
  EXPECT_EQ(report.code, ErrorCode::unsupported);
  EXPECT_EQ(report.got, "room for 2^3 elements a block, with segments of 2^3");
  EXPECT_EQ(report.wanted, "room for at least 2^4");
  EXPECT_EQ(report.remedy, "use shorter segments");
  EXPECT_EQ(factor_in_place(reversal, {.segment_bits = 3, .capacity_bits = 4}).size(), 4U);
  // Nothing leaves its segment: the segment itself must fit.
  const Affine inside(Matrix::identity(8), 0b101);
  EXPECT_EQ(refused(inside, {.segment_bits = 3, .capacity_bits = 2}).wanted, "room for at least 2^3");
  EXPECT_EQ(factor_in_place(inside, {.segment_bits = 3, .capacity_bits = 3}).size(), 1U);
  report = refused(reversal, {.segment_bits = 3, .capacity_bits = 9, .tile_bits_max = 3});
  EXPECT_EQ(report.code, ErrorCode::unsupported);
  EXPECT_EQ(refused(reversal, {.segment_bits = 9, .capacity_bits = 12}).code, ErrorCode::value);
  EXPECT_EQ(refused(reversal, {.segment_bits = -1, .capacity_bits = 12}).code, ErrorCode::value);
  EXPECT_EQ(refused(reversal, {.segment_bits = 1, .capacity_bits = -5}).code, ErrorCode::unsupported);
  EXPECT_EQ(refused(reversal, {.segment_bits = 1, .capacity_bits = 12, .max_orbit_tiles = 0}).code,
            ErrorCode::value);
  EXPECT_EQ(refused(Affine(f2::reversal(64), 0), {.segment_bits = 1, .capacity_bits = 12}).code,
            ErrorCode::unsupported);
}

TEST(InPlaceFactor, TakesNoTimeAt34Bits) {
  std::mt19937_64 random(kSeed);
  double slowest_ms = 0;  // of the least of three runs each
  for (int trial = 0; trial < 20; ++trial) {
    for (const Affine& map :
         {random_affine(34, random), random_bit_permutation(34, random), random_sparse(34, 20, random)}) {
      const double took_ms = faro::testing::least_processor_ms(
          3, [&] { factor_in_place(map, {.segment_bits = 6, .capacity_bits = 13}); });
      slowest_ms = std::max(slowest_ms, took_ms);
    }
  }
  RecordProperty("slowest_ms", std::to_string(slowest_ms));
  if (faro::testing::kTimed) {
    EXPECT_LT(slowest_ms, 20 * faro::testing::kOnABusyMachine)
        << "of which planning is to take no more, all told";
  }
}

}  // namespace in_place_factor_test
}  // namespace faro::layout
