#include "schedule/row_column.hpp"

#include <string>

#include "faro/error.hpp"
#include "schedule/conflict_free.hpp"
#include "schedule/edge_colouring.hpp"

namespace faro::schedule {
namespace {

void check(std::span<const std::uint32_t> permutation, std::uint64_t rows, std::uint64_t columns) {
  const auto refuse = [](const std::string& got, const std::string& wanted) {
    fail(ErrorCode::value, "split a permutation into rows and columns", got, wanted);
  };
  const std::uint64_t n = permutation.size();
  if (rows == 0 || columns == 0 || n % rows != 0 || n / rows % columns != 0) {
    refuse(std::to_string(n) + " elements in matrices of " + std::to_string(rows) + " x " +
               std::to_string(columns),
           "whole matrices");
  }
  check_permutation(permutation);
  const std::uint64_t size = rows * columns;
  for (std::uint64_t x = 0; x < n; ++x) {
    if (permutation[x] / size != x / size) {
      refuse("place " + std::to_string(x) + " to " + std::to_string(permutation[x]), "one of its own matrix");
    }
  }
}

}  // namespace

RowColumnRow row_column_row(std::span<const std::uint32_t> permutation, std::uint64_t rows,
                            std::uint64_t columns) {
  check(permutation, rows, columns);
  const std::uint64_t n = permutation.size();
  if (n == 0) return {};
  std::vector<std::uint32_t> from_row(n);
  std::vector<std::uint32_t> to_row(n);
  for (std::uint64_t x = 0; x < n; ++x) {
    from_row[x] = static_cast<std::uint32_t>(x / columns);
    to_row[x] = static_cast<std::uint32_t>(permutation[x] / columns);
  }
  const EdgeColouring colouring = colour_regular_edges(
      {.left_nodes = n / columns, .right_nodes = n / columns, .left = from_row, .right = to_row});
  RowColumnRow steps{.first = std::vector<std::uint32_t>(n),
                     .middle = std::vector<std::uint32_t>(n),
                     .last = std::vector<std::uint32_t>(n)};
  for (std::uint64_t x = 0; x < n; ++x) {
    const std::uint64_t column = colouring.colour[x];
    // Where a row of this column lies in the transposed matrix.
    const auto transposed = [&](std::uint64_t row) {
      return static_cast<std::uint32_t>(row / rows * rows * columns + column * rows + row % rows);
    };
    steps.first[x] = static_cast<std::uint32_t>(from_row[x] * columns + column);
    steps.middle[transposed(from_row[x])] = transposed(to_row[x]);
    steps.last[to_row[x] * columns + column] = permutation[x];
  }
  return steps;
}

}  // namespace faro::schedule
