#include "plan/in_place_facts.hpp"

#include <fmt/format.h>

#include "plan/facts.hpp"

namespace faro::detail {

bool is_in_place(const Plan& plan) { return plan.problem().placement == Placement::in_place; }

std::uint64_t resting_tiles(const layout::InPlaceTile& tile) {
  const f2::Matrix& next = tile.next_matrix;
  // next(b) = b where (next + I) b is the complement.
  const f2::Matrix moved = next + f2::Matrix::identity(next.columns());
  if (!moved.solve(tile.next_complement)) return 0;
  return std::uint64_t{1} << (next.columns() - moved.rank());
}

std::string orbits_text(const Pass& pass) {
  const std::uint64_t tiles = std::uint64_t{1} << pass.tile.block_bits();
  const std::uint64_t resting = resting_tiles(*pass.orbits);
  const std::string of_each = pass.arrays == 1 ? "" : " of each array";
  if (resting == tiles)
    return fmt::format("{}{}, each permuted within itself", count_text(tiles, "tile"), of_each);
  std::string text = count_text(tiles, "tile") + of_each + ": ";
  if (pass.orbits->orbit_tiles == 2) {
    text += count_text((tiles - resting) / 2, "pair") +
            ((tiles - resting) / 2 == 1 ? " changes places" : " change places");
  } else {
    text += fmt::format("at most {} go round, each to the place of the next", pass.orbits->orbit_tiles);
  }
  if (resting == 0) return text;
  return text + fmt::format(", {} {} permuted within {}", count_text(resting), resting == 1 ? "is" : "are",
                            resting == 1 ? "itself" : "themselves");
}

std::string in_place_sweeps_text(const Plan& plan) {
  const int count = sweeps(plan);
  if (plan.array_bytes() == 0) return "none: the batch is empty";
  if (count == 0) return "none: every element is where it belongs";
  if (count == 1) return "1 over memory, in place: what a block reads is where it writes";
  return fmt::format(
      "{} over memory, in place: the map is a product of {} factors, each of which writes where it has read; "
      "no one pass fits what a block holds",
      count, count);
}

std::string in_place_reason(const Plan& plan, std::size_t index) {
  const Pass& pass = plan.passes().at(index);
  std::string text;
  if (pass.offset > 0) {
    text = fmt::format("{} left over from groups of {}: ", count_text(pass.arrays, "array"),
                       count_text(std::uint64_t{1} << plan.folded_batch_bits()));
  }
  switch (pass.kind) {
    case PassKind::copy:
      return text + "nothing moves";
    case PassKind::segments:
      return text + fmt::format("whole segments of {} change places and nothing moves inside one",
                                size_text(pass.segment_bytes));
    case PassKind::tile:
      return text +
             "elements change places between segments, so a block holds all the tiles that are "
             "written where it has read";
    case PassKind::direct:
      return text +
             fmt::format("an array of {} is one tile", size_text(plan.unit_bytes() << pass.map.bits()));
    default:  // others are not of affine maps
      break;
  }
  return text;
}

}  // namespace faro::detail
