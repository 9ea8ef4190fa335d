// A rotation by an amount of each lane as conditional rotations by fixed amounts.
//
//     amounts 0 0 11 11 10 10 of 12    backward 0 0 1 1 2 2: by -1 where bit 0 is set, by -2 where bit 1 is
//     amounts 0 0 5 5 of 6             one step: by 5 where bits 0 and 2 are set, which is where bit 0 is
//     amounts 1 3 1 3 of 4             1 for all lanes, which costs nothing, and by 2 for some
#pragma once

#include <cstdint>
#include <vector>

#include "faro/swizzle/emission.hpp"

namespace faro::swizzle {

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
