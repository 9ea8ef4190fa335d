// What the descriptions of a GPU plan share: the kernel in words, what bounds it, and its predicted accesses
// beside the least that its bytes can take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/machine/access_counts.hpp"
#include "faro/plan/plan.hpp"
#include "plan/kernel_text.hpp"
#include "tell/prediction.hpp"

namespace faro::detail {

/// What the launch bounds leave a thread: the registers of a multiprocessor over the threads of the blocks
/// that it must hold, in steps of 8, at most 255.
int registers_max(const Launch& launch);

/// Blocks that a multiprocessor must have registers for.
int min_blocks(const Launch& launch);

/// A pass's accesses, counted, and as multiples of the least.
struct Accesses : PassCounts {
  double sectors_read = 1;  // over bytes / 32
  double sectors_written = 1;
  double wavefronts_stored = 1;  // over bytes / 128, of what goes through there; 1 where there is no tile
  double wavefronts_loaded = 1;
};

/// `counted` is of the pass.
Accesses accesses_of(const PassCounts& counted, const Pass& pass, const Target& target);

/// "the least", "4 times the least".
std::string least_text(double times);

/// "congestion 1 in both phases", as counted.
std::string congestion_text(const machine::AccessCounts& counts);

}  // namespace faro::detail
