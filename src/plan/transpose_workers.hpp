// How a transposition in place is shared out among the threads of a CPU, and what each of them borrows.
//
//     many arrays        a thread takes whole arrays
//     many rows          a thread takes whole rows, each through a row of its own
//     few, long rows     all threads take one row together, through one row that they share
//
// A row is max(rows, columns) elements, and all that is ever borrowed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "faro/plan/transpose_plan.hpp"

namespace faro::detail {

struct TransposeWorkers {
  std::uint64_t arrays_at_once = 1;
  int threads = 1;           // of each array
  bool shared_rows = false;  // all of them take one row together
  std::uint64_t row_bytes = 0;

  /// Rows borrowed.
  std::uint64_t count() const {
    if (row_bytes == 0) return 0;
    return arrays_at_once * (shared_rows ? 1 : static_cast<std::uint64_t>(threads));
  }
  std::uint64_t workspace_bytes() const { return count() * row_bytes; }
};

/// Arrays up to this are transposed by way of the stack.
inline constexpr std::uint64_t kSmallTransposeBytes = 4096;

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
  return workers;
}

}  // namespace faro::detail
