// What follows from a hole's function: groups of sites are visited, those with the fewest ways first, until
// none has said anything new for a while.
//
//     lane_a1 tried      a1 b1, a1 b2: 128 ways     lane_b1, lane_b2 follow
//                        a2 b1, a2 b2: 128 ways     lane_a2 follows
//                        all clusters: 4 ways       conditions are restricted; a contradiction, mostly
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/domains.hpp"
#include "swizzle/sites.hpp"

namespace faro::swizzle::detail {

class Propagation {
 public:
  /// `tick` is called now and then; what it throws passes through, and leaves `domains` as they are then.
  Propagation(const ChoiceGraph& graph, const Specification& specification, Domains& domains,
              std::function<void()> tick)
      : domains_(domains), sites_(graph, specification, domains, std::move(tick)) {}

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
  bool check_pools();
  void mark(int hole, std::int64_t but);
  std::int64_t cheapest() const;

  Domains& domains_;
  Sites sites_;
  std::vector<bool> is_dirty_;  // by group
};

}  // namespace faro::swizzle::detail
