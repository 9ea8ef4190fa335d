// The work that a CPU's solvers are given, and what a plan shows of their passes.
#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "faro/permutation/strided.hpp"
#include "plan/index_candidates.hpp"
#include "plan/solved_passes.hpp"
#include "plan/solvers.hpp"

namespace faro::detail {
namespace {

struct FormOfSchedule {
  bool as_published = false;

  IndexForm operator()(const schedule::DirectSchedule& direct) const {
    return DirectForm{.index_bytes = direct.indexed.index_type().bytes};
  }
  IndexForm operator()(const schedule::WindowSchedule& window) const { return WindowForm{window.window}; }
  IndexForm operator()(const schedule::RunsSchedule& runs) const { return RunsForm{runs.target.size()}; }
  IndexForm operator()(const schedule::PartitionSchedule& partition) const { return partition.shape; }
  IndexForm operator()(const schedule::RowColumnSchedule& matrix) const {
    return MatrixForm{.rows = matrix.rows, .columns = matrix.columns, .as_published = as_published};
  }
};

CpuWork work_for(const Problem& problem, const Target& target, Direction direction, IndexForm form) {
  return {.count = element_count(problem.permutation),
          .element_bytes = problem.element_bytes,
          .batch = problem.batch,
          .way = way_of(direction),
          .form = std::move(form),
          .threads = std::max(1, target.threads),
          .streaming_bytes = target.streaming_bytes,
          .caches = core_caches(target)};
}

// --- as a plan shows them

Pass shown_on_cpu(CpuPass made) {
  Pass pass;
  pass.kind = made.kind;
  pass.arrays = made.arrays;
  pass.bytes_read = made.part_bytes > 0 ? made.part_bytes : made.arrays * made.array_bytes();
  pass.bytes_written = pass.bytes_read;
  pass.what = made.what;
  put_on_cpu(pass, std::move(made));
  return pass;
}

}  // namespace

int useful_threads(int threads, std::uint64_t bytes, const CoreCaches& caches) {
  if (bytes <= caches.second_level_bytes / 2) return 1;
  constexpr std::uint64_t kBytesPerThread = std::uint64_t{256} << 10;
  const auto by_size = std::max<std::uint64_t>(1, bytes / kBytesPerThread);
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), by_size));
}

std::vector<CpuPass> solve(const CpuWork& work) {
  if (work.total_bytes() == 0) return {};
  std::vector<CpuPass> passes = solvers_of(work.form).cpu->passes(work);
  for (CpuPass& pass : passes) {
    const std::uint64_t together = pass.run.arrays_at_once == 0 ? work.batch : pass.run.arrays_at_once;
    pass.arrays = work.batch;
    pass.count = work.count;
    pass.element_bytes = work.element_bytes;
    pass.threads = useful_threads(work.threads, together * work.array_bytes(), work.caches);
    // Look-ups take longer than lines that are read before they are written.
    pass.streamed =
        work.total_bytes() > work.streaming_bytes && !std::holds_alternative<CpuComputed>(pass.kernel);
    pass.run.workspace.parts = static_cast<std::uint64_t>(work.threads);
  }
  return passes;
}

CpuWork cpu_work_of(const IndexWork& work, const IndexCandidate& candidate) {
  return work_for(work.problem, work.target, work.direction(), form_of(work, candidate));
}

CpuWork cpu_work_of(const IndexPlan& plan, const schedule::IndexSchedule& schedule) {
  const bool as_published = plan.chosen().method == IndexMethod::row_column_5;
  return work_for(plan.problem(), plan.target(), schedule.applied,
                  form_of(schedule, as_published ? MatrixPasses::five : MatrixPasses::three));
}

IndexForm form_of(const schedule::IndexSchedule& schedule, MatrixPasses passes) {
  return std::visit(FormOfSchedule{.as_published = passes == MatrixPasses::five}, schedule.what);
}

Way way_of(Direction direction) { return direction == Direction::scatter ? Way::forwards : Way::backwards; }

void put_on_cpu(Pass& pass, CpuPass made) {
  const CpuWorkspace& workspace = made.run.workspace;
  pass.source = made.source;
  pass.target = made.target;
  pass.team = Team{.kernel = cpu_solver_of(made).loop(made),
                   .threads = made.threads * made.run.turns_at_once,
                   .streamed = made.streamed,
                   .thread_bytes = workspace.part_bytes,
                   .arrays_at_once = made.run.arrays_at_once};
  if (const auto* const sweep = std::get_if<CpuSweep>(&made.kernel))
    pass.team->thread_bytes = sweep->part_bytes;
  pass.cpu = std::make_shared<const CpuPass>(std::move(made));
}

std::vector<Pass> cpu_passes_of(const IndexWork& about, const IndexCandidate& chosen) {
  const CpuWork work = cpu_work_of(about, chosen);
  std::vector<Pass> passes;
  for (CpuPass& each : chosen.solved ? std::vector(chosen.solved->cpu) : solve(work)) {
    each.what = cpu_solver_of(each).words(each);
    const auto* const level = std::get_if<CpuLevel>(&each.kernel);
    const std::optional<double> us = pass_us(about, chosen, work.form, each.kind,
                                             level == nullptr ? 0 : level->level, BatchOrder::together);
    const double part = each.part_bytes == 0
                            ? 1
                            : static_cast<double>(each.part_bytes) / static_cast<double>(work.total_bytes());
    passes.push_back(shown_on_cpu(std::move(each)));
    passes.back().curve_us = times(us, part);
    for (const TableId& table : passes.back().cpu->tables) {
      passes.back().tables.push_back(table_of(work.form, work.count, table));
    }
  }
  return passes;
}

std::vector<Pass> cpu_sweeps_shown(const Rectangle& rectangle, const TransposeWorkers& workers) {
  std::vector<Pass> passes;
  for (CpuPass& each : cpu_sweeps(rectangle, workers)) passes.push_back(shown_on_cpu(std::move(each)));
  return passes;
}

std::vector<Pass> cpu_reversals(const Problem& problem, const Target& target) {
  std::vector<Pass> passes;
  for (CpuPass& each : reversals_of(problem)) {
    each.threads =
        useful_threads(std::max(1, target.threads), each.arrays * each.array_bytes(), core_caches(target));
    each.what = cpu_solver_of(each).words(each);
    passes.push_back(shown_on_cpu(std::move(each)));
  }
  return passes;
}

Pass cpu_patch(const std::vector<Exception>& exceptions, const Problem& problem, const CpuPass* last) {
  CpuPass made{.kind = PassKind::patch, .kernel = CpuPatch{.exceptions = exceptions, .batch = problem.batch}};
  made.count = element_count(problem.permutation);
  made.element_bytes = problem.element_bytes;
  made.part_bytes = exceptions.size() * problem.batch * problem.element_bytes;
  if (last != nullptr) made.run = last->run;  // what passes have in common
  made.what = cpu_solver_of(made).words(made);
  return shown_on_cpu(std::move(made));
}

Pass cpu_pass_of(const AxisMap& normal, std::uint64_t element_bytes, const Target& target) {
  const std::uint64_t count = unit_count(normal.axes);
  const std::uint64_t bytes = count * element_bytes;
  CpuPass made =
      cpu_strided_pass(normal.axes, element_bytes, bytes > target.streaming_bytes, core_caches(target));
  made.count = count;
  made.element_bytes = element_bytes;
  made.in_offset = static_cast<std::uint64_t>(normal.in_first) * element_bytes;
  made.out_offset = static_cast<std::uint64_t>(normal.out_first) * element_bytes;
  made.threads = useful_threads(std::max(1, target.threads), bytes, core_caches(target));
  made.run.workspace.parts = static_cast<std::uint64_t>(made.threads);
  made.what = cpu_solver_of(made).words(made);
  return shown_on_cpu(std::move(made));
}

}  // namespace faro::detail
