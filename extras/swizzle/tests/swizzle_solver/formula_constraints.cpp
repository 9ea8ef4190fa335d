#include "swizzle_solver/formula_constraints.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "faro/permutation/split_mix.hpp"

namespace faro::swizzle::detail {

Candidate::Candidate(const ConstraintModel& model, std::span<const FunctionSet> families,
                     std::vector<std::size_t> functions)
    : model_(model), families_(families), functions_(std::move(functions)) {}

std::size_t Candidate::combination(const Scope& scope) const {
  std::size_t combination = 0;
  for (std::size_t k = scope.variables.size(); k-- > 0;) {
    const auto hole = static_cast<std::size_t>(scope.variables[k].hole);
    const std::int64_t cell = scope.variables[k].cell;
    const std::vector<std::int32_t>& values = model_.domains[hole][static_cast<std::size_t>(cell)];
    const auto place = std::ranges::lower_bound(values, families_[hole].at(functions_[hole], cell));
    combination = combination * values.size() + static_cast<std::size_t>(place - values.begin());
  }
  return combination;
}

ValueId Candidate::value(NodeId node) {
  if (node == kNoNode) return kUndefined;
  const Node& which = model_.nodes[node];
  if (which.kind == NodeKind::value) return which.value;
  if (const auto known = known_.find(node); known != known_.end()) return known->second;
  const ValueId result = value(which.outcomes[combination(which.scope)]);
  known_.emplace(node, result);
  return result;
}

bool FormulaConstraints::is_met(std::size_t number, Candidate& candidate) const {
  const Constraint& constraint = constraints_[number];
  switch (constraint.kind) {
    case Kind::store:
      return store_is_met(model_.stores[constraint.number], candidate);
    case Kind::element:
      return element_is_met(constraint, candidate);
    case Kind::sum_group:
      return std::ranges::all_of(model_.sum_groups[constraint.number].sums,
                                 [&](const SumConstraint& sum) { return sum_is_met(sum, candidate); });
    case Kind::present:
      return present_is_met(model_.presents[constraint.number], candidate);
  }
  return false;
}

bool FormulaConstraints::store_is_met(const StoreConstraint& store, Candidate& candidate) const {
  const std::int64_t address = store.addresses[candidate.combination(store.address)];
  if (address == kNotStored) return true;
  if (address == kForbidden) return false;
  const ValueId value = candidate.value(store.node);
  const ValueId wanted = specification_.wanted(store.array, address);
  return value != kUndefined && (wanted == kUndefined || wanted == value);
}

bool FormulaConstraints::element_is_met(const Constraint& constraint, Candidate& candidate) const {
  return std::ranges::any_of(model_.stores, [&](const StoreConstraint& store) {
    return static_cast<std::size_t>(store.array.number) == constraint.number &&
           store.addresses[candidate.combination(store.address)] == constraint.element;
  });
}

bool FormulaConstraints::sum_is_met(const SumConstraint& sum, Candidate& candidate) const {
  if (!wants_sum(sum)) return false;
  const std::vector<std::vector<ValueId>>& wanted = specification_.values().terms_of(sum.wanted);
  std::vector<std::vector<ValueId>> terms;
  for (const Slot& slot : sum.slots) {
    if (!candidate.is_live(slot)) continue;
    if (terms.size() == wanted.size()) return false;
    std::vector<ValueId>& term = terms.emplace_back();
    for (const NodeId factor : slot.term) term.push_back(candidate.value(factor));
    std::ranges::sort(term);
  }
  std::ranges::sort(terms);
  return terms == wanted;
}

bool FormulaConstraints::present_is_met(const PresenceConstraint& present, Candidate& candidate) const {
  std::vector<ValueId> held;
  for (const NodeId node : present.held) held.push_back(candidate.value(node));
  std::ranges::sort(held);
  return std::ranges::includes(held, present.wanted);
}

namespace {

constexpr std::uint64_t kSeed = 5;

using Term = std::vector<ValueId>;

std::map<Term, std::size_t> times_of(const std::vector<Term>& terms) {
  std::map<Term, std::size_t> times;
  for (const Term& term : terms) ++times[term];
  return times;
}

}  // namespace

FormulaConstraints::FormulaConstraints(const ConstraintModel& model, const Specification& specification,
                                       ModelFormula& formula, Sat& sat)
    : model_(model), specification_(specification), formula_(formula), sat_(sat) {
  for (std::size_t s = 0; s < model.stores.size(); ++s) constraints_.push_back({Kind::store, s, 0});
  for (std::size_t a = 0; a < model.uncovered.size(); ++a) {
    for (std::size_t i = 0; i < model.uncovered[a].size(); ++i)
      if (model.uncovered[a][i]) constraints_.push_back({Kind::element, a, static_cast<std::int64_t>(i)});
  }
  for (std::size_t p = 0; p < model.sum_groups.size(); ++p) constraints_.push_back({Kind::sum_group, p, 0});
  for (std::size_t p = 0; p < model.presents.size(); ++p) constraints_.push_back({Kind::present, p, 0});
  faro::detail::SplitMix64 random(kSeed);
  for (std::size_t k = constraints_.size(); k > 1; --k)
    std::swap(constraints_[k - 1], constraints_[random.next() % k]);
}

std::size_t FormulaConstraints::weight(std::size_t number) const {
  const Constraint& constraint = constraints_[number];
  if (constraint.kind != Kind::sum_group) return 1;
  const SumGroup& sum_group = model_.sum_groups[constraint.number];
  std::size_t terms = 0;
  for (const SumConstraint& sum : sum_group.sums) terms += sum.slots.size();
  return terms;
}

void FormulaConstraints::demand(std::size_t number) {
  const Constraint& constraint = constraints_[number];
  switch (constraint.kind) {
    case Kind::store:
      return demand_store(model_.stores[constraint.number]);
    case Kind::element:
      return demand_element(constraint);
    case Kind::sum_group:
      return demand_pool(model_.sum_groups[constraint.number]);
    case Kind::present:
      return demand_present(model_.presents[constraint.number]);
  }
}

void FormulaConstraints::demand_store(const StoreConstraint& store) {
  for (std::size_t c = 0; c < store.addresses.size(); ++c) {
    const std::int64_t address = store.addresses[c];
    if (address == kNotStored) continue;
    const Literal way = formula_.combination(store.address, c);
    if (address == kForbidden) {
      sat_.clause({-way});
      continue;
    }
    const ValueId wanted = specification_.wanted(store.array, address);
    const Literal right = wanted == kUndefined ? -formula_.is(store.node, kUndefined)  //
                                               : formula_.is(store.node, wanted);
    sat_.clause({-way, right});
  }
}

void FormulaConstraints::demand_element(const Constraint& constraint) {
  std::vector<Literal> ways;
  for (const StoreConstraint& store : model_.stores) {
    if (static_cast<std::size_t>(store.array.number) != constraint.number) continue;
    for (std::size_t c = 0; c < store.addresses.size(); ++c)
      if (store.addresses[c] == constraint.element) ways.push_back(formula_.combination(store.address, c));
  }
  sat_.clause(ways);
}

void FormulaConstraints::demand_present(const PresenceConstraint& present) {
  for (const ValueId wanted : present.wanted) {
    std::vector<Literal> held;
    for (const NodeId node : present.held) held.push_back(formula_.is(node, wanted));
    sat_.clause(held);
  }
}

Literal FormulaConstraints::live(const Slot& slot) {
  std::vector<Literal> ways;
  for (std::size_t c = 0; c < slot.holds.size(); ++c)
    if (slot.holds[c]) ways.push_back(formula_.combination(slot.guard, c));
  return formula_.any(ways);
}

// Factors are multiplied in any order: one way for each order of the term's values.
Literal FormulaConstraints::is_term(const std::vector<NodeId>& nodes, const Term& term) {
  if (nodes.size() != term.size()) return Sat::no();
  std::vector<Literal> ways;
  Term order = term;  // sorted
  do {
    std::vector<Literal> factors;
    for (std::size_t k = 0; k < nodes.size(); ++k) factors.push_back(formula_.is(nodes[k], order[k]));
    ways.push_back(formula_.all(factors));
  } while (std::ranges::next_permutation(order).found);
  return formula_.any(ways);
}

bool FormulaConstraints::wants_sum(const SumConstraint& sum) const {
  const ValueTable& values = specification_.values();
  return !values.is_input(sum.wanted) && values.accumulation_of(sum.wanted) == sum.accumulation;
}

void FormulaConstraints::demand_pool(const SumGroup& sum_group) {
  if (!std::ranges::all_of(sum_group.sums, [&](const SumConstraint& sum) { return wants_sum(sum); }))
    return sat_.clause({});
  bool is_plain = sum_group.is_exact;
  std::map<Term, std::size_t> times;
  for (const SumConstraint& sum : sum_group.sums) {
    std::vector<bool> used(sum_group.term_variables.size(), false);
    for (const Slot& slot : sum.slots) {
      is_plain = is_plain && !used[slot.term_variable];
      used[slot.term_variable] = true;
    }
    // In how many sums a term is wanted, and once in each.
    for (const auto& [term, count] : times_of(specification_.values().terms_of(sum.wanted)))
      is_plain = is_plain && count == 1 && ++times[term] == 1;
    is_plain = is_plain && std::ranges::find(used, false) == used.end();
  }
  if (is_plain) return demand_bijection(sum_group);
  for (const SumConstraint& sum : sum_group.sums) demand_sum(sum_group, sum);
}

void FormulaConstraints::demand_bijection(const SumGroup& sum_group) {
  const std::size_t term_variables = sum_group.term_variables.size();
  std::vector<std::vector<Literal>> terms_of(
      term_variables);                // by term_variable: of each wanted term, that it is that
  std::vector<std::size_t> first{0};  // by sum, and one more: its wanted terms
  for (const SumConstraint& sum : sum_group.sums) {
    for (const Term& term : specification_.values().terms_of(sum.wanted)) {
      std::vector<Literal> given;
      for (std::size_t s = 0; s < term_variables; ++s) {
        given.push_back(is_term(sum_group.term_variables[s], term));
        terms_of[s].push_back(given.back());
      }
      exactly_one(sat_, given);
    }
    first.push_back(terms_of.front().size());
  }
  for (std::size_t s = 0; s < term_variables; ++s) exactly_one(sat_, terms_of[s]);
  for (std::size_t s = 0; s < sum_group.sums.size(); ++s) {
    for (const Slot& slot : sum_group.sums[s].slots) {
      const Literal here = live(slot);
      const std::vector<Literal>& terms = terms_of[slot.term_variable];
      for (std::size_t t = 0; t < terms.size(); ++t)
        sat_.clause({-terms[t], t >= first[s] && t < first[s + 1] ? here : -here});
    }
  }
}

void FormulaConstraints::demand_sum(const SumGroup& sum_group, const SumConstraint& sum) {
  const std::map<Term, std::size_t> times = times_of(specification_.values().terms_of(sum.wanted));
  std::vector<Literal> guards;
  for (const Slot& slot : sum.slots) guards.push_back(live(slot));
  std::vector<std::vector<Literal>> terms_of(sum.slots.size());
  for (const auto& [term, count] : times) {
    std::vector<Literal> given;
    for (std::size_t k = 0; k < sum.slots.size(); ++k) {
      const Literal is = is_term(sum_group.term_variables[sum.slots[k].term_variable], term);
      terms_of[k].push_back(is);
      given.push_back(formula_.all(std::vector<Literal>{guards[k], is}));
    }
    exactly(sat_, given, count);
  }
  for (std::size_t k = 0; k < sum.slots.size(); ++k) {
    terms_of[k].push_back(-guards[k]);
    sat_.clause(terms_of[k]);
  }
}

namespace {

// Of more functions than this, cells say what is live.
constexpr std::size_t kMostFunctions = 4096;

}  // namespace

LiveStatements::LiveStatements(const ConstraintModel& model) : model_(model) {
  for (const SumGroup& sum_group : model.sum_groups)
    for (const SumConstraint& sum : sum_group.sums)
      for (const Slot& slot : sum.slots) slots_[slot.statement].push_back(&slot);
}

std::size_t LiveStatements::count(const Candidate& candidate) const {
  return static_cast<std::size_t>(std::ranges::count_if(slots_, [&](const auto& statement) {
    return std::ranges::any_of(statement.second, [&](const Slot* slot) { return candidate.is_live(*slot); });
  }));
}

int LiveStatements::only_hole(std::span<const Slot* const> slots) {
  int hole = -1;
  for (const Slot* slot : slots) {
    for (const Variable& cell : slot->guard.variables) {
      if (hole >= 0 && cell.hole != hole) return -1;
      hole = cell.hole;
    }
  }
  return hole;
}

std::vector<Literal> LiveStatements::counted(std::span<const FunctionSet> families, ModelFormula& formula,
                                             Sat& sat) const {
  std::vector<Literal> live;
  for (const auto& [statement, slots] : slots_) {
    live.push_back(sat.variable());
    const int hole = only_hole(slots);
    if (hole >= 0 && formula.distinct(hole).size() <= kMostFunctions) {
      // As functions: then the formula need not know the cells.
      std::vector<std::size_t> functions(families.size(), 0);
      for (std::size_t f = 0; f < formula.distinct(hole).size(); ++f) {
        functions[static_cast<std::size_t>(hole)] = formula.distinct(hole)[f];
        const Candidate candidate(model_, families, functions);
        if (std::ranges::any_of(slots, [&](const Slot* slot) { return candidate.is_live(*slot); }))
          sat.clause({-formula.function(hole, f), live.back()});
      }
      continue;
    }
    for (const Slot* slot : slots)
      for (std::size_t c = 0; c < slot->holds.size(); ++c)
        if (slot->holds[c]) sat.clause({-formula.combination(slot->guard, c), live.back()});
  }
  return detail::counted(sat, live, live.size());
}

}  // namespace faro::swizzle::detail
