#include "faro/f2/matrix.hpp"

#include <utility>

#include "faro/error.hpp"

namespace faro::f2 {
namespace {

// Reduces columns by elimination, remembering which combination of the originals each pivot is.
class ColumnEchelon {
 public:
  explicit ColumnEchelon(const Matrix& a) {
    for (int j = 0; j < a.columns(); ++j) {
      auto [rest, combination] = reduce(a.column(j), unit(j));
      if (rest == 0) {
        kernel_.push_back(combination);
      } else {
        const auto pivot = static_cast<std::size_t>(leading_bit(rest));
        value_[pivot] = rest;
        combination_[pivot] = combination;
        ++rank_;
      }
    }
  }

  // y plus pivots, until its leading bit is at none; and the columns that were added, onto `combination`.
  std::pair<Word, Word> reduce(Word y, Word combination) const {
    for (Word open = y; open != 0;) {
      const int lead = leading_bit(open);
      const auto pivot = static_cast<std::size_t>(lead);
      if (value_[pivot] == 0) return {y, combination};
      y ^= value_[pivot];
      combination ^= combination_[pivot];
      open = y & low_mask(lead);
    }
    return {y, combination};
  }

  int rank() const { return rank_; }
  std::vector<Word>& kernel() { return kernel_; }

 private:
  std::array<Word, kMaxDimension> value_{};
  std::array<Word, kMaxDimension> combination_{};
  std::vector<Word> kernel_;
  int rank_ = 0;
};

}  // namespace

Matrix Matrix::zero(int rows, int columns) {
  FARO_CHECK(rows >= 0 && rows <= kMaxDimension && columns >= 0 && columns <= kMaxDimension);
  Matrix m;
  m.rows_ = rows;
  m.columns_ = columns;
  return m;
}

Matrix Matrix::identity(int n) {
  Matrix m = zero(n, n);
  for (int j = 0; j < n; ++j) m.set_column(j, unit(j));
  return m;
}

Matrix Matrix::from_columns(int rows, std::span<const Word> columns) {
  FARO_CHECK(columns.size() <= static_cast<std::size_t>(kMaxDimension));
  Matrix m = zero(rows, static_cast<int>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    FARO_CHECK((columns[j] & ~low_mask(rows)) == 0);
    m.column_[j] = columns[j];
  }
  return m;
}

Matrix Matrix::block(int row, int column_index, int row_count, int column_count) const {
  FARO_CHECK(row >= 0 && column_index >= 0 && row + row_count <= rows_ &&
             column_index + column_count <= columns_);
  Matrix m = zero(row_count, column_count);
  for (int j = 0; j < column_count && row_count > 0; ++j) {
    m.set_column(j, (column(column_index + j) >> row) & low_mask(row_count));
  }
  return m;
}

Matrix Matrix::transposed() const {
  Matrix m = zero(columns_, rows_);
  for (int j = 0; j < columns_; ++j) {
    for (Word rest = column(j); rest != 0; rest &= rest - 1) {
      m.column_[static_cast<std::size_t>(trailing_bit(rest))] |= unit(j);
    }
  }
  return m;
}

int Matrix::rank() const { return ColumnEchelon(*this).rank(); }

std::vector<Word> Matrix::kernel() const { return std::move(ColumnEchelon(*this).kernel()); }

std::optional<Word> Matrix::solve(Word y) const {
  const auto [rest, combination] = ColumnEchelon(*this).reduce(y, 0);
  if (rest != 0) return std::nullopt;
  return combination;
}

std::optional<Matrix> Matrix::inverse() const {
  if (!is_square()) return std::nullopt;
  // Column operations take (A, I) to (I, A^-1).
  Matrix a = *this;
  Matrix b = identity(rows_);
  for (int i = 0; i < rows_; ++i) {
    int pivot = i;
    while (pivot < columns_ && !a.at(i, pivot)) ++pivot;
    if (pivot == columns_) return std::nullopt;
    const auto at_i = static_cast<std::size_t>(i);
    const auto at_pivot = static_cast<std::size_t>(pivot);
    std::swap(a.column_[at_i], a.column_[at_pivot]);
    std::swap(b.column_[at_i], b.column_[at_pivot]);
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns_); ++j) {
      if (j != at_i && bit(a.column_[j], i)) {
        a.column_[j] ^= a.column_[at_i];
        b.column_[j] ^= b.column_[at_i];
      }
    }
  }
  return b;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  FARO_CHECK(a.columns() == b.rows());
  Matrix m = Matrix::zero(a.rows(), b.columns());
  for (int j = 0; j < b.columns(); ++j) m.set_column(j, a * b.column(j));
  return m;
}

Matrix operator+(const Matrix& a, const Matrix& b) {
  FARO_CHECK(a.rows() == b.rows() && a.columns() == b.columns());
  Matrix m = a;
  for (int j = 0; j < b.columns(); ++j) m.set_column(j, a.column(j) ^ b.column(j));
  return m;
}

Matrix direct_sum(const Matrix& low, const Matrix& high) {
  Matrix m = Matrix::zero(low.rows() + high.rows(), low.columns() + high.columns());
  for (int j = 0; j < low.columns(); ++j) m.set_column(j, low.column(j));
  if (high.rows() == 0) return m;
  for (int j = 0; j < high.columns(); ++j) m.set_column(low.columns() + j, high.column(j) << low.rows());
  return m;
}

Matrix reversal(int n) {
  Matrix m = Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) m.set_column(j, unit(n - 1 - j));
  return m;
}

UlpFactors factor_ulp(const Matrix& a) {
  FARO_CHECK(a.is_square());
  const int n = a.rows();
  // R A R = L' U' P' by elimination with column exchanges; conjugating by R turns lower into upper and back.
  const Matrix r = reversal(n);
  Matrix rest = r * a * r;
  Matrix lower = Matrix::identity(n);
  Matrix permutation = Matrix::identity(n);
  for (int i = 0; i < n; ++i) {
    int pivot = i;
    while (pivot < n && !rest.at(i, pivot)) ++pivot;
    FARO_CHECK(pivot < n);
    const Word kept = rest.column(i);
    rest.set_column(i, rest.column(pivot));
    rest.set_column(pivot, kept);
    // `permutation` keeps rest * permutation == L'^-1 R A R: exchanging columns of the one exchanges rows of
    // the other.
    Matrix exchange = Matrix::identity(n);
    exchange.set_column(i, unit(pivot));
    exchange.set_column(pivot, unit(i));
    permutation = exchange * permutation;
    // Clear column i below the diagonal by row operations; `below` is the column of L'.
    const Word below = rest.column(i) & ~low_mask(i + 1);
    lower.set_column(i, unit(i) | below);
    for (int j = 0; j < n; ++j) {
      if (rest.at(i, j)) rest.set_column(j, rest.column(j) ^ below);
    }
  }
  return {.upper = r * lower * r, .lower = r * rest * r, .permutation = r * permutation * r};
}

}  // namespace faro::f2
