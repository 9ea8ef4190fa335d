// Any permutation, given ahead of time, on the DMM; and the loop that it beats.
//
//     P = 0 4 8 12 1 5 …, w = 4        direct: b[P(i)] <- a[i]           writes 0 4 8 12: one bank, 4 stages
//                                      scheduled: b[d(i)] <- a[s(i)]     reads 0 5 10 15, writes 0 5 10 15
//
// The schedule s, d (faro/schedule/conflict_free.hpp) puts elements of distinct banks together, so both
// rounds take one stage a warp, whatever the permutation. It is part of the program: indices are known before
// the program runs, and reading them is not counted.
//
// Source: section 6 of Nakano's memory machines paper, Theorem 6.3.
#pragma once

#include <cstdint>
#include <span>

#include "faro/device/memory.hpp"
#include "programs/access.hpp"

namespace faro::programs {

/// to[target[x]] <- from[source[x]]; without `source` from[x].
struct MoveParams {
  AccessParams access;
  const std::uint32_t* source = nullptr;
  const std::uint32_t* target = nullptr;
};

template <device::Memory Memory>
constexpr void move_words(Memory& memory, const MoveParams& params, std::uint64_t block,
                          std::uint32_t thread) {
  const AccessParams& access = params.access;
  for (std::uint64_t t = 0; t < access.rounds(); ++t) {
    const std::uint64_t x = t * access.threads + access.thread_of(block, thread);
    const std::uint64_t from = params.source == nullptr ? x : params.source[x];
    const auto word = memory.template load_global<4>(access.from, 4 * from);
    memory.template store_global<4>(access.to, std::uint64_t{4} * params.target[x], word);
  }
}

/// On the DMM, with a conflict-free schedule: 2 (p/w + l - 1) n/p. Errors: as check_sizes; ErrorCode::value
/// for another machine.
Cost scheduled_permute_cost(const machine::MachineOptions& machine, std::uint64_t n);

/// The direct loop's cost: (p/w + l - 1) n/p for the reads, (l - 1) n/p and the stages of every warp's
/// targets, counted, for the writes. Errors: as check_sizes.
Cost direct_permute_cost(const machine::MachineOptions& machine, std::span<const std::uint32_t> target);

}  // namespace faro::programs
