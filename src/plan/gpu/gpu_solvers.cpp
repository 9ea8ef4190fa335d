// The table of solvers, the buffers that their passes go through, and what a plan shows of them.
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
#include "plan/facts.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

constexpr const GpuSolver* kGpuSolvers[] = {
    &kAffineSolver, &kAxesSolver,      &kCyclicSolver,    &kDirectSolver, &kWindowSolver,
    &kRunsSolver,   &kPartitionSolver, &kRowColumnSolver, &kSweepSolver,
};

// Where each pass writes: backwards from the output, in place where a pass can. There is a workspace for one
// array, so where it is needed the arrays take turns.
void route(std::vector<GpuPass>& passes, const PassWork& work) {
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

struct TableFacts {
  const char* name;
  std::uint64_t bytes;
};

TableFacts facts_of(const PassWork& work, const TableId& id) {
  const std::uint64_t places = 2 * work.count;
  const auto* const shape = std::get_if<schedule::PartitionShape>(&work.form);
  const auto* const runs = std::get_if<RunsForm>(&work.form);
  const std::uint64_t of_runs = 8 * (runs == nullptr ? 0 : runs->runs);
  const std::uint64_t buckets = shape == nullptr || shape->levels() == 0 ? 0 : shape->buckets(id.level);
  switch (id.kind) {
    case TableKind::entries:
      return {"entries",
              work.count * static_cast<std::uint64_t>(std::get<DirectForm>(work.form).index_bytes)};
    case TableKind::shifts:
      return {"shifts", places};
    case TableKind::run_begins:
      return {"begins", of_runs};
    case TableKind::run_froms:
      return {"froms", of_runs};
    case TableKind::run_firsts:
      return {"firsts", 8 * (kernels::run_stretches(work.count) + 1)};
    case TableKind::starts:
      return {"starts", 2 * shape->chunks() * buckets};
    case TableKind::offsets:
      return {"offsets", 4 * shape->chunks() * buckets};
    case TableKind::places:
    case TableKind::last:
    case TableKind::first:
    case TableKind::middle:
      break;
  }
  return {"places", places};
}

// Microseconds of a pass over all arrays, by the curves of its family.
struct Clock {
  const IndexPlan& plan;
  const PassWork& work;
  bool in_turns = false;  // arrays one after another

  std::optional<double> curve(IndexKernel kernel, int chunk_bits = 0, int run_bits = 0) const {
    const std::uint64_t together = in_turns ? 1 : work.batch;
    auto us = plan.calibration().predict_us(kernel, work.element_bytes, work.count * together, chunk_bits,
                                            run_bits);
    const std::uint64_t rounds = work.batch / together;
    if (us) *us *= static_cast<double>(rounds);
    return us;
  }

  std::optional<double> operator()(const GpuPass& pass) const {
    const auto* const shape = std::get_if<schedule::PartitionShape>(&work.form);
    switch (pass.kind) {
      case PassKind::place:
      case PassKind::columns:
        return curve(IndexKernel::place, shape == nullptr ? 0 : shape->chunk_bits);
      case PassKind::pick:
        return curve(IndexKernel::pick, shape == nullptr ? 0 : shape->chunk_bits);
      case PassKind::spread:
      case PassKind::collect: {
        const int bits = shape->level_bits[static_cast<std::size_t>(pass.tables.front().level)];
        return curve(pass.kind == PassKind::spread ? IndexKernel::spread : IndexKernel::collect,
                     shape->chunk_bits, std::max(0, shape->chunk_bits - bits));
      }
      default:
        break;
    }
    if (!std::holds_alternative<MatrixForm>(work.form)) return plan.chosen().predicted_us;
    constexpr double over_copy = 1.1;  // tiles reach about nine tenths of a copy
    auto us = curve(IndexKernel::copy);
    if (us) *us *= over_copy;
    return us;
  }
};

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
  return (pass.kind == PassKind::copy ? kAxesSolver : solver_of(pass.kind)).words(pass, work);
}

}  // namespace

const GpuSolver& solver_of(PassKind kind) {
  const auto found = std::find_if(std::begin(kGpuSolvers), std::end(kGpuSolvers),
                                  [kind](const GpuSolver* solver) { return solver->makes(kind); });
  FARO_CHECK(found != std::end(kGpuSolvers));
  return **found;
}

std::vector<const GpuSolver*> index_solvers() {
  std::vector<const GpuSolver*> solvers;
  for (const GpuSolver* const solver : kGpuSolvers) {
    if (solver->candidates != nullptr) solvers.push_back(solver);
  }
  return solvers;
}

std::vector<GpuPass> solve(const PassWork& work) {
  if (work.count == 0 || work.batch == 0) return {};
  for (const GpuSolver* const solver : index_solvers()) {
    if (!solver->has_form(work.form)) continue;
    std::vector<GpuPass> passes = solver->passes(work);
    route(passes, work);
    return passes;
  }
  FARO_CHECK(false);
  return {};
}

std::uint64_t workspace_bytes(const std::vector<GpuPass>& passes) {
  return passes.empty() ? 0 : passes.front().workspace_bytes;
}

PassWork work_of(const IndexWork& about, const IndexCandidate& chosen) {
  const Target& target = about.target;
  const bool turned = chosen.method == IndexMethod::direct && about.turns_scatter();
  PassWork work{.count = about.count(),
                .element_bytes = about.width(),
                .batch = about.problem.batch,
                .way = about.direction() == Direction::scatter && !turned ? Way::forwards : Way::backwards,
                .form = DirectForm{},
                .shared_bytes = target.chunk_bytes_max == 0 ? ~std::uint64_t{0} : target.chunk_bytes_max};
  for (const GpuSolver* const solver : index_solvers()) {
    if (solver->is_method(chosen.method)) work.form = solver->form(about, chosen);
  }
  return work;
}

std::vector<Pass> passes_of(const IndexPlan& plan) {
  const PassWork work = work_of(work_about(plan), plan.chosen());
  std::vector<GpuPass> made = solve(work);
  FARO_CHECK(workspace_bytes(made) == plan.workspace_bytes());
  const bool in_turns = workspace_bytes(made) > 0;
  const Clock clock{.plan = plan, .work = work, .in_turns = in_turns};
  std::vector<Pass> passes;
  for (GpuPass& each : made) {
    each.what = words_of(each, work);
    const bool of_one = each.blocks_of_one_array || (in_turns && !each.kernels.empty());
    const std::optional<double> us = clock(each);
    Pass pass = shown(std::move(each), work.batch, work.array_bytes() * work.batch);
    pass.predicted_us = us;
    for (const TableId& table : pass.gpu->tables) {
      const TableFacts facts = facts_of(work, table);
      pass.tables.push_back({facts.name, facts.bytes});
    }
    if (pass.launch) {
      if (of_one) pass.launch->blocks *= work.batch;
      if (in_turns) pass.launch->launches = work.batch;
    }
    passes.push_back(std::move(pass));
  }
  return passes;
}

std::vector<Pass> passes_of(const TransposePlan& plan) {
  const Rectangle& rectangle = plan.rectangle();
  std::vector<GpuPass> made =
      sweep_passes(plan_gpu_transpose(rectangle, gpu_transpose_limits(plan.target())));
  FARO_CHECK(made.size() == plan.sweeps().size());
  std::vector<Pass> passes;
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].what = plan.sweeps()[i].what;
    std::uint64_t blocks = 0;
    for (const GpuKernel& kernel : made[i].kernels) blocks += kernel.blocks;
    const std::uint64_t groups = (rectangle.arrays + made[i].arrays_at_once - 1) / made[i].arrays_at_once;
    const bool of_one = made[i].blocks_of_one_array;
    Pass pass = shown(std::move(made[i]), rectangle.arrays, rectangle.bytes());
    pass.launch->blocks = of_one ? blocks * rectangle.arrays : blocks;
    pass.launch->launches = groups * pass.gpu->kernels.size();
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace faro::detail
