// Long runs: one pass, a piece of output a block, whose runs it looks up.
#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

// Vectors across the ends of runs are read in two parts; a search in shared memory goes before each.
std::optional<double> runs_cost(const CountedPass& of) {
  return overlapped_us(of, {.bytes = 1.116, .requests = 16.6, .shared_requests = 3.04, .clocked = 0.17});
}

}  // namespace

std::vector<GpuPass> runs_passes(const PassWork& work) {
  require_countable(work.count, work.element_bytes, work.batch);
  const std::uint64_t unit = work.units().unit_bytes;
  const std::uint64_t bytes = work.array_bytes();
  const kernels::RunsParams params{.in = {.begin = 0, .end = bytes * work.batch},
                                   .out = {.begin = 0, .end = bytes * work.batch},
                                   .array_bytes = device::Division64(bytes),
                                   .element_bytes = device::Division64(work.element_bytes),
                                   .runs = std::get<RunsForm>(work.form).runs,
                                   .first_vector = 0};
  constexpr std::uint64_t of_block = std::uint64_t{kernels::kRunsThreads} * kernels::kRunsVectors;
  return {{.kind = PassKind::runs,
           .kernels = {{.id = RunsKernel{static_cast<int>(unit)},
                        .params = params,
                        .blocks = ceil_div(params.vectors(), of_block),
                        .first_step = of_block,
                        .threads = kernels::kRunsThreads,
                        .shared_bytes = kernels::kRunsSharedBytes,
                        .in_alignment = unit,
                        .out_alignment = unit}},
           .tables = {{TableKind::run_begins}, {TableKind::run_froms}, {TableKind::run_firsts}}}};
}

const GpuSolver kRunsSolver{.makes = [](PassKind kind) { return kind == PassKind::runs; },
                            .passes = runs_passes,
                            .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
                              return "each block looks up the runs of its piece of output";
                            },
                            .cost = runs_cost};

}  // namespace faro::detail
