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

#include "faro/error.hpp"
#include "faro/machine/machine_options.hpp"

namespace faro::programs {

// Time units in a cost formula: whole numbers that never wrap around.

/// Errors of its operators: ErrorCode::value where the result does not fit into 64 bits.
struct Units {
  std::uint64_t value = 0;

  friend Units operator+(Units a, Units b) {
    Units sum;
    require_fits(!__builtin_add_overflow(a.value, b.value, &sum.value));
    return sum;
  }
  friend Units operator*(Units a, Units b) {
    Units product;
    require_fits(!__builtin_mul_overflow(a.value, b.value, &product.value));
    return product;
  }

 private:
  static void require_fits(bool fits) {
    if (fits) return;
    fail(ErrorCode::value, "evaluate a cost formula", "more than 2^64 - 1 time units",
         "a time that 64 bits hold", "take a smaller latency or fewer words");
  }
};

/// What the formulas are made of.
struct Sizes {
  std::uint64_t warps;   // p / w
  std::uint64_t rounds;  // n / p: rounds that touch every element once
  std::uint64_t hidden;  // l - 1: of each round

  Sizes(const machine::MachineOptions& machine, std::uint64_t n)
      : warps(machine.threads / machine.width), rounds(n / machine.threads), hidden(machine.latency - 1) {}

  /// (stages p/w + l - 1) n/p: every element once, so many stages a warp.
  Units sweep(std::uint64_t stages_of_a_warp = 1) const {
    return (Units{stages_of_a_warp} * Units{warps} + Units{hidden}) * Units{rounds};
  }
};

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
