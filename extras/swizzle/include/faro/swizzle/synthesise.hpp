// Finding the holes of a sketch: all solutions, or a proof that there are none, or the cheapest.
//
// It is a constraint satisfaction problem. A *variable* is a cell of a hole's table, its *domain* the values
// that the hole's family has there. A family is a table constraint on the cells of its hole: its functions
// are the rows. The sketch, run with holes for variables, gives the other constraints
// (swizzle/model.hpp): what is stored where, what sums add up, what a warp must hold. The space is the
// product of the families: 4,680 x 183,358 x 4,680 for the transposition of 8-word structs, more than 10^38
// for the product of polynomials of degree 64. It is never walked. Three observations, made on the model of
// whatever sketch is given, make it small.
//
// 1. Steps determine each other. Between two column shuffles let a row shuffle be fixed; S = 4, W = 8:
//
//        wanted: word 9 in register 1 of lane 2;  loaded: into register 1 of lane 1
//        row(2, ·) = 1 2 3 0: of lane 2's registers only 0 takes from lane 1
//        so word 9 passes register 0:  first(0, 1) = 1  and  last(1, 2) = 0
//
//    A variable with one value left is fixed. A few fixed ones leave few functions of a family, all of them
//    none or one: that is a look-up, not a search.
// 2. Order-free sums leave nothing to spare. If a lane's sums want as many terms as its slots can give, they
//    are an *exact cover*: each slot's term must be wanted, and all terms are different, so that a lane of
//    one factor fixes the lane of the other, and every condition has its whole table fixed. In Mult-64, 16384
//    pairs of lane functions survive out of 10^18, and each condition is one of 44 functions or a
//    contradiction.
// 3. Contradictions come early. Constraints are filtered in a fixed scrambled order, and a candidate is
//    dropped at the first one that it cannot satisfy: after two or three for most.
//
// The search is backtracking with propagation: pick a hole; try the functions that are left of it; after
// each, filter the constraints for contradictions and fixed variables; go on until every hole has one
// function; satisfies() decides. Each rule only drops what cannot be part of a solution, so that a finished
// search is a proof. The hole that is picked is found by looking ahead: the one with the least estimate of
// candidates x survivors x what is left of the other families, from at most 64 candidates spread evenly over
// its family; ties go to the lower number. Conditions wait until the terms are known, where those can be
// walked, as they follow. Nothing depends on time, threads or addresses but where a search is cut off.
//
// W = 32, one core, seconds of processor time: structures of up to 8 words at most 1.1 (`faro synth aos-rcr
// --struct 8`), stencils, convolutions, loads and poly-32 at most 0.9; Mult-64 50, all of its 1944 solutions
// and with them the proof that 6 live accumulates are the least; 0.7 at W = 8.
//
// Two solutions are the same if their functions agree in every cell that the sketch can read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

enum class Outcome : std::uint8_t {
  found,         // at least one solution, and the search was finished
  none,          // proven: the space has no solution
  not_finished,  // cut off; what was found is right, what was not may still exist
};

/// "found", "none", "not finished".
const char* name(Outcome outcome) noexcept;

struct Progress {
  double seconds = 0;
  Space space = Space::full;
  std::string stage;  // "functions of `row`", "choices", "search"
  double done = 0;    // 0 .. 1 of the first hole's candidates
  std::uint64_t solutions = 0;
};

struct SynthesisOptions {
  Space space = Space::full;
  double time_limit_seconds = 0;  // 0: none
  /// Seconds, of the limit and of the result, are processor time of the calling thread: a busy machine does
  /// not change what is found.
  bool processor_time = false;
  std::uint64_t keep =
      100'000;  // solutions kept, in order of discovery; all are counted, the best is always kept
  std::function<void(const Progress&)> progress = {};  // at most ten times a second
};

struct Solution {
  Valuation valuation;  // the simplest parameters of each function
  Cost cost;
};

/// What is known of a hole's family.
struct HoleFamily {
  std::string hole;
  std::uint64_t parameters = 0;  // ways to write one
  std::uint64_t functions = 0;   // distinct; 0 where enumeration was cut off
};

struct SynthesisResult {
  Outcome outcome = Outcome::not_finished;
  Space space = Space::full;
  std::vector<HoleFamily> families;
  std::uint64_t solutions = 0;     // distinct, found
  std::vector<Solution> kept;      // sorted by (cost, operations, parameters)
  std::optional<Solution> best;    // the least cost; proven if outcome is found
  double seconds = 0;              // of all
  double enumeration_seconds = 0;  // of these, making the families
  double seconds_to_best = 0;      // until the best was found
  std::uint64_t candidates = 0;    // functions tried
  std::vector<std::string> order;  // holes that were tried one by one; those missing were determined
  bool by_trials = false;          // every combination was run, for no model has the sketch
  std::string unfinished;          // what was cut off, and by which limit; empty where nothing was
  std::string remedy;              // what may finish it
};

/// All solutions of the sketch in the space.
/// Errors: those of check(program); ErrorCode::spec where the specification wants nothing;
/// ErrorCode::unsupported for a sketch that no model has (one where a hole decides which of two stores to an
/// element is the last, or an address in shared memory, or where sums are summed), if more than 10^9
/// combinations of functions would have to be tried: fewer are, one by one. Too large a space or too little
/// time is no error: Outcome::not_finished.
SynthesisResult synthesise(const Specification& specification, const Program& sketch,
                           const SynthesisOptions& options);

enum class SearchUntil : std::uint8_t {
  first,    // the first space with a solution
  optimum,  // all spaces up to options.space, for the least cost of all
};

/// The published order: Space::easy, easy_conditions, full, as far as options.space; results of all that were
/// searched. The time limit is for all together.
std::vector<SynthesisResult> synthesise_in_order(const Specification& specification, const Program& sketch,
                                                 const SynthesisOptions& options, SearchUntil until);

}  // namespace faro::swizzle
