// Whether one function for each hole meets a site.
#include <algorithm>
#include <utility>

#include "swizzle/solver/formula_sites.hpp"

namespace faro::swizzle::detail {

Candidate::Candidate(const ChoiceGraph& graph, std::span<const FunctionSet> families,
                     std::vector<std::size_t> functions)
    : graph_(graph), families_(families), functions_(std::move(functions)) {}

std::size_t Candidate::combination(const Decision& decision) const {
  std::size_t combination = 0;
  for (std::size_t k = decision.cells.size(); k-- > 0;) {
    const auto hole = static_cast<std::size_t>(decision.cells[k].hole);
    const std::int64_t cell = decision.cells[k].cell;
    const std::vector<std::int32_t>& values = graph_.values_of[hole][static_cast<std::size_t>(cell)];
    const auto place = std::ranges::lower_bound(values, families_[hole].at(functions_[hole], cell));
    combination = combination * values.size() + static_cast<std::size_t>(place - values.begin());
  }
  return combination;
}

ValueId Candidate::value(NodeId node) {
  if (node == kNoNode) return kUndefined;
  const Node& which = graph_.nodes[node];
  if (which.kind == NodeKind::value) return which.value;
  if (const auto known = known_.find(node); known != known_.end()) return known->second;
  const ValueId result = value(which.outcomes[combination(which.decision)]);
  known_.emplace(node, result);
  return result;
}

bool FormulaSites::is_met(std::size_t number, Candidate& candidate) const {
  const Site& site = sites_[number];
  switch (site.kind) {
    case Kind::store:
      return store_is_met(graph_.stores[site.number], candidate);
    case Kind::element:
      return element_is_met(site, candidate);
    case Kind::pool:
      return std::ranges::all_of(graph_.pools[site.number].sums,
                                 [&](const SumSite& sum) { return sum_is_met(sum, candidate); });
    case Kind::present:
      return present_is_met(graph_.presents[site.number], candidate);
  }
  return false;
}

bool FormulaSites::store_is_met(const StoreSite& store, Candidate& candidate) const {
  const std::int64_t address = store.addresses[candidate.combination(store.address)];
  if (address == kNotStored) return true;
  if (address == kForbidden) return false;
  const ValueId value = candidate.value(store.node);
  const ValueId wanted = specification_.wanted(store.array, address);
  return value != kUndefined && (wanted == kUndefined || wanted == value);
}

bool FormulaSites::element_is_met(const Site& site, Candidate& candidate) const {
  return std::ranges::any_of(graph_.stores, [&](const StoreSite& store) {
    return static_cast<std::size_t>(store.array.number) == site.number &&
           store.addresses[candidate.combination(store.address)] == site.element;
  });
}

bool FormulaSites::sum_is_met(const SumSite& sum, Candidate& candidate) const {
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

bool FormulaSites::present_is_met(const PresentSite& present, Candidate& candidate) const {
  std::vector<ValueId> held;
  for (const NodeId node : present.held) held.push_back(candidate.value(node));
  std::ranges::sort(held);
  return std::ranges::includes(held, present.wanted);
}

}  // namespace faro::swizzle::detail
