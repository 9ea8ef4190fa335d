// Sketches that no model has, searched by running them with every combination of their holes' functions.
//
//     tile[row + at(row, column)] = x      what a lane reads there depends on where all others stored
//     x = x + shfl(x, lane(t, step))       a sum of sums, whose terms the steps before decide
//
// A model (model.hpp) would have to follow every value through every such choice. A trial asks the executor
// instead, and so it refuses nothing, but sees no contradiction before it has run: a search takes as many
// runs as the product of the families, but for those that differ only in what a failed run did not ask.
#pragma once

#include "swizzle/search.hpp"

namespace faro::swizzle::detail {

inline constexpr double kMostTrials = 1e9;  // more are refused: they take days

/// Calls `found` for every valuation whose run gives what the specification wants, once for each that differs
/// in a cell that its run asks. Requires: no family is empty. Cost: a run of the sketch for each combination.
SearchResult search_by_trials(const Specification& specification, const Program& sketch,
                              std::span<const FunctionSet> families, const SearchHooks& hooks);

}  // namespace faro::swizzle::detail
