// Supports: the value tuples that are left for a few nodes and scopes of a constraint model.
//
//     begin                   lane(5,1) in {0, 3}          index(0,1) is fixed          found
//     node  ──────────────>   0 ──────────────────────>    0 ──────────────────────>   I0    keep()
//                             3 ──────────────────────>    index(3,1) in {0, 1} ─ 0 ─> I3
//                                                                               └ 1 ─> I35   keep()
//     restrict_kept           two supports were kept; lane(5,1) is in both: it is 0 or 3. index(3,1) is in one.
//
// A support gives each variable that it meets one value, out of those that the domains leave. A value of a
// variable without a support is pruned.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "swizzle/domains.hpp"
#include "swizzle/model.hpp"

namespace faro::swizzle::detail {

/// What filtering a constraint gave: gave_up where there are too many supports to say anything.
enum class Filtering : std::uint8_t { contradiction, pruned, unchanged, gave_up };

/// A set of values, one bit each, by hash: what a node can become, what a constraint can use.
using Signature = std::uint64_t;
inline constexpr Signature kAnyValue = ~Signature{0};
Signature signature(ValueId value);

/// A set of holes, one bit each, by number mod 64.
using HoleMask = std::uint64_t;
inline HoleMask mask_of(int hole) { return HoleMask{1} << (hole % 64); }

class Supports {
 public:
  Supports(const ConstraintModel& model, Domains& domains);

  /// Holes that decide what the node is.
  HoleMask holes(NodeId node) const { return holes_of_[node]; }

  /// Forgets all supports; more than `most_steps` steps give up.
  void begin(std::size_t most_steps);
  // All three return false if they gave up or `found` did. through() skips what cannot become a value of the
  // target's signature.
  template <typename Found>
  bool through(NodeId node, Signature target, const Found& found);
  template <typename Found>
  bool through(const Scope& scope, const Found& found) {
    return combine(scope, 0, 0, 1, found);
  }
  /// Of a term: `values` are its nodes' when `found` is called.
  template <typename Found>
  bool through(const std::vector<NodeId>& nodes, std::vector<ValueId>& values, const Found& found) {
    values.resize(nodes.size());
    return through_from(0, nodes, values, found);
  }
  /// For the open cell each value_of(item), of the items of a range, that it may have.
  template <typename Range, typename ValueOf, typename Found>
  void through_values(const Variable& cell, const Range& items, const ValueOf& value_of, const Found& found);
  /// Whether a support may still choose the variable's value.
  bool is_open(const Variable& cell) const;

  /// The values that led to the call of `found` are a support that stays.
  void keep();
  /// Restricts the variables that are in all supports that were kept. Contradiction: none was.
  Filtering restrict_kept();

 private:
  struct Step {
    Variable cell;
    std::uint32_t number = 0;
    std::size_t value = 0;
  };
  struct Mark {
    Variable cell;
    std::uint32_t number = 0;
    ValueMask values = 0;
    std::size_t ways = 0;
  };

  void sign_nodes();
  template <typename Found>
  bool combine(const Scope& scope, std::size_t next, std::size_t combination, std::size_t stride,
               const Found& found);
  template <typename Found>
  bool through_from(std::size_t next, const std::vector<NodeId>& nodes, std::vector<ValueId>& values,
                    const Found& found);

  const ConstraintModel& model_;
  Domains& domains_;
  std::vector<Signature> signatures_;  // by node
  std::vector<HoleMask> holes_of_;     // by node
  std::vector<Step> path_;
  std::vector<Mark> marks_;
  std::size_t kept_ = 0;
  std::size_t steps_ = 0;
  std::size_t most_steps_ = 0;
};

template <typename Found>
bool Supports::combine(const Scope& scope, std::size_t next, std::size_t combination, std::size_t stride,
                       const Found& found) {
  if (next == scope.variables.size()) {
    if (++steps_ > most_steps_) return false;
    return found(combination);
  }
  const Variable& cell = scope.variables[next];
  const std::size_t count = domains_.values(cell);
  if (domains_.is_fixed(cell.hole)) {
    return combine(scope, next + 1, combination + stride * domains_.value(cell), stride * count, found);
  }
  if (domains_.is_opaque(cell)) return false;
  const std::uint32_t number = domains_.cell_number(cell);
  for (const Step& step : path_) {
    if (step.number != number) continue;
    return combine(scope, next + 1, combination + stride * step.value, stride * count, found);
  }
  path_.push_back({cell, number, 0});
  const std::size_t place = path_.size() - 1;
  for (ValueMask left = domains_.allowed(cell); left != 0; left &= left - 1) {
    const auto value = static_cast<std::size_t>(std::countr_zero(left));
    path_[place].value = value;
    if (!combine(scope, next + 1, combination + stride * value, stride * count, found)) return false;
  }
  path_.pop_back();
  return true;
}

template <typename Found>
bool Supports::through(NodeId node, Signature target, const Found& found) {
  if ((signatures_[node] & target) == 0) return true;
  const Node& which = model_.nodes[node];
  if (which.kind == NodeKind::value) return found(which.value);
  return combine(which.scope, 0, 0, 1, [&](std::size_t combination) {
    const NodeId outcome = which.outcomes[combination];
    return outcome == kNoNode ? found(kUndefined) : through(outcome, target, found);
  });
}

template <typename Found>
bool Supports::through_from(std::size_t next, const std::vector<NodeId>& nodes, std::vector<ValueId>& values,
                            const Found& found) {
  if (next == nodes.size()) return found();
  return through(nodes[next], kAnyValue, [&](ValueId value) {
    values[next] = value;
    return through_from(next + 1, nodes, values, found);
  });
}

template <typename Range, typename ValueOf, typename Found>
void Supports::through_values(const Variable& cell, const Range& items, const ValueOf& value_of,
                              const Found& found) {
  const ValueMask allowed = domains_.allowed(cell);
  path_.push_back({cell, domains_.cell_number(cell), 0});
  for (const auto& item : items) {
    const std::size_t value = value_of(item);
    if ((allowed >> value & 1) == 0) continue;
    path_.back().value = value;
    found();
  }
  path_.pop_back();
}

}  // namespace faro::swizzle::detail
