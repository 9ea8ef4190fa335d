// A constraint model while it is built: its nodes, expressions over all values that the variables in them can
// have, and what the sketch stores.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "swizzle/execution_domain.hpp"
#include "swizzle/function_set.hpp"
#include "swizzle/model.hpp"
#include "swizzle/search_clock.hpp"

namespace faro::swizzle::detail {

/// Expressions under all assignments of the variables in their scope.
struct Evaluated {
  Scope scope;
  std::vector<std::vector<std::int64_t>> values;  // [combination][expression]
  bool is_known() const { return scope.variables.empty(); }
};

class ModelNodes {
 public:
  /// Fills model.nodes, domains and read_cells.
  ModelNodes(const Program& program, std::span<const FunctionSet> families, const ModelLimits& limits,
             ConstraintModel& model);

  NodeId value(ValueId value);
  /// One of `outcomes`, by combination: interned, and where all are one, that one.
  NodeId decision(const Scope& scope, std::vector<NodeId> outcomes);

  Evaluated decide(std::span<const Index* const> expressions, const Place& place);

  bool can_be_undefined(NodeId node) const;
  /// Of contents, too, that are evaluated sums.
  bool is_value(NodeId node) const {
    return node < model_.nodes.size() && model_.nodes[node].kind == NodeKind::value;
  }
  /// Requires: is_value(node).
  ValueId value_of(NodeId node) const { return model_.nodes[node].value; }

 private:
  NodeId add(Node node);
  const std::vector<std::int32_t>& values_at(const Variable& cell);
  void check_time();

  const Program& program_;
  std::span<const FunctionSet> families_;
  ModelLimits limits_;
  SearchClock clock_{limits_.processor_time};
  std::uint32_t decided_ = 0;
  ConstraintModel& model_;
  std::vector<bool> undefined_;  // by node: whether a path leads to kNoNode
  std::unordered_map<ValueId, NodeId> by_value_;
  std::unordered_map<std::uint64_t, std::vector<NodeId>> by_hash_;
};

/// A search that a limit ends. Errors: CutOff, "not finished: <clause>".
[[noreturn]] void cut_off_choices(Limit limit, const std::string& clause);

/// What a sketch stores, collected while it is unrolled: which store overwrites which, and what is left to be
/// met.

/// An accumulator as one lane evaluated it.
struct EvaluatedSum {
  std::int64_t block = 0, warp = 0, lane = 0;
  Accumulation accumulation;
  std::vector<Slot> slots;
};

/// What a register holds: a node; kNoNode: nothing yet; or, from kFirstSum, an evaluated sum.
inline constexpr NodeId kFirstSum = 0xC0000000U;
inline bool is_sum(NodeId content) { return content >= kFirstSum && content != kNoNode; }

class ModelConstraints {
 public:
  ModelConstraints(const Specification& specification, const Program& program, ModelNodes& nodes,
                   ConstraintModel& model);

  void store_at(const StoreOrder& where, Array array, std::int64_t address, NodeId content);
  void store_decided(const StoreOrder& where, Array array, NodeId node, const Scope& scope,
                     std::vector<std::int64_t> addresses);
  /// Combinations that no valuation may choose.
  void forbid(const Scope& scope, const std::vector<bool>& forbidden);
  void present(std::vector<ValueId> wanted, std::vector<NodeId> held);

  NodeId add_sum(EvaluatedSum sum);
  /// Makes the model's sum_groups, stores, presents and uncovered.
  void finish();

 private:
  struct Pending {
    Array array;
    std::int64_t address = 0;
    NodeId content = kNoNode;
    bool overwritten = false;
  };
  struct Owner {
    StoreOrder where;
    bool decided = false;
    std::vector<std::size_t> pending;
  };
  Owner& claim(const StoreOrder& where, Array array, std::int64_t address, bool decided);
  void finish(const Pending& store);

  const Specification& specification_;
  const Program& program_;
  ModelNodes& nodes_;
  ConstraintModel& model_;
  std::vector<std::vector<Owner>> owners_;  // by array and element
  std::vector<Pending> pending_;
  std::vector<EvaluatedSum> sums_;
  using LaneKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<LaneKey, std::vector<SumConstraint>> sums_of_lanes_;
};

}  // namespace faro::swizzle::detail
