// A solver: one way of carrying out a permutation, in a file of its own with one skeleton.
//
//     applies      a problem   --> what the way would move and take, or why it does not apply
//     form         a candidate --> the work that it leaves to the GPU
//     passes       work        --> passes, each complete
//     words        a pass      --> what it does, for a reader
//     cost         a pass      --> microseconds, from its counts and the device's rates (pass_cost.hpp)
//
// There is one table of them (gpu_solvers.cpp), in the order in which a plan lists what it could have taken.
// Adding a way touches its file, its kernel and the table.
//
// What applies to a problem, and how many bytes that moves, is the same on a CPU, whose times are those of
// the measured curves; so the planner asks the same functions there.
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
  /// Whether that is a method of its own. Null for ways that no problem chooses among.
  bool (*is_method)(IndexMethod method) = nullptr;
  /// For a problem that is not affine: the candidates of the way, none where the problem is of another form.
  std::vector<IndexCandidate> (*candidates)(const IndexWork& work) = nullptr;
  /// The candidate of a method of index arrays that is asked for; null for others. Errors: as
  /// asked_candidate().
  IndexCandidate (*asked)(const IndexWork& work, const IndexChoice& choice) = nullptr;
  /// The work that a candidate leaves to a GPU.
  IndexForm (*form)(const IndexWork& work, const IndexCandidate& candidate) = nullptr;
  bool (*has_form)(const IndexForm& form) = nullptr;
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

/// The one that makes passes of this kind.
const GpuSolver& solver_of(PassKind kind);

/// The solvers of problems that are not affine, in the order of their candidates.
std::vector<const GpuSolver*> index_solvers();

/// What was recognised, or what was asked for.
template <typename Wanted>
const Wanted& form_of(const IndexWork& work) {
  if (const auto* found = std::get_if<Wanted>(&work.recognition.permutation)) return *found;
  return std::get<Wanted>(work.problem.permutation);
}

}  // namespace faro::detail
