// In place, one sweep each: pieces of an axis reversed by pairs of chunks, whole arrays in shared
// memory where they fit, and equal axes that change places by pairs of tiles. Every kernel takes arrays that
// are aligned to its unit: the widest that divides what lies behind an axis, then the element's own.
#include <algorithm>

#include "kernels/exchange_params.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "plan/reversals.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kWidestUnit = 16;

std::uint64_t unit_of(std::uint64_t bytes) { return std::min(bytes & (~bytes + 1), kWidestUnit); }

std::vector<std::uint64_t> units_to_take(std::uint64_t moved_bytes, std::uint64_t element_unit) {
  const std::uint64_t wide = unit_of(moved_bytes);
  if (wide == element_unit) return {wide};
  return {wide, element_unit};
}

GpuKernel kernel_of(KernelId id, const KernelParams& params, std::uint64_t blocks, std::uint64_t shared_bytes,
                    std::uint64_t unit) {
  return {.id = std::move(id),
          .params = params,
          .blocks = blocks,
          .first_step = 1,
          .threads = kernels::kInPlaceThreads,
          .shared_bytes = shared_bytes,
          .in_alignment = unit,
          .out_alignment = unit};
}

GpuPass in_place_pass(PassKind kind, std::string what) {
  return {.kind = kind,
          .kernels = {},
          .source = PassBuffer::data,
          .target = PassBuffer::data,
          .in_place = true,
          .what = std::move(what)};
}

GpuPass whole_pass(const kernels::CyclicArrays& of, const kernels::CyclicWholeParams& params,
                   std::uint64_t element_unit) {
  GpuPass pass = in_place_pass(PassKind::cyclic, "whole arrays go through shared memory");
  for (const std::uint64_t unit : units_to_take(of.element_bytes, element_unit)) {
    pass.kernels.push_back(
        kernel_of(CyclicWholeKernel{static_cast<int>(unit), kernels::moved_elements(of, unit)}, params,
                  kernels::whole_blocks(params), params.shared_bytes(), unit));
  }
  return pass;
}

GpuPass reversal_pass(const kernels::CyclicArrays& of, std::uint64_t element_unit) {
  const bool whole = of.move.shift + 1 == of.move.count;
  GpuPass pass = in_place_pass(PassKind::cyclic, whole ? "all elements change places end for end"
                                                       : "two pieces change places end for end");
  const kernels::ReversalParams params = kernels::make_reversal_params(of);
  for (const std::uint64_t unit : units_to_take(of.element_bytes, element_unit)) {
    pass.kernels.push_back(
        kernel_of(ReversalKernel{static_cast<int>(unit), kernels::moved_elements(of, unit)}, params,
                  kernels::reversal_blocks(params, of.arrays), params.shared_bytes(), unit));
  }
  return pass;
}

}  // namespace

std::vector<GpuPass> exchange_passes(const Problem& problem, const Target& target) {
  std::vector<GpuPass> passes;
  const std::uint64_t element_unit = unit_of(problem.element_bytes);
  constexpr std::uint64_t least_shared = 48 << 10;  // of any device
  const std::uint64_t shared_bytes = std::max(target.chunk_bytes_max, least_shared);
  const auto add = [&](GpuPass pass) {
    if (pass.kernels.front().blocks == 0) return;  // only middles, which stay
    pass.array_bytes = total_bytes(problem);
    passes.push_back(std::move(pass));
  };
  for (const AxisMove& axis : axis_moves(problem)) {
    kernels::CyclicArrays of{.move = axis.move, .arrays = axis.arrays, .element_bytes = axis.element_bytes};
    if (const auto params = kernels::make_cyclic_whole_params(of, shared_bytes)) {
      add(whole_pass(of, *params, element_unit));
      continue;
    }
    for (const Cyclic& flip : reversals_of(axis.move)) {
      of.move = flip;
      add(reversal_pass(of, element_unit));
    }
  }
  return passes;
}

bool exchanges_tiles(const Rectangle& rectangle) {
  if (!rectangle.is_square() || rectangle.rows < 2 || rectangle.bytes() == 0) return false;
  constexpr std::uint64_t small_array = 32 << 10;  // whole, several a block
  const std::uint64_t array_bytes = rectangle.count() * rectangle.element_bytes;
  return rectangle.between > 1 || rectangle.element_bytes > kWidestUnit || array_bytes > small_array;
}

GpuPass squares_pass(const Rectangle& rectangle, std::uint64_t unit_bytes) {
  GpuPass pass = in_place_pass(PassKind::sweep, "");
  const kernels::SquaresParams params = kernels::make_squares_params(
      {.side = rectangle.rows, .between = rectangle.between, .element_bytes = rectangle.element_bytes});
  for (const std::uint64_t unit : units_to_take(rectangle.element_bytes, unit_bytes)) {
    pass.kernels.push_back(kernel_of(SquaresKernel{static_cast<int>(unit), rectangle.element_bytes != unit},
                                     params, params.blocks() * rectangle.arrays, params.shared_bytes(),
                                     unit));
  }
  pass.array_bytes = rectangle.bytes();
  return pass;
}

}  // namespace faro::detail
