// The programs of Theorem 3.1: every word of an array once, and the copy.
//
//     n = 16, p = 4, in round t thread i touches     contiguous    t p + i          stride    i n/p + t
//
//                          round 0                   0 1 2 3                        0 4 8 12
//                          round 1                   4 5 6 7                        1 5 9 13
//
// With w = 4 the stride's words of a warp are in one bank and in four groups: 4 stages on either machine.
// For n/p = 6 they are in banks 0 2 0 2 on the DMM (2 stages) and still in four groups on the UMM.
//
// Both write the word's own index, so that it can be seen which words have been touched.
//
// Source: section 3 of Nakano's memory machines paper: Theorem 3.1, Table 1, Corollary 3.2.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "programs/cost.hpp"

namespace faro::programs {

struct AccessParams {
  std::uint64_t n = 0;              // words
  std::uint64_t threads = 0;        // p
  std::uint64_t block_threads = 0;  // of these, a block
  int from = device::kInput;        // buffers
  int to = device::kOutput;

  constexpr std::uint64_t thread_of(std::uint64_t block, std::uint32_t thread) const {  // 0 .. p-1
    return block * block_threads + thread;
  }
  constexpr std::uint64_t rounds() const { return n / threads; }  // n/p
};

namespace detail {

constexpr device::Packet<4> word(std::uint64_t value) { return {{static_cast<std::uint32_t>(value)}}; }

}  // namespace detail

/// to[t p + i] <- t p + i. Requires, as all programs here: check_sizes.
template <device::Memory Memory>
constexpr void contiguous_access(Memory& memory, const AccessParams& params, std::uint64_t block,
                                 std::uint32_t thread) {
  const std::uint64_t i = params.thread_of(block, thread);
  for (std::uint64_t t = 0; t < params.rounds(); ++t) {
    const std::uint64_t x = t * params.threads + i;
    memory.template store_global<4>(params.to, 4 * x, detail::word(x));
  }
}

/// to[i n/p + t] <- i n/p + t.
template <device::Memory Memory>
constexpr void stride_access(Memory& memory, const AccessParams& params, std::uint64_t block,
                             std::uint32_t thread) {
  const std::uint64_t i = params.thread_of(block, thread);
  for (std::uint64_t t = 0; t < params.rounds(); ++t) {
    const std::uint64_t x = i * params.rounds() + t;
    memory.template store_global<4>(params.to, 4 * x, detail::word(x));
  }
}

/// to[t p + i] <- from[t p + i].
template <device::Memory Memory>
constexpr void copy(Memory& memory, const AccessParams& params, std::uint64_t block, std::uint32_t thread) {
  const std::uint64_t i = params.thread_of(block, thread);
  for (std::uint64_t t = 0; t < params.rounds(); ++t) {
    const std::uint64_t offset = 4 * (t * params.threads + i);
    memory.template store_global<4>(params.to, offset, memory.template load_global<4>(params.from, offset));
  }
}

// Exact, on global memory. Errors: as check_sizes.

/// (p/w + l - 1) n/p
Cost contiguous_cost(const machine::MachineOptions& machine, std::uint64_t n);
/// s = n/p. DMM: (gcd(s, w) p/w + l - 1) s.  UMM: (min(s, w) p/w + l - 1) s.
Cost stride_cost(const machine::MachineOptions& machine, std::uint64_t n);
/// 2 (p/w + l - 1) n/p
Cost copy_cost(const machine::MachineOptions& machine, std::uint64_t n);

}  // namespace faro::programs
