// Multiplications modulo the count: one pass, tile by tile of two matrices.
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {

const CpuSolver kCpuModularSolver{
    .passes = [](const CpuWork& work) -> std::vector<CpuPass> {
      return {{.kind = PassKind::modular, .kernel = CpuModular{std::get<Modular>(work.form)}}};
    },
    .makes = is_kernel<CpuModular>,
    .words = [](const CpuPass& /*pass*/) -> std::string {
      return "rows of the input become columns of the output, in two matrices";
    },
    .loop = [](const CpuPass& pass) -> std::string {
      const auto cover = l_shape(std::get<CpuModular>(pass.kernel).map);
      std::string text = "matrices of ";
      for (std::size_t k = 0; k < cover.size() && cover.at(k).rows > 0; ++k) {
        text += (k == 0 ? "" : " and ") + std::to_string(cover.at(k).columns) + " x " +
                std::to_string(cover.at(k).rows);
      }
      return text + " elements, tile by tile";
    },
    .over_copy = [](const CpuPass& /*pass*/) { return 1.13 * 1.1; },  // runs begin and end anywhere
};

}  // namespace faro::detail
