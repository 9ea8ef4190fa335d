// What there is to say of a plan, found out once. Its text (text.cpp) and its JSON (json.cpp) say it; neither
// asks the plan's solvers, counts or prices anything itself.
//
//     Plan  -->  PlanFacts  -->  text, JSON
//                a PassFacts each: why it is of its kind, what was counted, how long it takes
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "faro/plan/plan.hpp"
#include "tell/box_facts.hpp"
#include "tell/counts/line_counts.hpp"
#include "tell/launch_facts.hpp"
#include "tell/tile_facts.hpp"

namespace faro::detail {

/// The map of an affine pass in place.
struct FactorFacts {
  std::string text;  // in one line
  const char* published_class = "";
  bool is_involution = false;
  std::uint64_t resting_tiles = 0;  // of one array, where tiles change places
};

struct PassFacts {
  const Pass* pass = nullptr;
  std::string reason;                        // why it is of its kind: a sentence without a full stop
  bool is_affine = false;                    // described by its map and its tile
  double elements = 0;                       // that it moves, all arrays together
  std::optional<FactorFacts> factor = {};    // affine, in place
  std::optional<BoxFacts> box = {};          // of axes, or of a view
  std::optional<TileFacts> plane_tile = {};  // of axes without a box
  std::optional<Accesses> accesses = {};     // on a GPU, where they are counted
  std::optional<LineCounts> lines = {};      // on a CPU
  std::optional<double> us = {};             // where it is known
};

/// Facts of a plan of an affine map.
struct AffineFacts {
  int index_bits = 0;
  const char* published_class = "";
  bool is_involution = false;
  int folded_batch_bits = 0;
  int sweeps = 0;
  std::optional<int> literature_sweeps = {};  // of the published method; none in place
};

/// Facts of a permutation that is not affine, out of place: the ways there are, which one is taken, and by
/// whose curves.
struct WayFacts {
  std::span<const IndexCandidate> candidates;
  const IndexCandidate* chosen = nullptr;
  std::uint64_t repeats = 0;  // 0: so many that making a schedule does not count
  std::string curves;
  const Indexed* array = nullptr;  // null where there is none
  std::string reason;              // why it serves: a sentence without a full stop
};

/// Rolls and flips in place.
struct ReversalFacts {};

/// A view that is no permutation.
struct ViewFacts {};

struct PlanFacts {
  /// Which kind of plan, with what only such a plan has.
  std::variant<AffineFacts, WayFacts, const TransposePlan*, ReversalFacts, ViewFacts> kind;
  const Target* target = nullptr;
  std::optional<Recognition> recognition = {};  // of an index array, or of a form that says itself what it is
  std::string permutation;                      // its text
  std::uint64_t elements = 0;                   // of one array
  std::uint64_t element_bytes = 0;
  std::uint64_t unit_bytes = 0;  // what is moved as one; 0: not said
  std::uint64_t batch = 1;
  std::uint64_t bytes = 0;  // of all arrays
  std::uint64_t workspace_bytes = 0;
  bool in_place = false;
  std::vector<PassFacts> passes = {};
  std::optional<double> us = {};  // of all passes
  std::string rates;              // whose, in words

  std::uint64_t units_per_element() const { return unit_bytes == 0 ? 1 : element_bytes / unit_bytes; }
};

/// Cost: counting the passes, up to some hundred milliseconds. The facts refer to the plan.
PlanFacts facts_of(const Plan& plan);

/// The permutation that a transposition in place is of.
std::string map_text(const Rectangle& rectangle);

}  // namespace faro::detail
