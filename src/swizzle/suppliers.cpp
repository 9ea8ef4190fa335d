#include "swizzle/suppliers.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "faro/error.hpp"

namespace faro::swizzle::detail {
namespace {

// Ways of one guard and, in a pool's check, of one supplier.
constexpr std::size_t kMostSteps = std::size_t{1} << 12;
// Terms of one supplier that a pool's check and a cluster remember.
constexpr std::size_t kMostTerms = 64;
constexpr std::size_t kMostTermsInCluster = 8;
constexpr std::size_t kMostInCluster = 16;
constexpr std::uint32_t kNotWanted = HashSlots::kEmpty;

std::uint64_t hash_of(std::span<const ValueId> term) {
  std::uint64_t hash = 0;
  for (const ValueId value : term) hash = mixed(hash ^ value);
  return hash;
}

bool is_sum_of(const SumSite& site, const ValueTable& values) {
  return !values.is_input(site.wanted) && values.accumulation_of(site.wanted) == site.accumulation;
}

bool contains(const std::vector<std::uint32_t>& terms, std::uint32_t term) {
  return std::ranges::find(terms, term) != terms.end();
}

}  // namespace

Suppliers::Suppliers(const ChoiceGraph& graph, const Specification& specification, Domains& domains,
                     Ways& ways)
    : graph_(graph), specification_(specification), domains_(domains), ways_(ways) {
  for (const Pool& pool : graph.pools) pools_.push_back(facts_of(pool));
}

// HashSlots says kEmpty of what it has not, which is kNotWanted here.
std::uint32_t Suppliers::find_term(const PoolFacts& pool, std::span<const ValueId> term) {
  return pool.number_of.find(hash_of(term), [&](std::uint32_t k) {
    const std::span<const ValueId> other = pool.term(k);
    if (other.size() != term.size()) return false;
    for (std::size_t f = 0; f < term.size(); ++f) {  // short: a call for each would cost more
      if (other[f] != term[f]) return false;
    }
    return true;
  });
}

Suppliers::PoolFacts Suppliers::facts_of(const Pool& pool) const {
  const ValueTable& values = specification_.values();
  PoolFacts facts;
  facts.slots.resize(pool.suppliers.size());
  facts.most_slots.assign(pool.suppliers.size(), 0);
  facts.slots_in.assign(pool.suppliers.size(), std::vector<std::uint16_t>(pool.sums.size(), 0));
  for (std::size_t s = 0; s < pool.sums.size(); ++s) {
    const SumSite& sum = pool.sums[s];
    facts.is_asked.push_back(sum.wanted != kUndefined);
    for (std::size_t k = 0; k < sum.slots.size(); ++k) {
      const std::uint32_t supplier = sum.slots[k].supplier;
      facts.slots[supplier].push_back({static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(k)});
      facts.most_slots[supplier] = std::max(facts.most_slots[supplier], ++facts.slots_in[supplier][s]);
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
        facts.wanted.push_back({std::vector<std::uint16_t>(pool.sums.size(), 0), 0});
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

HoleMask Suppliers::holes_of_term(std::size_t pool, std::uint32_t supplier) const {
  HoleMask holes = 0;
  for (const NodeId node : graph_.pools[pool].suppliers[supplier]) holes |= ways_.holes(node);
  return holes;
}

HoleMask Suppliers::holes_of_guards(std::size_t pool, std::uint32_t supplier) const {
  HoleMask holes = 0;
  for (const SlotOfSupplier& slot : pools_[pool].slots[supplier]) {
    for (const HoleCell& cell : graph_.pools[pool].sums[slot.sum].slots[slot.slot].guard.cells) {
      holes |= mask_of(cell.hole);
    }
  }
  return holes;
}

std::vector<std::vector<std::uint32_t>> Suppliers::clusters(std::size_t number) const {
  const Pool& pool = graph_.pools[number];
  if (!pool.tight) return {};
  std::vector<std::uint32_t> parents(pool.suppliers.size());
  std::iota(parents.begin(), parents.end(), 0U);
  const auto representative = [&](std::uint32_t s) {
    while (parents[s] != s) s = parents[s] = parents[parents[s]];
    return s;
  };
  std::map<NodeId, std::uint32_t> first_with;
  for (std::uint32_t s = 0; s < parents.size(); ++s) {
    for (const NodeId node : pool.suppliers[s]) {
      if (graph_.nodes[node].kind == NodeKind::value) continue;
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

std::uint32_t Suppliers::term_number(const PoolFacts& pool) {
  if (term_.size() == 1 || (term_.size() == 2 && term_[0] <= term_[1])) return find_term(pool, term_);
  sorted_term_.assign(term_.begin(), term_.end());
  std::ranges::sort(sorted_term_);
  return find_term(pool, sorted_term_);
}

Suppliers::Guards Suppliers::guards(const Slot& slot) {
  Guards result;
  const auto take = [&](std::size_t combination) {
    (slot.holds[combination] ? result.can_hold : result.can_fail) = true;
  };
  if (slot.guard.cells.size() == 1 && !domains_.is_opaque(slot.guard.cells[0])) {
    const HoleCell& cell = slot.guard.cells[0];
    if (domains_.is_decided(cell.hole)) {
      take(domains_.value(cell));
      return result;
    }
    for (ValueMask left = domains_.allowed(cell); left != 0; left &= left - 1) {
      take(static_cast<std::size_t>(std::countr_zero(left)));
    }
    return result;
  }
  ways_.begin(kMostSteps);
  const bool finished = ways_.through(slot.guard, [&](std::size_t combination) {
    take(combination);
    return !(result.can_hold && result.can_fail);
  });
  if (!finished) result = {true, true};
  return result;
}

void Suppliers::list_guards(std::size_t pool, std::uint32_t supplier) {
  guards_.clear();
  for (const SlotOfSupplier& place : pools_[pool].slots[supplier]) {
    guards_.push_back(guards(graph_.pools[pool].sums[place.sum].slots[place.slot]));
  }
}

Verdict Suppliers::force_guard(const Slot& slot, bool holds) {
  ways_.begin(most_steps_);
  const bool finished = ways_.through(slot.guard, [&](std::size_t combination) {
    if (slot.holds[combination] == holds) ways_.keep();
    return true;
  });
  return finished ? ways_.restrict_kept() : Verdict::quiet;
}

// guards_ has those of the supplier's slots.
bool Suppliers::fits(const PoolFacts& pool, std::uint32_t supplier, const Wanted& wanted) const {
  const std::vector<SlotOfSupplier>& slots = pool.slots[supplier];
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const std::uint16_t times = wanted.times[slots[k].sum];
    if (times == 0 && !guards_[k].can_fail) return false;
    if (times == wanted.most && !guards_[k].can_hold) return false;
  }
  for (std::size_t s = 0; s < wanted.times.size(); ++s) {
    if (wanted.times[s] == wanted.most && pool.slots_in[supplier][s] != pool.most_slots[supplier])
      return false;
  }
  return true;
}

Verdict Suppliers::visit(std::size_t pool, std::uint32_t supplier, std::size_t most_steps) {
  most_steps_ = most_steps;
  if (!pools_[pool].can_be_met) return Verdict::contradiction;
  return graph_.pools[pool].tight ? visit_tight(pool, supplier, {}, nullptr) : visit_loose(pool, supplier);
}

// The term must be wanted; where it is wanted as often as in any sum, every slot must hold, and where it is
// not wanted, none may.
Verdict Suppliers::visit_tight(std::size_t number, std::uint32_t supplier, const Terms& taken,
                               Clustered* clustered) {
  const Pool& pool = graph_.pools[number];
  const PoolFacts& facts = pools_[number];
  const std::vector<SlotOfSupplier>& slots = facts.slots[supplier];
  list_guards(number, supplier);
  if (clustered != nullptr) *clustered = {.terms = {}, .is_known = false};
  std::uint64_t may_hold = 0, may_fail = 0;  // by slot
  const bool is_known = slots.size() <= 64;
  ways_.begin(most_steps_);
  const bool finished = ways_.through(pool.suppliers[supplier], term_, [&] {
    const std::uint32_t term = term_number(facts);
    if (term == kNotWanted || contains(taken, term) || !fits(facts, supplier, facts.wanted[term]))
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
    ways_.keep();
    return true;
  });
  if (!finished) return Verdict::gave_up;
  if (clustered != nullptr) {
    std::ranges::sort(clustered->terms);
    clustered->is_known = clustered->terms.size() <= kMostTermsInCluster;
  }
  Verdict verdict = ways_.restrict_kept();
  if (verdict == Verdict::contradiction || !is_known) return verdict;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const bool can_hold = (may_hold >> k & 1) != 0, can_fail = (may_fail >> k & 1) != 0;
    if (can_hold == can_fail || !(guards_[k].can_hold && guards_[k].can_fail)) continue;
    const Verdict forced = force_guard(pool.sums[slots[k].sum].slots[slots[k].slot], can_hold);
    if (forced == Verdict::contradiction) return forced;
    if (forced == Verdict::changed) verdict = forced;
  }
  return verdict;
}

Verdict Suppliers::takes_all(const PoolFacts& pool, std::span<const std::uint32_t> suppliers,
                             const Terms& terms) const {
  std::size_t room = 0, given = 0;
  for (const std::uint32_t term : terms) room += pool.wanted[term].most;
  for (std::size_t k = 0; k < suppliers.size(); ++k) {
    if (clustered_[k].is_known && clustered_[k].terms == terms) given += pool.most_slots[suppliers[k]];
  }
  if (given > room) return Verdict::contradiction;
  return given == room ? Verdict::changed : Verdict::quiet;
}

Verdict Suppliers::visit_cluster(std::size_t number, std::span<const std::uint32_t> suppliers,
                                 std::size_t most_steps) {
  most_steps_ = most_steps;
  const PoolFacts& facts = pools_[number];
  if (!facts.can_be_met) return Verdict::contradiction;
  if (clustered_.size() < suppliers.size()) clustered_.resize(suppliers.size());
  Verdict result = Verdict::quiet;
  for (std::size_t k = 0; k < suppliers.size(); ++k) {
    const Verdict verdict = visit_tight(number, suppliers[k], {}, &clustered_[k]);
    if (verdict == Verdict::contradiction) return verdict;
    if (verdict != Verdict::quiet && result != Verdict::changed) result = verdict;
  }
  for (std::size_t k = 0; k < suppliers.size(); ++k) {
    taken_.clear();
    for (std::size_t j = 0; j < suppliers.size(); ++j) {
      const Clustered& other = clustered_[j];
      if (!other.is_known || (clustered_[k].is_known && other.terms == clustered_[k].terms && j != k))
        continue;
      const Verdict takes = takes_all(facts, suppliers, other.terms);
      if (takes == Verdict::contradiction) return takes;
      if (takes != Verdict::changed || j == k) continue;
      for (const std::uint32_t term : other.terms) {
        if (!clustered_[k].is_known || contains(clustered_[k].terms, term)) taken_.push_back(term);
      }
    }
    if (taken_.empty()) continue;
    const Verdict verdict = visit_tight(number, suppliers[k], taken_, &clustered_[k]);
    if (verdict == Verdict::contradiction) return verdict;
    if (verdict == Verdict::changed) result = verdict;
  }
  return result;
}

// A slot whose term cannot be wanted must not hold.
Verdict Suppliers::visit_loose(std::size_t number, std::uint32_t supplier) {
  const Pool& pool = graph_.pools[number];
  const PoolFacts& facts = pools_[number];
  const std::vector<SlotOfSupplier>& slots = facts.slots[supplier];
  list_guards(number, supplier);
  ways_.begin(most_steps_);
  std::vector<bool> can_be_wanted(pool.sums.size(), false);
  const bool finished = ways_.through(pool.suppliers[supplier], term_, [&] {
    const std::uint32_t term = term_number(facts);
    for (std::size_t s = 0; term != kNotWanted && s < can_be_wanted.size(); ++s) {
      if (facts.wanted[term].times[s] != 0) can_be_wanted[s] = true;
    }
    return true;
  });
  if (!finished) return Verdict::gave_up;
  Verdict verdict = Verdict::quiet;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (can_be_wanted[slots[k].sum] || !facts.is_asked[slots[k].sum] || !guards_[k].can_hold) continue;
    if (!guards_[k].can_fail) return Verdict::contradiction;
    const Verdict forced = force_guard(pool.sums[slots[k].sum].slots[slots[k].slot], false);
    if (forced == Verdict::contradiction) return forced;
    if (forced == Verdict::changed) verdict = forced;
  }
  return verdict;
}

Verdict Suppliers::check_pool(std::size_t number) {
  const Pool& pool = graph_.pools[number];
  const PoolFacts& facts = pools_[number];
  if (!pool.tight) return Verdict::quiet;
  std::map<Terms, std::size_t> suppliers_of;                 // by the terms that they may be
  std::vector<std::size_t> most_of(facts.wanted.size(), 0);  // that could be this term
  bool is_complete = true;
  for (std::uint32_t s = 0; s < pool.suppliers.size(); ++s) {
    list_guards(number, s);
    Terms terms;
    ways_.begin(kMostSteps);
    const bool finished = ways_.through(pool.suppliers[s], term_, [&] {
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
    suppliers_of[terms] += facts.most_slots[s];
  }
  for (const auto& [terms, count] : suppliers_of) {
    std::size_t room = 0;
    for (const std::uint32_t term : terms) room += facts.wanted[term].most;
    if (count > room) return Verdict::contradiction;
  }
  for (std::size_t term = 0; term < most_of.size() && is_complete; ++term) {
    if (most_of[term] < facts.wanted[term].most) return Verdict::contradiction;
  }
  return Verdict::quiet;
}

}  // namespace faro::swizzle::detail
