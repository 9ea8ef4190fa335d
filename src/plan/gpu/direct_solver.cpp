// Gather and scatter by the index array itself: one pass, vectors of entries where arrays allow them.
#include <algorithm>
#include <bit>

#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {
namespace {

std::string direct_words(const GpuPass& /*pass*/, const PassWork& work) {
  return work.way == Way::forwards ? "each element is sent to the place that its index says"
                                   : "each element is fetched from the place that its index says";
}

// What a random sector costs depends on what the caches hold of the array and on its pages, which no count
// tells: by the measured curves (Pass::curve_us).
std::optional<double> direct_cost(const CountedPass& of) { return of.pass.curve_us; }

}  // namespace

std::vector<GpuPass> direct_passes(const PassWork& work) {
  const auto& form = std::get<DirectForm>(work.form);
  const kernels::ElementUnits units = work.units();
  const int unit = static_cast<int>(units.unit_bytes);
  const kernels::DirectParams params{
      .count = work.count,
      .arrays = work.batch,
      .units = units.units,
      .unit_bits = std::has_single_bit(units.units) ? std::countr_zero(units.units) : -1};
  const auto kernel = [&](DirectKind kind, std::uint64_t blocks, std::uint64_t alignment) {
    return GpuKernel{.id = DirectKernel{unit, form.index_bytes, work.way, kind},
                     .params = params,
                     .blocks = blocks,
                     .threads = kernels::kDirectThreads,
                     .in_alignment = alignment,
                     .out_alignment = alignment};
  };
  GpuPass pass{.kind = PassKind::indexed, .kernels = {}, .tables = {{TableKind::entries}}};
  const bool small = params.elements() * params.units < kernels::kSmallDirectUnits;
  if (small) {
    const bool one = work.batch == 1 && units.units == 1;
    pass.kernels = {kernel(one ? DirectKind::one : DirectKind::small, kernels::direct_blocks(params, 1, 1),
                           units.unit_bytes)};
    return {std::move(pass)};
  }
  if (form.aligned && kernels::direct_vectors_fit(params, unit)) {
    pass.kernels.push_back(
        kernel(DirectKind::vectors,
               kernels::direct_blocks(params, kernels::direct_vector(unit), kernels::kDirectVectorBatch),
               kernels::kMovedBytes));
  }
  pass.kernels.push_back(kernel(
      DirectKind::units, kernels::direct_blocks(params, 1, kernels::kDirectUnitBatch), units.unit_bytes));
  return {std::move(pass)};
}

const GpuSolver kDirectSolver{.makes = [](PassKind kind) { return kind == PassKind::indexed; },
                              .passes = direct_passes,
                              .words = direct_words,
                              .cost = direct_cost};

}  // namespace faro::detail
