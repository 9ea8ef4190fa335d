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
#include <optional>
#include <span>
#include <vector>

#include "faro/f2/bits.hpp"

namespace faro::f2 {

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

}  // namespace faro::f2
