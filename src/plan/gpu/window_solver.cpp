// Small displacements: one pass, a tile with its margins a block, or without shared memory where margins do
// not fit it.
#include "plan/gpu/gpu_pass.hpp"

namespace faro::detail {

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
                     .carveout = Carveout::needed,
                     .in_alignment = units.unit_bytes,
                     .out_alignment = vectors ? std::uint64_t{kernels::kMovedBytes} : units.unit_bytes};
  };
  GpuPass pass{.kind = PassKind::window, .kernels = {}, .tables = {{TableKind::shifts}}};
  if (!direct && kernels::window_has_vectors(shape)) pass.kernels.push_back(kernel(true));
  pass.kernels.push_back(kernel(false));
  return {std::move(pass)};
}

}  // namespace faro::detail
