// How a transposition in place is shared out among the threads of a CPU, and what each of them borrows.
//
//     many arrays        a thread takes whole arrays
//     many rows          a thread takes whole rows, each through a row of its own
//     few, long rows     all threads take one row together, through one row that they share
//
// A row is max(rows, columns) elements, and all that is ever borrowed.
//
// The panels of the decomposition (kernels/c2r_index.hpp), where the sides have a common divisor, are not
// rotated in a sweep of their own unless they are narrow: rotated row i is the diagonal of panels that begins
// in row i, so rows are shuffled along diagonals, and the column shuffle takes panel p from p rows further
// down.
//
//     row 0    0 . .      row 1    . . 1      row 2    . 2 .      three rows, three panels
//              . 0 .               1 . .               . . 2
//              . . 0               . 1 .               2 . .
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "faro/plan/transpose_plan.hpp"

namespace faro::detail {

/// The panels of sides with a common divisor; others have none.
enum class Panels : std::uint8_t { none, along_diagonals, rotated_apart };

struct TransposeWorkers {
  std::uint64_t arrays_at_once = 1;
  int threads = 1;           // of each array
  bool shared_rows = false;  // all of them take one row together
  std::uint64_t row_bytes = 0;
  Panels panels = Panels::none;

  /// Rows borrowed.
  std::uint64_t count() const {
    if (row_bytes == 0) return 0;
    return arrays_at_once * (shared_rows ? 1 : static_cast<std::uint64_t>(threads));
  }
  std::uint64_t workspace_bytes() const { return count() * row_bytes; }
};

/// Arrays up to this are transposed by way of the stack.
inline constexpr std::uint64_t kSmallTransposeBytes = 4096;

/// Diagonals, unless panels are too narrow for rows to be moved panel by panel.
inline Panels panels_of(const Rectangle& rectangle, const TransposeWorkers& workers) {
  constexpr std::uint64_t kNarrowBytes = 4096;
  constexpr std::uint64_t kFewWraps = 32;  // of a shared row, which goes in blocks of some places each
  const std::uint64_t panels = std::gcd(rectangle.rows, rectangle.columns);
  const std::uint64_t panel = std::max(rectangle.rows, rectangle.columns) / panels;
  const std::uint64_t wrap = std::min(rectangle.rows, rectangle.columns);
  if (panels == 1) return Panels::none;
  const bool narrow =
      panel * rectangle.element_bytes < kNarrowBytes || (workers.shared_rows && panel / wrap < kFewWraps);
  return narrow ? Panels::rotated_apart : Panels::along_diagonals;
}

inline constexpr std::uint64_t kMostPieceBytes = 512;      // of a row, in a strip that is borrowed
inline constexpr std::uint64_t kStripPieceBytes = 256;     // in one that is moved within itself
inline constexpr std::uint64_t kStripWindowBytes = 16384;  // that slides along such a strip
inline constexpr std::uint64_t kLeastRun = 32;             // elements, of a row that is moved in blocks

/// Elements of this width are transposed in registers; others, one by one.
constexpr bool transposes_in_registers(std::uint64_t element_bytes) {
  return element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
}

/// And those of the boxes of axes, which lie anywhere.
constexpr bool is_turned_width(std::uint64_t element_bytes) {
  return transposes_in_registers(element_bytes) || element_bytes == 16;
}

/// Some columns; what the worker borrows holds all their elements, or only one bit for each row.
struct Strip {
  std::uint64_t columns = 1;
  bool borrowed = true;
};

/// Columns that are rotated together by whole registers; 0 for elements that are as fast one by one, those of
/// 4 bytes and more.
constexpr std::uint64_t register_columns(std::uint64_t element_bytes) { return element_bytes <= 2 ? 64 : 0; }

/// The same for a strip of so many rows: 0 also where they are too few for that.
constexpr std::uint64_t register_columns(std::uint64_t element_bytes, std::uint64_t rows) {
  const std::uint64_t columns = register_columns(element_bytes);
  return columns <= rows ? columns : 0;
}

/// What the strips of a sweep over columns are chosen by.
struct StripSizes {
  std::uint64_t m = 0;              // rows
  std::uint64_t panel_columns = 0;  // columns that lie in the same rows
  std::uint64_t element_bytes = 4;
  std::uint64_t memory_bytes = 0;  // of a worker, at least those of m elements
};

/// The best for such a worker.
Strip choose_strip(const StripSizes& sizes);

inline TransposeWorkers cpu_transpose_workers(const Rectangle& rectangle, int threads) {
  constexpr std::uint64_t kThreadBytes = std::uint64_t{256} << 10;  // worth a thread
  constexpr std::uint64_t kArrayBytes = std::uint64_t{4} << 20;     // a thread's own, of a batch
  constexpr std::uint64_t kFewRows = 32;
  constexpr std::uint64_t kRowsAThread = 4;  // fewer are not equal shares
  constexpr std::uint64_t kSlender = 64;     // long over short side: a row is long enough to be shared out

  TransposeWorkers workers;
  if (rectangle.bytes() == 0) return workers;
  const std::uint64_t shorter = std::min(rectangle.rows, rectangle.columns);
  const std::uint64_t longer = std::max(rectangle.rows, rectangle.columns);
  const std::uint64_t array_bytes = rectangle.count() * rectangle.element_bytes;
  const auto most = static_cast<std::uint64_t>(std::max(1, threads));
  const auto useful = [&](std::uint64_t bytes) {
    return std::clamp<std::uint64_t>(bytes / kThreadBytes, 1, most);
  };
  if (array_bytes <= kArrayBytes && rectangle.arrays >= most) {
    workers.arrays_at_once = useful(rectangle.bytes());
  } else {
    workers.threads = static_cast<int>(useful(array_bytes));
  }
  if (shorter <= 1 || shorter == longer || array_bytes <= kSmallTransposeBytes) return workers;
  workers.row_bytes = longer * rectangle.element_bytes;
  workers.shared_rows =
      longer / shorter >= kSlender &&
      shorter < std::max(kFewRows, kRowsAThread * static_cast<std::uint64_t>(workers.threads));
  workers.panels = panels_of(rectangle, workers);
  return workers;
}

}  // namespace faro::detail
