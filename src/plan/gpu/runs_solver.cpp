// Long runs: one pass, a piece of output a block, whose runs it looks up.
#include <algorithm>
#include <bit>

#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

IndexCandidate runs_candidate(const IndexWork& work) {
  constexpr std::uint64_t kRunDescriptor = 16;
  IndexCandidate made{.method = IndexMethod::runs, .schedule_us = index_pass_us(work, IndexKernel::copy)};
  const auto count_of_runs = work.recognition.runs;
  if (!count_of_runs || *count_of_runs == 0) {
    made.why_not = "contiguous runs are short";
    made.bytes_moved = 2 * work.array_bytes();
    return made;
  }
  made.schedule_bytes = kRunDescriptor * *count_of_runs + kRunDescriptor / 2;
  made.bytes_moved = 2 * work.array_bytes() + made.schedule_bytes;
  const int run_bits = static_cast<int>(std::bit_width(work.count() / *count_of_runs)) - 1;
  made.curve_us = streaming_us(work, IndexKernel::runs, 0, std::max(0, run_bits));
  return made;
}

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
                        .carveout = Carveout::needed,
                        .in_alignment = unit,
                        .out_alignment = unit}},
           .tables = {{TableKind::run_begins}, {TableKind::run_froms}, {TableKind::run_firsts}}}};
}

const GpuSolver kRunsSolver{
    .makes = [](PassKind kind) { return kind == PassKind::runs; },
    .is_method = [](IndexMethod method) { return method == IndexMethod::runs; },
    .candidates = [](const IndexWork& work) { return of_arrays(work, runs_candidate); },
    .asked = [](const IndexWork& work,
                const IndexChoice& choice) { return required(runs_candidate(work), choice); },
    .form = [](const IndexWork& work, const IndexCandidate& /*candidate*/) -> IndexForm {
      return RunsForm{work.recognition.runs.value_or(0)};
    },
    .has_form = has_form<RunsForm>,
    .passes = runs_passes,
    .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
      return "each block looks up the runs of its piece of output";
    },
    .cost = runs_cost};

}  // namespace faro::detail
