// Maps that are computed: one pass, parts that are consecutive on one side and runs of the other.
#include "kernels/computed_launch.hpp"
#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {
namespace {

// Places take instructions, some tens for a unit on each side, of which a multiprocessor issues four warps'
// in a cycle; not measured yet.
std::optional<double> computed_cost(const CountedPass& of) {
  constexpr double kCyclesOfRequest = 10;
  return overlapped_us(of,
                       {.bytes = 1.1, .load_sectors = 1, .store_sectors = 1, .requests = kCyclesOfRequest});
}

}  // namespace

std::vector<GpuPass> computed_passes(const PassWork& work) {
  const Computed& map = std::get<Computed>(work.form);
  const std::uint64_t unit = work.units().unit_bytes;
  GpuKernel kernel{.id = ComputedKernel{.map = map, .element_bytes = work.element_bytes, .batch = work.batch},
                   .params = {},
                   .in_alignment = unit,
                   .out_alignment = unit};
  ToldLaunch told{kernel};
  kernels::move_computed(told, {.map = map, .element_bytes = work.element_bytes, .batch = work.batch});
  return {{.kind = PassKind::computed, .kernels = {kernel}}};
}

const GpuSolver kComputedSolver{.makes = [](PassKind kind) { return kind == PassKind::computed; },
                                .passes = computed_passes,
                                .words = [](const GpuPass& pass, const PassWork& /*work*/) -> std::string {
                                  const Computed& map = std::get<ComputedKernel>(pass.kernels.front().id).map;
                                  const bool gathers = is_ordered_side(map, ComputedSide::output);
                                  return std::string("parts that are consecutive in the ") +
                                         (gathers ? "output" : "input") + ", and runs of the " +
                                         (gathers ? "input" : "output") + ", places computed";
                                },
                                .cost = computed_cost};

}  // namespace faro::detail
