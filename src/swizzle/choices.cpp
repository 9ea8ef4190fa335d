#include "faro/swizzle/choices.hpp"

#include <algorithm>
#include <cstddef>

#include "faro/error.hpp"

namespace faro::swizzle {
namespace {

/// The graph with one function for each hole.
class Chosen {
 public:
  Chosen(const ChoiceGraph& graph, std::span<const FunctionSet> families,
         std::span<const std::size_t> functions)
      : graph_(graph),
        families_(families),
        functions_(functions),
        values_(graph.nodes.size(), kUndefined),
        known_(graph.nodes.size(), false) {}

  std::size_t combination(const Decision& decision) const {
    std::size_t combination = 0;
    for (std::size_t k = decision.cells.size(); k-- > 0;) {
      const auto hole = static_cast<std::size_t>(decision.cells[k].hole);
      const std::int64_t cell = decision.cells[k].cell;
      const auto& values = graph_.values_of[hole][static_cast<std::size_t>(cell)];
      const std::int32_t value = families_[hole].at(functions_[hole], cell);
      const auto place = std::lower_bound(values.begin(), values.end(), value);
      combination = combination * values.size() + static_cast<std::size_t>(place - values.begin());
    }
    return combination;
  }

  ValueId value(NodeId node) {
    if (node == kNoNode) return kUndefined;
    const Node& which = graph_.nodes[node];
    if (which.kind == NodeKind::value) return which.value;
    if (!known_[node]) {
      values_[node] = value(which.outcomes[combination(which.decision)]);
      known_[node] = true;
    }
    return values_[node];
  }

 private:
  const ChoiceGraph& graph_;
  std::span<const FunctionSet> families_;
  std::span<const std::size_t> functions_;
  std::vector<ValueId> values_;
  std::vector<bool> known_;
};

/// Compares sums; its memory is used again.
class SumComparison {
 public:
  bool is_met(const SumSite& sum, const ValueTable& values, Chosen& chosen) {
    if (values.is_input(sum.wanted) || values.accumulation_of(sum.wanted) != sum.accumulation) return false;
    const auto& wanted = values.terms_of(sum.wanted);
    if (terms_.size() < wanted.size()) terms_.resize(wanted.size());
    std::size_t count = 0;
    for (const Slot& slot : sum.slots) {
      if (!slot.holds[chosen.combination(slot.guard)]) continue;
      if (count == wanted.size()) return false;
      std::vector<ValueId>& term = terms_[count++];
      term.clear();
      for (const NodeId factor : slot.term) {
        term.push_back(chosen.value(factor));
        if (term.back() == kUndefined) return false;
      }
      std::sort(term.begin(), term.end());
    }
    if (count != wanted.size()) return false;
    const auto end = terms_.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(terms_.begin(), end);
    return std::equal(terms_.begin(), end, wanted.begin());
  }

 private:
  std::vector<std::vector<ValueId>> terms_;
};

}  // namespace

bool meets(const ChoiceGraph& graph, const Specification& specification,
           std::span<const FunctionSet> families, std::span<const std::size_t> functions) {
  Chosen chosen(graph, families, functions);
  auto uncovered = graph.uncovered;
  for (const StoreSite& store : graph.stores) {
    const std::int64_t address = store.addresses[chosen.combination(store.address)];
    if (address == kNotStored) continue;
    if (address == kForbidden) return false;
    const ValueId value = chosen.value(store.node);
    const ValueId wanted = specification.wanted(store.array, address);
    if (value == kUndefined || (wanted != kUndefined && wanted != value)) return false;
    const auto array = static_cast<std::size_t>(store.array.number);
    if (array < uncovered.size() && !uncovered[array].empty())
      uncovered[array][static_cast<std::size_t>(address)] = false;
  }
  for (const auto& array : uncovered)
    if (std::find(array.begin(), array.end(), true) != array.end()) return false;
  SumComparison sums;
  for (const Pool& pool : graph.pools)
    for (const SumSite& sum : pool.sums)
      if (!sums.is_met(sum, specification.values(), chosen)) return false;
  for (const PresentSite& present : graph.presents) {
    std::vector<ValueId> held;
    for (const NodeId node : present.held) held.push_back(chosen.value(node));
    std::sort(held.begin(), held.end());
    if (!std::includes(held.begin(), held.end(), present.wanted.begin(), present.wanted.end())) return false;
  }
  return true;
}

}  // namespace faro::swizzle
