// Transpositions in place: the launches of plan/gpu_transpose.hpp, those that follow one another by the same
// family joined to a sweep.
#include <algorithm>
#include <utility>

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

bool same_family(const GpuKernel& a, const GpuTransposeLaunch& b) {
  return std::get<GpuTransposeLaunch>(a.params).params.index() == b.params.index();
}

// Fitted to drawn shapes on an H200 and an H100 (docs/notes/prediction-experiments.md). Windows of columns
// are moved some bytes of a row at a time, a launch each, and device memory likes them wide.
struct SweepFactors {
  double narrow;  // a line over the bytes that a launch moves of a row

  CostFactors operator()(const kernels::C2rVectorRowsParams& /*p*/) const {
    return {.bytes = 1.05, .shared_requests = 3.02, .blocks = 6550};
  }
  CostFactors operator()(const kernels::C2rVectorWindowsParams& /*p*/) const {
    return {.bytes = 1.29 + 1.78 * narrow, .store_lines = 0.575, .wavefronts = 1.1};
  }
  CostFactors operator()(const kernels::C2rVectorLongRowsParams& /*p*/) const {
    return {.bytes = 0.945, .load_sectors = 1.18, .store_lines = 0.471, .wavefronts = 1.26};
  }
  CostFactors operator()(const kernels::C2rVectorStripsParams& /*p*/) const {
    return {.bytes = 1.05, .load_lines = 0.246, .store_lines = 0.382, .wavefronts = 1.17};
  }
  CostFactors operator()(const kernels::C2rRowsParams& /*p*/) const { return {.bytes = 1.42, .parts = 28.7}; }
  CostFactors operator()(const kernels::C2rWindowsParams& /*p*/) const {
    return {.bytes = 1.34 + 1.81 * narrow, .store_sectors = 3.63, .parts = 15.6};
  }
  CostFactors operator()(const kernels::C2rLongRowsParams& /*p*/) const {
    return {.bytes = 1.14, .load_lines = 0.729, .shared_requests = 11};
  }
  CostFactors operator()(const kernels::C2rStripsParams& /*p*/) const {
    return {.bytes = 1.13, .load_lines = 1.29, .requests = 1.92, .parts = 16.3, .blocks = 9700};
  }
  // Whole arrays, and rows that no block holds: bound by instructions.
  template <typename Other>
  CostFactors operator()(const Other& /*p*/) const {
    return {.bytes = 1.45, .load_sectors = 1.06, .store_sectors = 1.06, .wavefronts = 1.25};
  }
};

// Rows that are shuffled in shared memory: a thread divides where a run of its row ends, and while it does
// its warp waits; so it does for units that are moved one by one.
double cycles_at_ends(const CountedPass& of, const kernels::C2rVectorRowsParams& p, double unit_bytes) {
  constexpr double warp = 32;
  constexpr double warp_bytes = 512;
  constexpr double cycles_of_end = 31.7;
  constexpr double cycles_of_unit = 14.3;
  const double run = static_cast<double>(p.diagonal ? p.shape.b : p.shape.n) * unit_bytes;
  const double ends = std::min(1.0, p.threads / warp * warp_bytes / run) * of.moved_bytes() / warp_bytes;
  const double units = std::max(0.0, of.shared_requests() - of.moved_bytes() / (warp * unit_bytes));
  return cycles_of_end * ends + cycles_of_unit * units;
}

std::optional<double> sweep_cost(const CountedPass& of) {
  const GpuPass& pass = *of.pass.gpu;
  if (const auto* const squares = std::get_if<SquaresKernel>(&pass.kernels.front().id)) {
    return cost_us(of, {.bytes = 1.15 + 1.1 / squares->unit_bytes});  // units are read one by one
  }
  const auto& launch = std::get<GpuTransposeLaunch>(pass.kernels.front().params);
  const auto unit_bytes = static_cast<double>(std::get<SweepKernel>(pass.kernels.front().id).unit_bytes);
  // A window's columns: those of the array, over the launches.
  constexpr double line = 128;
  const auto narrow = [&](const kernels::C2rWindowsParams& p) {
    return line * static_cast<double>(pass.kernels.size()) /
           (static_cast<double>(p.shape.n * p.units) * unit_bytes);
  };
  SweepFactors factors{.narrow = 0};
  if (const auto* const p = std::get_if<kernels::C2rVectorWindowsParams>(&launch.params))
    factors.narrow = narrow(p->window);
  if (const auto* const p = std::get_if<kernels::C2rWindowsParams>(&launch.params))
    factors.narrow = narrow(*p);
  const auto* const rows = std::get_if<kernels::C2rVectorRowsParams>(&launch.params);
  return overlapped_us(of, std::visit(factors, launch.params),
                       rows == nullptr ? 0 : cycles_at_ends(of, *rows, unit_bytes));
}

}  // namespace

std::vector<GpuPass> sweep_passes(const GpuTranspose& plan) {
  std::vector<GpuPass> passes;
  const bool whole = plan.form == GpuTransposeForm::whole;
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
           .what = {},
           .arrays = plan.rectangle.arrays,
           .array_bytes = plan.rectangle.count() * plan.rectangle.element_bytes,
           .arrays_at_once = whole ? plan.rectangle.arrays : plan.arrays_at_once,
           .workspace_bytes = plan.workspace_bytes(),
           .rows_offset = plan.arrays_at_once * plan.scratch_elements() * plan.rectangle.element_bytes});
    }
    passes.back().kernels.push_back(of_launch(launch, plan.unit_bytes));
  }
  return passes;
}

const GpuSolver kSweepSolver{.makes = [](PassKind kind) { return kind == PassKind::sweep; },
                             .cost = sweep_cost};

}  // namespace faro::detail
