// The solvers in one table: a row for each way of carrying out a permutation, a column for each engine
// (solvers.cpp).
//
//     form            method         on a CPU               on a GPU
//     Cyclic          cyclic         kCpuCyclicSolver       kCyclicSolver
//     Modular         modular        kCpuModularSolver      kModularSolver
//     …
//
// Work has a form (plan/index_form.hpp), and the row that has it makes the passes; a pass that was made is
// described and priced by the solver that makes its kind. Affine maps, sweeps in place and exceptions have no
// form: their planners call their solvers by name.
#pragma once

#include "plan/cpu/cpu_solver.hpp"
#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {

struct Solvers {
  /// Null where no form of work is carried out so.
  bool (*has_form)(const IndexForm& form) = nullptr;
  IndexMethod method = IndexMethod::axes;  // of those that have a form
  const CpuSolver* cpu = nullptr;
  const GpuSolver* gpu = nullptr;  // null where another row's makes the passes
};

/// The one that takes this form; every form has one.
const Solvers& solvers_of(const IndexForm& form);

/// The solver that makes this pass.
const CpuSolver& cpu_solver_of(const CpuPass& pass);
/// The solver that makes passes of this kind.
const GpuSolver& gpu_solver_of(PassKind kind);

}  // namespace faro::detail
