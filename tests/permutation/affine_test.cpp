// Affine maps. The oracle is the table of values pi(0), pi(1), …: composing, inverting and iterating tables
// needs no linear algebra. All of GL(3, 2) with every complement, and all of GL(4, 2), go through it.
#include "faro/permutation/affine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "drawn.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"

namespace faro {
namespace affine_test {

using f2::Matrix;
using f2::Word;
using ::testing::HasSubstr;

Matrix matrix_of(int rows, const std::vector<Word>& columns) { return Matrix::from_columns(rows, columns); }

std::string show(const Affine& f) {
  std::string text = "columns";
  for (const Word column : f.matrix().column_span()) text += " " + std::to_string(column);
  return text + ", complement " + std::to_string(f.complement());
}

// --- the oracle

using Table = std::vector<Word>;

Table table_of(const Affine& f) {
  Table table;
  for (Word x = 0; x < f2::unit(f.bits()); ++x) table.push_back(f(x));
  return table;
}

Table identity_table(std::size_t size) {
  Table table(size);
  for (std::size_t x = 0; x < size; ++x) table[x] = x;
  return table;
}

Table after(const Table& f, const Table& g) {
  Table table;
  for (const Word y : g) table.push_back(f[y]);
  return table;
}

Table inverse_of(const Table& f) {
  Table table(f.size());
  for (std::size_t x = 0; x < f.size(); ++x) table[f[x]] = x;
  return table;
}

// Whether each bit of x decides exactly one bit of pi(x), by looking at every x and bit.
bool moves_bits_one_to_one(const Table& f, int n) {
  std::set<Word> targets;
  for (int i = 0; i < n; ++i) {
    const Word difference = f[0] ^ f[f2::unit(i)];
    for (std::size_t x = 0; x < f.size(); ++x) {
      if ((f[x] ^ f[x ^ f2::unit(i)]) != difference) return false;
    }
    if (!f2::is_power_of_two(difference)) return false;
    targets.insert(difference);
  }
  return targets.size() == static_cast<std::size_t>(n);
}

// Which index bits move an element only inside its segment of 2^t elements: exactly t of them make a tiled
// map.
bool is_tiled(const Table& f, int n, int t) {
  int inside = 0;
  for (int i = 0; i < n; ++i) inside += (f[0] ^ f[f2::unit(i)]) >> t == 0 ? 1 : 0;
  return inside == t;
}

AffineClass class_of(const Table& f, int n, int t) {
  if (f == identity_table(f.size())) return AffineClass::identity;
  if (moves_bits_one_to_one(f, n)) return f[0] == 0 ? AffineClass::bp : AffineClass::bpc;
  return is_tiled(f, n, t) ? AffineClass::tiled : AffineClass::bmmc;
}

// One source segment of 2^s elements meets 2^rank target segments.
int rank_gamma_of(const Table& f, int s) {
  std::set<Word> segments;
  for (Word x = 0; x < f2::unit(s); ++x) segments.insert(f[x] >> s);
  return f2::trailing_bit(segments.size());
}

void check_against_table(const Affine& f) {
  const int n = f.bits();
  const Table table = table_of(f);
  const Table identity = identity_table(table.size());
  ASSERT_EQ(after(table, inverse_of(table)), identity);  // a bijection at all
  ASSERT_EQ(table_of(f.inverse()), inverse_of(table));
  ASSERT_EQ(f.inverse().inverse(), f);
  ASSERT_EQ(f.inverse_matrix(), f.inverse().matrix());
  ASSERT_EQ(f.is_identity(), table == identity);
  ASSERT_EQ(f.is_involution(), after(table, table) == identity);
  for (int t = 0; t <= n; ++t) {
    ASSERT_EQ(f.classify(t), class_of(table, n, t)) << "segment bits " << t;
    ASSERT_EQ(f.rank_gamma(t), rank_gamma_of(table, t)) << "s = " << t;
  }
  Table power = identity;
  for (std::int64_t k = 0; k <= 7; ++k) {
    ASSERT_EQ(table_of(f.power(k)), power) << "k = " << k;
    ASSERT_EQ(table_of(f.power(-k)), inverse_of(power)) << "k = " << -k;
    power = after(table, power);
  }
}

void for_each_invertible(int n, const std::function<void(const Matrix&)>& visit) {
  std::vector<Word> columns(static_cast<std::size_t>(n));
  for (Word code = 0; code < f2::unit(n * n); ++code) {
    for (int j = 0; j < n; ++j) columns[static_cast<std::size_t>(j)] = (code >> (j * n)) & f2::low_mask(n);
    const Matrix a = Matrix::from_columns(n, columns);
    if (a.rank() == n) visit(a);
  }
}

TEST(Affine, AllMapsOfUpToThreeBits) {
  std::vector<int> counts;
  for (int n = 0; n <= 3; ++n) {
    int count = 0;
    for_each_invertible(n, [&](const Matrix& a) {
      for (Word c = 0; c < f2::unit(n); ++c) {
        const Affine f(a, c);
        SCOPED_TRACE(show(f));
        ASSERT_NO_FATAL_FAILURE(check_against_table(f));
        ++count;
      }
    });
    counts.push_back(count);
  }
  EXPECT_EQ(counts, (std::vector<int>{1, 2, 24, 1344}));
}

TEST(Affine, AllOfGl4) {
  Word complement = 0;
  std::vector<int> of_class(5);
  for_each_invertible(4, [&](const Matrix& a) {
    const Affine f(a, complement);
    complement = (complement + 5) % 16;
    SCOPED_TRACE(show(f));
    ASSERT_NO_FATAL_FAILURE(check_against_table(f));
    ++of_class[static_cast<std::size_t>(Affine(a, 0).classify(2))];
  });
  // 20160 matrices; 4! of them permute bits, one is the identity. Tiled at t = 2: two of four columns are a
  // basis of the 2-bit segment (6 pairs, 6 bases), the other two then have 12 * 8 choices; of these 24
  // permute bits… and all bit permutations are tiled: 6 * 6 * 96 - 24.
  EXPECT_EQ(of_class, (std::vector<int>{1, 23, 0, 6 * 6 * 96 - 24, 20160 - 6 * 6 * 96}));
}

TEST(Affine, CompositionOfAllPairsOfTwoBitMaps) {
  std::vector<Affine> all;
  for_each_invertible(2, [&](const Matrix& a) {
    for (Word c = 0; c < 4; ++c) all.emplace_back(a, c);
  });
  ASSERT_EQ(all.size(), 24U);
  for (const Affine& f : all) {
    for (const Affine& g : all) {
      const Affine both = compose(f, g);
      ASSERT_EQ(table_of(both), after(table_of(f), table_of(g))) << show(f) << " after " << show(g);
      ASSERT_EQ(both.matrix() * both.inverse_matrix(), Matrix::identity(2));
    }
  }
}

// --- random maps of any size

using test::random_affine;

TEST(Affine, LawsOfRandomMaps) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    std::mt19937_64 random(seed);
    const int n = seed % 6 == 0 ? 64 : seed % 6 == 1 ? 63 : static_cast<int>(random() % 65);
    const Affine f = random_affine(n, random), g = random_affine(n, random), h = random_affine(n, random);
    const Affine identity(n);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", n = " + std::to_string(n));
    ASSERT_EQ(compose(f, f.inverse()), identity);
    ASSERT_EQ(compose(f.inverse(), f), identity);
    ASSERT_EQ(compose(compose(f, g), h), compose(f, compose(g, h)));
    ASSERT_EQ(compose(f, g).inverse(), compose(g.inverse(), f.inverse()));
    ASSERT_EQ(compose(f, g).inverse_matrix(), *compose(f, g).matrix().inverse());
    const Word x = random() & f2::low_mask(n);
    ASSERT_EQ(compose(f, g)(x), f(g(x)));
    ASSERT_EQ(f.inverse()(f(x)), x);
    if (n < 64) {
      ASSERT_EQ(f(x | f2::unit(n)), f(x));
    }

    const auto j = static_cast<std::int64_t>(random() % 1000) - 500;
    const auto k = static_cast<std::int64_t>(random() % 1000) - 500;
    ASSERT_EQ(compose(f.power(j), f.power(k)), f.power(j + k)) << j << ", " << k;
    ASSERT_EQ(f.power(-k), f.power(k).inverse()) << k;
    // The two ends of the exponent: min = -max - 1.
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    ASSERT_EQ(f.power(-kMost - 1), compose(f.power(-kMost), f.inverse()));

    const int s = static_cast<int>(random() % 70);
    ASSERT_EQ(f.rank_gamma(s), f.inverse().rank_gamma(s)) << "s = " << s;
    ASSERT_LE(f.rank_gamma(s), std::min(s, std::max(0, n - s))) << "s = " << s;
    // A conjugate of an involution is one too.
    if (n >= 2) {
      const Affine swap(matrix_of(2, {2, 1}), 0);
      const Affine involution = compose(compose(f, direct_sum(swap, Affine(n - 2))), f.inverse());
      ASSERT_TRUE(involution.is_involution());
      ASSERT_FALSE(involution.is_identity());
    }
  }
}

TEST(Affine, DirectSumActsOnEachPart) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const int p = static_cast<int>(random() % 65),
              q = static_cast<int>(random() % static_cast<unsigned>(65 - p));
    const Affine low = random_affine(p, random), high = random_affine(q, random);
    const Affine both = direct_sum(low, high);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(p) + " + " + std::to_string(q));
    ASSERT_EQ(both.bits(), p + q);
    const Word x = random() & f2::low_mask(p), y = random() & f2::low_mask(q);
    const auto join = [&](Word a, Word b) { return p == 64 ? a : a | b << p; };
    ASSERT_EQ(both(join(x, y)), join(low(x), high(y)));
    ASSERT_EQ(both.inverse(), direct_sum(low.inverse(), high.inverse()));
    ASSERT_EQ(both.inverse_matrix(), *both.matrix().inverse());
  }
  EXPECT_EQ(direct_sum(Affine(64), Affine(0)), Affine(64));
  EXPECT_EQ(direct_sum(Affine(0), Affine(64)), Affine(64));
}

TEST(Affine, ExtremeDimensions) {
  for (const int n : {0, 1, 63, 64}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    const Affine identity(n);
    EXPECT_EQ(identity.bits(), n);
    EXPECT_TRUE(identity.is_identity());
    EXPECT_TRUE(identity.is_involution());
    EXPECT_EQ(identity.classify(), AffineClass::identity);
    EXPECT_EQ(identity(~Word{0}), f2::low_mask(n));
    EXPECT_EQ(identity.power(std::numeric_limits<std::int64_t>::min()), identity);
    for (const int s : {0, 1, 5, 63, 64, 100}) EXPECT_EQ(identity.rank_gamma(s), 0);

    const Affine reverse(Matrix::identity(n), f2::low_mask(n));
    EXPECT_TRUE(reverse.is_involution());
    EXPECT_EQ(reverse.classify(), n == 0 ? AffineClass::identity : AffineClass::bpc);
    EXPECT_EQ(reverse(0), f2::low_mask(n));

    const Affine bit_reversal(f2::reversal(n), 0);
    EXPECT_EQ(bit_reversal.classify(), n < 2 ? AffineClass::identity : AffineClass::bp);
    for (int s = 0; s <= n; ++s) EXPECT_EQ(bit_reversal.rank_gamma(s), std::min(s, n - s)) << "s = " << s;
  }
}

TEST(Affine, ClassNames) {
  EXPECT_STREQ(name(AffineClass::identity), "identity");
  EXPECT_STREQ(name(AffineClass::bp), "BP");
  EXPECT_STREQ(name(AffineClass::bpc), "BPC");
  EXPECT_STREQ(name(AffineClass::tiled), "tiled BMMC");
  EXPECT_STREQ(name(AffineClass::bmmc), "BMMC");
}

// --- what is refused

using test::report_of;

ErrorReport refusal(const Matrix& a, Word complement = 0) {
  return report_of([&] { static_cast<void>(Affine(a, complement)); });
}

TEST(AffineErrors, SingularMatricesNameTheDependentColumns) {
  const ErrorReport equal = refusal(matrix_of(3, {0b001, 0b100, 0b001}));
  EXPECT_EQ(equal.code, ErrorCode::value);
  EXPECT_THAT(equal.got, HasSubstr("columns 0, 2 add up to zero"));
  EXPECT_THAT(equal.got, HasSubstr("rank 2"));
  EXPECT_THAT(refusal(matrix_of(3, {0b011, 0b110, 0b101})).got, HasSubstr("columns 0, 1, 2 add up to zero"));
  EXPECT_THAT(refusal(matrix_of(3, {0b001, 0b000, 0b100})).got, HasSubstr("column 1 is zero"));
  EXPECT_THAT(refusal(Matrix::zero(1, 1)).got, HasSubstr("column 0 is zero"));
}

TEST(AffineErrors, EverySingularMatrixOfThreeBitsNamesADependency) {
  for (Word code = 0; code < 512; ++code) {
    const Matrix a = matrix_of(3, {code & 7, (code >> 3) & 7, code >> 6});
    if (a.rank() == 3) continue;
    const std::string got = refusal(a).got;
    // The digits after the last colon are the columns.
    Word sum = 0;
    int named = 0;
    for (const char c : got.substr(got.rfind(':'))) {
      if (c < '0' || c > '2') continue;
      sum ^= a.column(c - '0');
      ++named;
    }
    ASSERT_EQ(sum, 0U) << got;
    ASSERT_GT(named, 0) << got;
  }
}

TEST(AffineErrors, OtherRefusals) {
  EXPECT_EQ(refusal(Matrix::zero(2, 3)).code, ErrorCode::value);
  EXPECT_EQ(refusal(Matrix::identity(3), 0b1000).code, ErrorCode::value);
  EXPECT_EQ(refusal(Matrix(), 1).code, ErrorCode::value);
  EXPECT_EQ(report_of([] { compose(Affine(3), Affine(4)); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([] { direct_sum(Affine(33), Affine(32)); }).code, ErrorCode::value);
}

}  // namespace affine_test
}  // namespace faro
