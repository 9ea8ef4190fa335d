// The buffers that the passes of a GPU's solvers go through, and what a plan shows of them.
//
// Passes that keep what a block loads to that block may run in place, so arrays go
//
//     levels 2    forwards     in --> workspace --> out --> out
//                 backwards    in --> out --> workspace --> out
//     levels 1    forwards     in --> out --> out
//                 backwards    in --> workspace --> out
//
// and one array of workspace, or none, does for any number of passes.
#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "plan/planners.hpp"
#include "plan/solved_passes.hpp"
#include "plan/solvers.hpp"

namespace faro::detail {
namespace {

// Where each pass writes: backwards from the output, in place where a pass can. There is a workspace for one
// array, so where it is needed the arrays take turns.
void route(std::vector<GpuPass>& passes, const PassWork& work) {
  if (passes.front().part_bytes > 0) {
    for (GpuPass& pass : passes) pass.array_bytes = work.array_bytes() * work.batch;  // the batch is an axis
    return;
  }
  bool through_workspace = false;
  for (std::size_t i = passes.size(); i-- > 1;) {
    const bool from_workspace = passes[i].in_place == (passes[i].target == PassBuffer::workspace);
    passes[i].source = from_workspace ? PassBuffer::workspace : PassBuffer::output;
    passes[i - 1].target = passes[i].source;
    through_workspace = through_workspace || from_workspace;
  }
  for (GpuPass& pass : passes) {
    pass.arrays = work.batch;
    pass.array_bytes = work.array_bytes();
    pass.arrays_at_once = through_workspace ? 1 : work.batch;
    pass.workspace_bytes = through_workspace ? work.array_bytes() : 0;
  }
}

// --- as a plan shows them

Pass shown(GpuPass made, std::uint64_t arrays, std::uint64_t bytes) {
  Pass pass;
  pass.kind = made.kind;
  pass.arrays = arrays;
  pass.bytes_read = bytes;
  pass.bytes_written = bytes;
  pass.source = made.source;
  pass.target = made.target;
  pass.what = made.what;
  if (!made.kernels.empty()) {
    const GpuKernel& first = made.kernels.front();
    Launch launch{.blocks = first.blocks,
                  .threads = first.threads,
                  .shared_bytes = first.shared_bytes,
                  .kernel = to_text(first)};
    if (made.launched == Kernels::first_aligned && made.kernels.size() > 1) {
      // What differs may be where rows of shared memory begin, and nothing that is named.
      const std::string others = to_text(made.kernels.back());
      if (others != launch.kernel) launch.unaligned_kernel = others;
    }
    pass.launch = launch;
  }
  pass.gpu = std::make_shared<const GpuPass>(std::move(made));
  return pass;
}

std::string words_of(const GpuPass& pass, const PassWork& work) {
  return (pass.kind == PassKind::copy ? kAxesSolver : gpu_solver_of(pass.kind)).words(pass, work);
}

}  // namespace

Pass shown_pass(GpuPass made, std::uint64_t arrays, std::uint64_t bytes) {
  return shown(std::move(made), arrays, bytes);
}

std::vector<GpuPass> solve(const PassWork& work) {
  if (work.count == 0 || work.batch == 0) return {};
  std::vector<GpuPass> passes = solvers_of(work.form).gpu->passes(work);
  route(passes, work);
  return passes;
}

std::vector<GpuPass> solve_by_units(const IndexPlan& plan, std::uint64_t widest_unit) {
  PassWork work = work_of(work_about(plan), plan.chosen());
  work.widest_unit = widest_unit;
  return solve(work);
}

std::uint64_t workspace_bytes(const std::vector<GpuPass>& passes) {
  return passes.empty() ? 0 : passes.front().workspace_bytes;
}

PassWork work_of(const IndexWork& about, const IndexCandidate& chosen) {
  const Target& target = about.target;
  const bool turned = chosen.method == IndexMethod::direct && about.turns_scatter();
  return {.count = about.count(),
          .element_bytes = about.width(),
          .batch = about.problem.batch,
          .way = about.direction() == Direction::scatter && !turned ? Way::forwards : Way::backwards,
          .form = form_of(about, chosen),
          .shared_bytes = target.chunk_bytes_max == 0 ? ~std::uint64_t{0} : target.chunk_bytes_max};
}

Pass pass_of_view(const AxisMap& view, std::uint64_t element_bytes, std::uint64_t array_bytes) {
  GpuPass made = view_pass(view, element_bytes);
  made.what = axes_pass_words(made);
  const std::uint64_t moved_bytes = unit_count(view.axes) * element_bytes;
  made.part_bytes = moved_bytes;
  made.array_bytes = array_bytes;
  return shown(std::move(made), 1, moved_bytes);
}

std::vector<Pass> gpu_passes_of(const IndexWork& about, const IndexCandidate& chosen) {
  const PassWork work = work_of(about, chosen);
  std::vector<GpuPass> made = chosen.solved ? chosen.solved->gpu : solve(work);
  FARO_CHECK(workspace_bytes(made) == chosen.workspace_bytes);
  const bool in_turns = workspace_bytes(made) > 0;
  std::vector<Pass> passes;
  for (GpuPass& each : made) {
    each.what = words_of(each, work);
    const bool of_one = each.blocks_of_one_array || (in_turns && !each.kernels.empty());
    const int level = each.tables.empty() ? 0 : each.tables.front().level;
    const std::optional<double> us = pass_us(about, chosen, work.form, each.kind, level,
                                             in_turns ? BatchOrder::in_turns : BatchOrder::together);
    const std::uint64_t all = work.array_bytes() * work.batch;
    const std::uint64_t part = each.part_bytes == 0 ? all : each.part_bytes;
    Pass pass = shown(std::move(each), part == all ? work.batch : 1, part);
    pass.curve_us = times(us, static_cast<double>(part) / static_cast<double>(all));
    for (const TableId& table : pass.gpu->tables) {
      pass.tables.push_back(table_of(work.form, work.count, table));
    }
    if (pass.launch) {
      if (of_one) pass.launch->blocks *= work.batch;
      if (in_turns) pass.launch->launches = work.batch;
    }
    passes.push_back(std::move(pass));
  }
  return passes;
}

Pass squares_shown(const Rectangle& rectangle, std::uint64_t unit_bytes) {
  return shown(squares_pass(rectangle, unit_bytes), rectangle.arrays, rectangle.bytes());
}

std::vector<Pass> sweeps_shown(const GpuTranspose& plan) {
  const Rectangle& rectangle = plan.rectangle;
  std::vector<Pass> passes;
  for (GpuPass& made : sweep_passes(plan)) {
    std::uint64_t blocks = 0;
    for (const GpuKernel& kernel : made.kernels) {
      blocks += kernel.blocks * std::get<GpuTransposeLaunch>(kernel.params).repeats;
    }
    const std::uint64_t groups = (rectangle.arrays + made.arrays_at_once - 1) / made.arrays_at_once;
    const bool of_one = made.blocks_of_one_array;
    Pass pass = shown(std::move(made), rectangle.arrays, rectangle.bytes());
    pass.launch->blocks = of_one ? blocks * rectangle.arrays : blocks;
    pass.launch->launches = groups * launches_of_sweep(*pass.gpu);
    passes.push_back(std::move(pass));
  }
  return passes;
}

std::vector<Pass> gpu_reversals(const Problem& problem, const Target& target) {
  std::vector<Pass> passes;
  for (GpuPass& each : exchange_passes(problem, target)) {
    passes.push_back(shown(std::move(each), 1, total_bytes(problem)));
  }
  return passes;
}

}  // namespace faro::detail
