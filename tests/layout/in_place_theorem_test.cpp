// The steps of theorems 3, 4 and 5, each held to its law.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "f2/polynomial.hpp"
#include "faro/error.hpp"
#include "in_place_support.hpp"
#include "layout/in_place_space.hpp"
#include "layout/reflections.hpp"

namespace faro::layout::detail {
namespace in_place_theorem_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr std::uint64_t kSeed = 5;

// --- theorem 3 ---

std::uint64_t longest_orbit_by_walking(const Affine& map, const Subspace& space) {
  std::uint64_t longest = 0;
  for (Word x = 0; x < f2::unit(map.bits()); ++x) {
    std::uint64_t steps = 1;
    for (Word y = map(x); !space.contains(x ^ y); y = map(y)) ++steps;
    longest = std::max(longest, steps);
  }
  return longest;
}

TEST(TheoremThree, TheLongestOrbitIsTheOrder) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 1 + trial % 8;
    const Affine map = trial % 2 == 0 || n < 2 ? random_affine(n, random) : random_sparse(n, 3, random);
    Subspace seed(n);
    if (trial % 3 != 0) seed.insert(random() & f2::low_mask(n));
    const Subspace space = kept_space(map.matrix(), seed);
    EXPECT_EQ(f2::image(map.matrix(), space), space);
    const std::uint64_t longest = longest_orbit_by_walking(map, space);
    EXPECT_EQ(longest_orbit(map, space, 256), longest);
    EXPECT_EQ(longest_orbit(map, space, longest - 1), std::nullopt);
  }
}

TEST(TheoremThree, NoBlockNeedsLess) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 2 + trial % 7;
    const int s = trial % std::min(n, 4);
    const Affine map = trial % 2 == 0 ? random_affine(n, random) : random_sparse(n, 4, random);
    const InPlaceFactor factor = smallest_space(map, {.segment_bits = s, .max_orbit_tiles = 512});
    EXPECT_EQ(factor.orbit_tiles << factor.space.dimension(), largest_component(map, s));
    EXPECT_EQ(longest_orbit_by_walking(map, factor.space), factor.orbit_tiles);
    // Fewer tiles allowed: the least space for which so many suffice.
    for (const std::uint64_t most : {1U, 2U, 3U}) {
      const InPlaceFactor few = smallest_space(map, {.segment_bits = s, .max_orbit_tiles = most});
      EXPECT_LE(few.orbit_tiles, most);
      EXPECT_GE(few.orbit_tiles << few.space.dimension(), largest_component(map, s));
      EXPECT_EQ(longest_orbit_by_walking(map, few.space), few.orbit_tiles);
    }
  }
}

// --- theorem 4 ---

bool is_involution_modulo(const Affine& map, const Subspace& space) {
  const Affine twice = compose(map, map);
  for (Word x = 0; x <= static_cast<Word>(map.bits()); ++x) {
    const Word point = x == 0 ? 0 : f2::unit(static_cast<int>(x) - 1);
    if (!space.contains(twice(point) ^ point)) return false;
  }
  return true;
}

void expect_factors_of(const Affine& map, const ReflectionTable::Factors& factors) {
  EXPECT_EQ(compose(factors.second.map, factors.first.map), map);
  for (const ReflectionTable::Factor& factor : {factors.first, factors.second}) {
    EXPECT_EQ(f2::image(factor.map.matrix(), factor.space), factor.space);
    EXPECT_TRUE(is_involution_modulo(factor.map, factor.space));
  }
}

// Blocks of one kind, and h alone.
TEST(TheoremFour, EachKindOfBlockIsTwoReflections) {
  const Affine palindrome = companions({0b111});
  const Affine pair = companions({0b1011, 0b1101});
  const Affine alone = companions({0b1011});
  const auto of = [](const Affine& map, auto add) {
    const Functionals f = functionals_of(map, 0);
    ReflectionTable table(f);
    std::vector<CyclicBlock> blocks;
    if (map.bits() == 6) {
      for (int part = 0; part < 2; ++part) {
        blocks.push_back(cyclic_block(f.alpha, f2::unit(3 * part)));
      }
    } else {
      blocks.push_back(cyclic_block(f.alpha, 1));
    }
    add(table, blocks);
    table.add_palindrome(cyclic_block(f.alpha, f.last()));
    const ReflectionTable::Factors factors = table.factors();
    expect_factors_of(map, factors);
    return std::array<int, 2>{factors.first.space.dimension(), factors.second.space.dimension()};
  };
  using Blocks = std::vector<CyclicBlock>;
  using Table = ReflectionTable;
  using Dimensions = std::array<int, 2>;
  EXPECT_EQ(of(palindrome, [](Table& t, const Blocks& b) { t.add_palindrome(b[0]); }), (Dimensions{0, 0}));
  EXPECT_EQ(of(pair, [](Table& t, const Blocks& b) { t.add_pair(b[0], b[1]); }), (Dimensions{0, 0}));
  EXPECT_EQ(of(alone, [](Table& t, const Blocks& b) { t.add_leftover_to_first(b[0]); }), (Dimensions{1, 0}));
  EXPECT_EQ(of(alone, [](Table& t, const Blocks& b) { t.add_leftover_to_second(b[0]); }), (Dimensions{0, 1}));
}

TEST(TheoremFour, AChainTakesRankGammaInTheSecondFactor) {
  for (int n = 2; n <= 8; ++n) {
    const Affine map = maps::shuffle(n);
    const Functionals f = functionals_of(map, 1);
    const ChainForm form = chain_form(f);
    ASSERT_EQ(form.chains.size(), 1U);
    ASSERT_EQ(form.chains[0].size(), static_cast<std::size_t>(n));
    ReflectionTable table(f);
    table.add_chain(form.chains[0]);
    table.add_palindrome(cyclic_block(f.alpha, f.last()));
    const ReflectionTable::Factors factors = table.factors();
    expect_factors_of(map, factors);
    EXPECT_EQ(factors.first.space.dimension(), 1);
    EXPECT_EQ(factors.second.space.dimension(), 2);
  }
}

TEST(TheoremFour, BlocksAreSortedByTheirReciprocals) {
  std::vector<CyclicBlock> blocks;
  for (const Word p : {0b1011U, 0b111U, 0b1011U, 0b1101U, 0b10011U, 0b101U, 0b1011U}) {
    blocks.push_back({.powers = {}, .annihilator = p});
  }
  const SortedBlocks sorted = sort_blocks(blocks);
  ASSERT_EQ(sorted.palindromes.size(), 2U);
  ASSERT_EQ(sorted.pairs.size(), 2U);
  EXPECT_EQ(sorted.pairs[0].annihilator, f2::reciprocal(sorted.pairs[1].annihilator));
  EXPECT_EQ(sorted.leftovers.size(), 3U);
}

TEST(TheoremFour, LeftoversAreSharedOutEvenly) {
  for (int r = 0; r <= 10; ++r) {
    for (int leftovers = 0; leftovers <= 12; ++leftovers) {
      const auto larger = [&](int first) { return std::max(first, r + leftovers - first); };
      const int chosen = leftovers_of_first(leftovers, r);
      ASSERT_GE(chosen, 0);
      ASSERT_LE(chosen, leftovers);
      for (int first = 0; first <= leftovers; ++first) EXPECT_LE(larger(chosen), larger(first));
    }
  }
}

TEST(TheoremFour, SegmentsOnlyKeepsWhatSegmentsDo) {
  std::mt19937_64 random(kSeed);
  const Affine high = direct_sum(Affine(3), random_affine(5, random));
  // Something else inside every segment.
  Matrix a = Matrix::identity(8);
  a.set_column(6, f2::unit(6) | 0b101);
  a.set_column(1, 0b011);
  const Affine within(a, 0b110);
  EXPECT_EQ(segments_only(compose(within, high), 3), high);
  EXPECT_THROW(segments_only(maps::bit_reversal(8), 3), Error);
}

// --- theorem 5 ---

TEST(TheoremFive, AFactorTakesOffItsDimensions) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 3 + trial % 18;
    const int s = trial % std::min(n, 6);
    const Affine map = trial % 3 == 0   ? random_affine(n, random)
                       : trial % 3 == 1 ? random_bit_permutation(n, random)
                                        : random_sparse(n, 4, random);
    const int rho = unfixed_dimensions(map, s);
    Subspace moved = Subspace::low(n, s);
    moved.insert(map.complement());
    for (int j = 0; j < n; ++j) moved.insert(map.matrix().column(j) ^ f2::unit(j));
    EXPECT_EQ(rho, moved.dimension() - s);
    for (int d = 1; d <= rho; ++d) {
      const Affine factor = fixing_factor(map, s, d);
      EXPECT_LE(unfixed_dimensions(factor, s), d);
      EXPECT_EQ(unfixed_dimensions(compose(map, factor.inverse()), s), rho - d);
    }
    for (int rows = 1; rows <= std::max(1, rho); ++rows) {
      const auto factors = factor_in_single_tiles(map, s, rows);
      EXPECT_EQ(static_cast<int>(factors.size()), std::max(1, (rho + rows - 1) / rows));
      for (const InPlaceFactor& factor : factors) {
        EXPECT_EQ(factor.orbit_tiles, 1U);
        EXPECT_LE(factor.space.dimension(), s + rows);
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace in_place_theorem_test
}  // namespace faro::layout::detail
