// Two axes of equal extents change places in the one array: square tiles and their mirror images, a pair a
// block, through shared memory. One sweep, and nothing is borrowed.
//
//     axes [arrays,] side, between, side [, parts of an element]
//
//             J             a block reads tiles (I, J) and (J, I) of one index of the axis between, and then
//         + - - - + - - +   writes each, transposed, to where the other was; tile (I, I) is its own image
//         |       |  I,J|
//         |       |     |   sides of few elements have one tile, of several indices of the axis between, which
//         + - - - + - - +   follow one another in each of its rows
//       I |  J,I  |     |
//         + - - - + - - +   an element that is longer than a tile is wide is moved in parts
//
// Rows begin anywhere: in shared memory each lies as far past a vector as in the array (held_bytes.hpp). A
// thread puts a vector of the output together unit by unit; neighbouring lanes take rows of the output, whose
// units are neighbours in shared memory, and two lanes the vectors of one sector.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/cyclic_in_place.hpp"
#include "kernels/held_bytes.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kSquareSector = 32;

struct SquaresParams {
  std::uint64_t begin = 0;  // of the first array, in a sector: set by the engine
  std::uint64_t side = 0;   // elements
  std::uint64_t between = 1;
  std::uint64_t row_bytes = 0;  // side x element
  std::uint64_t row_step = 0;   // from one index of the slower axis to the next
  std::uint64_t array_bytes = 0;
  std::uint64_t element_bytes = 0;  // of an element, or of a part of one at most
  std::uint64_t whole_bytes = 0;    // of an element
  std::uint64_t tiles = 1;          // along a side
  std::uint32_t tile = 1;           // elements of a tile's side
  std::uint32_t together = 1;       // indices of the axis between, where a side has one tile
  device::Division64 pairs;         // of tiles
  device::Division64 width;         // of the folded triangle of pairs
  device::Division64 groups;        // of the axis between
  device::Division64 parts;         // of an element
  device::Division32 load_slots;    // vectors of a row of a whole tile
  device::Division32 store_slots;
  device::Division32 element;  // bytes of it or of a part; fewer of the last part
  device::Division32 columns;  // of a tile, where several indices are together; else more than there are
  std::uint32_t pitch = 0;     // of rows in shared memory, bytes
  std::uint32_t near_bits = 0;
  std::uint64_t first_block = 0;

  constexpr std::uint32_t tile_bytes() const { return pitch * tile; }
  constexpr std::uint64_t shared_bytes() const {
    return std::uint64_t{tile_bytes()} * (pairs.divisor() > 1 ? 2 : 1);
  }
  /// Blocks of one array.
  constexpr std::uint64_t blocks() const { return pairs.divisor() * groups.divisor() * parts.divisor(); }
};

/// A tile as it lies in the array, and in shared memory.
struct SquareTile {
  std::uint64_t at = 0;  // of its first byte
  std::uint32_t rows = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t place = 0;
};

/// tile[0] is written from tile[1], and tile[1] from tile[0]; one that is its own image is both.
struct SquarePair {
  SquareTile tile[2];
  bool own_image = false;
  std::uint32_t element_bytes = 0;
};

/// Which tiles, row <= column: rows k and tiles - 1 - k of the triangle make one row of the fold.
struct TilePlaces {
  std::uint64_t row;
  std::uint64_t column;
};
constexpr TilePlaces tile_places(const SquaresParams& p, std::uint64_t pair) {
  std::uint64_t column = pair;
  const std::uint64_t row = p.width.divide(column);
  const std::uint64_t even = p.tiles % 2 == 0 ? 1 : 0;
  if (column >= row + even) return {.row = row, .column = column - even};
  return {.row = p.tiles - row - even, .column = p.tiles - 1 - column};
}

/// Requires: block below blocks() x arrays, counted from first_block.
constexpr SquarePair square_pair(const SquaresParams& p, std::uint64_t block) {
  std::uint64_t number = p.first_block + block;
  std::uint64_t rest = p.parts.quotient(number);
  const std::uint64_t part = number - rest * p.parts.divisor();
  number = rest;
  rest = p.pairs.quotient(number);
  const TilePlaces places = tile_places(p, number - rest * p.pairs.divisor());
  number = rest;
  const std::uint64_t array = p.groups.quotient(number);
  const std::uint64_t index = (number - array * p.groups.divisor()) * p.together;
  const std::uint64_t left = p.between - index;
  const std::uint32_t together = left < p.together ? static_cast<std::uint32_t>(left) : p.together;
  const std::uint64_t offset = part * p.element_bytes;
  const std::uint64_t of_element =
      p.whole_bytes - offset < p.element_bytes ? p.whole_bytes - offset : p.element_bytes;
  const std::uint64_t base = p.begin + array * p.array_bytes + index * p.row_bytes + offset;
  const auto elements = [&p](std::uint64_t tile) {
    const std::uint64_t there = p.side - tile * p.tile;
    return there < p.tile ? static_cast<std::uint32_t>(there) : p.tile;
  };
  SquarePair pair{.tile = {},
                  .own_image = places.row == places.column,
                  .element_bytes = static_cast<std::uint32_t>(of_element)};
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t row = i == 0 ? places.row : places.column;
    const std::uint64_t column = i == 0 ? places.column : places.row;
    pair.tile[i] = {.at = base + row * p.tile * p.row_step + column * p.tile * p.whole_bytes,
                    .rows = elements(row),
                    .row_bytes = elements(column) * together * pair.element_bytes,
                    .place = i == 0 || pair.own_image ? 0 : p.tile_bytes()};
  }
  return pair;
}

/// Phase 1: a pair of tiles to shared memory. Requires: thread < kInPlaceThreads; kInput and kOutput are one
/// array.
template <int unit_bytes, device::Memory Memory>
constexpr void load_exchange(Memory& memory, const SquaresParams& p, std::uint64_t block,
                             std::uint32_t thread) {
  constexpr int at_a_time = 4;
  const SquarePair pair = square_pair(p, block);
  SquareTile tile = pair.tile[0];
  FARO_NO_UNROLL
  for (int i = 0; i < (pair.own_image ? 1 : 2); ++i) {
    const std::uint32_t all = tile.rows * p.load_slots.divisor();
    const auto row_of = [&](std::uint32_t row) -> HeldBytes {
      const std::uint64_t at = tile.at + row * p.row_step;
      return {.begin = at, .end = at + tile.row_bytes, .place = tile.place + row * p.pitch};
    };
    FARO_NO_UNROLL
    for (std::uint32_t first = 0; first < all; first += at_a_time * kInPlaceThreads) {
      HeldVector vectors[at_a_time];
      FARO_UNROLL
      for (int k = 0; k < at_a_time; ++k) {
        std::uint32_t slot = first + static_cast<std::uint32_t>(k) * kInPlaceThreads + thread;
        if (slot >= all) continue;
        const std::uint32_t row = p.load_slots.divide(slot);
        vectors[k] = HeldVector(row_of(row), slot);
      }
      hold_vectors(memory, vectors);
    }
    if constexpr (unit_bytes < kMovedBytes) {
      FARO_NO_UNROLL
      for (std::uint32_t first = 0; first < 2 * tile.rows; first += kInPlaceThreads) {
        const std::uint32_t end = first + thread;
        if (end < 2 * tile.rows) hold_end<unit_bytes>(memory, row_of(end / 2), end % 2);
        device::converge(memory);
      }
    }
    tile = pair.tile[1];
  }
}

/// Phase 2: each transposed, to where the other was.
template <int unit_bytes, MovedElements as, device::Memory Memory>
constexpr void store_exchange(Memory& memory, const SquaresParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  static_assert(as != MovedElements::in_order);
  constexpr bool several = as == MovedElements::several;
  constexpr int units = kMovedBytes / unit_bytes;
  const SquarePair pair = square_pair(p, block);
  const std::uint32_t near = 1U << p.near_bits;
  const std::uint32_t lane = thread & (near - 1);
  const std::uint32_t element = several ? pair.element_bytes : unit_bytes;
  const bool parted = several && p.parts.divisor() > 1;
  SquareTile to = pair.tile[1];
  SquareTile from = pair.tile[0];
  FARO_NO_UNROLL
  for (int i = 0; i < (pair.own_image ? 1 : 2); ++i) {
    const SquareTile other = to;  // values that change places: arrays that are indexed would be memory
    to = from;
    from = other;
    const std::uint32_t all = ((to.rows + near - 1) >> p.near_bits) * p.store_slots.divisor();
    const std::uint32_t step = kInPlaceThreads >> p.near_bits;
    const auto from_skew = static_cast<std::uint32_t>(from.at);
    const auto from_step = static_cast<std::uint32_t>(p.row_step);
    FARO_NO_UNROLL
    for (std::uint32_t first = 0; first < all; first += step) {
      std::uint32_t slot = first + (thread >> p.near_bits);
      const std::uint32_t row = (p.store_slots.divide(slot) << p.near_bits) + lane;
      const std::uint64_t begin = to.at + row * p.row_step;
      const std::uint64_t at = begin / kSquareSector * kSquareSector + std::uint64_t{slot} * kMovedBytes;
      const auto vector_at = static_cast<std::int32_t>(at - begin);  // less than 0 of a first one
      const auto end = static_cast<std::int32_t>(to.row_bytes);
      const bool has = row < to.rows && vector_at < end && vector_at > -kMovedBytes;
      device::Packet<kMovedBytes> moved{};
      // The place of a unit within the row: its element, and where that is in the row of its own.
      const auto place_of = [&](std::uint32_t byte) -> std::uint32_t {
        std::uint32_t within = byte;
        std::uint32_t column = 0;
        if constexpr (several) {
          if (!parted) column = p.element.divide(within);
        } else {
          column = within / unit_bytes;
          within = 0;
        }
        std::uint32_t ahead = row;  // elements
        if (p.together > 1) ahead += p.columns.divide(column) * p.columns.divisor();
        return from.place + column * p.pitch + (from_skew + column * from_step) % kMovedBytes +
               ahead * element + within;
      };
      FARO_UNROLL
      for (int k = 0; k < units; ++k) {
        const std::int32_t byte = vector_at + k * unit_bytes;
        if (has && byte >= 0 && byte < end) {
          device::insert(moved, k,
                         memory.template load_shared<unit_bytes>(place_of(static_cast<std::uint32_t>(byte))));
        } else {
          device::idle(memory);
        }
      }
      const bool whole = has && vector_at >= 0 && vector_at + kMovedBytes <= end;
      if (whole) {
        memory.template store_global<kMovedBytes>(device::kOutput, at, moved);
      } else {
        device::idle(memory);
      }
      if constexpr (unit_bytes < kMovedBytes) {
        if (has && !whole) {
          const std::int32_t low = vector_at < 0 ? -vector_at : 0;
          const std::int32_t high = end - vector_at < kMovedBytes ? end - vector_at : kMovedBytes;
          store_part<unit_bytes>(memory, at, moved, static_cast<std::uint32_t>(low),
                                 static_cast<std::uint32_t>(high));
        } else {
          idle_times(memory, store_part_steps(unit_bytes));
        }
      }
    }
  }
}

}  // namespace faro::kernels
