// Any permutation of axes through shared memory: a tile is read in runs of the input and written in runs of
// the output, as a rule both at least 128 bytes long where the array has as many.
//
//     in    5 x 8, tile 4 x 4             out   8 x 5
//     a0 a1 a2 a3 | a4 ...     rows of    a0 b0 c0 d0 | e0        phase 1   list the tile's runs: where each
//     b0 b1 b2 b3 | b4 ...     4 units    a1 b1 c1 d1 | e1                  begins, how long it is
//     c0 c1 c2 c3 | c4 ...     each       a2 b2 c2 d2 | e2        phase 2   input to shared memory
//     d0 d1 d2 d3 | d4 ...                a3 b3 c3 d3 | e3        phase 3   shared memory to output
//     ------------+-------                ------------+---
//     e0 e1 e2 e3 | e4 ...                ...                     short tiles at the ends have short runs
//
// Tiles are boxes of any number of axes (layout/axes_tile.hpp). What differs from row to row is in the list,
// a row an entry of 16 bytes in shared memory; what differs from lane to lane, a place in the run and the
// unit's place in shared memory, is worked out once a thread, by division; so the loops over rows have a few
// instructions an access, whatever the axes are.
//
//     block   -> tile    digits of the tile's number, one a grid axis; the last tile of an axis may be short
//     row     -> entry   digits of the row's number: {begin, length, place in shared memory}
//     thread  -> slot, group     slots of a vector in a run; groups of lanes take rows in turn
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "faro/device/packet.hpp"
#include "kernels/axes_rows.hpp"

namespace faro::kernels {

inline constexpr int kAxesTileThreads = 256;
inline constexpr int kAxesTileDigits = 16;  // of a tile of at most 2^15 units, and one that is cut
inline constexpr int kAxesRowBytes = 16;    // an entry of the list
inline constexpr int kNoClip = -1;

/// One side of the tile.
struct AxesTileSide {
  struct RunDigit {
    device::Division32 extent;
    std::uint32_t shared;  // stride, in units
  };
  struct RowDigit {
    device::Division32 extent;
    std::uint32_t shared;
    std::uint64_t stride;  // in the array, in units
    std::uint32_t step;    // of the axis's coordinate; 0 unless it is the run's axis that the digit cuts
    std::int32_t clip;     // which of the limits bounds it
  };
  RunDigit run[kAxesTileDigits];  // fastest first
  RowDigit row[kAxesTileDigits];
  std::int32_t run_digits;
  std::int32_t row_digits;
  std::uint32_t rows;
  std::uint32_t inner;         // units of a step of the run's last digit
  std::uint32_t run_part;      // its extent, at most
  std::uint32_t run_whole;     // what the tile holds of its axis
  std::int32_t run_clip;       // which limit bounds that
  std::uint32_t groups;        // rows at a time
  std::int32_t whole_sectors;  // whether runs begin and end at sectors of an array that does
  device::Division32 slots;    // vectors of a run
};

struct AxesTileParams {
  /// An axis along which there are several tiles, the output's fastest first.
  struct GridAxis {
    device::Division64 tiles;
    std::uint64_t in_step;  // from tile to tile, in units
    std::uint64_t out_step;
    std::uint64_t extent;
    std::uint32_t tile;
    std::int32_t clip;  // the limit that it sets where the last tile is short
  };
  GridAxis grid[kMostAxes];
  AxesTileSide in;
  AxesTileSide out;
  std::int32_t grid_axes;
  std::uint32_t list;  // where the rows' entries begin in shared memory, in bytes
  std::uint64_t first_tile;
  std::uint64_t tiles;

  constexpr std::uint32_t shared_bytes() const { return list + (in.rows + out.rows) * kAxesRowBytes; }
};
static_assert(sizeof(AxesTileParams) <= 4096, "kernel parameters are at most 4 KiB");

struct AxesTileRow {
  std::uint64_t begin;   // in the array, in units
  std::uint32_t units;   // 0: beyond the array's end
  std::uint32_t shared;  // of its first unit, in units

  constexpr device::Packet<16> packet() const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin >> 32), units, shared};
  }
  static constexpr AxesTileRow of(const device::Packet<16>& packet) {
    return {.begin = std::uint64_t{packet.unit[1]} << 32 | packet.unit[0],
            .units = packet.unit[2],
            .shared = packet.unit[3]};
  }
};

/// Where a tile begins, and how much of the two axes that may be short it holds.
struct AxesTileOrigin {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint32_t limit[2] = {0, 0};
};

constexpr AxesTileOrigin axes_tile_origin(const AxesTileParams& p, std::uint64_t tile) {
  AxesTileOrigin origin;
  FARO_NO_UNROLL
  for (int a = 0; a < p.grid_axes; ++a) {
    const AxesTileParams::GridAxis& axis = p.grid[a];
    std::uint64_t digit = tile;
    tile = axis.tiles.divide(digit);
    origin.in += digit * axis.in_step;
    origin.out += digit * axis.out_step;
    const std::uint64_t left = axis.extent - digit * axis.tile;
    const std::uint32_t limit = left < axis.tile ? static_cast<std::uint32_t>(left) : axis.tile;
    if (axis.clip == 0) origin.limit[0] = limit;
    if (axis.clip == 1) origin.limit[1] = limit;
  }
  return origin;
}

constexpr AxesTileRow axes_tile_row(const AxesTileSide& side, const AxesTileOrigin& origin,
                                    std::uint64_t begin, std::uint32_t row) {
  const auto limit_of = [&origin](std::int32_t clip) {
    return clip == 0 ? origin.limit[0] : origin.limit[1];
  };
  std::uint32_t left = side.run_clip == kNoClip ? side.run_whole : limit_of(side.run_clip);
  bool inside = true;
  std::uint32_t shared = 0;
  FARO_NO_UNROLL
  for (int d = 0; d < side.row_digits; ++d) {
    const AxesTileSide::RowDigit& digit = side.row[d];
    std::uint32_t value = row;
    row = digit.extent.divide(value);
    begin += value * digit.stride;
    shared += value * digit.shared;
    const std::uint32_t cut = value * digit.step;
    left = left > cut ? left - cut : 0;
    inside = inside && (digit.clip == kNoClip || value < limit_of(digit.clip));
  }
  const std::uint32_t part = left < side.run_part ? left : side.run_part;
  return {.begin = begin, .units = inside ? part * side.inner : 0, .shared = shared};
}

/// Where unit `unit` of a run is in shared memory, from the run's first, in units.
constexpr std::uint32_t axes_tile_place(const AxesTileSide& side, std::uint32_t unit) {
  std::uint32_t place = 0;
  FARO_NO_UNROLL
  for (int d = 0; d < side.run_digits; ++d) {
    std::uint32_t digit = unit;
    unit = side.run[d].extent.divide(digit);
    place += digit * side.run[d].shared;
  }
  return place;
}

/// Rows that a thread has under way at a time, so that enough is under way on the whole machine.
constexpr int axes_tile_unroll(int access_bytes) { return access_bytes == 16 ? 4 : 8; }

/// Phase 1: the list of rows. Requires: block < tiles - first_tile, thread < kAxesTileThreads.
template <device::Memory Memory>
constexpr void list_axes_rows(Memory& memory, const AxesTileParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  const std::uint32_t rows = p.in.rows + p.out.rows;
  if (thread >= rows) return;
  const AxesTileOrigin origin = axes_tile_origin(p, p.first_tile + block);
  FARO_NO_UNROLL
  for (std::uint32_t row = thread; row < rows; row += kAxesTileThreads) {
    const bool of_input = row < p.in.rows;
    const AxesTileSide& side = of_input ? p.in : p.out;
    const AxesTileRow entry =
        axes_tile_row(side, origin, of_input ? origin.in : origin.out, of_input ? row : row - p.in.rows);
    memory.template store_shared<kAxesRowBytes>(p.list + row * kAxesRowBytes, entry.packet());
  }
}

/// Phase 2: runs of the input, a vector of `vector` units a lane, to shared memory.
template <int unit_bytes, int vector, device::Memory Memory>
constexpr void load_axes_tile(Memory& memory, const AxesTileParams& p, std::uint32_t thread) {
  constexpr int unroll = axes_tile_unroll(unit_bytes * vector);
  const AxesTileSide& side = p.in;
  std::uint32_t slot = thread;
  const std::uint32_t group = side.slots.divide(slot);
  if (group >= side.groups) return;
  const std::uint32_t first = slot * vector;
  std::uint32_t place[vector];
  FARO_UNROLL
  for (int k = 0; k < vector; ++k) place[k] = axes_tile_place(side, first + static_cast<std::uint32_t>(k));
  FARO_NO_UNROLL
  for (std::uint32_t base = group; base < side.rows; base += unroll * side.groups) {
    device::Packet<unit_bytes * vector> moved[unroll];
    std::uint32_t shared[unroll];
    bool has[unroll];
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * side.groups;
      has[i] = false;
      if (row >= side.rows) {
        idle_times(memory, 2);
        continue;
      }
      const AxesTileRow entry =
          AxesTileRow::of(memory.template load_shared<kAxesRowBytes>(p.list + row * kAxesRowBytes));
      if (first >= entry.units) {
        device::idle(memory);
        continue;
      }
      has[i] = true;
      shared[i] = entry.shared;
      moved[i] = memory.template load_global<unit_bytes * vector>(device::kInput,
                                                                  (entry.begin + first) * unit_bytes);
    }
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      FARO_UNROLL
      for (int k = 0; k < vector; ++k) {
        if (has[i]) {
          memory.template store_shared<unit_bytes>((shared[i] + place[k]) * unit_bytes,
                                                   unit_of<unit_bytes>(moved[i], k));
        } else {
          device::idle(memory);
        }
      }
    }
  }
}

/// Phase 3: runs of the output, from shared memory.
template <int unit_bytes, int vector, device::Memory Memory>
constexpr void store_axes_tile(Memory& memory, const AxesTileParams& p, std::uint32_t thread) {
  constexpr int unroll = axes_tile_unroll(unit_bytes * vector);
  const AxesTileSide& side = p.out;
  std::uint32_t slot = thread;
  const std::uint32_t group = side.slots.divide(slot);
  if (group >= side.groups) return;
  const std::uint32_t first = slot * vector;
  const std::uint32_t list = p.list + p.in.rows * kAxesRowBytes;
  std::uint32_t place[vector];
  FARO_UNROLL
  for (int k = 0; k < vector; ++k) place[k] = axes_tile_place(side, first + static_cast<std::uint32_t>(k));
  FARO_NO_UNROLL
  for (std::uint32_t base = group; base < side.rows; base += unroll * side.groups) {
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * side.groups;
      if (row >= side.rows) {
        idle_times(memory, vector + 2);
        continue;
      }
      const AxesTileRow entry =
          AxesTileRow::of(memory.template load_shared<kAxesRowBytes>(list + row * kAxesRowBytes));
      if (first >= entry.units) {
        idle_times(memory, vector + 1);
        continue;
      }
      device::Packet<unit_bytes * vector> moved{};
      FARO_UNROLL
      for (int k = 0; k < vector; ++k) {
        device::insert(moved, k,
                       memory.template load_shared<unit_bytes>((entry.shared + place[k]) * unit_bytes));
      }
      memory.template store_global<unit_bytes * vector>(device::kOutput, (entry.begin + first) * unit_bytes,
                                                        moved);
    }
  }
}

}  // namespace faro::kernels
