#include "tell/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "size_text.hpp"
#include "tell/published_class.hpp"

namespace faro::detail {
namespace {

std::string segments_reason(const Pass& pass) {
  return fmt::format(
      "at least the lowest {} bits of every index stay as they are, so segments change places whole and "
      "nothing moves "
      "inside one",
      pass.tile.segment_bits);
}

// Why segments are as long as they are. A tile takes segment_bytes * 2^r, and r may grow with the segment.
std::string tile_reason(const Plan& plan, const Pass& pass) {
  const layout::Tile& tile = pass.tile;
  const Target& target = plan.target();
  const std::string moved =
      pass.map.rank_gamma(tile.segment_bits) == 0
          ? "elements change places within a segment only"
          : "the map mixes low index bits with high ones, so a tile collects whole segments of both sides";
  if (pass.launch) {
    return fmt::format("{}; of the device's kernels for {}-byte {} this is the first that holds it", moved,
                       plan.unit_bytes(), plan.unit_bits_per_element() > 0 ? "units" : "elements");
  }
  const std::string longest =
      pass.segment_bytes >= target.segment_bytes_max ? "longer segments would gain nothing"
      : tile.segment_bits == tile.index_bits
          ? "the segment is the whole array"
          : "longer segments would not fit a tile of " + size_text(target.tile_bytes_max);
  return moved + "; " + longest;
}

std::string direct_reason(const Plan& plan, const Pass& pass, std::size_t index) {
  const bool gpu = pass.launch.has_value();
  if (index > 0) {
    return fmt::format("{} left over from groups of {}, {}", count_text(pass.arrays, "array"),
                       count_text(std::uint64_t{1} << plan.folded_batch_bits()),
                       gpu ? "a thread for each element" : "moved one element after another");
  }
  if (gpu) {
    return fmt::format("{} in all are too few for tiles, so there is a thread for each element",
                       size_text(pass.bytes_read));
  }
  return fmt::format("{} in one piece are too few for tiles, so elements move one after another",
                     size_text(plan.unit_bytes() << pass.map.bits()));
}

}  // namespace

const Affine& element_map(const Plan& plan) { return affine(plan.problem().permutation, "explain"); }

int sweeps(const Plan& plan) {
  if (!is_in_place(plan)) return plan.passes().empty() ? 0 : 1;
  // Those that begin further on are of arrays that are left over.
  return static_cast<int>(std::count_if(plan.passes().begin(), plan.passes().end(),
                                        [](const Pass& pass) { return pass.offset == 0; }));
}

int literature_sweeps(const Plan& plan) {
  return published_class(element_map(plan), plan.problem().element_bytes) == AffineClass::bmmc ? 2 : 1;
}

std::string reason(const Plan& plan, std::size_t index) {
  const Pass& pass = plan.passes().at(index);
  const bool is_affine_in_place =
      is_in_place(plan) && plan.transpose_plan() == nullptr && pass.kind != PassKind::cyclic;
  if (is_affine_in_place) return in_place_reason(plan, index);
  switch (pass.kind) {
    case PassKind::copy:
      return "nothing moves, so bytes are read and written in order";
    case PassKind::segments:
      return segments_reason(pass);
    case PassKind::tile:
      return tile_reason(plan, pass);
    case PassKind::direct:
      return direct_reason(plan, pass, index);
    default:
      return pass.what;
  }
  return "";
}

bool is_in_place(const Plan& plan) { return plan.problem().placement == Placement::in_place; }

std::uint64_t resting_tiles(const layout::InPlaceTile& tile) {
  const f2::Matrix& next = tile.next_matrix;
  // next(b) = b where (next + I) b is the complement.
  const f2::Matrix moved = next + f2::Matrix::identity(next.columns());
  if (!moved.solve(tile.next_complement)) return 0;
  return std::uint64_t{1} << (next.columns() - moved.rank());
}

std::string orbits_text(const Pass& pass, std::uint64_t resting) {
  const std::uint64_t tiles = std::uint64_t{1} << pass.tile.block_bits();
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

std::string in_place_sweeps_text(int count, std::uint64_t bytes) {
  if (bytes == 0) return "none: the batch is empty";
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

std::string method_reason(const Plan& plan) {
  const IndexCandidate& chosen = *plan.way();
  switch (chosen.method) {
    case IndexMethod::cyclic:
      return "two pieces of the array change places, or it is read backwards; no index is stored";
    case IndexMethod::modular:
      return "rows of the input are columns of the output in two matrices that lie apart; no index is stored";
    case IndexMethod::computed:
      return "a tile is a run of one side and runs of the other, between which a small table tells places; "
             "no index is stored";
    case IndexMethod::axes:
      if (std::holds_alternative<CyclicAxes>(plan.problem().permutation))
        return "boxes that are read and written in runs, an axis backwards or in two parts; no index is "
               "stored";
      return "tiles that read and write along the fastest axis of each side; no index is stored";
    case IndexMethod::direct:
      return "each element is fetched from, or sent to, the place that its index says";
    case IndexMethod::window:
      return fmt::format(
          "nothing moves by more than {}, so a tile with margins holds all that its output needs",
          plan.index_plan()->recognition().displacement.value_or(0));
    case IndexMethod::runs:
      return fmt::format("{} are copied one by one",
                         count_text(plan.index_plan()->recognition().runs.value_or(0), "contiguous run"));
    case IndexMethod::partition:
      if (chosen.passes == 1) return "the array fits in one chunk, which is read and written in order";
      return "elements are sorted by where they go, in passes that read and write long runs";
    case IndexMethod::row_column:
      return "rows, columns, rows, each pass within what a block holds";
    case IndexMethod::row_column_5:
      break;
  }
  return "row, transpose, row, transpose, row, as published";
}

}  // namespace faro::detail
