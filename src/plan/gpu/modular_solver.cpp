// Multiplications modulo the count: one pass, tile by tile of two matrices.
#include "kernels/modular_launch.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

// Runs begin and end within sectors. By multiplications of 8-byte elements on an H100 and an H200
// (bench/results, rows): 83 to 92 and 79 to 84% of a copy; those whose runs are short 70%.
std::optional<double> modular_cost(const CountedPass& of) {
  return overlapped_us(of, {.bytes = 1.1, .load_sectors = 1.2, .store_sectors = 1.2});
}

}  // namespace

std::vector<GpuPass> modular_passes(const PassWork& work) {
  const Modular& map = std::get<Modular>(work.form);
  GpuKernel kernel{.id = ModularKernel{.map = map, .element_bytes = work.element_bytes, .batch = work.batch},
                   .params = {},
                   .in_alignment = work.element_bytes,
                   .out_alignment = work.element_bytes};
  ToldLaunch told{kernel};
  kernels::multiply(told, {.map = map, .element_bytes = work.element_bytes, .batch = work.batch});
  return {{.kind = PassKind::modular, .kernels = {kernel}}};
}

const GpuSolver kModularSolver{.makes = [](PassKind kind) { return kind == PassKind::modular; },
                               .passes = modular_passes,
                               .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
                                 return "rows of the input become columns of the output, in two matrices";
                               },
                               .cost = modular_cost};

Pass gpu_patch(const std::vector<Exception>& exceptions, const Problem& problem) {
  const std::uint64_t unit = kernels::units_of_element(problem.element_bytes).unit_bytes;
  const std::uint64_t moved = exceptions.size() * problem.batch * problem.element_bytes;
  constexpr std::uint64_t kPatchThreads = 256;
  GpuPass made{
      .kind = PassKind::patch,
      .kernels = {{.id = PatchKernel{.exceptions = std::make_shared<const std::vector<Exception>>(exceptions),
                                     .count = element_count(problem.permutation),
                                     .element_bytes = problem.element_bytes,
                                     .batch = problem.batch},
                   .params = {},
                   .blocks = (moved / unit + kPatchThreads - 1) / kPatchThreads,
                   .threads = static_cast<int>(kPatchThreads),
                   .in_alignment = unit,
                   .out_alignment = unit}}};
  made.what = count_text(exceptions.size(), "element") + " of each array that the map does not hold for";
  return shown_pass(std::move(made), problem.batch, moved);
}

const GpuSolver kPatchSolver{
    .makes = [](PassKind kind) { return kind == PassKind::patch; },
    .passes = nullptr,
    .words = [](const GpuPass& pass, const PassWork& /*work*/) -> std::string { return pass.what; },
    .cost = [](const CountedPass& pass) { return cost_us(pass, {}); }};  // a launch, and some elements

}  // namespace faro::detail
