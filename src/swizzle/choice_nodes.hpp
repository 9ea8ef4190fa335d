// The nodes of a choice graph while it is built, and decisions: expressions over all values that the holes in
// them can have.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/cut_off.hpp"

namespace faro::swizzle::detail {

/// Expressions that are decided together: the cells, and the values of all expressions by combination.
struct Decided {
  Decision decision;
  std::vector<std::vector<std::int64_t>> values;  // [combination][expression]; one combination: no cells
  bool is_known() const { return decision.cells.empty(); }
};

class ChoiceNodes {
 public:
  /// Fills graph.nodes, values_of and read_cells.
  ChoiceNodes(const Program& program, std::span<const FunctionSet> families, const ChoiceLimits& limits,
              ChoiceGraph& graph);

  NodeId value(ValueId value);
  /// One of `outcomes`, by combination: interned, and where all are one, that one.
  NodeId choice(const Decision& decision, std::vector<NodeId> outcomes);

  Decided decide(std::span<const Index* const> expressions, const Place& place);

  bool can_be_undefined(NodeId node) const;
  /// Of contents, too, that are evaluated sums.
  bool is_value(NodeId node) const {
    return node < graph_.nodes.size() && graph_.nodes[node].kind == NodeKind::value;
  }
  /// Requires: is_value(node).
  ValueId value_of(NodeId node) const { return graph_.nodes[node].value; }

 private:
  NodeId add(Node node);
  const std::vector<std::int32_t>& values_at(const HoleCell& cell);
  void check_time();

  const Program& program_;
  std::span<const FunctionSet> families_;
  ChoiceLimits limits_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint32_t decided_ = 0;
  ChoiceGraph& graph_;
  std::vector<bool> undefined_;  // by node: whether a path leads to kNoNode
  std::unordered_map<ValueId, NodeId> by_value_;
  std::unordered_map<std::uint64_t, std::vector<NodeId>> by_hash_;
};

/// A search that a limit ends. Errors: CutOff, "not finished: <clause>".
[[noreturn]] void cut_off_choices(Limit limit, const std::string& clause);

}  // namespace faro::swizzle::detail
