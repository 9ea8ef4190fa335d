// Permuting an array inside shared memory, b[P(i)] = a[i], in the four ways of the offline permutation paper,
// and in two more. Thread i does for slot i:
//
//     copy             b[i]    = a[i]                            no permutation: the ceiling
//     d_designated     b[p[i]] = a[i]         p = P              writes wait
//     s_designated     b[i]    = a[q[i]]      q = P^-1           reads wait
//     conflict_free    b[d[i]] = a[s[i]]      d = P o s          no lane waits; one list more to read
//     packed           the same, lists packed to 8, 10 or 16 bits
//     held             the same, each thread has its s[i] and d[i] in registers
//
//     n = 1024, 32 banks: turns of a warp     read a    write b    lists    accesses of n elements
//     d_designated, transpose                  1         32         1        a, p, b
//     s_designated, transpose                  32        1          1        a, q, b
//     conflict_free, any P                     1         1          1 + 1    a, s, d, b
//     held, any P                              1         1          0        a, b
//
// p, q, s, d are 32-bit numbers in shared memory, as published: s and d pay for themselves where P has
// conflicts, and cost half a copy where it has none.
//
// Shared memory holds a, b and the lists. Three phases (device/memory.hpp), one block an array:
//
//     fill_permutation      buffer kInput into a, buffer kLists into the lists
//     permute<way>          a to b; the one to count and to time (repeat_permute)
//     drain_permutation     b into buffer kOutput
//
// permute_teams() at the end is the kernel for use: any n and element, several arrays a block.
//
// Source: Kasagi, Nakano, Ito, "An implementation of conflict-free offline permutation on the GPU", 2012.
#pragma once

#include <cstdint>

#include "faro/device/conflict_free.hpp"
#include "faro/device/memory.hpp"

namespace faro::kernels {

enum class PermuteWay { copy, d_designated, s_designated, conflict_free, packed, held };

inline constexpr int kLists = 2;  // the buffer that holds the words of the lists

/// Sizes known when the kernel is compiled, so that a round of one slot a thread has no loop.
struct PermuteShape {
  std::uint32_t count = 1024;  // n
  std::uint32_t threads = 1024;
  int element_bytes = 4;
  std::uint32_t list_words = 0;  // as list_words_of() says for p, q, s with d; of packed lists all of them
  int index_bits = 10;           // of packed lists

  constexpr std::uint32_t array_bytes() const { return count * static_cast<std::uint32_t>(element_bytes); }
  /// Where the lists begin. A b that is no whole number of words is followed by a gap.
  constexpr std::uint32_t lists_at() const { return (2 * array_bytes() + 3) / 4 * 4; }
  constexpr std::uint32_t shared_bytes() const { return lists_at() + 4 * list_words; }
  constexpr std::uint32_t rounds() const { return (count + threads - 1) / threads; }
};

/// Words of the lists of a way that are not packed: 0, n, n, 2 n.
constexpr std::uint32_t list_words_of(PermuteWay way, std::uint32_t count) {
  if (way == PermuteWay::copy) return 0;
  return way == PermuteWay::conflict_free ? 2 * count : count;
}

/// The words of buffer kLists, to byte `at` of shared memory.
template <device::Memory Memory>
constexpr void copy_lists(Memory& memory, std::uint32_t at, std::uint32_t words, const device::Team& team) {
  for (std::uint32_t first = 0; first < words; first += team.threads) {
    const std::uint32_t i = first + team.thread;
    if (i < words) {
      memory.template store_shared<4>(at + 4 * i,
                                      memory.template load_global<4>(kLists, std::uint64_t{4} * i));
    } else {
      device::idle(memory);
      device::idle(memory);
    }
  }
}

/// Calls what(i) for every slot of a thread; without a test where all threads have equally many. Each
/// makes `accesses`.
template <PermuteShape shape, device::Memory Memory, typename What>
constexpr void each_slot(Memory& memory, std::uint32_t thread, int accesses, const What& what) {
  FARO_UNROLL
  for (std::uint32_t round = 0; round < shape.rounds(); ++round) {
    const std::uint32_t i = thread + round * shape.threads;
    if (shape.count % shape.threads == 0 || i < shape.count) {
      what(i);
    } else {
      for (int access = 0; access < accesses; ++access) device::idle(memory);
    }
  }
}

/// Phase 1.
template <PermuteShape shape, device::Memory Memory>
constexpr void fill_permutation(Memory& memory, std::uint64_t block, std::uint32_t thread) {
  constexpr int bytes = shape.element_bytes;
  each_slot<shape>(memory, thread, 2, [&](std::uint32_t i) {
    const std::uint64_t element = block * shape.count + i;
    memory.template store_shared<bytes>(i * bytes,
                                        memory.template load_global<bytes>(device::kInput, element * bytes));
  });
  copy_lists(memory, shape.lists_at(), shape.list_words, {.thread = thread, .threads = shape.threads});
}

/// Entry i of the k-th list of 32-bit numbers.
template <PermuteShape shape, device::Memory Memory>
constexpr std::uint32_t listed(Memory& memory, std::uint32_t k, std::uint32_t i) {
  return device::load_index<32, device::kListsInShared>(memory, shape.lists_at() + 4 * k * shape.count, i);
}

/// Packed lists of a schedule without idle slots, where they lie in shared memory.
template <PermuteShape shape>
constexpr device::SharedPermutation packed_lists() {
  return {.count = shape.count,
          .slots = shape.count,
          .sources = shape.lists_at(),
          .targets = shape.lists_at() + 2 * shape.list_words};
}

template <PermuteShape shape>
constexpr device::SharedArrays shared_arrays() {
  return {.in = 0, .out = shape.array_bytes(), .stride = 0, .arrays = 1};
}

/// What way `held` keeps in registers; nothing else does.
template <PermuteWay way, PermuteShape shape, device::Memory Memory>
constexpr auto held_moves(Memory& memory, std::uint32_t thread) {
  if constexpr (way == PermuteWay::held) {
    return device::hold_moves<static_cast<int>(shape.rounds()), shape.index_bits>(
        memory, packed_lists<shape>(), {.thread = thread, .threads = shape.threads});
  } else {
    return device::HeldMoves<1>{};
  }
}

/// Phase 2. `held`: of held_moves().
template <PermuteWay way, PermuteShape shape, device::Memory Memory, typename Held>
constexpr void permute(Memory& memory, const Held& held, std::uint32_t thread) {
  constexpr int bytes = shape.element_bytes;
  if constexpr (way == PermuteWay::held) {
    device::permute_held<bytes>(memory, held, shape.count, shared_arrays<shape>());
  } else if constexpr (way == PermuteWay::packed) {
    device::permute_shared<bytes, shape.index_bits>(memory, packed_lists<shape>(), shared_arrays<shape>(),
                                                    {.thread = thread, .threads = shape.threads});
  } else {
    constexpr int accesses = way == PermuteWay::copy ? 2 : way == PermuteWay::conflict_free ? 4 : 3;
    each_slot<shape>(memory, thread, accesses, [&](std::uint32_t i) {
      std::uint32_t source = i;
      std::uint32_t target = i;
      if constexpr (way == PermuteWay::d_designated) target = listed<shape>(memory, 0, i);
      if constexpr (way == PermuteWay::s_designated) source = listed<shape>(memory, 0, i);
      if constexpr (way == PermuteWay::conflict_free) {
        source = listed<shape>(memory, 0, i);
        target = listed<shape>(memory, 1, i);
      }
      memory.template store_shared<bytes>(shape.array_bytes() + target * bytes,
                                          memory.template load_shared<bytes>(source * bytes));
    });
  }
}

/// Phase 2 again and again, to be timed; `barrier()` after each. On a GPU that is __syncthreads, past which
/// the compiler carries no load from shared memory: lists are read anew in each repeat, but for `held`.
template <PermuteWay way, PermuteShape shape, device::Memory Memory, typename Barrier>
constexpr void repeat_permute(Memory& memory, std::uint32_t repeats, std::uint32_t thread,
                              const Barrier& barrier) {
  const auto held = held_moves<way, shape>(memory, thread);
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    permute<way, shape>(memory, held, thread);
    barrier();
  }
}

/// Phase 3.
template <PermuteShape shape, device::Memory Memory>
constexpr void drain_permutation(Memory& memory, std::uint64_t block, std::uint32_t thread) {
  constexpr int bytes = shape.element_bytes;
  each_slot<shape>(memory, thread, 2, [&](std::uint32_t i) {
    const std::uint64_t element = block * shape.count + i;
    memory.template store_global<bytes>(device::kOutput, element * bytes,
                                        memory.template load_shared<bytes>(shape.array_bytes() + i * bytes));
  });
}

// --- for use: many arrays of any length

/// Arrays one after another in kInput and kOutput; each team of a block takes one, so a block has `teams` at
/// a time.
///
///     shared memory:   lists | team 0: a, b | team 1: a, b | …        each a and b `tile_bytes`
struct TeamParams {
  device::SharedPermutation lists;  // in shared memory, from byte 0 on
  std::uint32_t list_words = 0;
  std::uint32_t tile_bytes = 0;  // n elements, up to a multiple of 16
  std::uint32_t team_threads = 32;
  std::uint32_t teams = 1;
  std::uint64_t arrays = 0;
  bool wide = false;  // arrays begin, here and on the device, at multiples of 16 bytes, and end there
};

constexpr std::uint64_t team_shared_bytes(const TeamParams& params) {
  const std::uint64_t lists = (std::uint64_t{4} * params.list_words + 15) / 16 * 16;
  return lists + std::uint64_t{2} * params.teams * params.tile_bytes;
}

constexpr std::uint32_t team_tile(const TeamParams& params, std::uint32_t team) {
  return (4 * params.list_words + 15) / 16 * 16 + 2 * team * params.tile_bytes;
}

/// A team's part of copying an array of `bytes` between a buffer and its tile.
enum class TileCopy { in, out };

template <TileCopy direction, int access, device::Memory Memory>
constexpr void copy_tile(Memory& memory, std::uint64_t array_at, std::uint32_t tile, std::uint32_t bytes,
                         const device::Team& team) {
  for (std::uint32_t first = 0; first < bytes; first += team.threads * access) {
    const std::uint32_t at = first + team.thread * access;
    if (at >= bytes) {
      device::idle(memory);
      device::idle(memory);
    } else if constexpr (direction == TileCopy::in) {
      memory.template store_shared<access>(
          tile + at, memory.template load_global<access>(device::kInput, array_at + at));
    } else {
      memory.template store_global<access>(device::kOutput, array_at + at,
                                           memory.template load_shared<access>(tile + at));
    }
  }
}

/// The three phases of array `first_array` + the thread's team; a barrier after the first two.
enum class TeamPhase { fill, permute, drain };

template <TeamPhase phase, int element_bytes, int index_bits, device::Memory Memory>
constexpr void permute_teams(Memory& memory, const TeamParams& params, std::uint64_t first_array,
                             std::uint32_t thread) {
  constexpr int access = device::shared_access_bytes(element_bytes);
  const std::uint32_t number = thread / params.team_threads;
  const device::Team team{.thread = thread % params.team_threads, .threads = params.team_threads};
  const std::uint64_t array = first_array + number;
  if (array >= params.arrays) return;
  const std::uint32_t in = team_tile(params, number);
  const std::uint32_t out = in + params.tile_bytes;
  if constexpr (phase == TeamPhase::permute) {
    device::permute_shared<element_bytes, index_bits>(memory, params.lists,
                                                      {.in = in, .out = out, .stride = 0, .arrays = 1}, team);
  } else {
    constexpr TileCopy direction = phase == TeamPhase::fill ? TileCopy::in : TileCopy::out;
    const std::uint32_t tile = phase == TeamPhase::fill ? in : out;
    const std::uint32_t bytes = params.lists.count * static_cast<std::uint32_t>(element_bytes);
    if (params.wide) return copy_tile<direction, 16>(memory, array * bytes, tile, bytes, team);
    copy_tile<direction, access>(memory, array * bytes, tile, bytes, team);
  }
}

}  // namespace faro::kernels
