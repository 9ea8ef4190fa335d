// Backtracking search with propagation: which hole is next, which functions are left of it, what follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "swizzle/constraints.hpp"
#include "swizzle/domains.hpp"
#include "swizzle/model.hpp"

namespace faro::swizzle::detail {

/// What follows from a hole's function: groups of constraints are filtered, those with the fewest supports
/// first, until none has pruned anything for a while.
///
///     lane_a1 tried      a1 b1, a1 b2: 128 supports     lane_b1, lane_b2 follow
///                        a2 b1, a2 b2: 128 supports     lane_a2 follows
///                        all clusters: 4 supports       conditions are restricted; a contradiction, mostly
class Propagation {
 public:
  /// `tick` is called now and then; what it throws passes through, and leaves `domains` as they are then.
  Propagation(const ConstraintModel& model, const Specification& specification, Domains& domains,
              std::function<void()> tick)
      : domains_(domains), constraints_(model, specification, domains, std::move(tick)) {}

  /// What follows from the hole's function; a negative hole: from nothing. False: contradiction.
  bool from(int hole);

  /// Whether it decides what some term or store is, not only guards.
  bool decides_nodes(int hole) const;

 private:
  struct Effort {
    std::size_t patience = 0;    // visits in a row that may say nothing
    std::size_t most_steps = 0;  // of one visit
    std::size_t surrenders = 0;  // visits that may give up
  };
  bool visit(std::uint32_t group, const Effort& effort);
  /// False: contradiction.
  bool visit_dirty(bool& is_first);
  bool visit_thoroughly(int hole);
  bool check_sum_groups();
  void mark(int hole, std::int64_t but);
  std::int64_t cheapest() const;

  Domains& domains_;
  Constraints constraints_;
  std::vector<bool> is_dirty_;  // by group
};

struct SearchHooks {
  /// A solution: a function of each hole. False: enough.
  std::function<bool(std::span<const std::size_t> functions)> found;
  /// Asked every few milliseconds with the part of the first hole's candidates that are done. False: out of
  /// time.
  std::function<bool(double done)> goes_on;
};

struct SearchResult {
  bool finished = true;
  std::uint64_t candidates = 0;  // functions tried
  std::vector<int> order;        // holes that were tried one by one
};

/// Calls `found` for every valuation that satisfies the model's constraints, once for each that differs in a
/// cell that is read, always in the same order.
SearchResult search(const ConstraintModel& model, const Specification& specification,
                    std::span<const FunctionSet> families, const SearchHooks& hooks);

/// The open hole that is best tried next, found by looking ahead: least estimated candidates x survivors x
/// what is left of the other families. Requires: there is one.
int select_hole(Propagation& propagation, Domains& domains);

}  // namespace faro::swizzle::detail
