#include "swizzle/model.hpp"

#include <algorithm>
#include <cstddef>

#include "faro/error.hpp"

namespace faro::swizzle {
namespace {

/// The model with one function for each hole.
class Assignment {
 public:
  Assignment(const ConstraintModel& model, std::span<const FunctionSet> families,
             std::span<const std::size_t> functions)
      : model_(model),
        families_(families),
        functions_(functions),
        values_(model.nodes.size(), kUndefined),
        known_(model.nodes.size(), false) {}

  std::size_t combination(const Scope& scope) const {
    std::size_t combination = 0;
    for (std::size_t k = scope.variables.size(); k-- > 0;) {
      const auto hole = static_cast<std::size_t>(scope.variables[k].hole);
      const std::int64_t cell = scope.variables[k].cell;
      const auto& values = model_.domains[hole][static_cast<std::size_t>(cell)];
      const std::int32_t value = families_[hole].at(functions_[hole], cell);
      const auto place = std::lower_bound(values.begin(), values.end(), value);
      combination = combination * values.size() + static_cast<std::size_t>(place - values.begin());
    }
    return combination;
  }

  ValueId value(NodeId node) {
    if (node == kNoNode) return kUndefined;
    const Node& which = model_.nodes[node];
    if (which.kind == NodeKind::value) return which.value;
    if (!known_[node]) {
      values_[node] = value(which.outcomes[combination(which.scope)]);
      known_[node] = true;
    }
    return values_[node];
  }

 private:
  const ConstraintModel& model_;
  std::span<const FunctionSet> families_;
  std::span<const std::size_t> functions_;
  std::vector<ValueId> values_;
  std::vector<bool> known_;
};

/// Compares sums; its memory is used again.
class SumComparison {
 public:
  bool is_met(const SumConstraint& sum, const ValueTable& values, Assignment& chosen) {
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

bool satisfies(const ConstraintModel& model, const Specification& specification,
               std::span<const FunctionSet> families, std::span<const std::size_t> functions) {
  Assignment chosen(model, families, functions);
  auto uncovered = model.uncovered;
  for (const StoreConstraint& store : model.stores) {
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
  for (const SumGroup& sum_group : model.sum_groups)
    for (const SumConstraint& sum : sum_group.sums)
      if (!sums.is_met(sum, specification.values(), chosen)) return false;
  for (const PresenceConstraint& present : model.presents) {
    std::vector<ValueId> held;
    for (const NodeId node : present.held) held.push_back(chosen.value(node));
    std::sort(held.begin(), held.end());
    if (!std::includes(held.begin(), held.end(), present.wanted.begin(), present.wanted.end())) return false;
  }
  return true;
}

}  // namespace faro::swizzle
