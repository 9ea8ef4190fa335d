// Accumulate statements that are executed somewhere: the first thing that solutions cost.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "swizzle/solver/formula_sites.hpp"

namespace faro::swizzle::detail {

class LiveStatements {
 public:
  explicit LiveStatements(const ChoiceGraph& graph);

  /// How many are, with these functions.
  std::size_t count(const Candidate& candidate) const;
  /// The k-th, from 0, holds if more than k are.
  std::vector<Literal> counted(std::span<const FunctionSet> families, ChoiceFormula& formula, Sat& sat) const;

 private:
  /// The hole that decides every guard, if one does; else -1.
  static int only_hole(std::span<const Slot* const> slots);

  const ChoiceGraph& graph_;
  std::map<int, std::vector<const Slot*>> slots_;  // by statement
};

}  // namespace faro::swizzle::detail
