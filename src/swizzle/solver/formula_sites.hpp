// What the sites of a choice graph demand: whether a candidate meets it, and as clauses.
//
//     store      a node that goes to an address has the value wanted there
//     element    one of the stores goes to it
//     pool       the live slots of each sum are what it wants, each term as often as it is wanted
//     present    each input is in some register
//
// A tight pool has none to spare: where terms are wanted once, in one sum, each wanted term has one supplier
// and a slot is live iff its term is wanted in its sum. Other pools count the live slots of each term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/solver/choice_formula.hpp"

namespace faro::swizzle::detail {

/// The graph with one function for each hole.
class Candidate {
 public:
  Candidate(const ChoiceGraph& graph, std::span<const FunctionSet> families,
            std::vector<std::size_t> functions);

  std::span<const std::size_t> functions() const { return functions_; }
  std::size_t combination(const Decision& decision) const;
  ValueId value(NodeId node);
  bool is_live(const Slot& slot) const { return slot.holds[combination(slot.guard)]; }

 private:
  const ChoiceGraph& graph_;
  std::span<const FunctionSet> families_;
  std::vector<std::size_t> functions_;
  std::unordered_map<NodeId, ValueId> known_;
};

class FormulaSites {
 public:
  FormulaSites(const ChoiceGraph& graph, const Specification& specification, ChoiceFormula& formula,
               Sat& sat);

  /// Sites are 0 … size() - 1, in a scrambled order that is always the same.
  std::size_t size() const { return sites_.size(); }
  /// About how many clauses it comes to.
  std::size_t weight(std::size_t site) const;
  bool is_met(std::size_t site, Candidate& candidate) const;
  void demand(std::size_t site);

 private:
  enum class Kind : std::uint8_t { store, element, pool, present };
  struct Site {
    Kind kind = Kind::store;
    std::size_t number = 0;  // of the store, array, pool or present
    std::int64_t element = 0;
  };

  bool store_is_met(const StoreSite& store, Candidate& candidate) const;
  bool element_is_met(const Site& site, Candidate& candidate) const;
  bool sum_is_met(const SumSite& sum, Candidate& candidate) const;
  bool present_is_met(const PresentSite& present, Candidate& candidate) const;

  void demand_store(const StoreSite& store);
  void demand_element(const Site& site);
  void demand_present(const PresentSite& present);
  void demand_pool(const Pool& pool);
  void demand_bijection(const Pool& pool);
  void demand_sum(const Pool& pool, const SumSite& sum);
  /// That the guard holds.
  Literal live(const Slot& slot);
  /// That a supplier of these nodes is the term.
  Literal is_term(const std::vector<NodeId>& nodes, const std::vector<ValueId>& term);
  bool wants_sum(const SumSite& sum) const;

  const ChoiceGraph& graph_;
  const Specification& specification_;
  ChoiceFormula& formula_;
  Sat& sat_;
  std::vector<Site> sites_;
};

}  // namespace faro::swizzle::detail
