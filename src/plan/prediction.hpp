// What a pass will do to a GPU's memories: sectors, requests and wavefronts, as a profiler counts them.
//
// Nothing is modelled. The very phases that run on the device are run on the counting memory
// (machine/counting_memory.hpp), for one block, and the counts are multiplied by the number of blocks:
//
//     tile 0 of 2^18   --load_tile, store_tile-->   512 + 512 sectors, 128 + 128 wavefronts     x 2^18
//
// Why one block stands for all: its addresses are XORs, address(block, thread) = address(block) ^
// address(thread), so a warp of another block touches a coset of the same subspace. A shift by XOR maps
// sectors to sectors and banks to banks one to one, since both are aligned groups of a power of two; what is
// counted is the same. Only the last block of a pass without tiles may be partly idle, and is run by itself.
// (Tests hold this against full runs, which walk every block and assume nothing.)
#pragma once

#include <cstddef>
#include <optional>

#include "faro/machine/access_counts.hpp"
#include "faro/plan/plan.hpp"

namespace faro {

/// The counts of plan.passes()[pass], for arrays that are aligned to 128 bytes.
/// Errors: ErrorCode::unsupported where the pass is not launched: on a CPU, and copies, which are the
/// driver's; and in place.   Cost: one block on the CPU, up to some milliseconds; any size of array.
machine::AccessCounts predict(const Plan& plan, std::size_t pass);

/// Microseconds that plan.passes()[pass] will take, from its counts and the target's calibration
/// (calibration.hpp says how, and for which sizes); for `counts` of that pass where they are at hand. In
/// place from its bytes alone. Nothing where the target has no calibration of that kind of pass.   Cost: as
/// predict().
std::optional<double> predict_us(const Plan& plan, std::size_t pass);
std::optional<double> predict_us(const Plan& plan, std::size_t pass, const machine::AccessCounts& counts);

}  // namespace faro
