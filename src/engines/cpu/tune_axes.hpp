// The prices of passes over boxes of axes (tell/axes_cost.hpp) on this machine.
#pragma once

#include <vector>

#include "faro/problem/target.hpp"

namespace faro::cpu {

struct AxesTuning {
  bool brief = false;
};

/// Cost: 6 s; brief: 1 s. 400 MiB of memory.
std::vector<PriceFactor> tune_axes(AxesTuning tuning, const Target& machine);

}  // namespace faro::cpu
