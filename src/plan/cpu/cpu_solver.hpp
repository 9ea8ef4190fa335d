// A solver of the CPU engine: one way of carrying out a permutation, in a file of its own with one skeleton,
// that of a GPU's (plan/gpu/gpu_solver.hpp).
//
//     passes      work               --> passes, each complete but for what solve() adds
//     makes       the loop of a pass --> whether it is one of this way's
//     words       a pass             --> what it does, for a reader
//     loop        a pass             --> its loop, in words
//     over_copy   a pass             --> its time beside a copy's, where no curve is its own
//
// They are in one table with those of a GPU (plan/solvers.hpp). Which ways apply to a problem, and what each
// moves, is the same on both engines (plan/index_candidates.hpp); times are those of the measured curves
// (plan/index_form.hpp).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "plan/cpu/cpu_pass.hpp"
#include "size_text.hpp"

namespace faro::detail {

struct CpuSolver {
  /// Null for affine maps and transpositions in place, whose planners call them by name.
  std::vector<CpuPass> (*passes)(const CpuWork& work) = nullptr;
  bool (*makes)(const CpuKernel& kernel) = nullptr;
  /// Null where the pass says it already.
  std::string (*words)(const CpuPass& pass) = nullptr;
  /// "boxes of 64 x 64 elements, turned in registers", ….
  std::string (*loop)(const CpuPass& pass) = nullptr;
  /// How many times as long as a copy of the same bytes it takes. Null: as long.
  double (*over_copy)(const CpuPass& pass) = nullptr;
};

extern const CpuSolver kCpuAffineSolver;
extern const CpuSolver kCpuAxesSolver;
extern const CpuSolver kCpuCyclicSolver;
extern const CpuSolver kCpuReversalSolver;
extern const CpuSolver kCpuModularSolver;
extern const CpuSolver kCpuComputedSolver;
extern const CpuSolver kCpuPatchSolver;
extern const CpuSolver kCpuEntriesSolver;
extern const CpuSolver kCpuWindowSolver;
extern const CpuSolver kCpuRunsSolver;
extern const CpuSolver kCpuPartitionSolver;
extern const CpuSolver kCpuMatrixSolver;
extern const CpuSolver kCpuSweepSolver;

/// For `makes` of a solver: loops of these types.
template <typename... Kernels>
bool is_kernel(const CpuKernel& kernel) {
  return (std::holds_alternative<Kernels>(kernel) || ...);
}

}  // namespace faro::detail
