// A network's plan: few passes over memory, each doing many layers inside a tile.
//
// A tile is a coset of a subspace T that holds 2^dim(T) elements in fast memory. A layer of direction d needs
// x and x ^ d in one tile, which is d in T. So consecutive layers whose directions lie in one T, together
// with the segments S that memory wants (docs/theory/one-pass.md), are one pass. Merging 2^24 elements:
//
//     layer by layer                     24 passes, layer i pairs x with x ^ (2^(25-i) - 1)
//     tiles of 2^15, segments of 2^6      2 passes: layers 1 to 9, and 10 to 24, of which the last 6 are in S
//
// Between passes the array may lie in another order than the input's, as long as segments are whole when
// written and when read (network/grouping.hpp, docs/theory/network-passes.md). `Pass::map` is the change of
// order. The planner takes the fewest passes, and of those plans one that never changes the order, if there
// is one.
//
//     problem  --normal_form-->  layers, final map  --grouping-->  subspaces T_k, U_k  -->  passes
//
// A plan is immutable, holds no pointer into anybody's data, and may be used from many threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/layout/tile.hpp"
#include "faro/network/pass.hpp"

namespace faro::network {

class Plan {
 public:
  /// Plans `problem` with tiles and segments of `sizes`, or the engine's own where these are 0. Arrays that
  /// are smaller than a tile are one tile.
  /// Errors: ErrorCode::value for a program of no or too many bits, an operator that does not fit the
  /// element, sizes out of range, and past 2^62 bytes. Cost: a second at most for some hundred layers.
  Plan(const Problem& problem, const Sizes& sizes, Engine engine);

  const Problem& problem() const { return problem_; }
  const NormalForm& normal_form() const { return normal_form_; }
  Engine engine() const { return engine_; }

  /// As planned: never 0 for the tile, and at most n.
  const Sizes& sizes() const { return sizes_; }

  /// At least one; empty for a batch of 0. The first reads the input, the last writes the output. All tiles
  /// have sizes().tile_bits bits.
  const std::vector<Pass>& passes() const { return passes_; }
  const PassCounts& counts() const { return counts_; }

  /// Bytes of the input, and of the output.
  std::uint64_t array_bytes() const { return array_bytes_; }
  /// Bytes that all passes read and write together.
  std::uint64_t bytes_moved() const { return 2 * array_bytes_ * passes_.size(); }
  /// A further array for what comes before a last pass that is not in place: array_bytes(), or 0 where there
  /// is one pass, or the last is in place. `run_places` says which pass goes where.
  std::uint64_t workspace_bytes() const;

  /// The plan in words, several lines.
  std::string explain() const;
  /// The same as a JSON object (docs/guide/json.md, "network").
  std::string explain_json() const;

 private:
  Problem problem_;
  NormalForm normal_form_;
  Engine engine_;
  Sizes sizes_;
  std::vector<Pass> passes_;
  PassCounts counts_;
  std::uint64_t array_bytes_ = 0;
};

}  // namespace faro::network
