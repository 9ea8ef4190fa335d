// Maps that are computed: one pass, tile by tile through a buffer, or element by element where there are no
// tiles.
#include <algorithm>

#include "permutation/computed_map.hpp"
#include "permutation/computed_sides.hpp"
#include "plan/cpu/cpu_solver.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

// A buffer that the second-level cache holds beside what is read and written.
constexpr std::uint64_t kComputedTileBytes = std::uint64_t{128} << 10;

std::vector<CpuPass> computed_passes(const CpuWork& work) {
  const auto& map = std::get<Computed>(work.form);
  const std::uint64_t places = std::max<std::uint64_t>(kComputedTileBytes / work.element_bytes, 1);
  CpuPass pass{.kind = PassKind::computed,
               .kernel = CpuComputed{.map = map, .tiles = map.map().tiles(places)}};
  if (const auto& tiles = std::get<CpuComputed>(pass.kernel).tiles) {
    pass.run.workspace.part_bytes = ComputedPart(*tiles, work.element_bytes).bytes();
    pass.run.workspace.from_page = true;
  }
  return {std::move(pass)};
}

std::string computed_loop(const CpuPass& pass) {
  const auto& [map, tiles] = std::get<CpuComputed>(pass.kernel);
  if (tiles == nullptr) return "places computed element by element, in the order of the output";
  const ComputedTiles::Sizes& sizes = tiles->sizes();
  return "tiles of " + count_text(sizes.tile, "element") + ", each a run of the " +
         (is_ordered_side(map, ComputedSide::input) ? "input" : "output") + " and up to " +
         count_text(sizes.runs, "run") + " of the other side, places from a table of " +
         count_text(sizes.leaf);
}

}  // namespace

const CpuSolver kCpuComputedSolver{
    .passes = computed_passes,
    .makes = is_kernel<CpuComputed>,
    .words = [](const CpuPass& /*pass*/) -> std::string {
      return "each element's place is computed, tile by tile";
    },
    .loop = computed_loop,
    .over_copy = [](const CpuPass& /*pass*/) { return 1.5 * 1.1; },  // places are looked up
};

}  // namespace faro::detail
