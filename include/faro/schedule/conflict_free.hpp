// The order in which a permutation's elements are moved so that no two that move together share a bank.
//
//     P = 0 4 8 12  1 5 9 13  2 6 10 14  3 7 11 15  (a 4 x 4 transpose),  w = 4 banks, bank of i: i mod 4
//
//     in the order 0 1 2 3 …      sources 0 1 2 3, banks 0 1 2 3;   targets 0 4 8 12, all in bank 0
//     conflict-free, group 0      sources 0 5 10 15, banks 0 1 2 3;   targets 0 5 10 15, banks 0 1 2 3
//                    group 1      sources 1 6 11 12, banks 1 2 3 0;   targets 4 9 14 3, banks 0 1 2 3
//
// Draw an edge from bank i mod w to bank P(i) mod w for each element i. Every bank has n / w edges on either
// side, so the edges can be coloured with n / w colours, and the w elements of a colour are in distinct banks
// before and after (Koenig). The order inside a colour is free; here the j-th source of a group is in bank j.
//
// This is the schedule of the memory machine, whose elements are as wide as its banks and whose width divides
// n. For shared memory as GPUs have it, elements of other widths and any n: faro/device/conflict_free.hpp.
//
// Source: Lemma 6.2 of Nakano's memory machines paper; the offline permutation of Kasagi, Nakano and Ito.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/schedule/index_schedule.hpp"

namespace faro::schedule {

struct ConflictFreeSchedule {
  std::vector<std::uint32_t> source;  // s
  std::vector<std::uint32_t> target;  // d = P o s
};

/// Law:      both are permutations of 0 .. n-1, target[i] = P(source[i]); entries w g .. w g + w - 1, for
///           each g, have w distinct values mod w, in `source` and in `target`.
/// Requires: `permutation` is P as a list (checked), `width` divides its length (checked).
/// Errors:   ErrorCode::value for what is checked.
/// Cost:     as colour_regular_edges of n edges.
ConflictFreeSchedule conflict_free_schedule(std::span<const std::uint32_t> permutation, std::uint64_t width);

/// The same by the published construction: colour after colour a maximum matching, grown from bank
/// g mod w on for group g, by augmenting paths where no free bank is left. Sources ascend inside a group. It
/// gives the lists that the paper prints; conflict_free_schedule() is the one to use.
/// Law, Requires, Errors: as conflict_free_schedule() but for the order inside a group.
/// Cost:     O(n^2 / w) where no path has to be augmented, w times that at worst.
/// Source:   Kasagi, Nakano and Ito 2012, section IV.
ConflictFreeSchedule matched_conflict_free_schedule(std::span<const std::uint32_t> permutation,
                                                    std::uint64_t width);

/// Errors: ErrorCode::value, naming the place, where a value is not below the length or comes twice.
void check_permutation(std::span<const std::uint32_t> permutation);
/// Errors: also ErrorCode::value for a number of banks that does not divide the length.
void check_permutation(std::span<const std::uint32_t> permutation, std::uint64_t banks);

// Partition schedules whose places are free of bank conflicts.
//
//     w = 4 lanes and banks, runs of 4:      buckets of the elements   0 1 2 3 | 0 1 2 3 | 0 1 2 3 | 0 1 2 3
//
//     in the order of the source, places     0 4 8 12 | 1 5 9 13 | …      banks 0 0 0 0: four turns
//     free of conflicts                      0 5 10 15 | 1 6 11 12 | …    banks 0 1 2 3: one turn
//
// The order inside a run is free: the next pass takes it from there. So the w elements that a warp stores may
// share out the banks among them, if each run's places are dealt out with all warps in view. Edges from warps
// to runs, coloured by banks: every warp has each colour once, and a run as many of each as it has places in
// that bank. Where all runs are whole rows of banks that is a proper edge colouring of a regular graph; in
// general the sides of a splitting are prescribed, and not every chunk has a solution. What is made here is
// nearly always free of conflicts where runs are long, and never invalid.
//
// It takes some 25 times as long as the plain order; docs/theory/partition-passes.md has the turns, counted,
// and says when they matter. The last pass has no such freedom.

inline constexpr int kMaxLanes = 32;

/// A schedule of the same permutation and shape as partition_schedule's, the order in its runs chosen so that
/// each `lanes` consecutive elements of a chunk, from a multiple of `lanes` on, have places in as many banks
/// (place mod lanes) as can be found. For elements of 4 bytes lanes is 32, of 8 bytes 16, of 16 bytes 8.
/// Law:    check_schedule() takes it, and entries_of() is the array; whatever the number of threads.
/// Errors: ErrorCode::value for lanes that are no power of two in 2..kMaxLanes; as partition_schedule.
/// Cost:   a third of a microsecond an element and level, divided among the threads.
PartitionSchedule conflict_free_partition_schedule(const Indexed& indexed, const PartitionShape& shape,
                                                   int lanes, int threads = 0);

}  // namespace faro::schedule
