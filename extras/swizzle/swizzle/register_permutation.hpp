// Register permutations as rotations around a fixed permutation.
//
// Lane t's permutation P_t is sought as B_t F A_t: A_t and B_t are products of rotations of digits of the
// register number, F is the same for all lanes. Rotations of the digits of one system commute, so that lane
// 0's own permutation may be taken for F; then P_t A_t^-1 F^-1 must be a product of rotations, which its
// value at 0 tells, digit by digit:
//
//     n = 6, digits (r mod 3, r div 3)   Q = 4 5 3 1 2 0   Q(0) = 4 = 1 + 3: rotate by 1 and by 1
//                                                          Q(r) = ((r + 1) mod 3) + 3 ((r div 3 + 1) mod 2)
//
// A rotation by an amount of each lane as conditional rotations by fixed amounts.
//
//     amounts 0 0 11 11 10 10 of 12    backward 0 0 1 1 2 2: by -1 where bit 0 is set, by -2 where bit 1 is
//     amounts 0 0 5 5 of 6             one step: by 5 where bits 0 and 2 are set, which is where bit 0 is
//     amounts 1 3 1 3 of 4             1 for all lanes, which costs nothing, and by 2 for some
#pragma once

#include <cstdint>
#include <vector>

namespace faro::swizzle {

/// How a register permutation of n registers, f(i, t) for lanes t < W, is done without local memory.
struct RegisterPermutation {
  enum class Kind : std::uint8_t { fixed, barrel, tree };
  struct Rotation {
    std::int64_t stride = 1;            // places r and r + stride are neighbours
    std::int64_t length = 1;            // of each cycle of places: a digit of r, (r / stride) mod length
    std::vector<std::int64_t> amounts;  // by lane
  };
  Kind kind = Kind::tree;
  std::vector<Rotation> before, after;  // around `fixed`
  std::vector<std::int64_t> fixed;
};
/// Law: for each lane, before, then fixed, then after give y[i] = x[f(i, t)]. `table[i + n t]`.
/// Errors: ErrorCode::spec where f(·, t) leaves 0 .. n-1.
RegisterPermutation factor_registers(std::int64_t n, std::int64_t warp,
                                     const std::vector<std::int64_t>& table);

struct RotationSteps {
  struct Step {
    std::int64_t shift = 0;   // 1 .. length-1
    std::vector<bool> lanes;  // that rotate
  };
  std::int64_t for_all = 0;  // by which every lane rotates as well
  std::vector<Step> steps;
};

/// The fewest steps of these kinds. Law: amounts[t] = for_all + the shifts of the steps that lane t takes,
/// mod length.
RotationSteps rotation_steps(const RegisterPermutation::Rotation& rotation);

}  // namespace faro::swizzle
