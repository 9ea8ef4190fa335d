// The layouts that kernels copy: the papers' examples, one to one, free of conflicts where they say so, and a
// generator that favours no permutation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "faro/layout/shared.hpp"
#include "faro/machine/congestion.hpp"

namespace faro::layout {
namespace layout_shared_test {

// Largest congestion of the accesses { address(n, lane) : lane < w }, n < accesses.
template <typename Address>
std::uint32_t worst_congestion(Index w, Index accesses, Address address) {
  machine::TurnCounter counter(w);
  std::vector<std::uint64_t> lanes(w);
  std::uint32_t worst = 0;
  for (Index n = 0; n < accesses; ++n) {
    for (Index lane = 0; lane < w; ++lane) lanes[lane] = address(n, lane);
    worst = std::max(worst, counter.by_bank(lanes));
  }
  return worst;
}

// --- the papers' examples

TEST(SharedLayout, RapMovesElementTenToAddressNine) {
  Rap<4> rap;
  rap.shifts = Shifts<4>::of({2, 0, 3, 1});
  EXPECT_EQ(rap(2, 2), 9U);  // bank 1
  const std::array<Index, 16> elements_by_address{2, 3, 0, 1, 4, 5, 6, 7, 9, 10, 11, 8, 15, 12, 13, 14};
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(elements_by_address[rap(i, j)], 4 * i + j);
  }
}

TEST(SharedLayout, ShiftsArePackedSixToARegister) {
  static_assert(sizeof(Shifts<32>) == 6 * sizeof(std::uint32_t));
  static_assert(Shifts<16>::kRegisters == 2 && Shifts<64>::kRegisters == 13 && Shifts<256>::kRegisters == 64);
  Index shifts[32];
  for (Index i = 0; i < 32; ++i) shifts[i] = (7 * i + 3) % 32;
  const Shifts<32> packed = Shifts<32>::of(shifts);
  for (Index i = 0; i < 32; ++i) {
    EXPECT_EQ(packed.registers[i / 6] >> (5 * (i % 6)) & 31, shifts[i]);
    EXPECT_EQ(packed[i], shifts[i]);
  }
}

TEST(SharedLayout, RandomNumbersAreThoseOfTheTables) {
  constexpr Index w = 32;
  EXPECT_EQ(Raw4<w>::kRandomNumbers, 0U);
  EXPECT_EQ(Ras4<w>::kRandomNumbers, w * w * w);
  EXPECT_EQ(Rap1P<w>::kRandomNumbers, w);
  EXPECT_EQ(RapR1P<w>::kRandomNumbers, w);
  EXPECT_EQ(Rap3P<w>::kRandomNumbers, 3 * w);
  EXPECT_EQ(RapW2P<w>::kRandomNumbers, w * w * w);
  EXPECT_EQ(Rap1PW2R<w>::kRandomNumbers, w * w + w);
  const std::vector<std::string> names{Raw4<w>::kName,  Ras4<w>::kName,   Rap1P<w>::kName,   RapR1P<w>::kName,
                                       Rap3P<w>::kName, RapW2P<w>::kName, Rap1PW2R<w>::kName};
  EXPECT_EQ(names, (std::vector<std::string>{"RAW", "RAS", "1P", "R1P", "3P", "w2P", "1Pw2R"}));
}

// --- the generator

TEST(SharedLayout, GeneratorIsSplitMix64) {
  SplitMix64 random{1234567};
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
  // At compile time as at run time.
  constexpr Rap<32> made = Rap<32>::random(7);
  const std::uint64_t seed = std::stoull("7");
  for (Index i = 0; i < 32; ++i) EXPECT_EQ(made.shifts[i], Rap<32>::random(seed).shifts[i]);
}

// Chi-square of `counts` against equal ones.
double chi_square(const std::vector<std::uint64_t>& counts) {
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    sum += off * off / expected;
  }
  return sum;
}

TEST(SharedLayout, EveryPermutationIsAsLikely) {
  // 24 permutations, 23 degrees of freedom: above 49.7 with probability 0.001, below 7.5 with 0.999.
  for (const bool one_stream : {true, false}) {
    std::map<std::array<Index, 4>, std::uint64_t> seen;
    SplitMix64 random{99};
    for (std::uint64_t k = 0; k < 48'000; ++k) {
      SplitMix64 own{k};
      const auto shifts = Shifts<4>::permutation(one_stream ? random : own);
      ++seen[{shifts[0], shifts[1], shifts[2], shifts[3]}];
    }
    ASSERT_EQ(seen.size(), 24U);
    std::vector<std::uint64_t> counts;
    for (const auto& [permutation, count] : seen) counts.push_back(count);
    EXPECT_LT(chi_square(counts), 49.7);
    EXPECT_GT(chi_square(counts), 7.5);
  }
}

TEST(SharedLayout, EveryShiftIsAsLikelyInEveryRow) {
  // 32 x 32 counts; (31 x 31) degrees of freedom: mean 961, deviation 43.8.
  constexpr Index w = 32;
  std::vector<std::uint64_t> permuted(w * w);
  std::vector<std::uint64_t> independent(w * w);
  for (std::uint64_t seed = 0; seed < 16'000; ++seed) {
    const Rap<w> rap = Rap<w>::random(seed);
    const Ras<w> ras = Ras<w>::random(seed);
    for (Index i = 0; i < w; ++i) {
      ++permuted[i * w + rap.shifts[i]];
      ++independent[i * w + ras.shifts[i]];
    }
  }
  EXPECT_NEAR(chi_square(permuted), 961, 4 * 43.8);
  EXPECT_NEAR(chi_square(independent), 992, 4 * 44.5);
}

TEST(SharedLayout, BelowIsUnbiased) {
  // Taken mod n alone, 2^32 values would favour the low third here by one part in two.
  constexpr Index n = 3U << 30;
  SplitMix64 random{5};
  std::vector<std::uint64_t> thirds(3);
  for (int k = 0; k < 30'000; ++k) ++thirds[random.below(n) >> 30];
  EXPECT_LT(chi_square(thirds), 13.8);  // 2 degrees of freedom, 0.001
}

// --- laws of the matrices

template <typename Layout>
void expect_one_to_one(const Layout& layout, Index rows, Index columns) {
  std::vector<bool> taken(Layout::size(rows));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const Index address = layout(i, j);
      ASSERT_LT(address, taken.size());
      ASSERT_FALSE(taken[address]) << i << ", " << j;
      taken[address] = true;
    }
  }
}

template <Index w>
void expect_matrix_laws() {
  SCOPED_TRACE("w = " + std::to_string(w));
  const Index rows = 3 * w;
  expect_one_to_one(Raw<w>{}, rows, w);
  expect_one_to_one(Padded<w>{}, rows, w);
  expect_one_to_one(Padded<w, 3>{}, rows, w);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto ras = Ras<w, 2 * w>::random(seed);
    const auto rap = Rap<w, 2 * w>::random(seed);
    expect_one_to_one(ras, rows, 2 * w);
    expect_one_to_one(rap, rows, 2 * w);
    // Rows, a warp at a time; columns of w consecutive rows.
    const auto row = [&](const auto& layout) {
      return worst_congestion(w, 2 * rows,
                              [&](Index n, Index lane) { return layout(n / 2, n % 2 * w + lane); });
    };
    EXPECT_EQ(row(ras), 1U);
    EXPECT_EQ(row(rap), 1U);
    EXPECT_EQ(worst_congestion(w, 6 * w,
                               [&](Index n, Index lane) { return rap(n / (2 * w) * w + lane, n % (2 * w)); }),
              1U);
  }
  EXPECT_EQ(worst_congestion(w, w, [&](Index n, Index lane) { return Raw<w>{}(lane, n); }), w);
  EXPECT_EQ(worst_congestion(w, w, [&](Index n, Index lane) { return Padded<w>{}(lane, n); }), 1U);
}

TEST(SharedLayout, MatricesKeepTheirLaws) {
  expect_matrix_laws<1>();
  expect_matrix_laws<2>();
  expect_matrix_laws<3>();
  expect_matrix_laws<4>();
  expect_matrix_laws<5>();
  expect_matrix_laws<16>();
  expect_matrix_laws<32>();
  expect_matrix_laws<33>();
  expect_matrix_laws<64>();
  expect_matrix_laws<100>();
  expect_matrix_laws<128>();
  expect_matrix_laws<256>();
}

TEST(SharedLayout, RapColumnsAreFreeForEverySeedAndRasColumnsAreNot) {
  constexpr Index w = 32;
  std::uint64_t ras_turns = 0;
  constexpr std::uint64_t kSeeds = 2000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Rap<w> rap = Rap<w>::random(seed);
    const Ras<w> ras = Ras<w>::random(seed);
    ASSERT_EQ(worst_congestion(w, w, [&](Index n, Index lane) { return rap(lane, n); }), 1U)
        << "seed " << seed;
    ras_turns += worst_congestion(w, 1, [&](Index, Index lane) { return ras(lane, 0); });
  }
  // 3.53 in the paper; one column deviates by about 0.75.
  EXPECT_NEAR(static_cast<double>(ras_turns) / kSeeds, 3.53, 0.07);
}

// --- laws of the arrays of four dimensions

enum class Strides { free, conflicts, some };

template <Index w, typename Layout>
void expect_four_laws(const Layout& layout, const std::array<Strides, 3>& strides) {
  SCOPED_TRACE(std::string(Layout::kName) + ", w = " + std::to_string(w));
  std::vector<bool> taken(Layout::kSize);
  for (Index x = 0; x < Layout::kSize; ++x) {
    const Index address = layout(x / (w * w * w), x / (w * w) % w, x / w % w, x % w);
    ASSERT_LT(address, taken.size());
    ASSERT_FALSE(taken[address]);
    taken[address] = true;
  }
  // Access n is one of w^3 lines along a dimension.
  const auto along = [&](int dimension) {
    return worst_congestion(w, w * w * w, [&](Index n, Index lane) {
      std::array<Index, 4> at{n / (w * w), n / w % w, n % w, 0};
      for (int d = 3; d > dimension; --d)
        at[static_cast<std::size_t>(d)] = at[static_cast<std::size_t>(d - 1)];
      at[static_cast<std::size_t>(dimension)] = lane;
      return layout(at[0], at[1], at[2], at[3]);
    });
  };
  EXPECT_EQ(along(3), 1U);
  for (int stride = 1; stride <= 3; ++stride) {
    const Strides wanted = strides[static_cast<std::size_t>(stride - 1)];
    const std::uint32_t worst = along(3 - stride);
    if (wanted == Strides::free) {
      EXPECT_EQ(worst, 1U) << "stride " << stride;
    } else if (wanted == Strides::conflicts) {
      EXPECT_EQ(worst, w) << "stride " << stride;
    } else if (w > 2) {
      EXPECT_GT(worst, 1U) << "stride " << stride;  // the worst of w^3 random lines
    }
  }
}

template <Index w>
void expect_all_four(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr Strides free = Strides::free;
  constexpr Strides all = Strides::conflicts;
  constexpr Strides some = Strides::some;
  std::vector<std::uint8_t> table;
  expect_four_laws<w>(Raw4<w>{}, {all, all, all});
  expect_four_laws<w>(Ras4<w>::random(seed, table), {some, some, some});
  expect_four_laws<w>(Rap1P<w>::random(seed), {free, all, all});
  expect_four_laws<w>(RapR1P<w>::random(seed), {free, free, free});
  expect_four_laws<w>(Rap3P<w>::random(seed), {free, free, free});
  expect_four_laws<w>(RapW2P<w>::random(seed, table), {free, some, some});
  expect_four_laws<w>(Rap1PW2R<w>::random(seed, table), {free, some, some});
}

TEST(SharedLayout, FourDimensionsKeepTheirLaws) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    expect_all_four<1>(seed);
    expect_all_four<2>(seed);
    expect_all_four<5>(seed);
    expect_all_four<6>(seed);
    expect_all_four<8>(seed);
    expect_all_four<16>(seed);
  }
}

// By hand, w = 4: f of (i, j, k) = (1, 2, 3).
TEST(SharedLayout, FourDimensionsByHand) {
  constexpr Index w = 4;
  const Shifts<w> r = Shifts<w>::of({2, 0, 3, 1});
  const Shifts<w> s = Shifts<w>::of({1, 3, 2, 0});
  const Shifts<w> t = Shifts<w>::of({3, 2, 1, 0});
  const Index row = 4 * (16 * 1 + 4 * 2 + 3);
  Rap1P<w> one;
  one.r = r;
  EXPECT_EQ(one(1, 2, 3, 3), row + (3 + 1) % 4);
  RapR1P<w> repeated;
  repeated.r = r;
  EXPECT_EQ(repeated(1, 2, 3, 3), row + (3 + 0 + 3 + 1) % 4);
  Rap3P<w> three;
  three.r = r;
  three.s = s;
  three.t = t;
  EXPECT_EQ(three(1, 2, 3, 2), row + (2 + 0 + 2 + 0) % 4);
  std::vector<std::uint8_t> table(64);
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = static_cast<std::uint8_t>(k * 7 % 4);
  RapW2P<w> many;
  many.table = table.data();
  EXPECT_EQ(many(1, 2, 3, 1), row + (1 + 27 * 7 % 4) % 4);
  Rap1PW2R<w> mixed;
  mixed.r = r;
  mixed.table = table.data();
  EXPECT_EQ(mixed(1, 2, 3, 1), row + (1 + 6 * 7 % 4 + 1) % 4);
}

// The attack on R1P: the six orders of (i, j, k) = (0, 1, 2), one l, lie in one bank; 3P tells them apart.
TEST(SharedLayout, R1PForgetsTheOrder) {
  std::set<Index> repeated_banks;
  std::set<Index> three_banks;
  std::array<Index, 3> at{0, 1, 2};
  do {
    repeated_banks.insert(RapR1P<32>::random(3)(at[0], at[1], at[2], 9) % 32);
    three_banks.insert(Rap3P<32>::random(3)(at[0], at[1], at[2], 9) % 32);
  } while (std::next_permutation(at.begin(), at.end()));
  EXPECT_EQ(repeated_banks.size(), 1U);
  EXPECT_GT(three_banks.size(), 2U);
}

// 16 lanes of 8-byte elements are served at a time, by 16 pairs of 4-byte banks: those of a column take two
// turns at most under Rap<32>, and one under Rap<16>.
TEST(SharedLayout, WideElementsOfAColumn) {
  const auto most_turns = [](const auto& at) {
    std::uint32_t most = 0;
    for (Index j = 0; j < 32; ++j) {
      for (const Index first : {0U, 16U}) {
        std::array<std::uint32_t, 16> turns{};
        for (Index i = first; i < first + 16; ++i) most = std::max(most, ++turns[at(i, j) % 16]);
      }
    }
    return most;
  };
  std::uint32_t most = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    most = std::max(most, most_turns(Rap<32>::random(seed)));
    EXPECT_EQ(most_turns(Rap<16, 32>::random(seed)), 1U) << seed;
  }
  EXPECT_EQ(most, 2U);
}

}  // namespace layout_shared_test
}  // namespace faro::layout
