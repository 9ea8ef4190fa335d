// Rows moved with their numbers changed, as plan/row_values.hpp decided.
#pragma once

#include "engines/cpu/values/value_side.hpp"
#include "faro/plan/row_plan.hpp"
#include "plan/row_values.hpp"

namespace faro::cpu {

/// Made ready to run. May be run from many threads at once.
class RowValueSweep {
 public:
  explicit RowValueSweep(const detail::RowValues& plan);

  /// Requires: arrays that do not overlap, but an addend that is the output (unchecked).
  /// Errors: ErrorCode::value for entries that were changed since they were planned and are wrong now.
  void run(const ValueArrays& arrays) const;

 private:
  struct Piece;
  void run_piece(const Piece& piece, const ValueArrays& arrays, std::byte* buffer) const;
  void take(const Piece& piece, const ValueArrays& arrays, std::byte* buffer) const;
  void put(const Piece& piece, const ValueArrays& arrays, std::byte* buffer) const;
  void move_directly(const Piece& piece, const ValueArrays& arrays) const;
  void add(const ValueArrays& arrays) const;
  RowPlan part_plan(const Piece& piece) const;
  void fill(std::uint64_t place, const ValueArrays& arrays) const;
  std::uint64_t in_row_bytes() const { return plan_.numbers * bytes_of(plan_.arithmetic.from); }
  std::uint64_t out_row_bytes() const { return plan_.numbers * bytes_of(plan_.arithmetic.to); }

  detail::RowValues plan_;
  PlacedValues values_;
};

}  // namespace faro::cpu
