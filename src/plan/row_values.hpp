// Rows that are taken, put or added (faro/permutation/take.hpp), and whose numbers are changed meanwhile.
//
//     take    rows of a piece of the output gathered in a core's cache, and converted as they are written
//     put     rows of a piece of the input converted in a core's cache, and put from there
//     add     the same of larger pieces, one after another: each is added by all threads, in the order of rows
//
// Long rows that are taken or put are converted from where they are to where they belong.
//
// On a GPU rows are changed by the kernel that moves them (plan/gpu/value_rows.hpp), or adds them up; single
// numbers that are added in a sweep before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/arithmetic.hpp"
#include "faro/plan/row_plan.hpp"

namespace faro::detail {

struct RowValues {
  Arithmetic arithmetic;
  RowMove move;
  std::uint64_t outer = 1;
  std::uint64_t numbers = 1;  // of a row
  /// The plan of one array whose rows lie in buffers, in full and without a fill; parts of it are run. On a
  /// GPU that of all arrays.
  std::optional<RowPlan> row_plan = {};
  std::uint64_t piece_rows = 1;
  bool direct = false;    // row by row
  bool streamed = false;  // what is taken is written past the caches
  int threads = 1;

  std::uint64_t moved_rows() const { return row_numbers(move).count; }
  std::uint64_t in_count() const;   // numbers of the input
  std::uint64_t out_count() const;  // of the output
  std::uint64_t read_bytes() const;
  std::uint64_t written_bytes() const;
  /// The same for as many entries elsewhere, of the host. Errors: those of check_rows.
  RowValues with_entries_at(const void* entries) const;
  std::string explain() const;  // of engine cuda without its launches (told_value_rows())
};

/// `layout.row_bytes` are the input's. Errors: ErrorCode::value for rows that are no whole number of numbers,
/// a shape that is not the output's, a type of sums that is not the output's, a fill that is no number of the
/// output, those of check(arithmetic, shape) and check_rows; ErrorCode::unsupported for what is put or added
/// with an addend, or with factors that differ from row to row, and for sums in the other byte order.   Cost:
/// a sweep of the entries, but on a GPU.
RowValues make_row_values(const RowMove& move, const RowLayout& layout, const Arithmetic& arithmetic,
                          const Target& target);

}  // namespace faro::detail
