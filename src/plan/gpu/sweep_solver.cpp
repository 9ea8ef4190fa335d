// Transpositions in place: the launches of plan/gpu_transpose.hpp, those that follow one another by the same
// family joined to a sweep.
#include <utility>

#include "plan/gpu/gpu_pass.hpp"

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

}  // namespace faro::detail
