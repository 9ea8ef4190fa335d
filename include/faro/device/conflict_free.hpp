// Permuting arrays in shared memory without bank conflicts, inside your own kernel: b[d[k]] = a[s[k]].
//
//     P = 0 4 8 12 1 5 9 13 …  (a 4 x 4 transpose), 4 banks, bank of i: i mod 4
//
//     slot k       0  1  2  3 |  4  5  6  7 | …         slots 0-3 are a *group*: its sources are in four
//     source s     0  5 10 15 | 12  1  6 11 | …         banks, its targets too, so the warp that moves it
//     target d     0  5 10 15 |  3  4  9 14 | …         never waits, whatever P is
//
// The lists are made once on the host, by schedule::shared_schedule() below, and *packed*:
//
//     8 bits    n <= 256      four to a 32-bit word      word   3  2  1  0          (slot)
//     10 bits   n <= 1024     three to a word            word   -- 2  1  0          bits 0-9, 10-19, 20-29
//     16 bits   n <= 65536    two to a word              word   1  0
//     32 bits   any n
//
// first all words of s, then all words of d. A slot without an element, where n leaves a remainder, holds all
// ones. Every index is held against n before it is used, so lists from anywhere touch nothing outside the
// arrays.
//
//     // lists: device::SharedPermutation {n, slots, byte offset of s, of d}, in shared memory
//     device::permute_shared<4, 10>(memory, lists, {.in = 0, .out = 4096}, {threadIdx.x, blockDim.x});
//     __syncthreads();
//
// `memory` is anything that satisfies device::Memory: on a GPU three pointers (device::DirectMemory), in
// tests machine::CountingMemory, which proves the congestion of 1. No CUDA header is needed.
//
// Source: Kasagi, Nakano and Ito, the conflict-free offline permutation (2012).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/device/memory.hpp"
#include "faro/device/memory_geometry.hpp"

namespace faro::device {

/// Where packed lists are: a buffer's number, or the block's shared memory.
inline constexpr int kListsInShared = -1;

constexpr bool is_index_width(int bits) { return bits == 8 || bits == 10 || bits == 16 || bits == 32; }

/// 4, 3, 2 or 1.
constexpr std::uint32_t indices_per_word(int bits) { return 32U / static_cast<std::uint32_t>(bits); }

/// All ones: what a slot without an element holds.
constexpr std::uint32_t idle_index(int bits) { return 0xffff'ffffU >> (32 - bits); }

/// Words of one list.
constexpr std::uint64_t packed_list_words(std::uint64_t slots, int bits) {
  const std::uint64_t per_word = indices_per_word(bits);
  return slots / per_word + (slots % per_word != 0 ? 1 : 0);
}

/// One instruction moves this much of an element: all of it, or a word of 12 bytes; 0 for other widths.
constexpr int shared_access_bytes(int element_bytes) {
  if (element_bytes == 12) return 4;
  const bool is_packet = element_bytes == 1 || element_bytes == 2 || element_bytes == 4 ||
                         element_bytes == 8 || element_bytes == 16;
  return is_packet ? element_bytes : 0;
}

/// A schedule as threads see it.
struct SharedPermutation {
  std::uint32_t count = 0;    // n, elements of an array
  std::uint32_t slots = 0;    // of either list, n or a few more
  std::uint64_t sources = 0;  // byte offset of s, a multiple of 4
  std::uint64_t targets = 0;  // of d
};

/// The arrays, in the block's shared memory, in bytes: `arrays` of them, `stride` apart.
/// Requires: no output overlaps an input; `in`, `out` and `stride` are multiples of 4 and of the access.
struct SharedArrays {
  std::uint32_t in = 0;
  std::uint32_t out = 0;
  std::uint32_t stride = 0;
  std::uint32_t arrays = 1;
};

/// The threads that share the work: a block, or a warp that has arrays of its own.
/// Any number of threads gives the right result. Free of conflicts are those where no warp has slots of two
/// groups at once: multiples of the warp, and 1, 2, 4, 8 or 16 threads.
struct Team {
  std::uint32_t thread = 0;
  std::uint32_t threads = 1;
};

/// What a slot moves, indices of elements.
struct Move {
  std::uint32_t source = 0;
  std::uint32_t target = 0;

  constexpr bool is_idle(std::uint32_t count) const { return source >= count || target >= count; }
};

template <int list_buffer, int bytes, Memory M>
constexpr std::uint32_t load_list(M& memory, std::uint64_t offset) {
  if constexpr (list_buffer == kListsInShared) {
    return memory.template load_shared<bytes>(static_cast<std::uint32_t>(offset)).unit[0];
  } else {
    return memory.template load_global<bytes>(list_buffer, offset).unit[0];
  }
}

/// Entry `slot` of the list at byte `list`. One load.
template <int index_bits, int list_buffer, Memory M>
constexpr std::uint32_t load_index(M& memory, std::uint64_t list, std::uint32_t slot) {
  static_assert(is_index_width(index_bits));
  if constexpr (index_bits == 10) {
    constexpr std::uint32_t per_word = indices_per_word(index_bits);
    const std::uint32_t word = load_list<list_buffer, 4>(memory, list + std::uint64_t{4} * (slot / per_word));
    return word >> 10 * (slot % per_word) & idle_index(index_bits);
  } else {
    constexpr int bytes = index_bits / 8;
    return load_list<list_buffer, bytes>(memory, list + std::uint64_t{bytes} * slot);
  }
}

/// Idle for a slot past the last.
template <int index_bits, int list_buffer, Memory M>
constexpr Move load_move(M& memory, const SharedPermutation& permutation, std::uint32_t slot) {
  if (slot >= permutation.slots) {
    idle(memory);
    idle(memory);
    return {idle_index(32), idle_index(32)};
  }
  const std::uint32_t source = load_index<index_bits, list_buffer>(memory, permutation.sources, slot);
  return {source, load_index<index_bits, list_buffer>(memory, permutation.targets, slot)};
}

/// Moves a slot's element in every array, or sits the accesses out.
template <int element_bytes, Memory M>
constexpr void move_element(M& memory, const Move& move, bool is_idle, const SharedArrays& arrays) {
  constexpr int access = shared_access_bytes(element_bytes);
  static_assert(access != 0, "elements of 1, 2, 4, 8, 12 or 16 bytes");
  constexpr auto bytes = static_cast<std::uint32_t>(element_bytes);
  for (std::uint32_t array = 0; array < arrays.arrays; ++array) {
    FARO_UNROLL
    for (std::uint32_t part = 0; part < bytes; part += access) {
      if (is_idle) {
        idle(memory);
        idle(memory);
        continue;
      }
      const std::uint32_t shift = array * arrays.stride + part;
      memory.template store_shared<access>(
          arrays.out + shift + move.target * bytes,
          memory.template load_shared<access>(arrays.in + shift + move.source * bytes));
    }
  }
}

/// b[P(i)] = a[i] for every array a and its b. The lists are read once, whatever the number of arrays.
/// Cost: of one array 3 accesses of each slot by index lists in shared memory, 2 by lists elsewhere.
/// Requires: the arrays and, if they are in shared memory, the lists, stored before the last barrier; a
///           barrier before the results are read.
template <int element_bytes, int index_bits, int list_buffer = kListsInShared, Memory M>
constexpr void permute_shared(M& memory, const SharedPermutation& permutation, const SharedArrays& arrays,
                              const Team& team) {
  // All lanes of a warp take equally many rounds.
  for (std::uint32_t first = 0; first < permutation.slots; first += team.threads) {
    const Move move = load_move<index_bits, list_buffer>(memory, permutation, first + team.thread);
    move_element<element_bytes>(memory, move, move.is_idle(permutation.count), arrays);
  }
}

/// One thread's part of the lists, in its registers: for kernels that permute many times by one P.
template <int rounds>
struct HeldMoves {
  Move moves[rounds];
};

/// Requires: rounds * team.threads >= slots (unchecked: slots past that are left out).
template <int rounds, int index_bits, int list_buffer = kListsInShared, Memory M>
constexpr HeldMoves<rounds> hold_moves(M& memory, const SharedPermutation& permutation, const Team& team) {
  HeldMoves<rounds> held{};
  FARO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const std::uint32_t first = static_cast<std::uint32_t>(round) * team.threads;
    held.moves[round] = load_move<index_bits, list_buffer>(memory, permutation, first + team.thread);
  }
  return held;
}

/// permute_shared() by what a thread holds. Cost: 2 accesses of each slot.
template <int element_bytes, int rounds, Memory M>
constexpr void permute_held(M& memory, const HeldMoves<rounds>& held, std::uint32_t count,
                            const SharedArrays& arrays) {
  FARO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const Move& move = held.moves[round];
    move_element<element_bytes>(memory, move, move.is_idle(count), arrays);
  }
}

}  // namespace faro::device

namespace faro::schedule {

// The conflict-free schedule of an array in shared memory, for elements of any width that a GPU moves, and
// packed for its kernels (device/conflict_free.hpp).
//
//     width      served together    bank class of element i    what shares a class
//     1 byte     32 lanes           i / 4 mod 32               the four bytes of a word, and words 32 apart
//     2 bytes    32 lanes           i / 2 mod 32               the two halves of a word, and …
//     4 bytes    32 lanes           i mod 32                   elements 32 apart
//     8 bytes    half a warp, 16    i mod 16                   elements 16 apart: each takes a pair of banks
//     12 bytes   32 lanes           i mod 32                   3 i mod 32 takes every value: three accesses
//     16 bytes   a quarter, 8       i mod 8                    elements 8 apart: each takes four banks
//
// Draw an edge from the class of i to the class of P(i): any two elements of one colour are in different
// banks, before and after. Two lanes in one word would be no conflict either; the schedule does without.
//
// The remainder. Where the classes are equally full (4 bytes: where 32 divides n) there are n slots, all
// full. Otherwise there are as many groups as the fullest class has elements, and some slots are idle: fewer
// than 32 of them (16, 8) for 4 bytes and wider; for 2 and 1 bytes fewer than 64 and 128.
//
// Other machines than NVIDIA's follow from device::MemoryGeometry by the same rule.

/// What decides which elements of an array can be moved together.
struct BankRule {
  int element_bytes = 4;
  std::uint32_t classes = 32;  // elements of different classes never conflict; a warp's phase is one of each
  std::uint32_t sharing = 1;   // neighbours that lie in one word

  constexpr std::uint32_t class_of(std::uint64_t element) const {
    return static_cast<std::uint32_t>(element / sharing % classes);
  }
  /// So many elements, or a multiple, fill all classes equally.
  constexpr std::uint32_t period() const { return classes * sharing; }

  friend constexpr bool operator==(const BankRule&, const BankRule&) = default;
};

/// Errors: ErrorCode::unsupported for an element that is not of 1, 2, 4, 8, 12 or 16 bytes, or is wider than
///         all banks together.
BankRule bank_rule(int element_bytes, const device::MemoryGeometry& geometry = {});

/// No element.
inline constexpr std::uint32_t kIdle = 0xffff'ffff;

/// In groups of rule.classes slots: slot k moves element source[k] to target[k], or both are kIdle.
struct SharedSchedule {
  std::uint32_t count = 0;  // n
  BankRule rule;
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> target;

  std::uint64_t slots() const { return source.size(); }
  std::uint64_t idle_slots() const { return slots() - count; }

  friend bool operator==(const SharedSchedule&, const SharedSchedule&) = default;
};

/// Law:    every element is a source once, its target is P of it; in a group classes differ, on both sides;
///         the j-th source of a group is of class j.
/// Errors: ErrorCode::value where the list is no permutation or has 2^32 - 16 elements or more; as bank_rule.
/// Cost:   as colour_edges of n edges; nothing is cached.
SharedSchedule shared_schedule(std::span<const std::uint32_t> permutation, int element_bytes,
                               const device::MemoryGeometry& geometry = {});

/// The lists as a kernel reads them: all words of the sources, then as many of the targets.
struct PackedSchedule {
  std::uint32_t count = 0;
  std::uint32_t slots = 0;
  int index_bits = 0;
  std::vector<std::uint32_t> words;

  std::uint64_t bytes() const { return std::uint64_t{4} * words.size(); }
  /// For words that begin at byte `offset` of shared memory or of a buffer.
  device::SharedPermutation at(std::uint64_t offset) const {
    return {.count = count, .slots = slots, .sources = offset, .targets = offset + bytes() / 2};
  }

  friend bool operator==(const PackedSchedule&, const PackedSchedule&) = default;
};

/// 8, 10, 16 or 32: the narrowest that holds every index below `count` and, with idle slots, one more.
int narrowest_index_bits(std::uint64_t count, bool has_idle_slots);

/// `index_bits`: 0 for the narrowest.
/// Errors: ErrorCode::value for a width that is none or too narrow, and for a schedule whose lists are not
///         of its count.
PackedSchedule pack(const SharedSchedule& schedule, int index_bits = 0);

/// Law: unpack(pack(s), s.rule) == s.   Errors: ErrorCode::value where words are missing or too many, or
///      entries are neither idle nor below the count.
SharedSchedule unpack(const PackedSchedule& packed, const BankRule& rule);

}  // namespace faro::schedule
