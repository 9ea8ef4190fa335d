// Transpositions in place: the launches of plan/gpu_transpose.hpp, those that follow one another by the same
// family joined to a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {
namespace {

GpuKernel of_launch(const GpuTransposeLaunch& launch, std::uint64_t unit_bytes) {
  return {.id = SweepKernel{unit_bytes},
          .params = launch,
          .blocks = launch.blocks_of_array,
          .threads = static_cast<int>(launch.threads),
          .shared_bytes = launch.shared_bytes,
          .in_alignment = unit_bytes,
          .out_alignment = unit_bytes};
}

// What the sweeps do, in their order.
std::vector<std::string> words_of_sweeps(const GpuTranspose& gpu) {
  using Form = GpuTransposeForm;
  if (gpu.form == Form::whole) return {"transpose whole arrays in shared memory"};
  const std::string elements = fmt::format("{} elements", gpu.n);
  std::string rows = fmt::format("shuffle rows of {} in shared memory", elements);
  if (gpu.form == Form::long_rows) {
    rows = fmt::format("shuffle rows of {}, {} at a time, each to where one was before", elements,
                       gpu.moved_rows);
  }
  if (gpu.form == Form::huge) rows = fmt::format("shuffle rows of {} by way of a copy", elements);
  std::string columns = "shuffle columns, strips in shared memory";
  if (gpu.moved_columns > 0) {
    columns = fmt::format("shuffle columns, {} at a time, each to where one was before", gpu.moved_columns);
  }
  std::vector<std::string> steps;
  if (gpu.rotates_apart) steps.emplace_back("rotate columns");
  steps.push_back(std::move(rows));
  steps.push_back(std::move(columns));
  if (gpu.r2c) std::reverse(steps.begin(), steps.end());
  return steps;
}

bool same_family(const GpuKernel& a, const GpuTransposeLaunch& b) {
  const auto& of_a = std::get<GpuTransposeLaunch>(a.params);
  return of_a.params.index() == b.params.index() && of_a.in_vectors() == b.in_vectors();
}

// Fitted to drawn shapes on an H200 and an H100 (docs/notes/prediction-experiments.md). Windows of columns
// are moved some bytes of a row at a time, a launch each, and device memory likes them wide.
struct SweepFactors {
  double narrow = 0;  // a line over the bytes that a launch moves of a row
  double cut = 0;     // 1 where rows begin within sectors, which neighbouring windows share

  CostFactors operator()(const kernels::C2rRowsParams& p) const {
    if (p.vectors) return {.bytes = 1.09, .shared_requests = 2.68, .blocks = 6800, .clocked = 0.4};
    return {.bytes = 1.28, .load_sectors = 0.8, .shared_requests = 15.5, .blocks = 17000};
  }
  CostFactors operator()(const kernels::C2rWindowsParams& p) const {
    if (p.vectors)
      return {.bytes = 1.16 + 0.76 * narrow + cut * (0.395 + 1.08 * narrow),
              .store_lines = 0.493,
              .wavefronts = 1.07,
              .clocked = 0.4};
    return {.bytes = 1.3 + 2.51 * narrow, .store_sectors = 4.16, .blocks = 20400};
  }
  CostFactors operator()(const kernels::C2rLongRowsParams& p) const {
    if (p.vectors)
      return {.bytes = 1.05, .load_sectors = 0.85, .store_lines = 0.484, .wavefronts = 1.11, .blocks = 4140};
    return {.bytes = 1.17,
            .load_lines = 0.634,
            .store_lines = 0.39,
            .shared_requests = 9.08,
            .wavefronts = 0.486,
            .blocks = 2430,
            .clocked = 0.5};
  }
  CostFactors operator()(const kernels::C2rStripsParams& p) const {
    if (p.vectors)
      return {.bytes = 1.1, .load_lines = 0.191, .store_lines = 0.35, .wavefronts = 1.14, .clocked = 0.4};
    return {.bytes = 1.18, .load_lines = 0.966, .shared_requests = 11.1, .blocks = 5860, .clocked = 0.4};
  }
  // Whole arrays, and rows that no block holds: bound by instructions.
  template <typename Other>
  CostFactors operator()(const Other& /*p*/) const {
    return {.bytes = 1.45, .load_sectors = 1.06, .store_sectors = 1.06, .wavefronts = 1.25};
  }
};

SweepFactors factors_of(const kernels::C2rWindowsParams& p, std::uint64_t launches) {
  constexpr std::uint64_t line = 128;
  constexpr std::uint64_t sector = 32;
  const std::uint64_t row_bytes = p.shape.n * p.element_bytes();
  return {.narrow = static_cast<double>(line * launches) / static_cast<double>(row_bytes),
          .cut = row_bytes % sector == 0 ? 0.0 : 1.0};
}

// Rows that are shuffled in shared memory: a thread divides where a run of its row ends, and while it does
// its warp waits; so it does for units that are moved one by one.
double cycles_at_ends(const CountedPass& of, const kernels::C2rRowsParams& p) {
  constexpr double warp = 32;
  constexpr double warp_bytes = 512;
  constexpr double cycles_of_end = 31.1;
  constexpr double cycles_of_unit = 12.8;
  const double unit_bytes = p.unit_bytes;
  const double run = static_cast<double>(p.diagonal ? p.shape.b : p.shape.n) * unit_bytes;
  const double ends = std::min(1.0, p.threads / warp * warp_bytes / run) * of.moved_bytes() / warp_bytes;
  const double units = std::max(0.0, of.shared_requests() - of.moved_bytes() / (warp * unit_bytes));
  return cycles_of_end * ends + cycles_of_unit * units;
}

std::optional<double> sweep_cost(const CountedPass& of) {
  const GpuPass& pass = *of.pass.gpu;
  const GpuKernel& kernel = pass.kernels.front();
  if (const auto* const squares = std::get_if<SquaresKernel>(&kernel.id)) {
    return cost_us(of, {.bytes = 1.15 + 1.1 / squares->unit_bytes});  // units are read one by one
  }
  const auto& params = std::get<GpuTransposeLaunch>(kernel.params).params;
  SweepFactors factors;
  OwnCycles cycles;
  if (const auto* const windows = std::get_if<kernels::C2rWindowsParams>(&params)) {
    factors = factors_of(*windows, launches_of_sweep(pass));
  } else if (const auto* const rows = std::get_if<kernels::C2rRowsParams>(&params);
             rows != nullptr && rows->vectors) {
    cycles.alone = cycles_at_ends(of, *rows);
  }
  return overlapped_us(of, std::visit(factors, params), cycles);
}

}  // namespace

std::uint64_t launches_of_sweep(const GpuPass& sweep) {
  std::uint64_t launches = 0;
  for (const GpuKernel& kernel : sweep.kernels) {
    launches += std::get<GpuTransposeLaunch>(kernel.params).repeats;
  }
  return launches;
}

std::vector<GpuPass> sweep_passes(const GpuTranspose& plan) {
  std::vector<GpuPass> passes;
  const bool whole = plan.form == GpuTransposeForm::whole;
  const std::vector<std::string> words = words_of_sweeps(plan);
  for (const GpuTransposeLaunch& launch : launches_of(plan)) {
    if (passes.empty() || !same_family(passes.back().kernels.back(), launch)) {
      passes.push_back(
          {.kind = PassKind::sweep,
           .kernels = {},
           .launched = Kernels::in_sequence,
           .source = PassBuffer::data,
           .target = PassBuffer::data,
           .in_place = true,
           .blocks_of_one_array = !whole,
           .what = words.at(passes.size()),
           .arrays = plan.rectangle.arrays,
           .array_bytes = plan.rectangle.count() * plan.rectangle.element_bytes,
           .arrays_at_once = whole ? plan.rectangle.arrays : plan.arrays_at_once,
           .workspace_bytes = plan.workspace_bytes(),
           .rows_offset = plan.arrays_at_once * plan.scratch_elements() * plan.rectangle.element_bytes});
    }
    passes.back().kernels.push_back(of_launch(launch, plan.unit_bytes));
  }
  FARO_CHECK(passes.size() == words.size());
  return passes;
}

const GpuSolver kSweepSolver{.makes = [](PassKind kind) { return kind == PassKind::sweep; },
                             .cost = sweep_cost};

}  // namespace faro::detail
