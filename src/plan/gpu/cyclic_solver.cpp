// Rolls and flips: one pass, a vector of output a thread.
#include "plan/gpu/gpu_pass.hpp"
#include "rounding.hpp"

namespace faro::detail {

std::vector<GpuPass> cyclic_passes(const PassWork& work) {
  const auto& cyclic = std::get<Cyclic>(work.form);
  require_countable(work.count, work.element_bytes, work.batch);
  const std::uint64_t unit = work.units().unit_bytes;
  const std::uint64_t bytes = work.array_bytes();
  const kernels::CyclicParams params{.in = {.begin = 0, .end = bytes * work.batch},
                                     .out = {.begin = 0, .end = bytes * work.batch},
                                     .array_bytes = device::Division64(bytes),
                                     .shift_bytes = cyclic.shift * work.element_bytes,
                                     .element_bytes = device::Division64(work.element_bytes),
                                     .first_vector = 0};
  constexpr auto threads = std::uint64_t{kernels::kCyclicThreads};
  return {
      {.kind = PassKind::cyclic,
       .kernels = {{.id = CyclicKernel{static_cast<int>(unit), cyclic.reversed, work.element_bytes != unit},
                    .params = params,
                    .blocks = ceil_div(params.vectors(), threads),
                    .first_step = threads,
                    .threads = kernels::kCyclicThreads,
                    .carveout = Carveout::needed,
                    .in_alignment = unit,
                    .out_alignment = unit}}}};
}

}  // namespace faro::detail
