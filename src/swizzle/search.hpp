// The search itself: which hole next, which functions are left of it, what follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/domains.hpp"
#include "swizzle/propagation.hpp"

namespace faro::swizzle::detail {

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

/// Calls `found` for every valuation that meets the graph's sites, once for each that differs in a cell that
/// somebody reads, always in the same order.
SearchResult search(const ChoiceGraph& graph, const Specification& specification,
                    std::span<const FunctionSet> families, const SearchHooks& hooks);

/// The undecided hole that is best tried next: least estimated candidates x survivors x what is left of the
/// other families. Requires: there is one.
int probe(Propagation& propagation, Domains& domains);

}  // namespace faro::swizzle::detail
