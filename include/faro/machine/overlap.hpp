// Asynchronous issue: the time of accesses that do not wait for their round to end, only for their own warp.
//
//     two warps, one stage an access, l = 3         A0 B0 and A1 B1 are rounds 0 and 1
//
//     unit                  1    2    3    4    5    6    7    8
//     rounds one by one     A0   B0   .    .    A1   B1   .    .      8 units
//     overlapped            A0   B0   .    A1   B1   .    .           7: A1 need not wait for B0
//
// In every unit a memory admits one stage, of the ready warp whose access is of the lowest round; of these,
// of the warp that has been ready longest; of these, of the lowest-numbered. So of one round nobody is
// overtaken. A warp is ready again when its last access has completed: a stage that enters in
// unit t completes at the end of unit t + l - 1.
//
// Law: never more than the rounds one by one. Say all accesses before round k are over by the time T at which
// round k begins there. After T, the accesses of round k go before all later ones in every memory, so they
// have entered within the round's stages and are over l - 1 later: by the time at which the round ends there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace faro::machine {

struct OverlapAccess {
  std::uint64_t round = 0;   // ascending within a warp
  std::uint64_t stages = 0;  // at least 1
  std::uint64_t memory = 0;
};

struct OverlapMachine {
  std::uint64_t memories = 1;
  std::uint64_t latency = 1;         // of memory 0
  std::uint64_t shared_latency = 1;  // of the others
};

/// The time until all accesses have completed. Warp i makes accesses[first_access[i]] and on, up to the next
/// warp's first.
/// Requires: first_access ascends; memory < memories; the time fits into 64 bits (unchecked).
/// Cost: O(log warps) an access.
std::uint64_t overlap_time(std::span<const OverlapAccess> accesses, std::span<const std::size_t> first_access,
                           const OverlapMachine& machine);

}  // namespace faro::machine
