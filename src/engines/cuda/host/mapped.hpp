// How a whole problem with a map is launched: one kernel over 2^k arrays of the batch, until all are done.
//
//     batch of 21, k = 1:   arrays 0 1 | 2 3 | ... | 18 19 |
//                                                       19 20     the last launch ends with the batch
//
// The map's function does not see that: the k highest bits are taken off x and y before it is called. Array
// 19 is written twice, the same both times, since the launches of a stream follow one another.
#pragma once

#include <cstdint>

#include "faro/emit/emit.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cuda {

/// Beyond, twice as many arrays a launch; so at most an eighth of the work is done twice.
inline constexpr std::uint64_t kMostMappedLaunches = 16;

struct MappedLaunches {
  ElementMap map;       // with its element type
  emit::Source source;  // nothing of an empty batch
  std::uint64_t array_bytes = 0;
  std::uint64_t batch = 0;
  int folded_bits = 0;  // k
  std::uint64_t count = 0;

  /// The first byte of launch i, from the start of the batch.
  std::uint64_t first_byte(std::uint64_t i) const;
};

/// Errors: as MappedExecutor, but for those of the device and of the compiler.
MappedLaunches make_mapped_launches(const Problem& problem, const ElementMap& map);

}  // namespace faro::cuda
