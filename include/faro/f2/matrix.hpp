// Matrices over F2, up to 64 x 64, stored by columns.
//
// Column j is the image of e_j, so applying a matrix is XORing the columns that x selects:
//
//          c0 c1 c2                       y = A x,   A = [c0 c1 c2]
//     r0 [ 1  0  1 ]      x = 0b101       y = c0 ^ c2 = 0b001 ^ 0b011 = 0b010
//     r1 [ 0  1  1 ]
//
// Values, not references: every operation returns a new matrix, nothing allocates, and a matrix is 0.5 KiB.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/require_cxx20.hpp"

namespace faro::f2 {

// Vectors over F2 (the field of two elements) are machine words: bit i is coordinate i, bit 0 the least
// significant, addition is XOR. Everything here is constexpr and usable in device code.

using Word = std::uint64_t;

/// Largest dimension of a vector: the bits of a Word.
inline constexpr int kMaxDimension = 64;

/// The unit vector e_i, 0 <= i < 64 (unchecked).
constexpr Word unit(int i) { return Word{1} << i; }

/// The span of e_0 .. e_{k-1} as a mask, 0 <= k <= 64 (unchecked).
constexpr Word low_mask(int k) { return k >= kMaxDimension ? ~Word{0} : (Word{1} << k) - 1; }

/// Coordinate i of x.
constexpr bool bit(Word x, int i) { return ((x >> i) & 1) != 0; }

/// The sum of the coordinates of x.
constexpr bool parity(Word x) { return (std::popcount(x) & 1) != 0; }

/// Position of the highest set bit of x != 0 (unchecked).
constexpr int leading_bit(Word x) { return kMaxDimension - 1 - std::countl_zero(x); }

/// Position of the lowest set bit of x != 0 (unchecked).
constexpr int trailing_bit(Word x) { return std::countr_zero(x); }

constexpr bool is_power_of_two(Word x) { return std::has_single_bit(x); }

/// The XOR of columns[j] over the set bits j of x. The matrix-vector product everything here is made of.
template <typename Value>
constexpr Value combine(const Value* columns, Word x) {
  Value sum{};
  for (; x != 0; x &= x - 1) sum ^= columns[trailing_bit(x)];
  return sum;
}

class Matrix {
 public:
  /// The 0 x 0 matrix.
  constexpr Matrix() = default;

  static Matrix zero(int rows, int columns);
  static Matrix identity(int n);

  /// The matrix whose column j is columns[j].
  /// Requires: rows and columns.size() in 0..64 and every column within `rows` bits (checked).
  static Matrix from_columns(int rows, std::span<const Word> columns);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  bool is_square() const { return rows_ == columns_; }

  Word column(int j) const { return column_[static_cast<std::size_t>(j)]; }
  std::span<const Word> column_span() const { return {column_.data(), static_cast<std::size_t>(columns_)}; }
  bool at(int row, int column_index) const { return bit(column(column_index), row); }
  void set_column(int j, Word value) { column_[static_cast<std::size_t>(j)] = value; }

  /// A x. Bits of x at and above columns() are ignored. Cost: one XOR a set bit.
  Word operator*(Word x) const { return combine(column_.data(), x & low_mask(columns_)); }

  /// The `row_count` x `column_count` block whose top left corner is (row, column_index).
  Matrix block(int row, int column_index, int row_count, int column_count) const;

  Matrix transposed() const;
  int rank() const;

  /// The inverse, or nothing where the matrix is not square or is singular. Cost: O(n^2) word operations.
  std::optional<Matrix> inverse() const;

  /// A basis of {x : A x = 0}.
  std::vector<Word> kernel() const;

  /// Some x with A x = y, or nothing where y is not in the image.
  std::optional<Word> solve(Word y) const;

  friend bool operator==(const Matrix& a, const Matrix& b) = default;

 private:
  int rows_ = 0;
  int columns_ = 0;
  std::array<Word, kMaxDimension> column_{};  // columns at and past columns_ are zero
};

/// Law: (A B) x = A (B x). Requires: A.columns() == B.rows() (checked).
Matrix operator*(const Matrix& a, const Matrix& b);

/// Law: (A + B) x = A x ^ B x. Requires: equal shapes (checked).
Matrix operator+(const Matrix& a, const Matrix& b);

/// diag(low, high): `low` acts on the low bits of an index, `high` on the bits above them.
Matrix direct_sum(const Matrix& low, const Matrix& high);

/// The matrix that reverses the order of n bits (R_ij = 1 iff i + j = n - 1).
Matrix reversal(int n);

/// A = upper * lower * permutation, with upper unit upper triangular, lower unit lower triangular.
/// Source: Bouverot-Dupuis and Sheeran, section on tiled BMMC: A = (U R)(R L P) splits any A in two tiled
/// maps.
struct UlpFactors {
  Matrix upper;
  Matrix lower;
  Matrix permutation;
};

/// Requires: A square and invertible (checked). Cost: O(n^2) word operations.
UlpFactors factor_ulp(const Matrix& a);

// Subspaces of F2^n, as values with one canonical basis.
//
// The basis is reduced echelon: basis vectors have distinct leading bits (the pivots), ascend by them, and no
// vector has a bit at another's pivot. Two subspaces are equal iff their bases are.
//
//     span{0b110, 0b011}   basis 0b011, 0b101   pivots {1, 2}   complement: e_0

class Subspace {
 public:
  /// The zero subspace of F2^n.
  explicit Subspace(int ambient_dimension = 0) : ambient_dimension_(ambient_dimension) {}

  static Subspace span(int ambient_dimension, std::span<const Word> vectors);

  /// span(e_0 .. e_{s-1}) in F2^n: one segment of 2^s elements.
  static Subspace low(int ambient_dimension, int s);

  int ambient_dimension() const { return ambient_dimension_; }
  int dimension() const { return static_cast<int>(basis_.size()); }
  std::span<const Word> basis() const { return basis_; }

  /// The leading bits of the basis, as a mask.
  Word pivots() const { return pivots_; }

  /// The one member of x + this that is zero on every pivot.
  Word reduce(Word x) const;
  bool contains(Word x) const { return reduce(x) == 0; }
  bool contains(const Subspace& other) const;

  /// Adds one vector. Returns whether the dimension grew.
  bool insert(Word vector);

  /// Coordinates of x in basis(), bit k for basis()[k]. Requires: contains(x) (checked).
  Word coordinates(Word x) const;

  friend bool operator==(const Subspace& a, const Subspace& b) = default;

 private:
  int ambient_dimension_ = 0;
  Word pivots_ = 0;
  std::vector<Word> basis_;
};

/// U + V. Requires: one ambient space (checked), as for all that follow.
Subspace sum(const Subspace& u, const Subspace& v);
Subspace intersection(const Subspace& u, const Subspace& v);

/// A U.
Subspace image(const Matrix& a, const Subspace& u);

/// The coordinate subspace spanned by the e_i at non-pivots i of u. Law: U + C = F2^n, U and C meet in 0.
Subspace complement(const Subspace& u);

/// Vectors of `v`'s basis that, with a basis of `u`, make a basis of u + v.
std::vector<Word> complete(const Subspace& u, const Subspace& v);

/// A subspace K of U + V with K + U = K + V = U + V and K meeting both in 0.
/// Requires: dim U = dim V (checked). Source: docs/theory/one-pass.md, theorem 2: e^i + f^i for completions
/// e, f of U n V.
Subspace common_complement(const Subspace& u, const Subspace& v);

}  // namespace faro::f2
