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
// Other machines than NVIDIA's follow from machine::MemoryGeometry by the same rule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/device/conflict_free.hpp"
#include "faro/machine/access_counts.hpp"

namespace faro::schedule {

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
BankRule bank_rule(int element_bytes, const machine::MemoryGeometry& geometry = {});

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
                               const machine::MemoryGeometry& geometry = {});

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
