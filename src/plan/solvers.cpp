#include "plan/solvers.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::detail {
namespace {

template <typename... Forms>
bool any_of(const IndexForm& form) {
  return (has_form<Forms>(form) || ...);
}

constexpr Solvers kSolvers[] = {
    {any_of<Axes, CyclicAxes>, IndexMethod::axes, &kCpuAxesSolver, &kAxesSolver},
    {any_of<Cyclic>, IndexMethod::cyclic, &kCpuCyclicSolver, &kCyclicSolver},
    {any_of<Modular>, IndexMethod::modular, &kCpuModularSolver, &kModularSolver},
    {any_of<Computed>, IndexMethod::computed, &kCpuComputedSolver, &kComputedSolver},
    {any_of<DirectForm>, IndexMethod::direct, &kCpuEntriesSolver, &kDirectSolver},
    {any_of<WindowForm>, IndexMethod::window, &kCpuWindowSolver, &kWindowSolver},
    {any_of<RunsForm>, IndexMethod::runs, &kCpuRunsSolver, &kRunsSolver},
    {any_of<schedule::PartitionShape>, IndexMethod::partition, &kCpuPartitionSolver, &kPartitionSolver},
    {any_of<MatrixForm>, IndexMethod::row_column, &kCpuMatrixSolver, &kRowColumnSolver},
    {.cpu = &kCpuAffineSolver, .gpu = &kAffineSolver},
    {.cpu = &kCpuSweepSolver, .gpu = &kSweepSolver},
    {.cpu = &kCpuReversalSolver},
    {.cpu = &kCpuPatchSolver, .gpu = &kPatchSolver},
};

template <typename Wanted>
const Solvers& first_row(const Wanted& wanted) {
  const auto* const found = std::find_if(std::begin(kSolvers), std::end(kSolvers), wanted);
  FARO_CHECK(found != std::end(kSolvers));
  return *found;
}

}  // namespace

const Solvers& solvers_of(const IndexForm& form) {
  return first_row([&form](const Solvers& row) { return row.has_form != nullptr && row.has_form(form); });
}

const CpuSolver& cpu_solver_of(const CpuPass& pass) {
  return *first_row([&pass](const Solvers& row) { return row.cpu->makes(pass.kernel); }).cpu;
}

const GpuSolver& gpu_solver_of(PassKind kind) {
  return *first_row([kind](const Solvers& row) { return row.gpu != nullptr && row.gpu->makes(kind); }).gpu;
}

}  // namespace faro::detail
