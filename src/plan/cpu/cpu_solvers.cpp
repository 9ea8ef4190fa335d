// The table of a CPU's solvers, the work that they are given, and what a plan shows of their passes.
#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/index_candidates.hpp"

namespace faro::detail {
namespace {

// A way of carrying out work of one form.
struct CpuSolver {
  bool (*applies)(const IndexForm& form);
  std::vector<CpuPass> (*passes)(const CpuWork& work);
};

template <typename Wanted>
bool is_form(const IndexForm& form) {
  return std::holds_alternative<Wanted>(form);
}

constexpr CpuSolver kCpuSolvers[] = {
    {is_form<Axes>, cpu_axes_passes},          {is_form<Cyclic>, cpu_cyclic_passes},
    {is_form<DirectForm>, cpu_entries_passes}, {is_form<WindowForm>, cpu_window_passes},
    {is_form<RunsForm>, cpu_runs_passes},      {is_form<schedule::PartitionShape>, cpu_partition_passes},
    {is_form<MatrixForm>, cpu_matrix_passes},
};

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
          .streaming_bytes = target.streaming_bytes};
}

// --- as a plan shows them

struct CpuWords {
  const CpuPass& pass;

  std::string operator()(const CpuAxes& axes) const {
    return axes.move == AxesMove::pieces ? "long elements are copied in the order of the output"
                                         : "boxes are read as they lie and written as the output lies";
  }
  std::string operator()(const CpuCyclic& cyclic) const {
    return cyclic.cyclic.reversed ? "two pieces of the output are read backwards"
                                  : "two pieces of the array change places";
  }
  std::string operator()(const CpuEntries& entries) const {
    return entries.way == Way::forwards ? "each element is sent to the place that its index says"
                                        : "each element is fetched from the place that its index says";
  }
  std::string operator()(const CpuWindow& /*window*/) const {
    return "elements change places within what the caches hold";
  }
  std::string operator()(const CpuRuns& /*runs*/) const { return "runs are copied one after another"; }
  std::string operator()(const CpuLevel& level) const {
    return level.way == Way::forwards
               ? "every chunk is sorted by bucket, and its runs are written behind those of others"
               : "every chunk reads its runs from their buckets and puts them in order";
  }
  std::string operator()(const CpuChunks& /*chunks*/) const {
    return "every chunk is permuted within itself";
  }
  std::string operator()(const CpuRows& /*rows*/) const { return "every row is permuted within itself"; }
  std::string operator()(const CpuColumns& /*columns*/) const {
    return "every column is permuted within itself, strips of columns at a time";
  }
  std::string operator()(const CpuSweep& /*sweep*/) const { return pass.what; }
  std::string operator()(const CpuAffine& /*affine*/) const { return pass.what; }
};

Pass shown_on_cpu(CpuPass made) {
  Pass pass;
  pass.kind = made.kind;
  pass.arrays = made.arrays;
  pass.bytes_read = made.arrays * made.array_bytes();
  pass.bytes_written = pass.bytes_read;
  pass.what = made.what;
  put_on_cpu(pass, std::move(made));
  return pass;
}

}  // namespace

int useful_threads(int threads, std::uint64_t bytes) {
  constexpr std::uint64_t kBytesPerThread = std::uint64_t{256} << 10;
  const auto by_size = std::max<std::uint64_t>(1, bytes / kBytesPerThread);
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), by_size));
}

std::vector<CpuPass> solve(const CpuWork& work) {
  if (work.total_bytes() == 0) return {};
  for (const CpuSolver& solver : kCpuSolvers) {
    if (!solver.applies(work.form)) continue;
    std::vector<CpuPass> passes = solver.passes(work);
    for (CpuPass& pass : passes) {
      const std::uint64_t together = pass.run.arrays_at_once == 0 ? work.batch : pass.run.arrays_at_once;
      pass.arrays = work.batch;
      pass.count = work.count;
      pass.element_bytes = work.element_bytes;
      pass.threads = useful_threads(work.threads, together * work.array_bytes());
      pass.streamed = work.total_bytes() > work.streaming_bytes;
      pass.run.workspace.parts = static_cast<std::uint64_t>(work.threads);
    }
    return passes;
  }
  FARO_CHECK(false);
  return {};
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
  pass.team = Team{.kernel = to_text(made),
                   .threads = made.threads * made.run.turns_at_once,
                   .streamed = made.streamed,
                   .thread_bytes = workspace.part_bytes,
                   .arrays_at_once = made.run.arrays_at_once};
  if (const auto* const sweep = std::get_if<CpuSweep>(&made.kernel))
    pass.team->thread_bytes = sweep->part_bytes;
  pass.cpu = std::make_shared<const CpuPass>(std::move(made));
}

std::vector<Pass> cpu_passes_of(const IndexPlan& plan) {
  const IndexWork about{.problem = plan.problem(),
                        .target = plan.target(),
                        .recognition = plan.recognition(),
                        .calibration = plan.calibration(),
                        .repeats = plan.repeats()};
  const CpuWork work = cpu_work_of(about, plan.chosen());
  std::vector<Pass> passes;
  for (CpuPass& each : solve(work)) {
    each.what = std::visit(CpuWords{each}, each.kernel);
    const auto* const level = std::get_if<CpuLevel>(&each.kernel);
    const std::optional<double> us =
        pass_us(plan, work.form, each.kind, level == nullptr ? 0 : level->level, BatchOrder::together);
    passes.push_back(shown_on_cpu(std::move(each)));
    passes.back().predicted_us = us;
    for (const TableId& table : passes.back().cpu->tables) {
      passes.back().tables.push_back(table_of(work.form, work.count, table));
    }
  }
  return passes;
}

std::vector<Pass> cpu_passes_of(const TransposePlan& plan) {
  std::vector<Pass> passes;
  for (CpuPass& each :
       cpu_sweeps(plan.rectangle(), cpu_transpose_workers(plan.rectangle(), plan.target().threads))) {
    passes.push_back(shown_on_cpu(std::move(each)));
  }
  return passes;
}

}  // namespace faro::detail
