// Any permutation of a matrix as three that only move elements inside rows, with transposes between.
//
//     2 x 3, names are targets          step 1, in rows:      step 2, in columns:     step 3, in rows:
//     3 1 0                             0 3 1                 0 2 1                   0 1 2
//     2 5 4                             5 2 4                 5 3 4                   3 4 5
//                                       no two of a column    every element in
//                                       want one row          its row
//
// Draw an edge from the row of each element to the row of its target and colour the edges with as many
// colours as there are columns: colour c is column c of step 1. Step 2 is done on rows, too, after a
// transpose, and a second one takes it back.
//
// Source: Lemmas 7.3 and 7.4 of Nakano's memory machines paper.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace faro::schedule {

/// Each list says where the element at a place goes. `middle` is on the transposed matrices.
struct RowColumnRow {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> middle;
  std::vector<std::uint32_t> last;
};

/// Splits a permutation of matrices of rows x columns, row-major, one after another, that keeps every matrix
/// to itself.
///
/// Law:      permutation = last o transpose^-1 o middle o transpose o first, where transpose takes place
///           i columns + j of a matrix to place j rows + i. first and last keep every row to itself, middle
///           every row of the transposed matrices.
/// Requires: all of the above, checked.
/// Errors:   ErrorCode::value.
/// Cost:     as colour_regular_edges.
RowColumnRow row_column_row(std::span<const std::uint32_t> permutation, std::uint64_t rows,
                            std::uint64_t columns);

// Chooses the matrix that an array is for the row-column algorithm.

/// Places within rows and columns are 16 bits wide.
inline constexpr std::uint64_t kMostMatrixSide = std::uint64_t{1} << 16;

struct MatrixSides {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// The matrix of `count` elements nearest to a square, rather more columns than rows; zeros where there is
/// none.   Cost: at most 2^16 divisions.
MatrixSides matrix_sides(std::uint64_t count, std::uint64_t most_columns = kMostMatrixSide);

}  // namespace faro::schedule
