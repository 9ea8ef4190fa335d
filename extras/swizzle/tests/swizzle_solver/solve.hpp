// The search by a solver, as an oracle of the library's own: proposals, checked, until there are none. It
// shares nothing with that search but the constraint model.
//
//     ┌── a formula of a few constraints ──> refuted: so is the whole
//     │        │ proposal
//     │   is every constraint met? ── no ──> those that are not join the formula
//     │        │ yes
//     └── a solution; not this one again; and with fewer live accumulates, until that is refuted
//
// Then, unless SolveUntil::least, all others with as many, and then all others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/swizzle/synthesise.hpp"

namespace faro::swizzle::detail {

/// How far it goes.
enum class SolveUntil : std::uint8_t {
  all,    // every solution
  least,  // one with the fewest live accumulates, and the proof that none has fewer
};

/// What the solver did.
struct SolverFacts {
  std::string name;  // "CaDiCaL"
  /// No solution has fewer: refuted, not only not found.
  std::optional<std::uint64_t> least_live_accumulates = {};
  bool is_least_only = false;  // others were not sought: SolveUntil::least
  std::uint64_t variables = 0;
  std::uint64_t clauses = 0;
  std::uint64_t constraints = 0;  // of the model that had to be asked, of all_constraints
  std::uint64_t all_constraints = 0;
};

/// As SynthesisResult.
struct Solved {
  Outcome outcome = Outcome::not_finished;
  std::uint64_t solutions = 0;
  std::uint64_t candidates = 0;  // proposals
  std::vector<Solution> kept;    // in order of discovery
  std::optional<Solution> best;  // the least cost
  SolverFacts solver;
};

/// synthesise() by the solver. Requires: one (checked). `seconds`: the time limit; 0: none.
Solved solve_sketch(const Specification& specification, const Program& sketch, Space space, SolveUntil until,
                    double seconds);

}  // namespace faro::swizzle::detail
