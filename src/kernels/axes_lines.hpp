// Transposes of any shape at any alignment: tiles whose every access is a vector of 16 bytes.
//
// A transpose reads the input's rows and writes the output's *lines* (of a matrix, its columns). In odd
// shapes neither begins at a vector. Rows are read as the vectors around each 16 bytes and joined in
// registers (moved_vector.hpp), so that rows in shared memory begin at vectors. A tile is what fills whole
// sectors of the output, and so its edge is ragged: each line is cut where *its* sectors begin.
//
//     input, 6 x 8                          output, 8 x 6, sectors of 4 units
//     a0 a1 a2 a3 a4 a5 a6 a7               a0 b0 c0 d0|e0 f0 a1 b1|c1 d1 e1 f1|a2 b2 ...
//     b0 b1 b2 ...                          =line 0=========  line 1: from the sector of a1 on, cut
//                                           before e1, where line 1's next sector begins
//
// Tile number t of a line covers the bytes from floor32(its begin) + t x tile_bytes on. Rows that come before
// t x tile_bytes in some line are read by two tiles, up to a sector of units: the halo. Every sector of the
// output is stored by one warp at once, but for those that two lines share.
//
//     form            input                        output                     shared memory
//     plane           rows, long                   lines, long                row r at r x pitch
//     few_columns     all rows, one stretch        some lines, long           as in the input
//     few_rows        some rows, long              all lines, one stretch     row r at r x pitch
//
// Planes of single units, the usual case, have a kernel of their own, whose sizes are constants
// (axes_plane.hpp); this file's walks a line's units by an odometer of two digits:
//
//     digit 0   units of an element (plane, few_columns), or rows (few_rows)
//     digit 1   rows, or columns
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kAxesLinesThreads = 256;
inline constexpr std::uint64_t kLineSector = 32;  // bytes: where lines are cut

enum class AxesLinesForm : std::int32_t { plane, few_columns, few_rows };

/// Where a byte of shared memory is kept: the 128 bytes of a line of banks are exchanged, words and all, by
/// bits of the line's number. Which bits, the host finds by counting, so that lanes meet in few banks
/// whatever distance they step by.
struct LinesExchange {
  std::uint32_t shift = 3;  // at least 3: of vectors only the line's number counts, of words the vector's
  std::uint32_t mask = 0;   // of 0x7c, less the bits within a unit

  constexpr std::uint32_t place(std::uint32_t address) const { return address ^ (address >> shift & mask); }
};

struct AxesLinesParams {
  /// Any other axis: the planes' own numbers.
  struct Axis {
    device::Division32 extent;
    std::uint64_t in_step;  // bytes
    std::uint64_t out_step;
  };
  AxesLinesForm form;
  ArrayBytes in;   // counted from an address that is aligned to 16
  ArrayBytes out;  // from one that is aligned to 32
  std::uint64_t
      in_first;  // from the array's begin to the byte with all coordinates 0: where axes are flipped
  std::uint64_t out_first;
  Axis axis[kMostAxes];
  std::int32_t axes;

  std::uint64_t steps;      // what tiles cut a line into: rows, or columns (few_rows)
  std::uint64_t columns;    // in elements
  std::uint64_t in_pitch;   // bytes from row to row of the input, modulo 2^64: rows may go backwards
  std::uint64_t out_pitch;  // from line to line, likewise
  std::uint64_t line_bytes;
  std::uint64_t step_bytes;        // from step to step in the input
  std::uint32_t rows;              // in shared memory, but for planes: all of them, or one
  std::uint32_t line_step_bytes;   // from step to step in a line
  std::uint32_t element_bytes;     // in a row
  std::uint32_t tile_steps;        // of a line in a tile
  std::uint32_t tile_columns;      // lines in a tile, but for few_rows
  std::uint32_t tile_bytes;        // of a line in a tile: whole sectors
  std::uint32_t halo;              // steps before the tile that it reads as well
  device::Division32 plane_tiles;  // tiles are numbered along the line within a band, then by column
  device::Division32 band_tiles;   // tiles of a whole band
  device::Division32 band;         // tiles of a line in a band
  device::Division32 last_band;
  std::uint32_t bands;
  std::uint64_t first_tile;
  std::uint64_t tiles;  // below 2^31

  // Shared memory.
  std::uint32_t pitch;           // bytes from row to row
  std::uint32_t shared_bytes;    // rows of a tile
  device::Division32 row_slots;  // vectors of a row
  device::Division32 line_slots;
  device::Division32 digit0;
  std::uint32_t stride0;
  std::uint32_t stride1;
  std::uint32_t line_stride;
  LinesExchange exchange;
};
static_assert(sizeof(AxesLinesParams) <= 4096, "kernel parameters are at most 4 KiB");

/// What a block moves: axes_lines_tile() of its number, which all of a block's phases are given.
struct AxesLinesTile {
  std::uint64_t in;         // the byte of the input where shared memory's first row begins
  std::uint64_t out;        // the byte of the output where the tile's first line begins: the whole line
  std::uint64_t cut;        // of each line: bytes before the tile
  std::uint32_t rows;       // in shared memory
  std::uint32_t row_bytes;  // of each
  std::uint32_t lines;
  std::int32_t before;  // bytes of a line in shared memory before the cut: of the halo
  std::int32_t low;     // the line's begin and end from the cut on; anything beyond where it is far away
  std::int32_t high;
  bool inner;  // whether rows may be read a vector further on either side
};

constexpr AxesLinesTile axes_lines_tile(const AxesLinesParams& p, std::uint64_t block) {
  AxesLinesTile result{};
  auto tile = static_cast<std::uint32_t>(p.first_tile + block);
  std::uint32_t number = p.plane_tiles.divide(tile);
  result.in = p.in.begin + p.in_first;
  result.out = p.out.begin + p.out_first;
  FARO_NO_UNROLL
  for (int a = 0; a < p.axes; ++a) {
    std::uint32_t digit = number;
    number = p.axis[a].extent.divide(digit);
    result.in += digit * p.axis[a].in_step;
    result.out += digit * p.axis[a].out_step;
  }
  const std::uint32_t band = p.band_tiles.divide(tile);
  std::uint32_t along = tile;
  const std::uint32_t across = band + 1 == p.bands ? p.last_band.divide(along) : p.band.divide(along);
  along += band * p.band.divisor();
  const std::uint64_t begin = std::uint64_t{along} * p.tile_steps;
  const std::uint32_t halo = begin < p.halo ? static_cast<std::uint32_t>(begin) : p.halo;
  // A line may end before the cut, its last sector after it: then even the halo has steps that are not there.
  const std::uint64_t left = p.steps - (begin - halo);
  const std::uint32_t steps =
      left < halo + p.tile_steps ? static_cast<std::uint32_t>(left) : halo + p.tile_steps;
  const std::uint64_t column = std::uint64_t{across} * p.tile_columns;
  const auto columns =
      static_cast<std::uint32_t>(p.columns - column < p.tile_columns ? p.columns - column : p.tile_columns);
  result.in += (begin - halo) * p.step_bytes;
  if (p.form == AxesLinesForm::plane) {
    result.in += column * p.element_bytes;
    result.out += column * p.out_pitch;
  }
  result.rows = p.form == AxesLinesForm::plane ? steps : p.rows;
  result.row_bytes = p.form == AxesLinesForm::plane ? columns * p.element_bytes
                                                    : steps * static_cast<std::uint32_t>(p.step_bytes);
  result.lines = columns;
  // Lines are at least as long as the halo and two sectors, or have but one tile.
  constexpr std::int32_t far = 1 << 30;
  result.cut = std::uint64_t{along} * p.tile_bytes;
  result.before = static_cast<std::int32_t>(halo * p.line_step_bytes);
  result.low = result.cut < static_cast<std::uint64_t>(far) ? -static_cast<std::int32_t>(result.cut) : -far;
  const auto rest = static_cast<std::int64_t>(p.line_bytes - result.cut);
  result.high = rest < far ? static_cast<std::int32_t>(rest) : far;
  const std::uint64_t last = result.in + (result.rows - 1) * p.in_pitch;
  const std::uint64_t low = last < result.in ? last : result.in;
  const std::uint64_t end = (last < result.in ? result.in : last) + result.row_bytes;
  result.inner =
      (p.in.begin == 0 || low >= p.in.begin + kMovedBytes) && end + (3 * kMovedBytes - 1) <= p.in.end;
  return result;
}

template <int unit_bytes>
struct LinesLayout {
  LinesExchange exchange;

  /// A vector of row bytes.
  template <typename Memory>
  constexpr void store(Memory& memory, std::uint32_t address, device::Packet<16> vector) const {
    const std::uint32_t place = exchange.place(address);
    device::exchange_units<(unit_bytes <= 4 ? 0 : unit_bytes == 8 ? 1 : 2)>(vector, place >> 2 & 3);
    memory.template store_shared<16>(place & ~15U, vector);
  }
};

struct RowSlot {
  std::uint32_t row = 0;
  std::uint32_t byte = 0;  // of the row: a vector begins there
};

/// The vectors of rows, dealt to threads in turn: number `i` of a thread's.
struct LinesSlots {
  device::Division32 slots;  // of a row

  constexpr RowSlot at(std::uint32_t thread, std::uint32_t i) const {
    RowSlot slot{.row = 0, .byte = thread + i * kAxesLinesThreads};
    slot.row = slots.divide(slot.byte);
    slot.byte *= kMovedBytes;
    return slot;
  }
};

/// A vector of row bytes near the array's begin or end: joined where it can be, else unit by unit.
template <int unit_bytes, device::Memory Memory>
constexpr device::Packet<16> load_at_end(Memory& memory, const AxesLinesParams& p, std::uint64_t at) {
  constexpr int units = kMovedBytes / unit_bytes;
  const std::uint64_t by = at % kMovedBytes;
  if (at - by >= p.in.begin && at - by + kMovedBytes + kMovedBytes <= p.in.end) {
    const auto vector = memory.template load_global<16>(device::kInput, at - by);
    device::Packet<16> next{};  // of whole vectors none, which a compiler leaves out
    if constexpr (units > 1) {
      next = memory.template load_global<16>(device::kInput, at - by + kMovedBytes);
    } else {
      device::idle(memory);
    }
    idle_times(memory, units);
    return join<unit_bytes>(vector, next, static_cast<std::uint32_t>(by));
  }
  idle_times(memory, 2);
  UnitQueue queue;
  FARO_NO_UNROLL
  for (int k = 0; k < units; ++k) {
    const std::uint64_t from = at + static_cast<std::uint64_t>(k * unit_bytes);
    device::Packet<unit_bytes> unit{};
    if (from < p.in.end) {
      unit = memory.template load_global<unit_bytes>(device::kInput, from);
    } else {
      device::idle(memory);
    }
    queue.template push<unit_bytes>(unit);
  }
  return queue.vector();
}

/// Vectors that a thread reads before it stores the first.
inline constexpr std::uint32_t kLinesUnroll = 4;

/// Reads the tile's rows to shared memory. `aligned`: rows begin at vectors, of the input too.
template <int unit_bytes, bool aligned, device::Memory Memory, typename Slots, typename Layout>
constexpr void load_lines_rows(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                               std::uint32_t pitch, const Slots& slots, const Layout& layout,
                               std::uint32_t thread) {
  // Aligned rows end with the array, or before it.
  if (!aligned && !tile.inner) {
    FARO_NO_UNROLL
    for (std::uint32_t i = 0; slots.at(thread, i).row < tile.rows; ++i) {
      const RowSlot slot = slots.at(thread, i);
      if (slot.byte >= tile.row_bytes) {
        idle_times(memory, kMovedBytes / unit_bytes + 3);
        continue;
      }
      const auto vector = load_at_end<unit_bytes>(memory, p, tile.in + slot.row * p.in_pitch + slot.byte);
      layout.store(memory, slot.row * pitch + slot.byte, vector);
    }
    return;
  }
  FARO_NO_UNROLL
  for (std::uint32_t base = 0; slots.at(thread, base).row < tile.rows; base += kLinesUnroll) {
    device::Packet<16> vector[kLinesUnroll];
    device::Packet<16> next[kLinesUnroll];
    std::uint32_t by[kLinesUnroll];
    bool has[kLinesUnroll];
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kLinesUnroll; ++i) {
      const RowSlot slot = slots.at(thread, base + i);
      const std::uint64_t at = tile.in + slot.row * p.in_pitch + slot.byte;
      has[i] = slot.row < tile.rows && slot.byte < tile.row_bytes;
      by[i] = static_cast<std::uint32_t>(at % kMovedBytes);
      if (has[i]) {
        vector[i] = memory.template load_global<16>(device::kInput, at - by[i]);
        if (!aligned && by[i] != 0) {
          next[i] = memory.template load_global<16>(device::kInput, at - by[i] + kMovedBytes);
        } else if (!aligned) {
          device::idle(memory);
        }
      } else {
        idle_times(memory, aligned ? 1 : 2);
      }
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kLinesUnroll; ++i) {
      if (!has[i]) {
        device::idle(memory);
        continue;
      }
      const RowSlot slot = slots.at(thread, base + i);
      if constexpr (!aligned) vector[i] = join<unit_bytes>(vector[i], next[i], by[i]);
      layout.store(memory, slot.row * pitch + slot.byte, vector[i]);
    }
  }
}

/// Which part of a line a vector of output is.
struct LineVector {
  std::uint64_t at = 0;     // in the output
  std::int32_t within = 0;  // bytes from the cut on: below 0 where the line's sector begins before it
  bool whole = false;
  bool some = false;
};

constexpr LineVector line_vector(const AxesLinesParams& p, const AxesLinesTile& tile, std::uint32_t line,
                                 std::uint32_t byte) {
  LineVector v;
  const std::uint64_t begin = tile.out + line * p.out_pitch;
  const auto over = static_cast<std::uint32_t>(begin % kLineSector);
  v.at = begin - over + tile.cut + byte;
  v.within = static_cast<std::int32_t>(byte - over);
  v.some = line < tile.lines && v.within < tile.high && v.within + kMovedBytes > tile.low;
  v.whole = line < tile.lines && v.within >= tile.low && v.within + kMovedBytes <= tile.high;
  return v;
}

/// The units of a vector that a line's begin or end cuts, one by one. `place_of(byte)`: where a byte of the
/// line is in shared memory, counted from what that holds of it.
template <int unit_bytes, device::Memory Memory, typename PlaceOf>
constexpr void store_cut_vector(Memory& memory, const AxesLinesTile& tile, const LineVector& v,
                                const PlaceOf& place_of) {
  FARO_NO_UNROLL
  for (int k = 0; k < kMovedBytes; k += unit_bytes) {
    const std::int32_t byte = v.within + k;
    if (!v.some || byte < tile.low || byte >= tile.high) {
      idle_times(memory, 2);
      continue;
    }
    const auto from = place_of(static_cast<std::uint32_t>(byte + tile.before));
    memory.template store_global<unit_bytes>(device::kOutput, v.at + static_cast<std::uint64_t>(k),
                                             memory.template load_shared<unit_bytes>(from));
  }
}

/// Phase 1 of any form.
template <int unit_bytes, device::Memory Memory>
constexpr void load_axes_lines(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                               std::uint32_t thread) {
  load_lines_rows<unit_bytes, false>(memory, p, tile, p.pitch, LinesSlots{.slots = p.row_slots},
                                     LinesLayout<unit_bytes>{.exchange = p.exchange}, thread);
}

/// Phase 2 of any form.
template <int unit_bytes, device::Memory Memory>
constexpr void store_axes_lines(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                std::uint32_t thread) {
  constexpr int units = kMovedBytes / unit_bytes;
  const std::uint32_t all = tile.lines * p.line_slots.divisor();
  const std::uint32_t wrap = p.stride1 - p.digit0.divisor() * p.stride0;
  const bool plain = p.exchange.mask == 0 && p.digit0.divisor() == 1;  // one step, from unit to unit
  FARO_NO_UNROLL
  for (std::uint32_t base = thread; base < all; base += kAxesLinesThreads) {
    std::uint32_t slot = base;
    const std::uint32_t line = p.line_slots.divide(slot);
    const LineVector v = line_vector(p, tile, line, slot * kMovedBytes);
    // The place of a byte of the line; its digit 0 as well.
    const auto place_of = [&](std::uint32_t byte, std::uint32_t& digit) {
      digit = byte / unit_bytes;
      const std::uint32_t rest = p.digit0.divide(digit);
      return digit * p.stride0 + rest * p.stride1 + line * p.line_stride;
    };
    if (v.whole) {
      std::uint32_t digit = 0;
      std::uint32_t place = place_of(static_cast<std::uint32_t>(v.within + tile.before), digit);
      device::Packet<16> vector{};
      if (plain) {
        FARO_UNROLL
        for (int k = 0; k < units; ++k) {
          device::insert(vector, k, memory.template load_shared<unit_bytes>(place));
          place += p.stride1;
        }
      } else {
        FARO_UNROLL
        for (int k = 0; k < units; ++k) {
          device::insert(vector, k, memory.template load_shared<unit_bytes>(p.exchange.place(place)));
          place += p.stride0;
          if (++digit == p.digit0.divisor()) {
            digit = 0;
            place += wrap;
          }
        }
      }
      memory.template store_global<16>(device::kOutput, v.at, vector);
      idle_times(memory, 2 * units);
      continue;
    }
    idle_times(memory, units + 1);
    store_cut_vector<unit_bytes>(memory, tile, v, [&](std::uint32_t byte) {
      std::uint32_t digit = 0;
      return p.exchange.place(place_of(byte, digit));
    });
  }
}

}  // namespace faro::kernels
