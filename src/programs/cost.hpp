// What the programs of the memory machines have in common: the condition on their sizes, and a cost formula's
// value and text.
//
// A program's thread i handles elements i, p + i, 2 p + i, …; a warp's elements are consecutive:
//
//     n = 16, p = 8, w = 4        round 0   0 1 2 3 | 4 5 6 7        p / w = 2 warps a round,
//                                 round 1   8 9 …   | 12 …           n / p = 2 rounds
//
// Every round costs the sum of its stages plus l - 1, so with one stage a warp (p/w + l - 1) n/p.
//
// Source: section 3 of Nakano's memory machines paper.
#pragma once

#include <cstdint>
#include <string>

#include "machine/machine_options.hpp"

namespace faro::programs {

/// A cost formula, evaluated.
struct Cost {
  std::uint64_t time = 0;   // units
  std::string text = {};    // the formula, in n, p, w, l, r, k
  std::string source = {};  // the theorem that it makes exact: "Lemma 5.1"
};

/// More words than this no program is run on: a simulation takes seconds for each million of them.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 26;

/// Errors: ErrorCode::value unless w divides p, p divides n, and n is from 1 to kMostElements; and as
/// machine::check.
void check_sizes(const machine::MachineOptions& machine, std::uint64_t n);

/// The square root of n. Errors: ErrorCode::value where that is no integer.
std::uint64_t matrix_side(std::uint64_t n);

/// What no program that reads n words can beat: max(ceil(n / w), ceil(n / p) l), since w words are served in
/// a unit, and a thread waits l units for each of its words. (The theorem's sum of both is at most twice
/// this.)
/// Source: Theorem 4.1. Errors: ErrorCode::value where it does not fit into 64 bits.
std::uint64_t lower_bound(const machine::MachineOptions& machine, std::uint64_t n);

}  // namespace faro::programs
