#include "faro/schedule/row_column.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "io/buffer.hpp"
#include "schedule/edge_colouring.hpp"
#include "schedule/host_entries.hpp"

namespace faro::schedule {
namespace {

constexpr const char* kSplitting = "split a permutation into rows and columns";

void check(std::span<const std::uint32_t> permutation, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t n = permutation.size();
  if (rows == 0 || columns == 0 || n % rows != 0 || n / rows % columns != 0) {
    fail(ErrorCode::value, kSplitting,
         std::to_string(n) + " elements in matrices of " + std::to_string(rows) + " x " +
             std::to_string(columns),
         "whole matrices");
  }
  check_permutation(permutation);
  const std::uint64_t size = rows * columns;
  for (std::uint64_t x = 0; x < n; ++x) {
    if (permutation[x] / size != x / size) {
      fail(ErrorCode::value, kSplitting,
           "place " + std::to_string(x) + " to " + std::to_string(permutation[x]), "one of its own matrix");
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

namespace {

constexpr std::uint64_t kMaxElements = 0xFFFFFFF0;  // as many edges as can be coloured
constexpr std::uint64_t kBytesAnElement = 64;       // while edges are coloured
constexpr const char* kRowColumn = "make a row-column schedule";

// What is left of places when whole rows are taken off.
std::vector<std::uint16_t> within_rows(const std::vector<std::uint32_t>& places, std::uint64_t columns) {
  std::vector<std::uint16_t> result(places.size());
  std::transform(places.begin(), places.end(), result.begin(),
                 [&](std::uint32_t place) { return static_cast<std::uint16_t>(place % columns); });
  return result;
}

RowColumnSchedule split(std::span<const std::uint32_t> entries, std::uint64_t columns) {
  const std::uint64_t rows = entries.size() / columns;
  const RowColumnRow steps = row_column_row(entries, rows, columns);
  return {.rows = static_cast<std::uint32_t>(rows),
          .columns = static_cast<std::uint32_t>(columns),
          .first = within_rows(steps.first, columns),
          .middle = within_rows(steps.middle, rows),
          .last = within_rows(steps.last, columns)};
}

}  // namespace

MatrixSides matrix_sides(std::uint64_t count, std::uint64_t most_columns) {
  const std::uint64_t most = std::min({most_columns, kMostMatrixSide, count});
  if (most == 0 || (count - 1) / most >= kMostMatrixSide) return {};
  // Away from the square, first to more columns than rows.
  auto square = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
  while (square * square < count) ++square;
  for (std::uint64_t columns = square; columns <= most; ++columns) {
    if (count % columns == 0) return {.rows = count / columns, .columns = columns};
  }
  for (std::uint64_t columns = std::min(square, most); columns * kMostMatrixSide >= count; --columns) {
    if (count % columns == 0) return {.rows = count / columns, .columns = columns};
  }
  return {};
}

IndexSchedule row_column_schedule(const Indexed& indexed, std::uint64_t most_columns) {
  require_host(indexed, kRowColumn);
  const std::uint64_t count = indexed.count();
  const std::uint64_t columns = matrix_sides(count, most_columns).columns;
  if (count > kMaxElements || (count > 0 && columns == 0)) {
    fail(ErrorCode::unsupported, kRowColumn, std::to_string(count) + " elements",
         "rows x columns with at most " + std::to_string(kMostMatrixSide) + " rows, " +
             std::to_string(std::min(most_columns, kMostMatrixSide)) + " columns and " +
             std::to_string(kMaxElements) + " elements",
         "choose another method");
  }
  detail::require_memory(kRowColumn, std::to_string(count) + " elements", kBytesAnElement * count);
  RowColumnSchedule made;
  if (count > 0 && indexed.entries64().empty()) made = split(indexed.entries32(), columns);
  if (!indexed.entries64().empty()) {
    const auto wide = indexed.entries64();
    std::vector<std::uint32_t> narrow(wide.size());
    std::transform(wide.begin(), wide.end(), narrow.begin(),
                   [](std::uint64_t entry) { return static_cast<std::uint32_t>(entry); });
    made = split(narrow, columns);
  }
  return {.what = std::move(made),
          .count = count,
          .applied = indexed.direction(),
          .fingerprint = fingerprint(indexed)};
}

}  // namespace faro::schedule
