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
#include <string>

#include "faro/machine/access_counts.hpp"
#include "faro/plan/plan.hpp"

namespace faro {

/// The counts of plan.passes()[pass], for arrays that are aligned to 128 bytes.
/// Errors: ErrorCode::unsupported where the pass is not launched: on a CPU, and copies, which are the
/// driver's; and in place.   Cost: one block on the CPU, up to some milliseconds; any size of array.
machine::AccessCounts predict(const Plan& plan, std::size_t pass);

/// What a pass's accesses are, and which blocks were run to know.
struct PassCounts {
  machine::AccessCounts counts;
  std::string counted;  // "one block, which stands for all", "34 of 5247 blocks: …"
};

/// As predict(), in place too, and for passes that permute axes, roll, flip or sweep (plan/gpu/counting.hpp).
/// Nothing for passes that are not launched, and for those that follow an index array, whose accesses are
/// what the array says.   Cost: up to some hundred milliseconds.
std::optional<PassCounts> count_accesses(const Plan& plan, std::size_t pass);

/// Whose rates predict_us() goes by, in words.
std::string rates_of(const Plan& plan);

/// Microseconds that plan.passes()[pass] will take, from its counts and the target's calibration
/// (calibration.hpp says how, and for which sizes); for `counts` of that pass where they are at hand. In
/// place from its bytes alone. Of passes that are not affine by the curves of their family. Nothing where the
/// target has no calibration of that kind of pass, or there is no curve, as of sweeps.   Cost: as
/// predict().
std::optional<double> predict_us(const Plan& plan, std::size_t pass);
std::optional<double> predict_us(const Plan& plan, std::size_t pass, const machine::AccessCounts& counts);

}  // namespace faro
