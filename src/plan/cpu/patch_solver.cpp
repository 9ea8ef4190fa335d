// Exceptions to a map: the elements whose places hold others when the map's passes are done.
#include "plan/cpu/cpu_solver.hpp"
#include "size_text.hpp"

namespace faro::detail {

const CpuSolver kCpuPatchSolver{
    .passes = nullptr,
    .makes = is_kernel<CpuPatch>,
    .words = [](const CpuPass& pass) -> std::string {
      return count_text(std::get<CpuPatch>(pass.kernel).exceptions.size(), "element") +
             " of each array that the map does not hold for";
    },
    .loop = [](const CpuPass& /*pass*/) -> std::string { return "element by element"; },
};

}  // namespace faro::detail
