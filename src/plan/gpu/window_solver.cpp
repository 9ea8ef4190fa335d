// Small displacements: one pass, a tile with its margins a block, or without shared memory where margins do
// not fit it.
#include <algorithm>
#include <utility>

#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {
namespace {

// Margins are read twice, the second time from a cache. Large windows leave a multiprocessor few warps, which
// wait for shared memory; and a unit that is stored by itself waits for its shift, then for its place. Fitted
// to 34 drawn windows on an H100 and an H200 (docs/notes/prediction-experiments.md).
std::optional<double> window_cost(const CountedPass& of) {
  constexpr double cycles_waited = 1.74;  // for a wavefront, where a multiprocessor has 32 warps
  constexpr double cycles_of_unit = 28.4;
  constexpr double warps_of_block = kernels::kWindowThreads / 32.0;
  constexpr double warp_bytes = 512;
  constexpr CostFactors factors{
      .bytes = 1.047, .wavefronts = 2.05, .threads = 2048, .clocked = 0.137, .power = 3};
  const auto& kernel = std::get<WindowKernel>(of.pass.gpu->kernels.front().id);
  const double warps = of.resident_blocks(factors.threads) * warps_of_block;
  const double units = kernel.backwards
                           ? 0
                           : std::max(0.0, static_cast<double>(of.counts.global_stores.requests) -
                                               static_cast<double>(of.pass.bytes_written) / warp_bytes);
  return overlapped_us(
      of, factors, {.processors = (cycles_waited * of.wavefronts() + cycles_of_unit * units) * 32 / warps});
}

}  // namespace

std::vector<GpuPass> window_passes(const PassWork& work) {
  const kernels::ElementUnits units = work.units();
  const bool backwards = work.way == Way::backwards;
  const kernels::WindowShape shape{.count = work.count,
                                   .batch = work.batch,
                                   .window = std::get<WindowForm>(work.form).window,
                                   .unit_bytes = units.unit_bytes,
                                   .element_units = units.units,
                                   .backwards = backwards};
  const kernels::WindowParams params = kernels::make_window_params(shape);
  const bool direct = params.shared_bytes == 0;
  const auto kernel = [&](bool vectors) {
    return GpuKernel{.id = WindowKernel{static_cast<int>(units.unit_bytes), backwards, vectors, direct},
                     .params = params,
                     .blocks = params.blocks,
                     .first_step = 1,
                     .threads = kernels::kWindowThreads,
                     .shared_bytes = params.shared_bytes,
                     .in_alignment = units.unit_bytes,
                     .out_alignment = vectors ? std::uint64_t{kernels::kMovedBytes} : units.unit_bytes};
  };
  GpuPass pass{.kind = PassKind::window, .kernels = {}, .tables = {{TableKind::shifts}}};
  if (!direct && kernels::window_has_vectors(shape)) pass.kernels.push_back(kernel(true));
  pass.kernels.push_back(kernel(false));
  return {std::move(pass)};
}

const GpuSolver kWindowSolver{.makes = [](PassKind kind) { return kind == PassKind::window; },
                              .passes = window_passes,
                              .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
                                return "a block holds a tile and its margins";
                              },
                              .cost = window_cost};

}  // namespace faro::detail
