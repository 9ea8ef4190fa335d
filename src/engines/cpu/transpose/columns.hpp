// The column shuffles of a transposition in place: every column of m elements is permuted for itself, by one
// permutation of the rows that all columns share and a rotation by the column's number.
//
//     C2R    new[i][j] = old[(q(i) + j) mod m][j]          R2C    new[i][j] = old[q^-1((i - j) mod m)][j]
//
// Columns are taken in strips of one to some cache lines. What of the rotation is the strip's first column's
// joins the permutation of the rows, which then moves whole pieces of them; what is left is 0, 1, 2, ….
//
//     columns 8 to 11     rotation 8 8 8 8, with q     left 0 1 2 3
//
// Where the memory that a worker borrows holds a strip, its pieces find their places on the way there or
// back. Else all is done in the strip itself, which the caches hold: a window slides along it for the
// rotation that is left, and the pieces follow the cycles of their permutation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cpu/transpose/rows.hpp"
#include "plan/cpu/transpose_workers.hpp"

namespace faro::cpu {

/// How rows lie: where they belong, or one place early, row i + 1 at i; whole, or along diagonals.
struct RowsLie {
  bool one_early = false;
  bool along_diagonals = false;
};

using faro::detail::Strip;

class ColumnShuffle {
 public:
  /// rows_lie: before the shuffle of C2R. R2C leaves them along diagonals, too, and so that `one_early` is
  /// made up for: row i at i + 1. Requires: 2 <= m < n, m < 2^32 (unchecked).
  ColumnShuffle(std::uint64_t m, std::uint64_t n, std::uint64_t element_bytes, Shuffle direction,
                RowsLie rows_lie);

  /// How many there are. The last one of the array, or of every panel, has fewer columns.
  std::uint64_t strips(const Strip& strip) const;

  /// Strip `number`. Uses 17 KiB of stack.
  void move(const Strip& strip, std::uint64_t number, std::byte* data, std::byte* memory) const;

 private:
  struct Pieces {
    std::byte* first;  // of row 0
    std::uint64_t columns;
    std::uint64_t rotation;  // with q
  };
  std::uint64_t source_of(std::uint64_t i, std::uint64_t rotation) const;
  std::uint64_t whole_columns() const;
  std::uint64_t strips_of_panel(const Strip& strip) const;
  void move_whole(const Pieces& pieces, std::byte* memory) const;

  template <typename Width>
  void gather_by_memory(Width width, const Pieces& pieces, std::byte* memory) const;
  template <typename Width>
  void scatter_by_memory(Width width, const Pieces& pieces, std::byte* memory) const;
  template <typename Width>
  void rotate_up(Width width, const Pieces& pieces) const;
  template <typename Width>
  void rotate_down(Width width, const Pieces& pieces) const;
  void follow_cycles(const Pieces& pieces, std::byte* visited) const;

  std::uint64_t m_;
  std::uint64_t n_;
  std::uint64_t element_bytes_;
  std::uint64_t row_bytes_;
  Shuffle direction_;
  std::uint64_t offset_;             // of the rotation, for rows that do not lie in place
  std::uint64_t panel_columns_ = 0;  // that lie in the same rows
  std::vector<std::uint32_t> rows_;  // q, or of R2C its inverse
};

/// The rotation for a common divisor c of m and n: panel p of n / c columns goes up by p rows, first of all
/// (C2R), or down, last of all (R2C). For panels that are too narrow for diagonals.
class PanelRotation {
 public:
  /// Requires: 2 <= m < n (unchecked).
  PanelRotation(std::uint64_t m, std::uint64_t n, std::uint64_t element_bytes, Shuffle direction);

  /// For so many columns at a time.
  std::uint64_t tasks(std::uint64_t columns) const { return (c_ - 1) * ((b_ + columns - 1) / columns); }
  void move(std::uint64_t task, std::uint64_t columns, std::byte* data, std::byte* memory) const;

 private:
  std::uint64_t m_;
  std::uint64_t n_;
  std::uint64_t element_bytes_;
  Shuffle direction_;
  std::uint64_t c_;
  std::uint64_t b_;
};

}  // namespace faro::cpu
