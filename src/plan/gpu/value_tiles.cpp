#include "plan/gpu/value_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>

#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "kernels/affine_params.hpp"

namespace faro::detail {
namespace {

constexpr int kHeldSegmentLog2 = 8;  // bytes of what the tile holds: what memory likes
constexpr int kMostHeldLog2 = 16;    // numbers of a byte; of wider ones half as many bytes
constexpr int kWidestVectorLog2 = 4;
constexpr int kMostTileThreadsLog2 = 10;
constexpr int kLeastTileThreadsLog2 = 5;
constexpr int kVectorsOfThreadLog2 = 3;  // of a small tile; of the largest twice as many

int width_log2(Number number) { return std::countr_zero(bytes_of(number)); }

bool rounds_as_read(const Arithmetic& of) {
  return !of.addend && !along_axes(of) && bytes_of(of.to) < bytes_of(of.from);
}

// Numbers of a vector: 16 bytes of the widest type, and no more than arrays are aligned to.
int vector_log2(const Arithmetic& of, const ValueAlignment& alignment) {
  int vector = kWidestVectorLog2;
  const auto bound = [&](Number number, std::uint64_t bytes) {
    const int most = std::min(kWidestVectorLog2, std::countr_zero(bytes));
    vector = std::min(vector, most - width_log2(number));
  };
  bound(of.from, alignment.in);
  bound(of.to, alignment.out);
  if (of.addend) bound(of.addend->number, alignment.addend);
  return vector;
}

// Segments as long as memory likes, shorter where the tile of the map would not fit; rows as many as fit, or
// of two widths, with half such segments of the narrower, as many as a segment has numbers: smaller tiles, of
// which more wait and store by turns.
std::optional<kernels::AffineTileShape> tile_shape(const ValueTilePlan& plan,
                                                   const ValueAlignment& alignment) {
  const Arithmetic& of = plan.arithmetic;
  const int width = width_log2(rounds_as_read(of) ? of.to : of.from);
  const int vector = vector_log2(of, alignment);
  const int narrower = bytes_of(of.from) == bytes_of(of.to) ? 0 : 1;
  const int most_tile = std::min(
      {plan.map.bits(), kMostHeldLog2 - 2 * width, vector + kVectorsOfThreadLog2 + 1 + kMostTileThreadsLog2});
  for (int s = std::min(kHeldSegmentLog2 - narrower - width, plan.map.bits()); s > 0; --s) {
    const int rows = plan.map.rank_gamma(s);
    if (rows > kernels::kMaxRowBits || s + rows > most_tile) continue;
    kernels::AffineTileShape shape{
        .width_bits = width,
        .segment_bits = s,
        .row_bits = std::clamp(narrower != 0 ? std::min(s, most_tile - s) : most_tile - s, rows,
                               kernels::kMaxRowBits),
        .vector_bits = std::min(vector, s)};
    const int vectors = shape.vector_count_bits();
    shape.thread_bits = std::min(
        vectors, std::clamp(vectors - kVectorsOfThreadLog2, kLeastTileThreadsLog2, kMostTileThreadsLog2));
    return shape;
  }
  return std::nullopt;
}

}  // namespace

bool along_axes(const Arithmetic& of) { return of.scale.axis || of.offset.axis; }

std::uint64_t numbers_of_step(const Arithmetic& of, std::size_t axis) {
  const auto& shape = of.shape;
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis + 1, shape.size())),
                         shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t ValueTilePlan::read_bytes() const {
  return count() *
         (bytes_of(arithmetic.from) + (arithmetic.addend ? bytes_of(arithmetic.addend->number) : 0));
}
std::uint64_t ValueTilePlan::written_bytes() const { return count() * bytes_of(arithmetic.to); }

std::optional<ValueTilePlan> make_value_tile_plan(const Affine& map, std::uint64_t arrays,
                                                  const Arithmetic& arithmetic) {
  constexpr std::uint64_t kMostTiles = (std::uint64_t{1} << 31) - 1;  // of a launch
  const ValueTilePlan plan{.map = map, .arrays = arrays, .arithmetic = arithmetic};
  if (arrays == 0) return std::nullopt;
  // Of arrays that are aligned to their numbers alone tiles are the smallest.
  const auto shape =
      tile_shape(plan, {.in = bytes_of(arithmetic.from),
                        .out = bytes_of(arithmetic.to),
                        .addend = arithmetic.addend ? bytes_of(arithmetic.addend->number) : 1});
  if (!shape || plan.count() >> shape->tile_bits() > kMostTiles) return std::nullopt;
  return plan;
}

ValueTiles make_value_tiles(const ValueTilePlan& plan, const ValueAlignment& alignment) {
  const auto shape = tile_shape(plan, alignment);
  FARO_CHECK(shape.has_value());
  const layout::Tile tile = layout::make_tile(plan.map, {.segment_bits = shape->segment_bits,
                                                         .min_row_bits = shape->row_bits,
                                                         .order = layout::BlockOrder::target});
  return {.shape = *shape,
          .rounds_first = rounds_as_read(plan.arithmetic),
          .params = kernels::make_affine_tile_params(tile, *shape, plan.arrays)};
}

std::string ValueTiles::explain() const {
  return fmt::format(
      "tiles           {} of {} rows of {} numbers\n  read, written by vectors of {}\n  between       {} "
      "bytes "
      "of shared memory, {}\n",
      params.blocks(), 1 << shape.row_bits, 1 << shape.segment_bits, shape.components(), shape.tile_bytes(),
      rounds_first ? "numbers as they are written" : "numbers as they are read");
}

}  // namespace faro::detail
