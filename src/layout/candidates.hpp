// The adviser's candidates, each with its costs.
#pragma once

#include <optional>
#include <vector>

#include "faro/layout/advice.hpp"
#include "layout/bank_search.hpp"

namespace faro::layout {

/// Whether a's worst congestion is less, or as much with clearly fewer turns: at least one in twenty. Less is
/// not worth a layout that is harder to read.
bool is_better(const Candidate& a, const Candidate& b);

/// The widest vector of the accesses: what no layout may tear.
Index widest_vector(const AdviceRequest& request);

Candidate natural_candidate(const AdviceRequest& request);

struct LinearCandidates {
  std::optional<Candidate> cute;           // the best Swizzle, where it is better than nothing
  std::optional<Candidate> exclusive_or;   // the best XOR, where it is better than that
  XorVerdict verdict = XorVerdict::found;  // whether some XOR is free of conflicts
};
/// Nothing where `natural` is free of conflicts.
LinearCandidates linear_candidates(const AdviceRequest& request, const Candidate& natural);

/// The least pad of those that cost least; nothing where no pad helps or fits.
std::optional<Candidate> padded_candidate(const AdviceRequest& request, const Candidate& natural);

/// Costs are over many seeds; `request.seed` is the one that is proposed.
Candidate rap_candidate(const AdviceRequest& request);

}  // namespace faro::layout
