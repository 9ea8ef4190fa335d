#include <algorithm>
#include <cmath>
#include <string>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "permutation/memory.hpp"
#include "schedule/host_entries.hpp"
#include "schedule/row_column.hpp"
#include "schedule/row_column_sides.hpp"

namespace faro::schedule {
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
