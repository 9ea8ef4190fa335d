// A constraint model as a formula: functions, cells of their tables, and what nodes come to be.
//
//     function(h, f)     hole h has function f; one of them holds
//        └ row(h, k, r)      large families: its table has, for these other arguments, row r
//            └ cell(h, c) = v     the value there
//                 └ is(node, w)       the node's choices lead to value w
//
// Everything is made when it is first asked for: a formula that asks three lanes' cells of a hole knows
// nothing of the other 29. That only leaves demands out. So what it refutes is refuted, and what satisfies it
// is a proposal: the caller checks it, and adds to the formula what it violates.
//
// A family of permutations of 32 lanes in 6 turns is 183,358 functions of 192 cells, 35 million pairs. As
// rows (183,358 x 6, and a few thousand rows x 32) they are a million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "swizzle/model.hpp"
#include "swizzle_solver/sat.hpp"

namespace faro::swizzle::detail {

class ModelFormula {
 public:
  /// Requires: no family is empty.
  ModelFormula(const ConstraintModel& model, std::span<const FunctionSet> families, Sat& sat);

  /// Functions that differ in some cell that is read.
  std::span<const std::size_t> distinct(int hole) const { return at(hole).distinct; }
  /// That hole has the function distinct(hole)[number].
  Literal function(int hole, std::size_t number) const { return at(hole).function(number); }
  /// That all of a scope's cells have the values of this combination.
  Literal combination(const Scope& scope, std::size_t combination);
  /// That the node has this value.
  Literal is(NodeId node, ValueId value);
  /// That all of them hold.
  Literal all(std::span<const Literal> literals);
  /// That one of them holds.
  Literal any(std::span<const Literal> literals);

  /// One function of each hole, numbers in distinct(hole), as the last answer has it.
  std::vector<std::size_t> chosen() const;
  /// That not all holes have these again.
  void block(std::span<const std::size_t> chosen);

 private:
  /// The distinct rows of one column, on the cells that are read.
  struct Column {
    std::vector<std::uint32_t> row_of;         // by function's number
    std::vector<std::size_t> representatives;  // by row: a function that has it
    Literal first_row = 0;
  };
  struct Hole {
    const FunctionSet* family = nullptr;
    std::vector<std::size_t> distinct;
    Literal first_function = 0;  // 0: there is one, which holds
    std::int64_t row_length = 1;
    bool has_rows = false;
    std::map<std::int64_t, Column> columns;
    std::map<std::int64_t, std::vector<Literal>> cells;  // by value's number

    Literal function(std::size_t number) const {
      return first_function == 0 ? Sat::yes() : first_function + static_cast<Literal>(number);
    }
  };
  const Hole& at(int hole) const { return holes_[static_cast<std::size_t>(hole)]; }

  const std::vector<Literal>& cell(const Variable& cell);
  const Column& column(int hole, std::int64_t number);
  /// Each literal of `from` holds one of `to`, by `to_of`, and what none of `from` leads to does not hold.
  void lead(std::size_t count, Literal first, std::span<const Literal> to, const auto& to_of);

  const ConstraintModel& model_;
  Sat& sat_;
  std::vector<Hole> holes_;
  std::unordered_map<std::uint64_t, Literal> nodes_;
  std::map<std::vector<Literal>, Literal> conjunctions_;
};

}  // namespace faro::swizzle::detail
