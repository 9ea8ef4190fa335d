// Rolls and flips: one pass, two pieces of the output, each copied or reversed. What is reversed is put
// together in a stage where it is written past the caches.
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

std::vector<CpuPass> cyclic_passes_on_cpu(const CpuWork& work) {
  const auto& cyclic = std::get<Cyclic>(work.form);
  CpuPass pass{.kind = PassKind::cyclic, .kernel = CpuCyclic{cyclic}};
  if (cyclic.reversed) pass.run.workspace.part_bytes = whole_pages(stage_bytes(work.element_bytes));
  return {std::move(pass)};
}

bool is_reversed(const CpuPass& pass) { return std::get<CpuCyclic>(pass.kernel).cyclic.reversed; }

std::string words_of_cyclic(const CpuPass& pass) {
  if (is_reversed(pass)) return "two pieces of the output are read backwards";
  return std::get<CpuCyclic>(pass.kernel).cyclic.shift == 0
             ? "nothing moves, so bytes are read and written in order"
             : "two pieces of the array change places";
}

}  // namespace

const CpuSolver kCpuCyclicSolver{
    .passes = cyclic_passes_on_cpu,
    .makes = is_kernel<CpuCyclic>,
    .words = words_of_cyclic,
    .loop = [](const CpuPass& pass) -> std::string {
      return is_reversed(pass) ? "vectors reversed" : "long copies";
    },
    .over_copy = [](const CpuPass& /*pass*/) { return 1.1; },
};

}  // namespace faro::detail
