// What each layout of an array in shared memory costs (faro/layout/adviser.hpp chooses between them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/layout/placement.hpp"

namespace faro::layout {

/// What an access set costs under one layout.
struct AccessCost {
  std::uint32_t worst = 0;   // the largest congestion of a hardware phase
  double mean = 0;           // the congestion of a phase on average
  double wavefronts = 0;     // of a request, a warp's access, on average
  bool holds_always = true;  // `worst` is no estimate: counted, or proven for every seed

  friend bool operator==(const AccessCost&, const AccessCost&) = default;
};

/// Counts, on the addresses of `placement`, one by one.
AccessCost count_cost(const AccessSet& set, const Placement& placement);

struct Candidate {
  Placement placement;
  std::vector<AccessCost> costs = {};  // one for every access set
  std::uint64_t extra_bytes = 0;       // of shared memory, over the array itself
  bool proven_by_ranks = false;        // cute, XOR: all sets are linear, all free of conflicts

  std::uint32_t worst() const;
  double wavefronts() const;  // the sum over the sets
};

struct AdviceRequest {
  SharedArray array;
  std::vector<AccessSet> accesses;
  std::uint64_t seed = 0;  // of the RAP that is proposed
};

struct Advice {
  AdviceRequest request;
  std::vector<Candidate> candidates;  // RAW first
  std::size_t choice = 0;
  std::string reason;                // why, in words, without a line break
  std::optional<CuteSwizzle> cute;   // one that does what the best XOR layout does
  std::vector<std::string> remarks;  // what else there is to know

  const Candidate& chosen() const { return candidates[choice]; }
};

}  // namespace faro::layout
