#include "swizzle/solver/formula_sites.hpp"

#include <algorithm>
#include <map>

#include "permutation/split_mix.hpp"

namespace faro::swizzle::detail {
namespace {

constexpr std::uint64_t kSeed = 5;

using Term = std::vector<ValueId>;

std::map<Term, std::size_t> times_of(const std::vector<Term>& terms) {
  std::map<Term, std::size_t> times;
  for (const Term& term : terms) ++times[term];
  return times;
}

}  // namespace

FormulaSites::FormulaSites(const ChoiceGraph& graph, const Specification& specification,
                           ChoiceFormula& formula, Sat& sat)
    : graph_(graph), specification_(specification), formula_(formula), sat_(sat) {
  for (std::size_t s = 0; s < graph.stores.size(); ++s) sites_.push_back({Kind::store, s, 0});
  for (std::size_t a = 0; a < graph.uncovered.size(); ++a) {
    for (std::size_t i = 0; i < graph.uncovered[a].size(); ++i)
      if (graph.uncovered[a][i]) sites_.push_back({Kind::element, a, static_cast<std::int64_t>(i)});
  }
  for (std::size_t p = 0; p < graph.pools.size(); ++p) sites_.push_back({Kind::pool, p, 0});
  for (std::size_t p = 0; p < graph.presents.size(); ++p) sites_.push_back({Kind::present, p, 0});
  faro::detail::SplitMix64 random(kSeed);
  for (std::size_t k = sites_.size(); k > 1; --k) std::swap(sites_[k - 1], sites_[random.next() % k]);
}

std::size_t FormulaSites::weight(std::size_t number) const {
  const Site& site = sites_[number];
  if (site.kind != Kind::pool) return 1;
  const Pool& pool = graph_.pools[site.number];
  std::size_t terms = 0;
  for (const SumSite& sum : pool.sums) terms += sum.slots.size();
  return terms;
}

void FormulaSites::demand(std::size_t number) {
  const Site& site = sites_[number];
  switch (site.kind) {
    case Kind::store:
      return demand_store(graph_.stores[site.number]);
    case Kind::element:
      return demand_element(site);
    case Kind::pool:
      return demand_pool(graph_.pools[site.number]);
    case Kind::present:
      return demand_present(graph_.presents[site.number]);
  }
}

void FormulaSites::demand_store(const StoreSite& store) {
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

void FormulaSites::demand_element(const Site& site) {
  std::vector<Literal> ways;
  for (const StoreSite& store : graph_.stores) {
    if (static_cast<std::size_t>(store.array.number) != site.number) continue;
    for (std::size_t c = 0; c < store.addresses.size(); ++c)
      if (store.addresses[c] == site.element) ways.push_back(formula_.combination(store.address, c));
  }
  sat_.clause(ways);
}

void FormulaSites::demand_present(const PresentSite& present) {
  for (const ValueId wanted : present.wanted) {
    std::vector<Literal> held;
    for (const NodeId node : present.held) held.push_back(formula_.is(node, wanted));
    sat_.clause(held);
  }
}

Literal FormulaSites::live(const Slot& slot) {
  std::vector<Literal> ways;
  for (std::size_t c = 0; c < slot.holds.size(); ++c)
    if (slot.holds[c]) ways.push_back(formula_.combination(slot.guard, c));
  return formula_.any(ways);
}

// Factors are multiplied in any order: one way for each order of the term's values.
Literal FormulaSites::is_term(const std::vector<NodeId>& nodes, const Term& term) {
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

bool FormulaSites::wants_sum(const SumSite& sum) const {
  const ValueTable& values = specification_.values();
  return !values.is_input(sum.wanted) && values.accumulation_of(sum.wanted) == sum.accumulation;
}

void FormulaSites::demand_pool(const Pool& pool) {
  if (!std::ranges::all_of(pool.sums, [&](const SumSite& sum) { return wants_sum(sum); }))
    return sat_.clause({});
  bool is_plain = pool.tight;
  std::map<Term, std::size_t> times;
  for (const SumSite& sum : pool.sums) {
    std::vector<bool> used(pool.suppliers.size(), false);
    for (const Slot& slot : sum.slots) {
      is_plain = is_plain && !used[slot.supplier];
      used[slot.supplier] = true;
    }
    // In how many sums a term is wanted, and once in each.
    for (const auto& [term, count] : times_of(specification_.values().terms_of(sum.wanted)))
      is_plain = is_plain && count == 1 && ++times[term] == 1;
    is_plain = is_plain && std::ranges::find(used, false) == used.end();
  }
  if (is_plain) return demand_bijection(pool);
  for (const SumSite& sum : pool.sums) demand_sum(pool, sum);
}

void FormulaSites::demand_bijection(const Pool& pool) {
  const std::size_t suppliers = pool.suppliers.size();
  std::vector<std::vector<Literal>> terms_of(suppliers);  // by supplier: of each wanted term, that it is that
  std::vector<std::size_t> first{0};                      // by sum, and one more: its wanted terms
  for (const SumSite& sum : pool.sums) {
    for (const Term& term : specification_.values().terms_of(sum.wanted)) {
      std::vector<Literal> given;
      for (std::size_t s = 0; s < suppliers; ++s) {
        given.push_back(is_term(pool.suppliers[s], term));
        terms_of[s].push_back(given.back());
      }
      exactly_one(sat_, given);
    }
    first.push_back(terms_of.front().size());
  }
  for (std::size_t s = 0; s < suppliers; ++s) exactly_one(sat_, terms_of[s]);
  for (std::size_t s = 0; s < pool.sums.size(); ++s) {
    for (const Slot& slot : pool.sums[s].slots) {
      const Literal here = live(slot);
      const std::vector<Literal>& terms = terms_of[slot.supplier];
      for (std::size_t t = 0; t < terms.size(); ++t)
        sat_.clause({-terms[t], t >= first[s] && t < first[s + 1] ? here : -here});
    }
  }
}

void FormulaSites::demand_sum(const Pool& pool, const SumSite& sum) {
  const std::map<Term, std::size_t> times = times_of(specification_.values().terms_of(sum.wanted));
  std::vector<Literal> guards;
  for (const Slot& slot : sum.slots) guards.push_back(live(slot));
  std::vector<std::vector<Literal>> terms_of(sum.slots.size());
  for (const auto& [term, count] : times) {
    std::vector<Literal> given;
    for (std::size_t k = 0; k < sum.slots.size(); ++k) {
      const Literal is = is_term(pool.suppliers[sum.slots[k].supplier], term);
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

}  // namespace faro::swizzle::detail
