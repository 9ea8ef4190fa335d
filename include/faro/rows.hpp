// Rows taken, put and added, by index arrays that need not be permutations.
//
//     std::vector<std::int32_t> from{2, 0, 2, -1};
//     const auto rows = faro::plan_rows(faro::Take{.from = faro::RowNumbers(std::span(from)),
//                                                  .rows = 3,
//                                                  .fill = faro::Fill::zero()},
//                                       {.row_bytes = 8 * sizeof(float)});
//     rows.run(in_bytes, out_bytes);          // out[i] = in[from[i]], and 0 for the last
//
// The entries are the caller's: a plan keeps their address, checks them when it is made, and again, block by
// block, in the sweep that moves the rows, so that entries that were changed meanwhile never lead out of an
// array. Several arrays go by one plan in one call, each with rows of its own width: the columns of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/permutation/take.hpp"
#include "faro/plan/row_plan.hpp"

namespace faro {

struct RowOptions {
  int threads = 0;  // 0: what OpenMP would use
};

/// An array that goes by a plan, with rows of another width than the plan's.
struct RowColumn {
  std::span<const std::byte> in;
  std::span<std::byte> out;
  std::uint64_t row_bytes = 1;
};

/// A plan with its engine. Every const member may be called from many threads at once.
class ExecutableRows {
 public:
  /// The arrays, of any alignment, must hold plan().in_bytes() and plan().out_bytes(). Errors:
  /// ErrorCode::value for other sizes, null pointers or arrays that overlap, nothing is written then; and for
  /// entries that were changed since they were planned and are now wrong, when rows may have been written.
  void run(std::span<const std::byte> in, std::span<std::byte> out) const;

  /// The same of several arrays with rows of any widths. Errors: before anything is written, those of RowPlan
  /// for each width, of Add also ErrorCode::value for a width that is no whole number of numbers.
  void run(std::span<const RowColumn> columns) const;

  const RowPlan& plan() const { return plan_; }
  std::string explain() const { return plan_.explain(); }

 private:
  explicit ExecutableRows(RowPlan plan) : plan_(std::move(plan)) {}
  friend ExecutableRows plan_rows(const RowMove& move, const RowLayout& layout, const RowOptions& options);
  RowPlan plan_;
};

/// Errors: those of RowPlan.   Cost: a sweep of the entries.
ExecutableRows plan_rows(const RowMove& move, const RowLayout& layout, const RowOptions& options = {});

}  // namespace faro
