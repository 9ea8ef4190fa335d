// The adviser: which layout of shared memory fits what a kernel does with it.
//
//     a = make_shared_array(64, 64, 2)                       a tile of 16-bit floats
//     advise({a, {row_access(a, 8), column_access(a, 8)}})   16 bytes a lane, along and down
//
//     candidate        row(8)   column(8)   memory       worst congestion of a phase
//     RAW                   1           8
//     Swizzle<3,3,3>        1           1                 <- nothing to pay, nothing left to gain
//     pad 8                 1           1      +1 KiB
//     3P                    1           1                 random turns; holds for every seed
//
// Every candidate is judged by one referee: it takes the real address of every element, splits each warp's
// access into the phases of the hardware, and counts the distinct words in each of 32 banks. What is linear
// is proven by ranks besides, and the random layouts are counted for many seeds.
//
// The choice: the least worst congestion; of equals the fewest turns, by one in twenty at least; of equals
// the simplest, in the order natural, CuTe's swizzle, XOR, padding, RAP. One exception: where a recorded
// access follows no rule and none of the first four is free of conflicts on all of it, RAP is chosen, because
// its expectation holds for any access, that of the next run included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/layout/access_set.hpp"
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

/// Requires: at least one access (checked, ErrorCode::value), each made for the array (unchecked).
/// Cost: below a second for 32 KiB, some seconds at most for a full shared memory.
Advice advise(const AdviceRequest& request);

}  // namespace faro::layout
