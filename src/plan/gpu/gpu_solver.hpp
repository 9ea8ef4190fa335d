// A solver: one way of carrying out a permutation, in a file of its own with one skeleton.
//
//     passes       work           --> passes, each complete
//     words        a pass         --> what it does, for a reader
//     cost         a pass         --> microseconds, from its counts and the device's rates (pass_cost.hpp)
//
// They are in one table with those of a CPU (plan/solvers.hpp). Which ways apply to a problem, and what each
// moves, is the same on both engines (plan/index_candidates.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faro/plan/index_plan.hpp"
#include "faro/problem/pass.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/gpu/pass_cost.hpp"
#include "plan/index_candidates.hpp"

namespace faro::detail {

struct GpuSolver {
  /// Whether it makes passes of this kind, and prices and describes them.
  bool (*makes)(PassKind kind) = nullptr;
  /// Null for ways that carry out no form of an index plan.
  std::vector<GpuPass> (*passes)(const PassWork& work) = nullptr;
  std::string (*words)(const GpuPass& pass, const PassWork& work) = nullptr;
  /// Nothing where the target's rates are not known.
  std::optional<double> (*cost)(const CountedPass& pass) = nullptr;
};

extern const GpuSolver kAffineSolver;
extern const GpuSolver kAxesSolver;
extern const GpuSolver kCyclicSolver;
extern const GpuSolver kModularSolver;
extern const GpuSolver kComputedSolver;
extern const GpuSolver kPatchSolver;
extern const GpuSolver kDirectSolver;
extern const GpuSolver kWindowSolver;
extern const GpuSolver kRunsSolver;
extern const GpuSolver kPartitionSolver;
extern const GpuSolver kRowColumnSolver;
extern const GpuSolver kSweepSolver;

}  // namespace faro::detail
