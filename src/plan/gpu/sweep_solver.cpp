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

// Of a family's launches, fitted to an H100's times (docs/notes/prediction-experiments.md). Windows of
// columns are moved `moved` bytes at a time, a launch each, and device memory likes them wide; columns leave
// lines in parts.
struct SweepFactors {
  double narrow;  // a line over the bytes that a launch moves of a row

  CostFactors operator()(const kernels::C2rVectorRowsParams& /*p*/) const { return {.bytes = 1.8}; }
  CostFactors operator()(const kernels::C2rVectorWindowsParams& /*p*/) const {
    return {.bytes = 1, .store_lines = 0.1 + 1.2 * narrow};
  }
  CostFactors operator()(const kernels::C2rVectorLongRowsParams& /*p*/) const {
    return {.bytes = 0.934, .load_lines = 0.124, .wavefronts = 0.83};
  }
  CostFactors operator()(const kernels::C2rVectorStripsParams& /*p*/) const {
    return {.bytes = 0.934, .store_lines = 0.305};
  }
  CostFactors operator()(const kernels::C2rRowsParams& /*p*/) const {
    return {.bytes = 1.053, .store_sectors = 1.142};
  }
  CostFactors operator()(const kernels::C2rWindowsParams& /*p*/) const {
    return {.bytes = 1.053, .store_lines = 1.026};
  }
  CostFactors operator()(const kernels::C2rLongRowsParams& /*p*/) const {
    return {.bytes = 0.998, .load_lines = 0.768};
  }
  CostFactors operator()(const kernels::C2rStripsParams& /*p*/) const {
    return {.bytes = 0.998, .store_lines = 1.186};
  }
  // Whole arrays, and rows that no block holds: bound by instructions.
  template <typename Other>
  CostFactors operator()(const Other& /*p*/) const {
    return {.bytes = 1.45, .load_sectors = 1.06, .store_sectors = 1.06, .wavefronts = 1.25};
  }
};

// Windows of single bytes are bound by shared memory.
constexpr CostFactors kWindowsOfBytes{.bytes = 0, .wavefronts = 1.6};

std::optional<double> sweep_cost(const CountedPass& of) {
  const GpuPass& pass = *of.pass.gpu;
  if (const auto* const squares = std::get_if<SquaresKernel>(&pass.kernels.front().id)) {
    return cost_us(of, {.bytes = 1.15 + 1.1 / squares->unit_bytes});  // units are read one by one
  }
  const auto& launch = std::get<GpuTransposeLaunch>(pass.kernels.front().params);
  const auto& unit = std::get<SweepKernel>(pass.kernels.front().id);
  // A window's columns: those of the array, over the launches.
  double moved = 128;
  if (const auto* const p = std::get_if<kernels::C2rVectorWindowsParams>(&launch.params)) {
    moved =
        static_cast<double>(p->window.shape.n * unit.unit_bytes) / static_cast<double>(pass.kernels.size());
  }
  constexpr double kSweptLine = 128;
  const auto swept = cost_us(of, std::visit(SweepFactors{kSweptLine / moved}, launch.params));
  if (!std::holds_alternative<kernels::C2rVectorWindowsParams>(launch.params)) return swept;
  return std::max(swept, cost_us(of, kWindowsOfBytes));
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
