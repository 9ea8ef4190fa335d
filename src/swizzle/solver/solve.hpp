// The search by a solver: proposals, checked, until there are none.
//
//     ┌── a formula of a few sites ──> refuted: so is the whole
//     │        │ proposal
//     │   is every site met? ── no ──> those that are not join the formula
//     │        │ yes
//     └── a solution; not this one again; and with fewer live accumulates, until that is refuted
//
// Then, unless SolveUntil::least, all others with as many, and then all others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "faro/swizzle/choices.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "swizzle/search.hpp"

namespace faro::swizzle::detail {

struct SolverResult {
  SearchResult searched;  // candidates: proposals
  SolverFacts facts;
};

/// Calls `found` for every valuation that meets the sites, as search() does; the first ones with ever fewer
/// live accumulates. Errors: ErrorCode::unsupported ("not finished: …") where the formula becomes too large.
SolverResult solve(const ChoiceGraph& graph, const Specification& specification,
                   std::span<const FunctionSet> families, SolveUntil until, const SearchHooks& hooks);

/// Whether a solver is the better choice: more accumulate statements than enumeration goes through quickly
/// are left to holes.
bool has_many_conditions(const ChoiceGraph& graph);

}  // namespace faro::swizzle::detail
