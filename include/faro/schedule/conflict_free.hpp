// The order in which a permutation's elements are moved so that no two that move together share a bank.
//
//     P = 0 4 8 12  1 5 9 13  2 6 10 14  3 7 11 15  (a 4 x 4 transpose),  w = 4 banks, bank of i: i mod 4
//
//     in the order 0 1 2 3 …      sources 0 1 2 3, banks 0 1 2 3;   targets 0 4 8 12, all in bank 0
//     conflict-free, group 0      sources 0 5 10 15, banks 0 1 2 3;   targets 0 5 10 15, banks 0 1 2 3
//                    group 1      sources 1 6 11 12                   targets 4 9 14 3
//
// Draw an edge from bank i mod w to bank P(i) mod w for each element i. Every bank has n / w edges on either
// side, so the edges can be coloured with n / w colours, and the w elements of a colour are in distinct banks
// before and after (Koenig). The order inside a colour is free; here the j-th source of a group is in bank j.
//
// Source: Lemma 6.2 of Nakano's memory machines paper; the offline permutation of Kasagi, Nakano and Ito.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace faro::schedule {

struct ConflictFreeSchedule {
  std::vector<std::uint32_t> source;  // s
  std::vector<std::uint32_t> target;  // d = P o s
};

/// Law:      both are permutations of 0 .. n-1, target[i] = P(source[i]); entries w g .. w g + w - 1, for
/// each
///           g, have w distinct values mod w, in `source` and in `target`.
/// Requires: `permutation` is P as a list (checked), `width` divides its length (checked).
/// Errors:   ErrorCode::value for what is checked.
/// Cost:     as colour_regular_edges of n edges.
ConflictFreeSchedule conflict_free_schedule(std::span<const std::uint32_t> permutation, std::uint64_t width);

/// Errors: ErrorCode::value, naming the place, where a value is not below the length or comes twice.
void check_permutation(std::span<const std::uint32_t> permutation);

}  // namespace faro::schedule
