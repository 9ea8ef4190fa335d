// Rolls and flips: one pass, a vector of output a thread.
#include <algorithm>
#include <variant>

#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

// In place, measured on an H100; elements shorter than a vector, of several units, are put together one by
// one.
std::optional<double> exchanged_cost(const CountedPass& of, int unit_bytes, bool short_elements) {
  constexpr double in_words = 1.35;
  constexpr double in_bytes = 5;
  if (short_elements) return cost_us(of, {.bytes = unit_bytes < 4 ? in_bytes : in_words});
  return cost_us(of, {.bytes = 1.03 + 0.2 / unit_bytes});
}

// Neighbours read again what lies across two vectors, from the first-level cache.
// A flip of elements of several units reads unit by unit, which takes longer than memory does.
std::optional<double> cyclic_cost(const CountedPass& of) {
  const GpuKernel& first = of.pass.gpu->kernels.front();
  const auto is_short = [](const auto& params, kernels::MovedElements as) {
    return as == kernels::MovedElements::several && params.element_bytes.divisor() < kernels::kMovedBytes;
  };
  if (const auto* const pairs = std::get_if<ReversalKernel>(&first.id)) {
    const auto& params = std::get<kernels::ReversalParams>(first.params);
    return exchanged_cost(of, pairs->unit_bytes, is_short(params, pairs->as));
  }
  if (const auto* const whole = std::get_if<CyclicWholeKernel>(&first.id)) {
    const auto& params = std::get<kernels::CyclicWholeParams>(first.params);
    return exchanged_cost(of, whole->unit_bytes, is_short(params, whole->as));
  }
  const auto* const kernel = std::get_if<CyclicKernel>(&of.pass.gpu->kernels.front().id);
  if (kernel == nullptr) return cost_us(of, {.bytes = 1.02});
  // Cycles of a warp for a kilobyte, read and written: of narrow units it has more to shift or to reverse.
  constexpr double kilobyte = 1024;
  const bool narrow = kernel->unit_bytes < 4;
  const double cycles = !narrow ? 49 : kernel->reversed ? 54 : 65.5;
  const auto moved =
      overlapped_us(of, {.bytes = 1.003, .clocked = 0}, {.processors = cycles * of.moved_bytes() / kilobyte});
  if (!moved || !kernel->reversed || !kernel->several_units) return moved;
  const auto units = cost_us(of, {.bytes = 0, .requests = narrow ? 31.7 : 24.4});
  return std::max(*moved, *units);
}

}  // namespace

std::vector<GpuPass> cyclic_passes(const PassWork& work) {
  const auto& cyclic = std::get<Cyclic>(work.form);
  require_countable(work.count, work.element_bytes, work.batch);
  const std::uint64_t unit = work.units().unit_bytes;
  const std::uint64_t bytes = work.array_bytes();
  if (cyclic.shift == 0 && !cyclic.reversed)
    return {{.kind = PassKind::copy, .kernels = {}, .copy_bytes = bytes * work.batch}};
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
                    .in_alignment = unit,
                    .out_alignment = unit}}}};
}

const GpuSolver kCyclicSolver{.makes = [](PassKind kind) { return kind == PassKind::cyclic; },
                              .passes = cyclic_passes,
                              .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
                                return "each thread brings together a vector of output";
                              },
                              .cost = cyclic_cost};

}  // namespace faro::detail
