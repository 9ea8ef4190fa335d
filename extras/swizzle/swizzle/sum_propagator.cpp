#include "swizzle/sum_propagator.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "faro/error.hpp"

namespace faro::swizzle::detail {
namespace {

// Supports of one guard and, in a group's check, of one term.
constexpr std::size_t kMostGuardSteps = std::size_t{1} << 12;
// Values of one term that a group's check and a cluster remember.
constexpr std::size_t kMostTerms = 64;
constexpr std::size_t kMostTermsInCluster = 8;
constexpr std::size_t kMostInCluster = 16;
constexpr std::uint32_t kNotWanted = HashSlots::kEmpty;

std::uint64_t hash_of(std::span<const ValueId> term) {
  std::uint64_t hash = 0;
  for (const ValueId value : term) hash = mixed(hash ^ value);
  return hash;
}

bool contains(const std::vector<std::uint32_t>& terms, std::uint32_t term) {
  return std::ranges::find(terms, term) != terms.end();
}

}  // namespace

SumPropagator::SumPropagator(const ConstraintModel& model, const Specification& specification,
                             Domains& domains, Supports& ways)
    : model_(model), specification_(specification), domains_(domains), supports_(ways) {
  for (const SumGroup& sum_group : model.sum_groups) sum_groups_.push_back(facts_of(sum_group));
}

// HashSlots says kEmpty of what it has not, which is kNotWanted here.
std::uint32_t SumPropagator::find_term(const SumGroupFacts& sum_group, std::span<const ValueId> term) {
  return sum_group.number_of.find(hash_of(term), [&](std::uint32_t k) {
    const std::span<const ValueId> other = sum_group.term(k);
    if (other.size() != term.size()) return false;
    for (std::size_t f = 0; f < term.size(); ++f) {  // short: a call for each would cost more
      if (other[f] != term[f]) return false;
    }
    return true;
  });
}

SumPropagator::SumGroupFacts SumPropagator::facts_of(const SumGroup& sum_group) const {
  const ValueTable& values = specification_.values();
  SumGroupFacts facts;
  facts.slots.resize(sum_group.term_variables.size());
  facts.most_slots.assign(sum_group.term_variables.size(), 0);
  facts.slots_in.assign(sum_group.term_variables.size(),
                        std::vector<std::uint16_t>(sum_group.sums.size(), 0));
  for (std::size_t s = 0; s < sum_group.sums.size(); ++s) {
    const SumConstraint& sum = sum_group.sums[s];
    facts.is_asked.push_back(sum.wanted != kUndefined);
    for (std::size_t k = 0; k < sum.slots.size(); ++k) {
      const std::uint32_t term_variable = sum.slots[k].term_variable;
      facts.slots[term_variable].push_back({static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(k)});
      facts.most_slots[term_variable] =
          std::max(facts.most_slots[term_variable], ++facts.slots_in[term_variable][s]);
    }
    if (sum.wanted == kUndefined) continue;
    if (!is_sum_of(sum, values)) {
      facts.can_be_met = false;
      continue;
    }
    for (const std::vector<ValueId>& term : values.terms_of(sum.wanted)) {
      std::uint32_t number = find_term(facts, term);
      if (number == kNotWanted) {
        number = static_cast<std::uint32_t>(facts.wanted.size());
        facts.wanted.push_back({std::vector<std::uint16_t>(sum_group.sums.size(), 0), 0});
        facts.terms.insert(facts.terms.end(), term.begin(), term.end());
        facts.ends.push_back(facts.terms.size());
        facts.number_of.insert(hash_of(term), number,
                               [&](std::uint32_t k) { return hash_of(facts.term(k)); });
      }
      Wanted& wanted = facts.wanted[number];
      wanted.most = std::max(wanted.most, ++wanted.times[s]);
    }
  }
  return facts;
}

HoleMask SumPropagator::holes_of_term(std::size_t sum_group, std::uint32_t term_variable) const {
  HoleMask holes = 0;
  for (const NodeId node : model_.sum_groups[sum_group].term_variables[term_variable])
    holes |= supports_.holes(node);
  return holes;
}

HoleMask SumPropagator::holes_of_guards(std::size_t sum_group, std::uint32_t term_variable) const {
  HoleMask holes = 0;
  for (const SlotOfTerm& slot : sum_groups_[sum_group].slots[term_variable]) {
    for (const Variable& cell :
         model_.sum_groups[sum_group].sums[slot.sum].slots[slot.slot].guard.variables) {
      holes |= mask_of(cell.hole);
    }
  }
  return holes;
}

std::vector<std::vector<std::uint32_t>> SumPropagator::clusters(std::size_t number) const {
  const SumGroup& sum_group = model_.sum_groups[number];
  if (!sum_group.is_exact) return {};
  std::vector<std::uint32_t> parents(sum_group.term_variables.size());
  std::iota(parents.begin(), parents.end(), 0U);
  const auto representative = [&](std::uint32_t s) {
    while (parents[s] != s) s = parents[s] = parents[parents[s]];
    return s;
  };
  std::map<NodeId, std::uint32_t> first_with;
  for (std::uint32_t s = 0; s < parents.size(); ++s) {
    for (const NodeId node : sum_group.term_variables[s]) {
      if (model_.nodes[node].kind == NodeKind::value) continue;
      const std::uint32_t a = representative(first_with.try_emplace(node, s).first->second);
      const std::uint32_t b = representative(s);
      parents[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_first;
  for (std::uint32_t s = 0; s < parents.size(); ++s) by_first[representative(s)].push_back(s);
  std::vector<std::vector<std::uint32_t>> result;
  for (auto& [first, cluster] : by_first) {
    if (cluster.size() > 1 && cluster.size() <= kMostInCluster) result.push_back(std::move(cluster));
  }
  return result;
}

std::uint32_t SumPropagator::term_number(const SumGroupFacts& sum_group) {
  if (term_.size() == 1 || (term_.size() == 2 && term_[0] <= term_[1])) return find_term(sum_group, term_);
  sorted_term_.assign(term_.begin(), term_.end());
  std::ranges::sort(sorted_term_);
  return find_term(sum_group, sorted_term_);
}

SumPropagator::Guards SumPropagator::guards(const Slot& slot) {
  Guards result;
  const auto take = [&](std::size_t combination) {
    (slot.holds[combination] ? result.can_hold : result.can_fail) = true;
  };
  if (slot.guard.variables.size() == 1 && !domains_.is_opaque(slot.guard.variables[0])) {
    const Variable& cell = slot.guard.variables[0];
    if (domains_.is_fixed(cell.hole)) {
      take(domains_.value(cell));
      return result;
    }
    for (ValueMask left = domains_.allowed(cell); left != 0; left &= left - 1) {
      take(static_cast<std::size_t>(std::countr_zero(left)));
    }
    return result;
  }
  supports_.begin(kMostGuardSteps);
  const bool finished = supports_.through(slot.guard, [&](std::size_t combination) {
    take(combination);
    return !(result.can_hold && result.can_fail);
  });
  if (!finished) result = {true, true};
  return result;
}

void SumPropagator::list_guards(std::size_t sum_group, std::uint32_t term_variable) {
  guards_.clear();
  for (const SlotOfTerm& place : sum_groups_[sum_group].slots[term_variable]) {
    guards_.push_back(guards(model_.sum_groups[sum_group].sums[place.sum].slots[place.slot]));
  }
}

Filtering SumPropagator::force_guard(const Slot& slot, bool holds) {
  supports_.begin(most_steps_);
  const bool finished = supports_.through(slot.guard, [&](std::size_t combination) {
    if (slot.holds[combination] == holds) supports_.keep();
    return true;
  });
  return finished ? supports_.restrict_kept() : Filtering::unchanged;
}

// guards_ has those of the variable's slots.
bool SumPropagator::fits(const SumGroupFacts& sum_group, std::uint32_t term_variable,
                         const Wanted& wanted) const {
  const std::vector<SlotOfTerm>& slots = sum_group.slots[term_variable];
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const std::uint16_t times = wanted.times[slots[k].sum];
    if (times == 0 && !guards_[k].can_fail) return false;
    if (times == wanted.most && !guards_[k].can_hold) return false;
  }
  for (std::size_t s = 0; s < wanted.times.size(); ++s) {
    if (wanted.times[s] == wanted.most &&
        sum_group.slots_in[term_variable][s] != sum_group.most_slots[term_variable])
      return false;
  }
  return true;
}

Filtering SumPropagator::visit(std::size_t sum_group, std::uint32_t term_variable, std::size_t most_steps) {
  most_steps_ = most_steps;
  if (!sum_groups_[sum_group].can_be_met) return Filtering::contradiction;
  return model_.sum_groups[sum_group].is_exact ? visit_exact(sum_group, term_variable, {}, nullptr)
                                               : visit_inexact(sum_group, term_variable);
}

// The term must be wanted; where it is wanted as often as in any sum, every slot must hold, and where it is
// not wanted, none may.
Filtering SumPropagator::visit_exact(std::size_t number, std::uint32_t term_variable, const Terms& taken,
                                     Clustered* clustered) {
  const SumGroup& sum_group = model_.sum_groups[number];
  const SumGroupFacts& facts = sum_groups_[number];
  const std::vector<SlotOfTerm>& slots = facts.slots[term_variable];
  list_guards(number, term_variable);
  if (clustered != nullptr) *clustered = {.terms = {}, .is_known = false};
  std::uint64_t may_hold = 0, may_fail = 0;  // by slot
  const bool is_known = slots.size() <= 64;
  supports_.begin(most_steps_);
  const bool finished = supports_.through(sum_group.term_variables[term_variable], term_, [&] {
    const std::uint32_t term = term_number(facts);
    if (term == kNotWanted || contains(taken, term) || !fits(facts, term_variable, facts.wanted[term]))
      return true;
    const Wanted& wanted = facts.wanted[term];
    for (std::size_t k = 0; k < slots.size() && is_known; ++k) {
      const std::uint16_t times = wanted.times[slots[k].sum];
      if (times != 0) may_hold |= std::uint64_t{1} << k;
      if (times != wanted.most) may_fail |= std::uint64_t{1} << k;
    }
    if (clustered != nullptr && clustered->terms.size() <= kMostTermsInCluster &&
        !contains(clustered->terms, term)) {
      clustered->terms.push_back(term);
    }
    supports_.keep();
    return true;
  });
  if (!finished) return Filtering::gave_up;
  if (clustered != nullptr) {
    std::ranges::sort(clustered->terms);
    clustered->is_known = clustered->terms.size() <= kMostTermsInCluster;
  }
  Filtering filtering = supports_.restrict_kept();
  if (filtering == Filtering::contradiction || !is_known) return filtering;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const bool can_hold = (may_hold >> k & 1) != 0, can_fail = (may_fail >> k & 1) != 0;
    if (can_hold == can_fail || !(guards_[k].can_hold && guards_[k].can_fail)) continue;
    const Filtering forced = force_guard(sum_group.sums[slots[k].sum].slots[slots[k].slot], can_hold);
    if (forced == Filtering::contradiction) return forced;
    if (forced == Filtering::pruned) filtering = forced;
  }
  return filtering;
}

Filtering SumPropagator::takes_all(const SumGroupFacts& sum_group,
                                   std::span<const std::uint32_t> term_variables, const Terms& terms) const {
  std::size_t room = 0, given = 0;
  for (const std::uint32_t term : terms) room += sum_group.wanted[term].most;
  for (std::size_t k = 0; k < term_variables.size(); ++k) {
    if (clustered_[k].is_known && clustered_[k].terms == terms)
      given += sum_group.most_slots[term_variables[k]];
  }
  if (given > room) return Filtering::contradiction;
  return given == room ? Filtering::pruned : Filtering::unchanged;
}

Filtering SumPropagator::visit_cluster(std::size_t number, std::span<const std::uint32_t> term_variables,
                                       std::size_t most_steps) {
  most_steps_ = most_steps;
  const SumGroupFacts& facts = sum_groups_[number];
  if (!facts.can_be_met) return Filtering::contradiction;
  if (clustered_.size() < term_variables.size()) clustered_.resize(term_variables.size());
  Filtering result = Filtering::unchanged;
  for (std::size_t k = 0; k < term_variables.size(); ++k) {
    const Filtering filtering = visit_exact(number, term_variables[k], {}, &clustered_[k]);
    if (filtering == Filtering::contradiction) return filtering;
    if (filtering != Filtering::unchanged && result != Filtering::pruned) result = filtering;
  }
  for (std::size_t k = 0; k < term_variables.size(); ++k) {
    taken_.clear();
    for (std::size_t j = 0; j < term_variables.size(); ++j) {
      const Clustered& other = clustered_[j];
      if (!other.is_known || (clustered_[k].is_known && other.terms == clustered_[k].terms && j != k))
        continue;
      const Filtering takes = takes_all(facts, term_variables, other.terms);
      if (takes == Filtering::contradiction) return takes;
      if (takes != Filtering::pruned || j == k) continue;
      for (const std::uint32_t term : other.terms) {
        if (!clustered_[k].is_known || contains(clustered_[k].terms, term)) taken_.push_back(term);
      }
    }
    if (taken_.empty()) continue;
    const Filtering filtering = visit_exact(number, term_variables[k], taken_, &clustered_[k]);
    if (filtering == Filtering::contradiction) return filtering;
    if (filtering == Filtering::pruned) result = filtering;
  }
  return result;
}

// A slot whose term cannot be wanted must not hold.
Filtering SumPropagator::visit_inexact(std::size_t number, std::uint32_t term_variable) {
  const SumGroup& sum_group = model_.sum_groups[number];
  const SumGroupFacts& facts = sum_groups_[number];
  const std::vector<SlotOfTerm>& slots = facts.slots[term_variable];
  list_guards(number, term_variable);
  supports_.begin(most_steps_);
  std::vector<bool> can_be_wanted(sum_group.sums.size(), false);
  const bool finished = supports_.through(sum_group.term_variables[term_variable], term_, [&] {
    const std::uint32_t term = term_number(facts);
    for (std::size_t s = 0; term != kNotWanted && s < can_be_wanted.size(); ++s) {
      if (facts.wanted[term].times[s] != 0) can_be_wanted[s] = true;
    }
    return true;
  });
  if (!finished) return Filtering::gave_up;
  Filtering filtering = Filtering::unchanged;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (can_be_wanted[slots[k].sum] || !facts.is_asked[slots[k].sum] || !guards_[k].can_hold) continue;
    if (!guards_[k].can_fail) return Filtering::contradiction;
    const Filtering forced = force_guard(sum_group.sums[slots[k].sum].slots[slots[k].slot], false);
    if (forced == Filtering::contradiction) return forced;
    if (forced == Filtering::pruned) filtering = forced;
  }
  return filtering;
}

Filtering SumPropagator::check_sum_group(std::size_t number) {
  const SumGroup& sum_group = model_.sum_groups[number];
  const SumGroupFacts& facts = sum_groups_[number];
  if (!sum_group.is_exact) return Filtering::unchanged;
  std::map<Terms, std::size_t> term_variables_of;            // by the terms that they may be
  std::vector<std::size_t> most_of(facts.wanted.size(), 0);  // that could be this term
  bool is_complete = true;
  for (std::uint32_t s = 0; s < sum_group.term_variables.size(); ++s) {
    list_guards(number, s);
    Terms terms;
    supports_.begin(kMostGuardSteps);
    const bool finished = supports_.through(sum_group.term_variables[s], term_, [&] {
      const std::uint32_t term = term_number(facts);
      if (term == kNotWanted || !fits(facts, s, facts.wanted[term])) return true;
      if (!contains(terms, term)) terms.push_back(term);
      return terms.size() <= kMostTerms;
    });
    if (!finished) {
      is_complete = false;
      continue;
    }
    for (const std::uint32_t term : terms) most_of[term] += facts.most_slots[s];
    std::ranges::sort(terms);
    term_variables_of[terms] += facts.most_slots[s];
  }
  for (const auto& [terms, count] : term_variables_of) {
    std::size_t room = 0;
    for (const std::uint32_t term : terms) room += facts.wanted[term].most;
    if (count > room) return Filtering::contradiction;
  }
  for (std::size_t term = 0; term < most_of.size() && is_complete; ++term) {
    if (most_of[term] < facts.wanted[term].most) return Filtering::contradiction;
  }
  return Filtering::unchanged;
}

}  // namespace faro::swizzle::detail
