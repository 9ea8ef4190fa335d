// Rolls and flips in place: the passes of plan/reversals.hpp.
#include "plan/cpu/cpu_solver.hpp"
#include "plan/reversals.hpp"

namespace faro::detail {

std::vector<CpuPass> reversals_of(const Problem& problem) {
  std::vector<CpuPass> passes;
  for (const AxisMove& axis : axis_moves(problem)) {
    for (const Cyclic& flip : reversals_of(axis.move)) {
      CpuPass pass{.kind = PassKind::cyclic, .kernel = CpuReversal{.shift = flip.shift}};
      pass.source = PassBuffer::data;
      pass.target = PassBuffer::data;
      pass.arrays = axis.arrays;
      pass.count = flip.count;
      pass.element_bytes = axis.element_bytes;
      passes.push_back(std::move(pass));
    }
  }
  return passes;
}

const CpuSolver kCpuReversalSolver{
    .makes = is_kernel<CpuReversal>,
    .words = [](const CpuPass& pass) -> std::string {
      const bool whole = std::get<CpuReversal>(pass.kernel).shift + 1 == pass.count;
      return whole ? "all elements change places end for end" : "two pieces change places end for end";
    },
    .loop = [](const CpuPass&) -> std::string { return "pairs of blocks, vectors reversed"; },
};

}  // namespace faro::detail
