// The distinct functions of a hole, each with the simplest parameters that give it.
//
// A family is enumerated once, by parameters, and kept without repeats. What makes it cheap is that a
// function is a list of *rows*, the maps i -> f(i, k) for fixed k, and that there are few different rows: of
// 32 lanes and 6 iterations, 183,358 functions share a few thousand. A row of sw_xform depends on (gs, df,
// cf, g, wrap), on the rotation R mod gs (mod g with wrap) and on the shift of Freedom::extra alone, so that
// functions are put together from row numbers, hashed and compared as row numbers:
//
//     parameters ──> (base, R(0)), (base, R(1)), …     one row number each
//                 └> 17 4 22 9 17 4                    the function; equal functions, equal numbers
//
// Whether a row is one-to-one is asked once a row; a family of permutations never sees another row.
// `find` goes the other way, from a table of values that the rest of a sketch dictates to the function that
// has it, or to the proof that the family has none.
//
// Law: functions are sorted by (operations, parameters), so that number 0 is the simplest; the same
// declaration and space give the same list everywhere. W = 32, one-to-one, Space::full: registers of structs
// 2 … 8: 20, 162, 469, 900, 1917, 2646, 4680; lanes: 36670, 36670, 110014, 36670, 183358, 36670, 183358.
// Cost: linear in parameters that differ after reduction; struct 8: 0.1 s and 10 MB.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "faro/swizzle/hole.hpp"
#include "swizzle/function_limits.hpp"

namespace faro::swizzle {
namespace detail {
class Family;
}  // namespace detail

/// How many parameters a family has before repeats are dropped: the 194 of conditions of two arguments.
std::uint64_t parameter_count(const HoleDeclaration& hole, Space space);

class FunctionSet {
 public:
  using Limits = FunctionLimits;

  /// Every distinct function of the hole's family. Errors: ErrorCode::unsupported ("not finished: …") past a
  /// limit; those of check(hole).
  FunctionSet(const HoleDeclaration& hole, Space space, const Limits& limits);
  FunctionSet(const HoleDeclaration& hole, Space space) : FunctionSet(hole, space, Limits()) {}

  const HoleDeclaration& hole() const { return hole_; }
  std::size_t size() const { return count_; }
  std::int64_t cells() const { return row_length_ * columns_; }

  /// The value of function f in a cell (cell numbers: hole.hpp).
  std::int32_t at(std::size_t f, std::int64_t cell) const {
    return rows_[static_cast<std::size_t>(row_numbers_[f * static_cast<std::size_t>(columns_) +
                                                       static_cast<std::size_t>(cell / row_length_)]) *
                     static_cast<std::size_t>(row_length_) +
                 static_cast<std::size_t>(cell % row_length_)];
  }
  /// All cells of f.
  void table(std::size_t f, std::span<std::int32_t> out) const;

  /// The function with this table, if the family has it; exact.
  std::optional<std::size_t> find(std::span<const std::int32_t> table) const;
  /// Functions that have value v in cell c for every (c, v) given, in order. With a row's cells all given,
  /// whole groups of functions are passed over. Cost: linear in functions, early at the first cell that
  /// differs.
  std::vector<std::size_t> matching(std::span<const std::pair<std::int64_t, std::int32_t>> known) const;

  /// One function, the first, of each set of functions that agree in all of these cells; in order.
  std::vector<std::size_t> distinct_on(std::span<const std::int64_t> cells) const;
  /// Different values that some function has in a cell, sorted.
  std::vector<std::int32_t> values_at(std::int64_t cell) const;

  /// The simplest parameters of f.
  Parameters parameters(std::size_t f) const;

 private:
  std::span<const std::uint32_t> rows_of(std::size_t f) const {
    return std::span(row_numbers_)
        .subspan(f * static_cast<std::size_t>(columns_), static_cast<std::size_t>(columns_));
  }

  HoleDeclaration hole_;
  std::int64_t row_length_ = 1;  // values of the first argument
  std::int64_t columns_ = 1;     // combinations of the others
  std::size_t count_ = 0;
  std::vector<std::int32_t> rows_;          // distinct rows, each row_length_ values
  std::vector<std::uint32_t> row_numbers_;  // count_ x columns_
  struct Lookup;                            // from rows to their numbers and to functions
  std::shared_ptr<const Lookup> lookup_;
  std::vector<std::uint64_t> sources_;  // parameters, packed as the family does
  std::shared_ptr<const detail::Family> family_;
};

}  // namespace faro::swizzle
