// Curves of affine tiles and segments for plan/cpu/affine_cost.hpp.
#pragma once

#include <vector>

#include "faro/problem/target.hpp"

namespace faro::cpu {

struct AffineTuning {
  bool brief = false;  // fewer sizes, and only tiles that exchange all they can
};

/// Cost: 8 s; brief: 1 s. 256 MiB of memory.
std::vector<IndexCurve> tune_affine(AffineTuning tuning, const Target& machine);

}  // namespace faro::cpu
