// Time units in a cost formula: whole numbers that never wrap around.
#pragma once

#include <cstdint>

#include "faro/error.hpp"
#include "machine/machine_options.hpp"

namespace faro::programs {

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

}  // namespace faro::programs
