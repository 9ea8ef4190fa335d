// F2 linear algebra. First values worked out by hand, then laws over random matrices and subspaces, with
// brute force over all vectors of F2^n, n <= 5, as the oracle: a subspace is there the set of its members, as
// a mask of 2^n bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::f2 {
namespace f2_test {

// --- random values, with their seed shown by every failure

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  Word vector(int n) { return generator_() & low_mask(n); }
  int below(int bound) { return static_cast<int>(generator_() % static_cast<std::uint64_t>(bound)); }

  Matrix matrix(int rows, int columns) {
    std::vector<Word> list;
    for (int j = 0; j < columns; ++j) list.push_back(vector(rows));
    return Matrix::from_columns(rows, list);
  }

  Matrix invertible(int n) {
    for (;;) {
      const Matrix a = matrix(n, n);
      if (a.rank() == n) return a;
    }
  }

  // A rank of at most r, so that singular cases with large kernels are common.
  Matrix of_rank_at_most(int rows, int columns, int r) { return matrix(rows, r) * matrix(r, columns); }

  Subspace subspace(int n) {
    std::vector<Word> list;
    for (int count = below(n + 1); count > 0; --count) list.push_back(vector(n));
    return Subspace::span(n, list);
  }

 private:
  std::mt19937_64 generator_;
};

std::string show(const Matrix& a) {
  std::string text = std::to_string(a.rows()) + " rows, columns";
  for (const Word column : a.column_span()) text += " " + std::to_string(column);
  return text;
}

Matrix matrix_of(int rows, std::vector<Word> columns) { return Matrix::from_columns(rows, columns); }

// --- the brute-force oracle: bit x of a Members mask says that x is in the set

using Members = std::uint64_t;

Members closure(const std::vector<Word>& vectors) {
  Members members = 1;
  for (const Word v : vectors) {
    Members shifted = 0;
    for (Word x = 0; x < 64; ++x) {
      if (bit(members, static_cast<int>(x))) shifted |= unit(static_cast<int>(x ^ v));
    }
    members |= shifted;
  }
  return members;
}

Members members_of(const Subspace& u) { return closure({u.basis().begin(), u.basis().end()}); }

int dimension_of(Members members) { return trailing_bit(static_cast<Word>(std::popcount(members))); }

// --- bits

TEST(Bits, HandChecked) {
  EXPECT_EQ(low_mask(0), 0U);
  EXPECT_EQ(low_mask(1), 1U);
  EXPECT_EQ(low_mask(63), ~Word{0} >> 1);
  EXPECT_EQ(low_mask(64), ~Word{0});
  EXPECT_EQ(unit(63), Word{1} << 63);
  EXPECT_EQ(leading_bit(0b10110), 4);
  EXPECT_EQ(trailing_bit(0b10110), 1);
  EXPECT_EQ(leading_bit(~Word{0}), 63);
  EXPECT_TRUE(parity(0b111));
  EXPECT_FALSE(parity(0b11011));
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_TRUE(is_power_of_two(unit(63)));
  constexpr Word columns[] = {1, 3, 6};
  static_assert(combine(columns, Word{0b101}) == 7);
}

// --- matrices

TEST(Matrix, HandChecked) {
  // The example of matrix.hpp: rows 101, 011.
  const Matrix a = matrix_of(2, {0b01, 0b10, 0b11});
  EXPECT_EQ(a * 0b101, 0b10U);
  EXPECT_EQ(a.rank(), 2);
  EXPECT_EQ(a.transposed(), matrix_of(3, {0b101, 0b110}));
  EXPECT_EQ(a.kernel(), std::vector<Word>{0b111});
  EXPECT_TRUE(a.at(0, 2));
  EXPECT_FALSE(a.at(1, 0));
  EXPECT_FALSE(a.inverse());

  // Gray code of three bits, y = x ^ x >> 1, and its inverse y_i = x_i ^ x_{i+1} ^ ….
  const Matrix gray = matrix_of(3, {0b001, 0b011, 0b110});
  EXPECT_EQ(gray.inverse(), matrix_of(3, {0b001, 0b011, 0b111}));
  EXPECT_EQ(gray * gray, matrix_of(3, {0b001, 0b010, 0b101}));
  EXPECT_EQ(gray + gray, Matrix::zero(3, 3));

  EXPECT_EQ(reversal(3), matrix_of(3, {0b100, 0b010, 0b001}));
  EXPECT_EQ(direct_sum(reversal(2), gray), matrix_of(5, {0b10, 0b01, 0b00100, 0b01100, 0b11000}));
  EXPECT_EQ(gray.block(1, 1, 2, 2), matrix_of(2, {0b01, 0b11}));
  EXPECT_EQ(gray.block(0, 1, 1, 2), matrix_of(1, {1, 0}));
  EXPECT_EQ(gray.block(3, 3, 0, 0), Matrix());
}

TEST(Matrix, BitsAboveTheColumnsAreIgnored) {
  const Matrix a = matrix_of(3, {0b001, 0b011});
  EXPECT_EQ(a * ~Word{0}, 0b010U);
}

TEST(Matrix, RefusesWhatHasNoMeaning) {
  const std::vector<Word> wide = {0b100};
  const std::vector<Word> many(65, 0);
  EXPECT_THROW(Matrix::from_columns(2, wide), Error);
  EXPECT_THROW(Matrix::from_columns(2, many), Error);
  EXPECT_THROW(Matrix::zero(65, 1), Error);
  EXPECT_THROW(Matrix::zero(1, -1), Error);
  EXPECT_THROW(Matrix::zero(2, 3) * Matrix::zero(2, 3), Error);
  EXPECT_THROW(Matrix::zero(2, 3) + Matrix::zero(3, 2), Error);
  EXPECT_THROW(Matrix::identity(3).block(1, 1, 3, 1), Error);
  EXPECT_THROW(direct_sum(Matrix::identity(33), Matrix::identity(32)), Error);
  EXPECT_THROW(factor_ulp(Matrix::zero(2, 3)), Error);
  EXPECT_THROW(factor_ulp(Matrix::zero(2, 2)), Error);
}

TEST(Matrix, AlgebraOfRandomMatrices) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const int p = random.below(65), q = random.below(65), r = random.below(65);
    const Matrix a = random.matrix(p, q), b = random.matrix(q, r), c = random.matrix(q, r);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Word x = random.vector(r);
    ASSERT_EQ((a * b) * x, a * (b * x));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ((a * b).transposed(), b.transposed() * a.transposed());
    ASSERT_EQ(a.transposed().transposed(), a);
    ASSERT_EQ(a.rank(), a.transposed().rank());
    ASSERT_EQ(a * Matrix::identity(q), a);
    ASSERT_EQ(Matrix::identity(p) * a, a);
    for (int i = 0; i < p; ++i) {
      for (int j = 0; j < q; ++j) ASSERT_EQ(a.at(i, j), a.transposed().at(j, i));
    }
  }
}

TEST(Matrix, RankKernelAndSolveOfRandomMatrices) {
  int solvable = 0, unsolvable = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const int rows = random.below(65), columns = random.below(65);
    const Matrix a = random.of_rank_at_most(rows, columns, random.below(65));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + show(a));
    const std::vector<Word> kernel = a.kernel();
    ASSERT_EQ(a.rank() + static_cast<int>(kernel.size()), columns);
    for (const Word k : kernel) {
      ASSERT_EQ(a * k, 0U);
      ASSERT_EQ(k & ~low_mask(columns), 0U);
    }
    ASSERT_EQ(Subspace::span(columns, kernel).dimension(), static_cast<int>(kernel.size()));

    const Word x = random.vector(columns);
    const auto found = a.solve(a * x);
    ASSERT_TRUE(found);
    ASSERT_EQ(a * *found, a * x);
    ASSERT_EQ(*found & ~low_mask(columns), 0U);

    const Word y = random.vector(rows);
    const auto preimage = a.solve(y);
    ASSERT_EQ(preimage.has_value(), Subspace::span(rows, a.column_span()).contains(y));
    if (preimage) {
      ASSERT_EQ(a * *preimage, y);
    }
    ++(preimage ? solvable : unsolvable);
  }
  EXPECT_GT(solvable, 100);
  EXPECT_GT(unsolvable, 100);
}

TEST(Matrix, SmallMatricesAgreeWithBruteForce) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const int rows = random.below(6), columns = random.below(6);
    const Matrix a = random.matrix(rows, columns);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + show(a));
    Members image = 0, kernel = 0;
    for (Word x = 0; x < unit(columns); ++x) {
      Word y = 0;
      for (int i = 0; i < rows; ++i) {
        bool sum = false;
        for (int j = 0; j < columns; ++j) sum ^= a.at(i, j) && bit(x, j);
        y |= sum ? unit(i) : 0;
      }
      ASSERT_EQ(a * x, y);
      image |= unit(static_cast<int>(y));
      if (y == 0) kernel |= unit(static_cast<int>(x));
    }
    ASSERT_EQ(a.rank(), dimension_of(image));
    ASSERT_EQ(closure(a.kernel()), kernel);
    for (Word y = 0; y < unit(rows); ++y) {
      ASSERT_EQ(a.solve(y).has_value(), bit(image, static_cast<int>(y)));
    }
  }
}

TEST(Matrix, SolveRefusesBitsAboveTheRows) { EXPECT_FALSE(Matrix::identity(3).solve(0b1000)); }

TEST(Matrix, InverseOfRandomMatrices) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    const int n = seed % 8 == 0 ? 64 : seed % 8 == 1 ? 63 : random.below(65);
    const Matrix a = random.matrix(n, n);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + show(a));
    const auto inverse = a.inverse();
    ASSERT_EQ(inverse.has_value(), a.rank() == n);
    if (!inverse) continue;
    ASSERT_EQ(a * *inverse, Matrix::identity(n));
    ASSERT_EQ(*inverse * a, Matrix::identity(n));
    ASSERT_EQ(inverse->inverse(), a);
  }
  EXPECT_FALSE(Random(1).of_rank_at_most(64, 64, 63).inverse());
}

TEST(Matrix, BlocksAndDirectSums) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const int p = random.below(33), q = random.below(33), r = random.below(33), s = random.below(33);
    const Matrix low = random.matrix(p, q), high = random.matrix(r, s);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Matrix both = direct_sum(low, high);
    ASSERT_EQ(both.block(0, 0, p, q), low);
    ASSERT_EQ(both.block(p, q, r, s), high);
    ASSERT_EQ(both.block(p, 0, r, q), Matrix::zero(r, q));
    ASSERT_EQ(both.block(0, q, p, s), Matrix::zero(p, s));
    ASSERT_EQ(both.rank(), low.rank() + high.rank());
  }
  EXPECT_EQ(direct_sum(Matrix::identity(64), Matrix()), Matrix::identity(64));
  EXPECT_EQ(direct_sum(Matrix(), Matrix::identity(64)), Matrix::identity(64));
}

// --- the ULP factors

bool is_unit_upper(const Matrix& a) {
  for (int j = 0; j < a.columns(); ++j) {
    if (!a.at(j, j) || (a.column(j) & ~low_mask(j + 1)) != 0) return false;
  }
  return true;
}

bool is_permutation(const Matrix& a) {
  const auto columns = a.column_span();
  return a.rank() == a.columns() && std::all_of(columns.begin(), columns.end(), is_power_of_two);
}

// Bouverot-Dupuis and Sheeran: exactly t columns are zero below their first t rows, with an invertible block
// on top.
bool is_tiled(const Matrix& a, int t) {
  std::vector<Word> inside;
  for (const Word column : a.column_span()) {
    if ((column & ~low_mask(t)) == 0) inside.push_back(column);
  }
  return static_cast<int>(inside.size()) == t && Matrix::from_columns(t, inside).rank() == t;
}

void check_ulp(const Matrix& a) {
  const int n = a.rows();
  const UlpFactors f = factor_ulp(a);
  ASSERT_EQ(f.upper * f.lower * f.permutation, a);
  ASSERT_TRUE(is_unit_upper(f.upper)) << show(f.upper);
  ASSERT_TRUE(is_unit_upper(f.lower.transposed())) << show(f.lower);
  ASSERT_TRUE(is_permutation(f.permutation)) << show(f.permutation);
  // A = (U R)(R L P): both factors are tiled, for every tile that fits twice.
  const Matrix left = f.upper * reversal(n);
  const Matrix right = reversal(n) * f.lower * f.permutation;
  ASSERT_EQ(left * right, a);
  for (int t = 0; 2 * t <= n; ++t) {
    ASSERT_TRUE(is_tiled(left, t)) << "t = " << t;
    ASSERT_TRUE(is_tiled(right, t)) << "t = " << t;
  }
}

TEST(Ulp, RandomMatrices) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const int n = seed % 16 == 0 ? 64 : random.below(33);
    const Matrix a = random.invertible(n);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + show(a));
    ASSERT_NO_FATAL_FAILURE(check_ulp(a));
  }
}

TEST(Ulp, AllOfGl3) {
  int count = 0;
  for (Word code = 0; code < 512; ++code) {
    const Matrix a = matrix_of(3, {code & 7, (code >> 3) & 7, code >> 6});
    if (a.rank() < 3) continue;
    ++count;
    SCOPED_TRACE(show(a));
    ASSERT_NO_FATAL_FAILURE(check_ulp(a));
  }
  EXPECT_EQ(count, 168);
}

TEST(Ulp, Empty) { check_ulp(Matrix()); }

// --- subspaces

TEST(Subspace, HandChecked) {
  const std::vector<Word> vectors = {0b110, 0b011, 0b101};
  const Subspace u = Subspace::span(3, vectors);
  EXPECT_EQ(std::vector<Word>(u.basis().begin(), u.basis().end()), (std::vector<Word>{0b011, 0b101}));
  EXPECT_EQ(u.pivots(), 0b110U);
  EXPECT_EQ(complement(u), Subspace::low(3, 1));
  EXPECT_TRUE(u.contains(0b110));
  EXPECT_FALSE(u.contains(0b111));
  EXPECT_EQ(u.reduce(0b111), 0b001U);
  EXPECT_EQ(u.coordinates(0b110), 0b11U);
  EXPECT_EQ(u.coordinates(0b101), 0b10U);
  EXPECT_THROW(u.coordinates(0b001), Error);
  EXPECT_EQ(intersection(u, Subspace::low(3, 2)), Subspace::span(3, std::vector<Word>{0b011}));
  EXPECT_EQ(sum(u, Subspace::low(3, 1)), Subspace::low(3, 3));
}

TEST(Subspace, RefusesWhatHasNoMeaning) {
  const std::vector<Word> wide = {0b1000};
  EXPECT_THROW(Subspace::span(3, wide), Error);
  EXPECT_THROW(Subspace::low(3, 4), Error);
  EXPECT_THROW(sum(Subspace(3), Subspace(4)), Error);
  EXPECT_THROW(intersection(Subspace(3), Subspace(4)), Error);
  EXPECT_THROW(common_complement(Subspace(3), Subspace::low(3, 1)), Error);
  EXPECT_THROW(image(Matrix::identity(4), Subspace::low(3, 1)), Error);
}

TEST(Subspace, InsertSaysWhetherTheDimensionGrew) {
  Subspace u(4);
  EXPECT_FALSE(u.insert(0));
  EXPECT_TRUE(u.insert(0b1100));
  EXPECT_TRUE(u.insert(0b0110));
  EXPECT_FALSE(u.insert(0b1010));
  EXPECT_EQ(u.dimension(), 2);
}

// The basis is canonical: distinct leading bits, ascending, none of them in another vector.
void check_canonical(const Subspace& u) {
  Word pivots = 0, previous = 0;
  for (const Word b : u.basis()) {
    ASSERT_GT(b, previous);
    previous = b;
    pivots |= unit(leading_bit(b));
  }
  ASSERT_EQ(pivots, u.pivots());
  ASSERT_EQ(std::popcount(pivots), u.dimension());
  for (const Word b : u.basis()) ASSERT_EQ(b & pivots, unit(leading_bit(b)));
}

TEST(Subspace, CanonicalBasisOfRandomSpans) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const int n = seed % 8 == 0 ? 64 : random.below(65);
    const Subspace u = random.subspace(n);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(check_canonical(u));

    // Another basis of the same space: the image of the first under a random invertible change.
    std::vector<Word> other;
    const Matrix change = random.invertible(u.dimension());
    const Matrix basis = Matrix::from_columns(n, u.basis());
    for (const Word column : change.column_span()) other.push_back(basis * column);
    ASSERT_EQ(Subspace::span(n, other), u);

    const Word member = basis * random.vector(u.dimension());
    ASSERT_TRUE(u.contains(member));
    ASSERT_EQ(basis * u.coordinates(member), member);
    const Word x = random.vector(n);
    ASSERT_EQ(u.reduce(x) & u.pivots(), 0U);
    ASSERT_TRUE(u.contains(u.reduce(x) ^ x));
    ASSERT_EQ(u.reduce(x ^ member), u.reduce(x));
  }
}

void check_lattice(const Subspace& u, const Subspace& v) {
  const int n = u.ambient_dimension();
  const Subspace plus = sum(u, v), meet = intersection(u, v);
  ASSERT_NO_FATAL_FAILURE(check_canonical(plus));
  ASSERT_NO_FATAL_FAILURE(check_canonical(meet));
  ASSERT_EQ(plus.dimension() + meet.dimension(), u.dimension() + v.dimension());
  ASSERT_TRUE(u.contains(meet) && v.contains(meet));
  ASSERT_TRUE(plus.contains(u) && plus.contains(v));
  ASSERT_EQ(sum(v, u), plus);
  ASSERT_EQ(intersection(v, u), meet);
  ASSERT_EQ(plus == u, u.contains(v));

  const Subspace c = complement(u);
  ASSERT_EQ(sum(u, c), Subspace::low(n, n));
  ASSERT_EQ(intersection(u, c), Subspace(n));
  for (const Word b : c.basis()) ASSERT_TRUE(is_power_of_two(b));

  const std::vector<Word> rest = complete(u, v);
  ASSERT_EQ(static_cast<int>(rest.size()), plus.dimension() - u.dimension());
  Subspace grown = u;
  for (const Word b : rest) {
    ASSERT_TRUE(std::count(v.basis().begin(), v.basis().end(), b) == 1);
    ASSERT_TRUE(grown.insert(b));
  }
  ASSERT_EQ(grown, plus);
}

void check_common_complement(const Subspace& u, const Subspace& v) {
  const Subspace k = common_complement(u, v), plus = sum(u, v), zero(u.ambient_dimension());
  ASSERT_EQ(intersection(k, u), zero);
  ASSERT_EQ(intersection(k, v), zero);
  ASSERT_EQ(sum(k, u), plus);
  ASSERT_EQ(sum(k, v), plus);
}

TEST(Subspace, LatticeOfRandomPairs) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const int n = seed % 8 == 0 ? 64 : seed % 8 == 1 ? 63 : random.below(17);
    const Subspace u = random.subspace(n);
    const Subspace v = random.subspace(n);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", n = " + std::to_string(n));
    ASSERT_NO_FATAL_FAILURE(check_lattice(u, v));

    // A pair of equal dimension, as a segment and its image under an invertible map.
    const Matrix a = random.invertible(n);
    const Subspace moved = image(a, u);
    ASSERT_EQ(moved.dimension(), u.dimension());
    for (const Word b : u.basis()) ASSERT_TRUE(moved.contains(a * b));
    ASSERT_NO_FATAL_FAILURE(check_common_complement(u, moved));
  }
}

TEST(Subspace, SmallPairsAgreeWithBruteForce) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    const int n = random.below(6);
    const Subspace u = random.subspace(n), v = random.subspace(n);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", n = " + std::to_string(n));
    const Members in_u = members_of(u), in_v = members_of(v);
    ASSERT_EQ(members_of(intersection(u, v)), in_u & in_v);
    Members in_sum = 0;
    for (Word x = 0; x < unit(n); ++x) {
      ASSERT_EQ(u.contains(x), bit(in_u, static_cast<int>(x)));
      for (Word y = 0; y < unit(n); ++y) {
        if (u.contains(x) && v.contains(y)) in_sum |= unit(static_cast<int>(x ^ y));
      }
    }
    ASSERT_EQ(members_of(sum(u, v)), in_sum);
    ASSERT_EQ(u.contains(v), (in_v & ~in_u) == 0);
    ASSERT_EQ(u == v, in_u == in_v);

    const Matrix a = random.matrix(random.below(6), n);
    Members in_image = 0;
    for (Word x = 0; x < unit(n); ++x) {
      if (u.contains(x)) in_image |= unit(static_cast<int>(a * x));
    }
    ASSERT_EQ(members_of(image(a, u)), in_image);
    ASSERT_EQ(image(a, u).ambient_dimension(), a.rows());
  }
}

// Every pair of subspaces of F2^4 (67 of them) of equal dimension has a common complement in its sum.
TEST(Subspace, CommonComplementOfAllPairsInFourDimensions) {
  std::vector<Subspace> all;
  for (Word code = 0; code < unit(16); ++code) {
    const std::vector<Word> vectors = {code & 15, (code >> 4) & 15, (code >> 8) & 15, code >> 12};
    const Subspace u = Subspace::span(4, vectors);
    if (std::find(all.begin(), all.end(), u) == all.end()) all.push_back(u);
  }
  ASSERT_EQ(all.size(), 67U);
  for (const Subspace& u : all) {
    for (const Subspace& v : all) {
      ASSERT_NO_FATAL_FAILURE(check_lattice(u, v));
      if (u.dimension() == v.dimension()) {
        ASSERT_NO_FATAL_FAILURE(check_common_complement(u, v));
      } else {
        EXPECT_THROW(common_complement(u, v), Error);
      }
    }
  }
}

TEST(Subspace, ExtremeDimensions) {
  for (const int n : {0, 1, 63, 64}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    const Subspace zero(n), whole = Subspace::low(n, n);
    EXPECT_EQ(whole.dimension(), n);
    EXPECT_EQ(whole.pivots(), low_mask(n));
    check_lattice(zero, whole);
    check_lattice(whole, zero);
    check_lattice(whole, whole);
    check_common_complement(whole, whole);
    check_common_complement(zero, zero);
    EXPECT_EQ(complement(zero), whole);
    EXPECT_EQ(complement(whole), zero);
    EXPECT_EQ(Matrix::identity(n).inverse(), Matrix::identity(n));
    EXPECT_EQ(Matrix::identity(n).rank(), n);
    EXPECT_EQ(Matrix::zero(n, n).rank(), 0);
    EXPECT_EQ(Matrix::zero(n, n).kernel().size(), static_cast<std::size_t>(n));
    EXPECT_EQ(Matrix::identity(n) * ~Word{0}, low_mask(n));
    EXPECT_EQ(reversal(n) * reversal(n), Matrix::identity(n));
    EXPECT_EQ(Matrix::identity(n).block(0, 0, n, n), Matrix::identity(n));
    EXPECT_EQ(Matrix::zero(n, 0) * Matrix::zero(0, n), Matrix::zero(n, n));
  }
}

}  // namespace f2_test
}  // namespace faro::f2
