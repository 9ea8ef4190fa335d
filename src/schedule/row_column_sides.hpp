// Chooses the matrix that an array is for the row-column algorithm.
#pragma once

#include <cstdint>

namespace faro::schedule {

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
