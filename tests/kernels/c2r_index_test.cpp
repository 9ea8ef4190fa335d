// The index equations of C2R and R2C: the paper's figure, its lemmas and theorems for every m, n to 64, and
// numbers that need 64 bits.
#include "kernels/c2r_index.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace faro::kernels {
namespace c2r_index_test {

constexpr std::uint64_t kMost = 64;

using Array = std::vector<std::uint64_t>;  // m x n, row-major

Array counted(const C2rShape& s) {
  Array a(s.m * s.n);
  std::iota(a.begin(), a.end(), std::uint64_t{0});
  return a;
}

void for_every_shape(const std::function<void(const C2rShape&)>& visit) {
  for (std::uint64_t m = 1; m <= kMost; ++m) {
    for (std::uint64_t n = 1; n <= kMost; ++n) {
      visit(make_c2r_shape(m, n));
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "m = " << m << ", n = " << n;
        return;
      }
    }
  }
}

// Each step as an array operation, by its equation.
template <typename Row>
Array permute_columns(const C2rShape& s, const Array& old, const Row& row) {
  Array result(old.size());
  for (std::uint64_t i = 0; i < s.m; ++i) {
    for (std::uint64_t j = 0; j < s.n; ++j) result[i * s.n + j] = old[row(s, i, j) * s.n + j];
  }
  return result;
}
template <typename Column>
Array permute_rows(const C2rShape& s, const Array& old, const Column& column) {
  Array result(old.size());
  for (std::uint64_t i = 0; i < s.m; ++i) {
    for (std::uint64_t j = 0; j < s.n; ++j) result[i * s.n + j] = old[i * s.n + column(s, i, j)];
  }
  return result;
}

Array c2r(const C2rShape& s, Array a) {
  a = permute_columns(s, a, rotated_row);
  a = permute_rows(s, a, unshuffled_column);
  return permute_columns(s, a, column_source);
}
Array r2c(const C2rShape& s, Array a) {
  a = permute_columns(s, a, column_target);
  a = permute_rows(s, a, shuffled_column);
  return permute_columns(s, a, unrotated_row);
}

bool is_permutation_of(std::uint64_t count, const std::function<std::uint64_t(std::uint64_t)>& map) {
  std::vector<bool> hit(count, false);
  for (std::uint64_t x = 0; x < count; ++x) {
    const std::uint64_t y = map(x);
    if (y >= count || hit[y]) return false;
    hit[y] = true;
  }
  return true;
}

TEST(C2rIndex, TheFigureOfThreeByEight) {
  const C2rShape s = make_c2r_shape(3, 8);
  const Array after = c2r(s, counted(s));
  EXPECT_EQ(Array(after.begin(), after.begin() + 8), (Array{0, 8, 16, 1, 9, 17, 2, 10}));
  const Array back = r2c(s, counted(s));
  EXPECT_EQ(Array(back.begin(), back.begin() + 8), (Array{0, 3, 6, 9, 12, 15, 18, 21}));
  EXPECT_EQ(back[1 * 8 + 5], 16U);  // what was at [2][0]
}

TEST(C2rIndex, NumbersOfAShape) {
  const C2rShape s = make_c2r_shape(12, 20);
  EXPECT_EQ(s.c, 4U);
  EXPECT_EQ(s.a, 3U);
  EXPECT_EQ(s.b, 5U);
  EXPECT_EQ(s.a_inverse, 2U);  // 3 2 = 1 mod 5
  EXPECT_EQ(s.b_inverse, 2U);  // 5 2 = 1 mod 3
  for_every_shape([](const C2rShape& each) {
    EXPECT_EQ(each.a * each.a_inverse % each.b, 1 % each.b);
    EXPECT_EQ(each.b * each.b_inverse % each.a, 1 % each.a);
  });
}

// Equation 22: without a rotation, the places of a row's elements repeat after b of them, so c would meet.
TEST(C2rIndex, PlacesRepeatAfterAPanel) {
  for_every_shape([](const C2rShape& s) {
    for (const std::uint64_t i : {std::uint64_t{0}, s.m - 1}) {
      std::set<std::uint64_t> places;
      for (std::uint64_t j = 0; j < s.n; ++j) {
        EXPECT_EQ((i + j * s.m) % s.n, (i + (j + s.b) * s.m) % s.n);
        places.insert((i + j * s.m) % s.n);
      }
      EXPECT_EQ(places.size(), s.b);  // all n of them if and only if c = 1
    }
  });
}

// Lemmas 1 to 3: the multiples of m, modulo n, are those of c, each once among the first b.
TEST(C2rIndex, MultiplesOfMAreThoseOfC) {
  for_every_shape([](const C2rShape& s) {
    std::set<std::uint64_t> of_m;
    std::set<std::uint64_t> of_c;
    for (std::uint64_t h = 0; h < s.b; ++h) {
      of_m.insert(h * s.m % s.n);
      of_c.insert(h * s.c);
    }
    EXPECT_EQ(of_m.size(), s.b);
    EXPECT_EQ(of_m, of_c);
  });
}

TEST(C2rIndex, TheoremThreeRowsArePermuted) {
  for_every_shape([](const C2rShape& s) {
    for (std::uint64_t i = 0; i < s.m; ++i) {
      EXPECT_TRUE(is_permutation_of(s.n, [&](std::uint64_t j) { return shuffled_column(s, i, j); }));
      for (std::uint64_t j = 0; j < s.n; ++j) {
        EXPECT_EQ(shuffled_column(s, i, j), ((i + j / s.b) % s.m + j * s.m) % s.n);
        EXPECT_EQ(unshuffled_column(s, i, shuffled_column(s, i, j)), j);
      }
    }
  });
}

TEST(C2rIndex, ColumnsArePermutedAndUndone) {
  for_every_shape([](const C2rShape& s) {
    EXPECT_TRUE(is_permutation_of(s.m, [&](std::uint64_t i) { return ordered_row(s, i); }));
    for (std::uint64_t i = 0; i < s.m; ++i) {
      EXPECT_EQ(ordered_row(s, i), (i * s.n - i / s.a) % s.m);
      EXPECT_EQ(unordered_row(s, ordered_row(s, i)), i);
      for (std::uint64_t j = 0; j < s.n; ++j) {
        EXPECT_EQ(c2r_panel(s, j), j / s.b);
        EXPECT_EQ(rotated_row(s, i, j), (i + j / s.b) % s.m);
        EXPECT_EQ(unrotated_row(s, rotated_row(s, i, j), j), i);
        EXPECT_EQ(column_source(s, i, j), (j + i * s.n - i / s.a) % s.m);
        EXPECT_EQ(column_source(s, i, j), (ordered_row(s, i) + j) % s.m);
        EXPECT_EQ(column_target(s, column_source(s, i, j), j), i);
      }
    }
  });
}

// Theorem 4: the three steps together are the gather that defines C2R, and theorem 1: that transposes.
TEST(C2rIndex, ThreeStepsTranspose) {
  for_every_shape([](const C2rShape& s) {
    const Array before = counted(s);
    const Array after = c2r(s, before);
    for (std::uint64_t l = 0; l < after.size(); ++l) EXPECT_EQ(after[l], c2r_source(s, l));
    for (std::uint64_t i = 0; i < s.m; ++i) {
      for (std::uint64_t j = 0; j < s.n; ++j) EXPECT_EQ(after[j * s.m + i], before[i * s.n + j]);
    }
  });
}

TEST(C2rIndex, R2cIsTheInverse) {
  for_every_shape([](const C2rShape& s) {
    const Array before = counted(s);
    EXPECT_EQ(r2c(s, c2r(s, before)), before);
    const Array back = r2c(s, before);
    for (std::uint64_t l = 0; l < back.size(); ++l) {
      EXPECT_EQ(back[l], r2c_source(s, l));
      EXPECT_EQ(r2c_source(s, c2r_source(s, l)), l);
    }
  });
}

// Theorem 2: the labels m and n exchanged, C2R and R2C exchange their roles.
TEST(C2rIndex, ExchangedLabelsExchangeRoles) {
  for_every_shape([](const C2rShape& s) {
    const C2rShape exchanged = make_c2r_shape(s.n, s.m);
    EXPECT_EQ(r2c(exchanged, counted(s)), c2r(s, counted(s)));
  });
}

// Theorem 5: [i][j] at i n + j or at i + j m, the memory is permuted alike.
TEST(C2rIndex, LinearisationDoesNotMatter) {
  for_every_shape([](const C2rShape& s) {
    for (std::uint64_t i = 0; i < s.m; ++i) {
      for (std::uint64_t j = 0; j < s.n; ++j) {
        // The definition: [i][j] comes from [l mod m][l div m], l = j + i n.
        const std::uint64_t l = j + i * s.n;
        EXPECT_EQ(c2r_source(s, i * s.n + j), l % s.m * s.n + l / s.m);  // row-major
        EXPECT_EQ(c2r_source(s, i + j * s.m), l % s.m + l / s.m * s.m);  // column-major
      }
    }
  });
}

// Arrays past 2^33 elements, and numbers as large as a shape may have: against divisions of 128 bits.
TEST(C2rIndex, SixtyFourBits) {
  __extension__ using Wide = unsigned __int128;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> shapes{
      {2, 4294967311},         {3, 2863311530},       {31, 277094665},          {92681, 92683},
      {92682, 92688},          {65536, 131104},       {4294967311, 2},          {131104, 65536},
      {999999937, 1000000007}, {1 << 20, 3ULL << 33}, {2147483648, 2147483646}, {1500000000, 3000000000},
      {3, 2199023255551},      {6, 2199023255550},
  };
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 11) % below;
  };
  for (const auto& [m, n] : shapes) {
    const C2rShape s = make_c2r_shape(m, n);
    SCOPED_TRACE(::testing::Message() << "m = " << m << ", n = " << n);
    EXPECT_EQ(s.a * s.c, m);
    EXPECT_EQ(s.b * s.c, n);
    EXPECT_EQ(static_cast<std::uint64_t>(static_cast<Wide>(s.a) * s.a_inverse % s.b), 1 % s.b);
    EXPECT_EQ(static_cast<std::uint64_t>(static_cast<Wide>(s.b) * s.b_inverse % s.a), 1 % s.a);
    for (int trial = 0; trial < 2000; ++trial) {
      const std::uint64_t i = trial % 4 == 0 ? m - 1 - draw(2) : draw(m);
      const std::uint64_t j = trial % 4 == 1 ? n - 1 - draw(2) : draw(n);
      const auto row = static_cast<std::uint64_t>((static_cast<Wide>(i) + j / s.b) % m);
      ASSERT_EQ(rotated_row(s, i, j), row);
      ASSERT_EQ(unrotated_row(s, row, j), i);
      const auto column = static_cast<std::uint64_t>((row + static_cast<Wide>(j) * m) % n);
      ASSERT_EQ(shuffled_column(s, i, j), column);
      ASSERT_EQ(unshuffled_column(s, i, column), j);
      const auto source = static_cast<std::uint64_t>((static_cast<Wide>(i) * n + j - i / s.a) % m);
      ASSERT_EQ(column_source(s, i, j), source);
      ASSERT_EQ(column_target(s, source, j), i);
      ASSERT_EQ((ordered_row(s, i) + j) % m, source);
      ASSERT_EQ(unordered_row(s, ordered_row(s, i)), i);
      const std::uint64_t l = i * n + j;
      ASSERT_EQ(c2r_source(s, l), l % m * n + l / m);
      ASSERT_EQ(r2c_source(s, c2r_source(s, l)), l);
    }
  }
}

// Shapes of a kernel are made by the host, but all of it may be.
static_assert(c2r_source(make_c2r_shape(3, 8), 1) == 8);
static_assert(unshuffled_column(make_c2r_shape(12, 20), 5, shuffled_column(make_c2r_shape(12, 20), 5, 13)) ==
              13);

}  // namespace c2r_index_test
}  // namespace faro::kernels
