// Rolls and flips: one pass, two pieces of the output, each copied or reversed. What is reversed is put
// together in a stage where it is written past the caches.
#include "plan/cpu/cpu_pass.hpp"

namespace faro::detail {

std::vector<CpuPass> cpu_cyclic_passes(const CpuWork& work) {
  const auto& cyclic = std::get<Cyclic>(work.form);
  CpuPass pass{.kind = PassKind::cyclic, .kernel = CpuCyclic{cyclic}};
  if (cyclic.reversed) pass.run.workspace.part_bytes = whole_pages(stage_bytes(work.element_bytes));
  return {std::move(pass)};
}

}  // namespace faro::detail
