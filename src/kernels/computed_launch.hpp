// A computed map as a launch of one kernel: `queue.run(kernel)` of any queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "kernels/computed_parts.hpp"
#include "kernels/computed_tile.hpp"
#include "kernels/partition_params.hpp"
#include "permutation/computed_map.hpp"
#include "permutation/computed_sides.hpp"
#include "unit_bytes.hpp"

namespace faro::kernels {

struct ComputedWork {
  const Computed& map;
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
  const std::byte* in = nullptr;  // both aligned to a unit of an element
  std::byte* out = nullptr;
};

namespace detail {

// What a block has room for: stage and lists of some kilobytes each, so that a multiprocessor holds several.
template <typename Parts>
bool fits(const Parts& parts, std::uint64_t together, std::uint64_t element_bytes) {
  constexpr std::uint64_t kStageBytes = std::uint64_t{20} << 10;
  constexpr std::uint64_t kMostRuns = 1024;
  constexpr std::uint64_t kMostLeaves = 256;
  const int lines_bits = parts.part_bits() - parts.line_bits();
  return together * parts.pitch() <= (kStageBytes / element_bytes) >> lines_bits &&
         together << parts.run_bits() <= kMostRuns &&
         together << (parts.part_bits() - parts.leaf_bits()) <= kMostLeaves;
}

template <typename Parts, typename Formula, typename Queue>
void move_by(Queue& queue, const Formula& formula, const ComputedWork& work) {
  int j = 0;
  while (j < Parts::most_levels(formula) &&
         fits(Parts(formula, j + 1, work.element_bytes), 1, work.element_bytes))
    ++j;
  const Parts parts(formula, j, work.element_bytes);
  const std::uint64_t of_array = Parts::parts(formula, j);
  const std::uint64_t all = of_array * work.batch;
  std::uint32_t together = 1;
  while (together < all && fits(parts, 2 * std::uint64_t{together}, work.element_bytes)) together *= 2;
  const ElementUnits units = units_of_element(work.element_bytes);
  faro::detail::by_unit_bytes(units.unit_bytes, [&](auto bytes) {
    MoveComputedParts<Parts, bytes()> kernel;
    kernel.in = work.in;
    kernel.out = work.out;
    kernel.parts = parts;
    kernel.of_array = device::Division64(of_array);
    kernel.all = all;
    kernel.together = together;
    kernel.units = device::Division32(units.units);
    kernel.gathers = is_ordered_side(work.map, faro::detail::ComputedSide::output);
    queue.run(kernel);
  });
}

}  // namespace detail

template <typename Queue>
void move_computed(Queue& queue, const ComputedWork& work) {
  if (work.batch == 0) return;
  const faro::detail::ComputedFormula formula = work.map.map().formula();
  if (const auto* const sphere = std::get_if<faro::detail::HealpixSphere>(&formula))
    return detail::move_by<HealpixParts>(queue, *sphere, work);
  const auto& cube = std::get<faro::detail::HilbertCube>(formula);
  if (cube.d == 2) return detail::move_by<HilbertParts<2>>(queue, cube, work);
  detail::move_by<HilbertParts<0>>(queue, cube, work);
}

}  // namespace faro::kernels
