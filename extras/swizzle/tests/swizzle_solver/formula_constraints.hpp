// What the constraints of a constraint model demand: whether a candidate satisfies it, and as clauses.
//
//     store      a node that goes to an address has the value wanted there
//     element    one of the stores goes to it
//     sum_group       the live slots of each sum are what it wants, each term as often as it is wanted
//     present    each input is in some register
//
// A is_exact sum_group has none to spare: where terms are wanted once, in one sum, each wanted term has one
// term_variable and a slot is live iff its term is wanted in its sum. Other sum_groups count the live slots
// of each term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "swizzle/model.hpp"
#include "swizzle_solver/model_formula.hpp"

namespace faro::swizzle::detail {

/// The model with one function for each hole.
class Candidate {
 public:
  Candidate(const ConstraintModel& model, std::span<const FunctionSet> families,
            std::vector<std::size_t> functions);

  std::span<const std::size_t> functions() const { return functions_; }
  std::size_t combination(const Scope& scope) const;
  ValueId value(NodeId node);
  bool is_live(const Slot& slot) const { return slot.holds[combination(slot.guard)]; }

 private:
  const ConstraintModel& model_;
  std::span<const FunctionSet> families_;
  std::vector<std::size_t> functions_;
  std::unordered_map<NodeId, ValueId> known_;
};

class FormulaConstraints {
 public:
  FormulaConstraints(const ConstraintModel& model, const Specification& specification, ModelFormula& formula,
                     Sat& sat);

  /// Constraints are 0 … size() - 1, in a scrambled order that is always the same.
  std::size_t size() const { return constraints_.size(); }
  /// About how many clauses it comes to.
  std::size_t weight(std::size_t constraint) const;
  bool is_met(std::size_t constraint, Candidate& candidate) const;
  void demand(std::size_t constraint);

 private:
  enum class Kind : std::uint8_t { store, element, sum_group, present };
  struct Constraint {
    Kind kind = Kind::store;
    std::size_t number = 0;  // of the store, array, sum_group or present
    std::int64_t element = 0;
  };

  bool store_is_met(const StoreConstraint& store, Candidate& candidate) const;
  bool element_is_met(const Constraint& constraint, Candidate& candidate) const;
  bool sum_is_met(const SumConstraint& sum, Candidate& candidate) const;
  bool present_is_met(const PresenceConstraint& present, Candidate& candidate) const;

  void demand_store(const StoreConstraint& store);
  void demand_element(const Constraint& constraint);
  void demand_present(const PresenceConstraint& present);
  void demand_pool(const SumGroup& sum_group);
  void demand_bijection(const SumGroup& sum_group);
  void demand_sum(const SumGroup& sum_group, const SumConstraint& sum);
  /// That the guard holds.
  Literal live(const Slot& slot);
  /// That a term_variable of these nodes is the term.
  Literal is_term(const std::vector<NodeId>& nodes, const std::vector<ValueId>& term);
  bool wants_sum(const SumConstraint& sum) const;

  const ConstraintModel& model_;
  const Specification& specification_;
  ModelFormula& formula_;
  Sat& sat_;
  std::vector<Constraint> constraints_;
};

// Accumulate statements that are executed somewhere: the first thing that solutions cost.

class LiveStatements {
 public:
  explicit LiveStatements(const ConstraintModel& model);

  /// How many are, with these functions.
  std::size_t count(const Candidate& candidate) const;
  /// The k-th, from 0, holds if more than k are.
  std::vector<Literal> counted(std::span<const FunctionSet> families, ModelFormula& formula, Sat& sat) const;

 private:
  /// The hole that decides every guard, if one does; else -1.
  static int only_hole(std::span<const Slot* const> slots);

  const ConstraintModel& model_;
  std::map<int, std::vector<const Slot*>> slots_;  // by statement
};

}  // namespace faro::swizzle::detail
