// What a sketch stores, collected while it is unrolled: who overwrites whom, and what is left to be met.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/choice_nodes.hpp"
#include "swizzle/execution_domain.hpp"

namespace faro::swizzle::detail {

/// An accumulator as one lane evaluated it.
struct EvaluatedSum {
  std::int64_t block = 0, warp = 0, lane = 0;
  Accumulation accumulation;
  std::vector<Slot> slots;
};

/// What a register holds: a node; kNoNode: nothing yet; or, from kFirstSum, an evaluated sum.
inline constexpr NodeId kFirstSum = 0xC0000000U;
inline bool is_sum(NodeId content) { return content >= kFirstSum && content != kNoNode; }

class ChoiceSites {
 public:
  ChoiceSites(const Specification& specification, const Program& program, ChoiceNodes& nodes,
              ChoiceGraph& graph);

  void store_at(const StoreOrder& where, Array array, std::int64_t address, NodeId content);
  void store_decided(const StoreOrder& where, Array array, NodeId node, const Decision& decision,
                     std::vector<std::int64_t> addresses);
  /// Combinations that no valuation may choose.
  void forbid(const Decision& decision, const std::vector<bool>& forbidden);
  void present(std::vector<ValueId> wanted, std::vector<NodeId> held);

  NodeId add_sum(EvaluatedSum sum);
  /// Makes graph.pools, stores, presents and uncovered.
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
  ChoiceNodes& nodes_;
  ChoiceGraph& graph_;
  std::vector<std::vector<Owner>> owners_;  // by array and element
  std::vector<Pending> pending_;
  std::vector<EvaluatedSum> sums_;
  using LaneKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<LaneKey, std::vector<SumSite>> sums_of_lanes_;
};

}  // namespace faro::swizzle::detail
