#include "plan/gpu/lines_or_boxes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "layout/strided_box.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

// Whether a box moves whole vectors on both sides.
bool moves_vectors(const kernels::BoxShape& shape) {
  const int vector = static_cast<int>(kAxesVector);
  return !shape.ragged && shape.unit_bytes * shape.in_vector == vector &&
         shape.unit_bytes * shape.out_vector == vector;
}

// The bytes of each piece of a side that is cut into tiles.
double piece_bytes(std::uint64_t bytes, int tile_bytes) {
  return static_cast<double>(bytes) /
         static_cast<double>(ceil_div(bytes, static_cast<std::uint64_t>(tile_bytes)));
}

// The extent of the input's fastest axis; the output's is the first.
std::uint64_t columns_of(const std::vector<layout::StridedAxis>& axes) {
  return std::find_if(axes.begin(), axes.end(), [](const auto& axis) { return axis.in == 1; })->extent;
}

// A plane's tile, and the pieces into which it cuts rows and lines.
struct Pieces {
  kernels::AxesPlaneShape tile;
  double row = 0;  // bytes
  double line = 0;

  Pieces(const kernels::AxesPlaneShape& shape, const std::vector<layout::StridedAxis>& axes) : tile(shape) {
    const auto unit = static_cast<std::uint64_t>(tile.unit_bytes);
    row = piece_bytes(columns_of(axes) * unit, tile.row_bytes);
    line = piece_bytes(axes.front().extent * unit, tile.line_bytes);
  }
  double filled() const { return row * line / (tile.row_bytes * tile.line_bytes); }
};

// Tiles of planes that lie together reach more than boxes where they have 16 KiB and are full; single bytes,
// and rows of 256 bytes, more than ragged boxes in any case.
bool tiles_suit(const Pieces& pieces, const kernels::BoxShape& box) {
  constexpr int least_bytes = 16 << 10;
  constexpr int wide_row = 256;
  const kernels::AxesPlaneShape& tile = pieces.tile;
  if (tile.row_bytes * tile.line_bytes / tile.unit_bytes < least_bytes) return false;
  const bool narrow = tile.row_bytes < wide_row && tile.unit_bytes > 1;
  if (!moves_vectors(box)) return !narrow || pieces.filled() >= 2.0 / 3;
  return pieces.filled() >= (narrow ? 0.9 : 0.8);
}

// Planes of units of 8 and 16 bytes. Boxes whose runs are whole lines are ahead of tiles of rows that lie
// apart; tiles of 512 bytes a line are ahead of all others where they are full.
bool wide_tiles_suit(const Pieces& pieces, const std::vector<layout::StridedAxis>& axes,
                     const AxesBoxes::Variant& box) {
  constexpr double whole_lines = 1.025;  // the price of such boxes, at most
  constexpr double full = 0.85;
  constexpr int large = 512;
  const bool together = planes_lie_together(axes);
  if (moves_vectors(box.shape) && box.box->cost < whole_lines && (pieces.tile.unit_bytes == 16 || !together))
    return false;
  if (pieces.tile.line_bytes >= large && pieces.tile.row_bytes >= large) return true;
  if (pieces.tile.unit_bytes == 16) return false;
  if (pieces.tile.line_bytes >= large) return pieces.filled() >= full;
  return together && (shorter_side(axes) >= kLongSide || tiles_suit(pieces, box.shape));
}

// The part of a line's tiles that is left where its ends lie up to a sector apart.
double ends_filled(const Pieces& pieces, const std::vector<layout::StridedAxis>& axes) {
  const std::uint64_t unit = static_cast<std::uint64_t>(pieces.tile.unit_bytes);
  const std::uint64_t line = axes.front().extent * unit;
  const auto tile = static_cast<std::uint64_t>(pieces.tile.line_bytes);
  return static_cast<double>(ceil_div(line, tile)) /
         static_cast<double>(ceil_div(line + kernels::kLineSector - unit, tile));
}

// Planes of units of 1 to 4 bytes. Tiles cut sides that are a little longer than some of them into short
// pieces, which boxes join to others; single bytes are slow by boxes that are not of whole vectors.
bool narrow_tiles_suit(const kernels::AxesLinesChoice& choice, const Pieces& pieces,
                       const std::vector<layout::StridedAxis>& axes, const AxesBoxes::Variant& chosen) {
  constexpr double line = 128;   // bytes
  constexpr double fast = 1.15;  // of boxes of whole vectors
  const kernels::BoxShape& box = chosen.shape;
  const bool is_long = shorter_side(axes) >= kLongSide;
  const bool apart = has_largest_tiles(choice) && !planes_lie_together(axes);
  // Pieces of rows that lie apart must be nearly whole; of narrow units, which lines end a sector later, too.
  constexpr double nearly = 0.94;
  const double filled =
      pieces.tile.unit_bytes < 4 ? pieces.filled() * ends_filled(pieces, axes) : pieces.filled();
  if (is_long && (!apart || filled >= nearly)) return true;
  if (planes_lie_together(axes)) return tiles_suit(pieces, box);
  if (moves_vectors(box) && chosen.box->cost < fast) return false;
  if (pieces.tile.unit_bytes == 1) return pieces.filled() >= 0.4;
  return !(box.ragged && apart) && std::min(pieces.row, pieces.line) >= line && pieces.filled() >= 0.65;
}

// What few rows or columns take, in a copy's time: from so many bytes of them on, the last that applies; more
// where a block has little of them.
struct SkinnyPrice {
  int unit_bytes;
  bool by_rows;
  std::uint64_t least_bytes;
  double price;
};
constexpr SkinnyPrice kSkinnyPrices[] = {
    {1, true, 0, 1.5},    {2, true, 0, 1.35},  {2, true, 44, 1.6},   {4, true, 0, 1.03},
    {4, true, 48, 1.2},   {4, true, 100, 1.3}, {4, true, 256, 1.5},  {8, true, 0, 1.02},
    {8, true, 48, 1.08},  {8, true, 128, 1.2}, {8, true, 512, 1.4},  {1, false, 0, 1.1},
    {1, false, 48, 1.35}, {1, false, 72, 2.0}, {2, false, 0, 1.0},   {4, false, 0, 1.0},
    {4, false, 192, 1.2}, {8, false, 0, 1.0},  {8, false, 216, 1.2},
};
// Bytes of the rows or columns that there are few of.
std::uint64_t few_bytes(const kernels::AxesSkinnyShape& skinny,
                        const std::vector<layout::StridedAxis>& axes) {
  const std::uint64_t few = skinny.by_rows ? axes.front().extent : columns_of(axes);
  return few * static_cast<std::uint64_t>(skinny.unit_bytes);
}
// What tiles take longer by that a line's end is in, for their units go one by one; the part of them that are
// such.
double price_of_ends(const kernels::AxesSkinnyShape& skinny, const kernels::AxesLinesParams& p) {
  constexpr double prices[] = {1.77, 0.36, 0.18, 0, 0};  // of columns, by the width of a unit
  if (skinny.by_rows || (p.halo == 0 && p.line_bytes % p.tile_bytes == 0)) return 0;
  const auto along = static_cast<double>(ceil_div(p.line_bytes, std::uint64_t{p.tile_bytes}));
  return prices[std::countr_zero(static_cast<unsigned>(skinny.unit_bytes))] * std::min(2.0, along) / along;
}
double skinny_price(const kernels::AxesSkinnyShape& skinny, std::uint64_t bytes, double block_bytes,
                    const kernels::AxesLinesParams& params) {
  const double full_block = skinny.by_rows ? 16 << 10 : 9 << 10;
  double price = 1.0;
  for (const SkinnyPrice& of : kSkinnyPrices) {
    if (of.unit_bytes == skinny.unit_bytes && of.by_rows == skinny.by_rows && bytes >= of.least_bytes)
      price = of.price;
  }
  return price * std::sqrt(std::max(1.0, full_block / block_bytes)) + price_of_ends(skinny, params);
}
bool few_suit(const kernels::AxesLinesChoice& choice, const std::vector<layout::StridedAxis>& axes,
              double block_bytes, const AxesBoxes::Variant& box) {
  const kernels::AxesSkinnyShape& skinny = *choice.skinny;
  constexpr double even = 1.05;  // boxes are as fast elsewhere, too
  // Boxes of whole vectors fill a side of so many bytes with them, and narrow units earlier.
  const std::uint64_t filled = skinny.unit_bytes >= 8 ? 256 : skinny.unit_bytes == 4 ? 128 : 64;
  const std::uint64_t bytes = few_bytes(skinny, axes);
  if (moves_vectors(box.shape) && bytes >= filled) return false;
  return skinny_price(skinny, bytes, block_bytes, choice.params) < even * box.box->cost;
}

// Lines of elements of several units, which go unit by unit: wider ones are slower than boxes in every case.
bool lines_of_units_suit(std::uint64_t unit, double tile_bytes, double box_price) {
  constexpr double least_bytes = 12 << 10;
  constexpr double pairs_price = 1.45;  // of 2-byte units in tiles of 20 KiB
  constexpr double pairs_bytes = 20 << 10;
  if (unit == 1) return tile_bytes >= least_bytes;
  return unit == 2 && box_price > pairs_price * std::max(1.0, pairs_bytes / tile_bytes);
}

}  // namespace

std::uint64_t shorter_side(const std::vector<layout::StridedAxis>& axes) {
  return std::min(axes.front().extent, columns_of(axes));
}

bool planes_lie_together(const std::vector<layout::StridedAxis>& axes) {
  return axes[1].in == 1 && axes[0].in == static_cast<std::int64_t>(axes[1].extent);
}

bool has_largest_tiles(const kernels::AxesLinesChoice& choice) {
  constexpr int most_threads = 512;
  return choice.turned && choice.plane && choice.plane->threads > most_threads;
}

bool lines_are_filled(const kernels::AxesLinesChoice& choice, const std::vector<layout::StridedAxis>& axes) {
  constexpr double least = 0.5;
  if (choice.plane) return Pieces(*choice.plane, axes).filled() >= least;
  return choice.skinny.has_value();
}

bool boxes_are_ahead(std::uint64_t unit, bool together, const kernels::BoxShape& box) {
  constexpr std::uint64_t half = kAxesVector / 2;
  return moves_vectors(box) && (unit == kAxesVector || (unit == half && !together));
}

bool lines_suit(const AxesLines& lines, const std::vector<layout::StridedAxis>& axes,
                const AxesBoxes::Variant& box) {
  const kernels::AxesLinesChoice& choice = lines.variants.front().choice;
  const std::uint64_t unit = lines.variants.front().unit_bytes;
  const double bytes = static_cast<double>(unit_count(axes) * unit);
  const double tile_bytes = bytes / static_cast<double>(choice.params.tiles);
  if (choice.plane) {
    const Pieces pieces(*choice.plane, axes);
    return unit >= kAxesVector / 2 ? wide_tiles_suit(pieces, axes, box)
                                   : narrow_tiles_suit(choice, pieces, axes, box);
  }
  if (choice.skinny) return few_suit(choice, axes, tile_bytes, box);
  // Boxes of triples; lines of them are slow in small tiles.
  constexpr double dear = 1.9;
  constexpr double whole_bytes = 45 << 10;
  const double cost = box.box->cost;
  if (box.shape.triples > 1 && (cost < dear || cost * tile_bytes < whole_bytes)) return false;
  return lines_of_units_suit(unit, tile_bytes, box.box->cost);
}

double price_of_few(const AxesLines& lines, const std::vector<layout::StridedAxis>& axes) {
  const kernels::AxesLinesChoice& choice = lines.variants.front().choice;
  if (!choice.skinny || choice.skinny->few > 0) return 0;
  const double bytes = static_cast<double>(unit_count(axes) * lines.variants.front().unit_bytes);
  return skinny_price(*choice.skinny, few_bytes(*choice.skinny, axes),
                      bytes / static_cast<double>(choice.params.tiles), choice.params);
}

double price_of_boxes(const AxesBoxes::Variant& box) {
  constexpr double least = 1.75;
  const layout::StridedBox& of = *box.box;
  const auto line = of.extent[static_cast<std::size_t>(of.out.run.front())];
  const bool by_line = moves_vectors(box.shape) && of.unit_bytes == 2 && of.words == 1 &&
                       line == static_cast<std::uint32_t>(of.out.vector);
  return by_line ? std::max(least, of.cost) : of.cost;
}

bool boxes_are_tiny(const AxesBoxes::Variant& box) {
  constexpr double of_vectors = 1.3;
  constexpr double of_halves = 1.5;
  constexpr double of_words = 2.6;
  constexpr std::uint64_t tiny_bytes = 8 << 10;
  const double cost = box.box->cost;
  if (box.box->units() * static_cast<std::uint64_t>(box.box->unit_bytes) > tiny_bytes) return false;
  switch (box.box->unit_bytes) {
    case 16:
      return cost > of_vectors;
    case 8:
      return cost > of_halves;
    case 4:
      return cost > of_words;
    default:
      return false;
  }
}

}  // namespace faro::detail
