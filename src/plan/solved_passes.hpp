// The passes that a candidate of an index plan was worked out from, which are the plan's where it is chosen.
#pragma once

#include <vector>

#include "plan/cpu/cpu_pass.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::detail {

struct SolvedPasses {
  std::vector<CpuPass> cpu;
  std::vector<GpuPass> gpu;
};

}  // namespace faro::detail
