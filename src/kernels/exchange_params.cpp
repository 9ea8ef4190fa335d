#include "kernels/exchange_params.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

using faro::detail::ceil_div;
using faro::detail::round_up;

constexpr std::uint64_t kChunkBytes = 16 << 10;       // of a pair's each
constexpr std::uint64_t kWholeFlipBytes = 32 << 10;   // of an array that is flipped whole, at most
constexpr std::uint64_t kWholeRollBytes = 96 << 10;   // rolls take two passes otherwise
constexpr std::uint64_t kWholeBlockBytes = 16 << 10;  // of the arrays of a block, where they are shorter
constexpr std::uint64_t kSquareTileBytes = 18 << 10;
constexpr std::uint64_t kSquareWholeBytes = 40
                                            << 10;   // of a side that is one tile, which has the fewest ends
constexpr std::uint64_t kSquareTileMost = 128;       // elements of a side
constexpr std::uint64_t kSquarePartBytes = 8 << 10;  // of an element that is longer
constexpr std::uint64_t kSquareLongElement = 64;     // bytes: neighbouring lanes are within one

std::uint64_t isqrt(std::uint64_t x) {
  std::uint64_t root = 0;
  while ((root + 1) * (root + 1) <= x) ++root;
  return root;
}

// As many elements as fit a tile's side, whole sectors of them, all tiles of one size.
std::uint64_t square_tile(const SquareAxes& axes) {
  if (axes.element_bytes > kSquarePartBytes) return 1;
  const std::uint64_t grain = kSquareSector / std::gcd(axes.element_bytes, std::uint64_t{kSquareSector});
  const std::uint64_t fits =
      std::clamp<std::uint64_t>(isqrt(kSquareTileBytes / axes.element_bytes), 1, kSquareTileMost);
  const std::uint64_t most = fits > grain ? fits / grain * grain : fits;
  const bool one_tile =
      axes.side <= kSquareTileMost && axes.side * axes.side * axes.element_bytes <= kSquareWholeBytes;
  if (axes.side <= most || one_tile) return axes.side;
  const std::uint64_t alike = ceil_div(axes.side, ceil_div(axes.side, most));
  return std::min(most, round_up(alike, grain));
}

}  // namespace

MovedElements moved_elements(const CyclicArrays& arrays, std::uint64_t unit_bytes) {
  if (!arrays.move.reversed) return MovedElements::in_order;
  return arrays.element_bytes == unit_bytes ? MovedElements::units : MovedElements::several;
}

ReversalParams make_reversal_params(const CyclicArrays& of) {
  FARO_CHECK(of.move.reversed && of.move.count >= 2);
  ReversalParams p;
  p.array_bytes = of.array_bytes();
  p.piece[0] = {.first = 0, .count = of.move.shift + 1, .chunks = 0};
  p.piece[1] = {.first = of.move.shift + 1, .count = of.move.count - of.move.shift - 1, .chunks = 0};
  p.element_bytes = device::Division64(of.element_bytes);
  const std::uint64_t most_pairs = std::max(p.piece[0].pairs(), p.piece[1].pairs());
  std::uint64_t parts = 1;
  if (of.element_bytes > kChunkBytes) {
    parts = ceil_div(of.element_bytes, kChunkBytes);
    p.part_bytes = kChunkBytes;
    p.elements = 1;
  } else {
    const std::uint64_t fitting = kChunkBytes / of.element_bytes;
    p.elements = std::max<std::uint64_t>(
        1, ceil_div(most_pairs, std::max<std::uint64_t>(1, ceil_div(most_pairs, fitting))));
  }
  p.parts = device::Division64(parts);
  for (ReversalParams::Piece& piece : p.piece) piece.chunks = ceil_div(piece.pairs(), p.elements) * parts;
  p.chunks = device::Division64(std::max<std::uint64_t>(1, p.piece[0].chunks + p.piece[1].chunks));
  const std::uint64_t held = parts > 1 ? p.part_bytes : p.elements * of.element_bytes;
  p.chunk_bytes = static_cast<std::uint32_t>(round_up(held + kMovedBytes - 1, kMovedBytes));
  return p;
}

std::uint64_t reversal_blocks(const ReversalParams& params, std::uint64_t arrays) {
  return (params.piece[0].chunks + params.piece[1].chunks) * arrays;
}

std::optional<CyclicWholeParams> make_cyclic_whole_params(const CyclicArrays& of,
                                                          std::uint64_t shared_bytes) {
  const std::uint64_t most = std::min(of.move.reversed ? kWholeFlipBytes : kWholeRollBytes,
                                      shared_bytes - 2 * std::uint64_t{kMovedBytes});
  const std::uint64_t array = of.array_bytes();
  if (array > most || array == 0) return std::nullopt;
  CyclicWholeParams p;
  p.bytes = array * of.arrays;
  p.array_bytes = device::Division64(array);
  p.shift_bytes = of.move.shift * of.element_bytes;
  p.element_bytes = device::Division64(of.element_bytes);
  p.arrays = std::clamp<std::uint64_t>(kWholeBlockBytes / array, 1, of.arrays);
  return p;
}

std::uint64_t whole_blocks(const CyclicWholeParams& params) {
  return ceil_div(params.bytes, params.block_bytes());
}

SquaresParams make_squares_params(const SquareAxes& axes, std::uint64_t tile) {
  FARO_CHECK(axes.side >= 2 && axes.between >= 1 && axes.element_bytes >= 1);
  SquaresParams p;
  p.side = axes.side;
  p.between = axes.between;
  p.whole_bytes = axes.element_bytes;
  p.row_bytes = axes.side * axes.element_bytes;
  p.row_step = axes.between * p.row_bytes;
  p.array_bytes = axes.side * p.row_step;
  p.tile = static_cast<std::uint32_t>(tile == 0 ? square_tile(axes) : std::min(tile, axes.side));
  p.element_bytes = axes.element_bytes > kSquarePartBytes ? kSquarePartBytes : axes.element_bytes;
  FARO_CHECK(p.tile == 1 || p.element_bytes == axes.element_bytes);
  p.parts = device::Division64(ceil_div(axes.element_bytes, p.element_bytes));
  p.tiles = ceil_div(axes.side, std::uint64_t{p.tile});
  p.pairs = device::Division64(p.tiles % 2 == 0 ? p.tiles / 2 * (p.tiles + 1) : (p.tiles + 1) / 2 * p.tiles);
  p.width = device::Division64(p.tiles % 2 == 0 ? p.tiles + 1 : p.tiles);
  constexpr std::uint32_t more_than_any = 1U << 30;
  p.columns = device::Division32(more_than_any);
  if (p.tiles == 1 && p.parts.divisor() == 1) {
    p.together = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kSquareTileBytes / (axes.side * p.row_bytes), 1, axes.between));
    p.columns = device::Division32(p.tile);
  }
  p.groups = device::Division64(ceil_div(axes.between, std::uint64_t{p.together}));
  const std::uint64_t row = p.element_bytes * p.tile * p.together;
  const std::uint64_t load_slots = ceil_div(row + kMovedBytes - 1, std::uint64_t{kMovedBytes});
  p.load_slots = device::Division32(static_cast<std::uint32_t>(load_slots));
  p.store_slots = device::Division32(
      static_cast<std::uint32_t>(round_up(ceil_div(row + kSquareSector - 1, std::uint64_t{kMovedBytes}), 2)));
  p.element = device::Division32(static_cast<std::uint32_t>(p.element_bytes));
  p.pitch = static_cast<std::uint32_t>(kMovedBytes * (load_slots | 1));
  // Lanes of a long element's vectors are neighbours as they are.
  constexpr std::uint32_t most_near = 16;
  const std::uint32_t near = p.element_bytes >= kSquareLongElement ? 1 : std::min(most_near, p.tile);
  p.near_bits = static_cast<std::uint32_t>(std::bit_width(near) - 1);
  return p;
}

}  // namespace faro::kernels
