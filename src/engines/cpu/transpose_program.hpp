// A transposition in place as it is run: which sweeps, and by whom.
//
//     small     by way of the stack                    at most 4 KiB
//     square    tiles change places                    one sweep
//     C2R       [panels up,] rows, columns             rows <= columns: m = rows, n = columns
//     R2C       columns, rows [, panels down]          rows > columns:  m = columns, n = rows
//
// Two sweeps are the rule: for a common divisor of m and n rows are taken along diagonals, and only narrow
// panels are rotated apart (plan/transpose_workers.hpp). Where all threads take one row together, row k + 1
// is shuffled into the place of row k, which is free by then; only the first one goes through the borrowed
// row. So rows lie one place early, and the column shuffle puts that right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engines/cpu/transpose_columns.hpp"
#include "engines/cpu/transpose_rows.hpp"
#include "faro/plan/transpose_plan.hpp"
#include "plan/transpose_workers.hpp"

namespace faro::cpu {

class TransposeProgram {
 public:
  /// Arrays up to `small_bytes` go by way of the stack.
  TransposeProgram(const Rectangle& rectangle, const faro::detail::TransposeWorkers& workers,
                   std::uint64_t small_bytes = faro::detail::kSmallTransposeBytes);

  std::uint64_t workspace_bytes() const { return workers_.workspace_bytes(); }

  /// Every array. Requires: as cpu::TransposeExecutor::run.
  void run(std::byte* data, std::byte* workspace) const;

 private:
  struct Sweeps {
    RowShuffle rows;
    ColumnShuffle columns;
    PanelRotation panels;
  };
  void run_array(std::byte* data, std::byte* memory) const;
  void transpose_small(std::byte* data) const;
  void rotate_panels(std::byte* data, std::byte* memory) const;
  void shuffle_rows(std::byte* data, std::byte* memory) const;
  void shuffle_shared_rows(std::byte* data, std::byte* memory) const;
  void shuffle_columns(std::byte* data, std::byte* memory) const;
  RowPlace row_at(std::byte* data, std::uint64_t i) const;

  // Threads of a sweep over columns, and how much each of them borrows.
  int column_team() const;
  std::uint64_t column_memory() const;

  Rectangle rectangle_;
  faro::detail::TransposeWorkers workers_;
  std::uint64_t small_bytes_;
  std::uint64_t m_;
  std::uint64_t n_;
  Shuffle direction_;
  std::optional<Sweeps> sweeps_;  // of arrays that are neither small nor square
};

}  // namespace faro::cpu
