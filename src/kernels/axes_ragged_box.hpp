// Ragged boxes of axes: rows that begin anywhere, moved by vectors that begin where the arrays' own do.
//
//     input    | . . . a | a a a a | a a . . |      a row of 7 units that begins 3 past a vector: three
//                0 1 2 3   0 1 2 3   0 1 2 3        vectors are copied to shared memory, neighbours and all
//     shared   | . . . a | a a a a | a a . . |      it lies as far past a vector there, as
//     layout/strided_box.hpp
//                                                   sees to for all rows of the box
//     output   | . c c c | c c c c | c . . . |      vectors of the output are put together unit by unit, and
//                                                   written whole, but for a run's first and last
//
// Lanes begin where a run's first sector does, so that a warp writes whole sectors of it. The units of a
// thread's vector are therefore others in every row: those from `slot * vector - past` on, where the row
// begins `past` units after a sector. The places of all that it may be are read once from a list that the
// block makes, and each row selects those it needs:
//
//     place of unit     4 slot - 7 ... 4 slot + 3       past = 5:  those from 4 slot - 5 on
//     select by 4, 2, 1                                            2 = 0b010 steps up: past the first two
//
// A sector that two runs of the output share is written whole, by the box where it begins. That box reads the
// halo: the first rows of the next box along the output, as many as a sector has units but one. Runs follow
// on along a chain of axes with carries, as digits of a number do; a box at the end of the whole chain writes
// what it has of its last sector, and one at its beginning what it has of its first.
//
//     runs         box 0: a a a a a a a a a a a | box 1: b b b b b b b b b b b | box 2
//     sectors      |       0       |       1       |       2       |   ...
//     written by   |     box 0     |     box 0     |     box 1     |
//
// An input's first and last vector may reach past the array. They are read unit by unit.
#pragma once

#include <cstdint>

#include "kernels/axes_box.hpp"
#include "kernels/stored_part.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kPlaceBytes = 2;  // of an entry of the list of places
inline constexpr int kRaggedSector = 32;

/// Units of the output that lanes begin at a multiple of: of a sector; of 8 bytes in vectors of 8.
template <BoxShape shape>
inline constexpr int ragged_grain =
    shape.out_vector* shape.unit_bytes < kMovedBytes ? shape.out_vector : kRaggedSector / shape.unit_bytes;

/// What all threads of a box have in common, worked out by one of them and kept in shared memory.
struct RaggedBox {
  std::uint64_t in = 0;  // where the box begins
  std::uint64_t out = 0;
  std::uint64_t next_in = 0;  // where the next one along the output does
  std::uint32_t limit[2] = {1, 1};
  std::uint32_t shared_ends = 0;  // bit 0: the box before writes a run's first sector; bit 1: this the last

  constexpr bool head() const { return (shared_ends & 1) != 0; }
  constexpr bool tail() const { return (shared_ends & 2) != 0; }
  constexpr std::uint32_t cut(std::uint32_t step, std::int32_t by) const {
    return by == kBoxUncut ? step : step * (by == 0 ? limit[0] : limit[1]);
  }
};
inline constexpr std::uint32_t kRaggedBoxBytes = 48;  // of shared memory, before the list of places

constexpr RaggedBox ragged_box(const AxesBoxParams& p, std::uint64_t block) {
  const BoxOrigin origin = box_origin(p, block);
  RaggedBox box{.in = origin.in, .out = origin.out, .next_in = origin.in};
  box.limit[0] = origin.limit[0];
  box.limit[1] = origin.limit[1];
  std::uint64_t tile = p.first_tile + block;
  FARO_NO_UNROLL
  for (std::int32_t a = 0; a < p.chain_axes; ++a) {
    const AxesBoxParams::GridAxis& axis = p.grid[a];
    const std::uint64_t digit = grid_digit(axis, tile);
    if (digit > 0) box.shared_ends |= 1;
    if (box.tail()) continue;
    const bool goes_on = digit + 1 < axis.count;
    if (goes_on) box.shared_ends |= 2;
    const std::uint64_t steps = goes_on ? 1 : ~digit + 1;  // or back to 0, with a carry
    box.next_in += steps * static_cast<std::uint64_t>(axis.in_step);
  }
  return box;
}

template <device::Memory Memory>
constexpr void keep_ragged_box(Memory& memory, std::uint32_t at, const RaggedBox& box) {
  const auto halves = [](std::uint64_t low, std::uint64_t high) {
    return device::Packet<16>{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                              static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  };
  memory.template store_shared<16>(at, halves(box.in, box.out));
  memory.template store_shared<16>(at + 16, halves(box.next_in, box.shared_ends));
  memory.template store_shared<8>(at + 32, {box.limit[0], box.limit[1]});
}

template <device::Memory Memory>
constexpr RaggedBox kept_ragged_box(Memory& memory, std::uint32_t at) {
  const auto both = memory.template load_shared<16>(at);
  const auto next = memory.template load_shared<16>(at + 16);
  const auto limit = memory.template load_shared<8>(at + 32);
  const auto whole = [](std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; };
  RaggedBox box{.in = whole(both.unit[0], both.unit[1]),
                .out = whole(both.unit[2], both.unit[3]),
                .next_in = whole(next.unit[0], next.unit[1])};
  box.shared_ends = next.unit[2];
  box.limit[0] = limit.unit[0];
  box.limit[1] = limit.unit[1];
  return box;
}

/// Phase 1: what a box's threads share, and the list of places. Requires: block < tiles - first_tile,
/// thread < kBoxThreads.
template <device::Memory Memory>
constexpr void prepare_ragged_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  if (thread == 0) {
    keep_ragged_box(memory, p.run_places, ragged_box(p, block));
  } else {
    idle_times(memory, 3);
  }
  device::converge(memory);
  // From the last thread on, so that the first has the least to do.
  FARO_NO_UNROLL
  for (std::uint32_t j = kBoxThreads - 1 - thread; j < p.out.units; j += kBoxThreads) {
    const BoxPoint point = box_point(p.out.run, p.out.run_digits, j);
    memory.template store_shared<kPlaceBytes>(p.run_places + kRaggedBoxBytes + j * kPlaceBytes,
                                              {static_cast<std::uint16_t>(point.place)});
  }
}

/// A vector of the input that there is only a part of.
template <BoxShape shape, device::Memory Memory>
constexpr void copy_ragged_end(Memory& memory, const AxesBoxParams& p, std::uint64_t at,
                               std::uint32_t place) {
  constexpr int unit = shape.unit_bytes;
  FARO_NO_UNROLL
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(shape.in_vector); ++k) {
    if (at + k < p.in_begin || at + k >= p.in_end) {
      idle_times(memory, 2);
      continue;
    }
    memory.template store_shared<unit>((place + k) * unit,
                                       memory.template load_global<unit>(device::kInput, (at + k) * unit));
  }
}

/// Phase 2: runs of the input to shared memory.
template <BoxShape shape, device::Memory Memory>
constexpr void load_ragged_box(Memory& memory, const AxesBoxParams& p, std::uint32_t thread) {
  constexpr int unit = shape.unit_bytes;
  constexpr std::uint32_t vector = shape.in_vector;
  constexpr bool copies = box_copies<Memory>;
  constexpr int unroll = 4;
  static_assert(unit * shape.in_vector == kMovedBytes);
  std::uint32_t slot = thread;
  const std::uint32_t group = p.in.slots.divide(slot);
  if (group >= p.in.groups) return;
  const RaggedBox box = kept_ragged_box(memory, p.run_places);
  const std::uint32_t base_place = static_cast<std::uint32_t>(box.in) % vector;
  const std::uint32_t halo_place = p.halo_place + static_cast<std::uint32_t>(box.next_in) % vector;
  const std::uint32_t units = box.cut(p.in.slots_step, p.in.slots_cut);
  const std::uint32_t own = box.cut(p.in.rows_step, p.in.rows_cut);
  const std::uint32_t rows = own + (box.tail() ? p.halo : 0);
  const BoxRow* const row_of = p.row + p.in.first_row;
  const std::uint32_t along = slot * vector;  // units of the run, from a vector's begin on
  FARO_NO_UNROLL
  for (std::uint32_t base = group; base < rows; base += unroll * p.in.groups) {
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * p.in.groups;
      BoxRow entry{};
      if (row < rows) entry = row_of[row < own ? row : row - own];
      const std::uint64_t begin = (row < own ? box.in : box.next_in) + entry.at();
      const std::uint32_t past = static_cast<std::uint32_t>(begin) % vector;
      const bool has = row < rows && along < units + past;
      const std::uint64_t at = begin - past + along;
      const std::uint32_t place = (row < own ? base_place : halo_place) + entry.place() - past + along;
      const bool whole = at >= p.in_begin && at + vector <= p.in_end;
      if (has && whole) {
        if constexpr (copies) {
          memory.template copy_to_shared<kMovedBytes>(device::kInput, at * unit, place * unit);
        } else {
          memory.template store_shared<kMovedBytes>(
              place * unit, memory.template load_global<kMovedBytes>(device::kInput, at * unit));
        }
      } else {
        idle_times(memory, 2);
      }
      if (has && !whole) {
        copy_ragged_end<shape>(memory, p, at, place);
      } else {
        idle_times(memory, 2 * shape.in_vector);
      }
    }
  }
}

/// The units of a run, low .. high - 1 of a vector of output.
template <BoxShape shape, device::Memory Memory>
constexpr void store_ragged_part(Memory& memory, std::uint64_t at,
                                 const device::Packet<shape.unit_bytes * shape.out_vector>& moved,
                                 std::uint32_t low, std::uint32_t high) {
  constexpr int unit = shape.unit_bytes;
  if constexpr (unit * shape.out_vector == kMovedBytes) {
    store_part<unit>(memory, at, moved, low * unit, high * unit);
  } else {
    static_assert(unit * shape.out_vector == 8);
    const auto half = static_cast<std::uint32_t>(at % kMovedBytes);  // 0 or 8
    const device::Packet<kMovedBytes> both{moved.unit[0], moved.unit[1], moved.unit[0], moved.unit[1]};
    store_part<unit>(memory, at - half, both, half + low * unit, half + high * unit);
  }
}

/// Phase 3: shared memory to runs of the output.
template <BoxShape shape, device::Memory Memory>
constexpr void store_ragged_box(Memory& memory, const AxesBoxParams& p, std::uint32_t thread) {
  constexpr int unit = shape.unit_bytes;
  constexpr int vector = shape.out_vector;
  constexpr int grain = ragged_grain<shape>;
  constexpr int unroll = vector <= 4 ? 2 : 1;
  const std::uint32_t near = 1U << p.near_bits;
  std::uint32_t slot = thread >> p.near_bits;
  const std::uint32_t group = p.out.slots.divide(slot);
  if (group >= p.out.groups) return;
  const RaggedBox box = kept_ragged_box(memory, p.run_places);
  const auto units = static_cast<std::int32_t>(box.cut(p.out.slots_step, p.out.slots_cut));
  const std::int32_t listed = units + (box.tail() ? static_cast<std::int32_t>(p.halo) : 0);
  const std::uint32_t rows = box.cut(p.out.rows_step, p.out.rows_cut);
  const std::uint32_t base_place = static_cast<std::uint32_t>(box.in) % shape.in_vector;
  const std::uint32_t halo_place = p.halo_place + static_cast<std::uint32_t>(box.next_in) % shape.in_vector;
  const auto begin = static_cast<std::int32_t>(slot) * vector;
  std::uint32_t all[grain + vector - 1];  // bytes, of units begin - (grain - 1) on
  FARO_UNROLL
  for (int m = 0; m < grain + vector - 1; ++m) {
    std::int32_t j = begin + m - (grain - 1);
    j = j < 0 ? 0 : j < listed ? j : listed - 1;
    const auto listed_at = static_cast<std::uint32_t>(j < units ? j : j - units) * kPlaceBytes;
    const auto entry = memory.template load_shared<kPlaceBytes>(p.run_places + kRaggedBoxBytes + listed_at);
    all[m] = (entry.unit[0] + (j < units ? base_place : halo_place)) * unit;
  }
  const BoxRow* const row_of = p.row + p.out.first_row;
  const std::uint32_t step = p.out.groups << p.near_bits;
  FARO_NO_UNROLL
  for (std::uint32_t base = (group << p.near_bits) + (thread & (near - 1)); base < rows;
       base += unroll * step) {
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * step;
      BoxRow entry{};
      if (row < rows) entry = row_of[row];
      const std::uint64_t row_at = box.out + entry.at();
      const auto past = static_cast<std::int32_t>(row_at % grain);
      const std::int32_t first = begin - past;
      // The units of the run that the box writes: from a sector on, to a sector's end, where others share it.
      const std::int32_t low = box.head() ? (grain - past) % grain : 0;
      const std::int32_t high = box.tail() ? units + (grain - (past + units) % grain) % grain : units;
      const bool has = row < rows && first < high && first + vector > low;
      std::uint32_t place[grain + vector - 1];
      FARO_UNROLL
      for (int m = 0; m < grain + vector - 1; ++m) place[m] = all[m];
      const int up = grain - 1 - past;
      FARO_UNROLL
      for (int by = grain / 2; by > 0; by /= 2) {
        FARO_UNROLL
        for (int m = 0; m < vector + by - 1; ++m) place[m] = (up & by) != 0 ? place[m + by] : place[m];
      }
      const std::uint32_t from = entry.place() * unit;
      device::Packet<unit * vector> moved{};
      FARO_UNROLL
      for (int k = 0; k < vector; ++k) {
        if (has) {
          device::insert(moved, k, memory.template load_shared<unit>(from + place[k]));
        } else {
          device::idle(memory);
        }
      }
      const std::uint64_t at = (row_at + static_cast<std::uint64_t>(std::int64_t{first})) * unit;
      const bool whole = first >= low && first + vector <= high;
      if (has && whole) {
        memory.template store_global<unit * vector>(device::kOutput, at, moved);
      } else {
        device::idle(memory);
      }
      if (has && !whole) {
        const std::int32_t left = high - first;
        store_ragged_part<shape>(memory, at, moved, static_cast<std::uint32_t>(first < low ? low - first : 0),
                                 static_cast<std::uint32_t>(left < vector ? left : vector));
      } else {
        idle_times(memory, store_part_steps(unit));
      }
    }
  }
}

/// The phases of either kind of box: a barrier after each, of the first where there is one.
template <BoxShape shape, device::Memory Memory>
constexpr void prepare_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                           std::uint32_t thread) {
  if constexpr (shape.ragged) prepare_ragged_box(memory, p, block, thread);
}
template <BoxShape shape, device::Memory Memory>
constexpr void read_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block, std::uint32_t thread) {
  if constexpr (shape.ragged) {
    load_ragged_box<shape>(memory, p, thread);
  } else {
    load_box<shape>(memory, p, block, thread);
  }
}
template <BoxShape shape, device::Memory Memory>
constexpr void write_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block, std::uint32_t thread) {
  if constexpr (shape.ragged) {
    store_ragged_box<shape>(memory, p, thread);
  } else {
    store_box<shape>(memory, p, block, thread);
  }
}

}  // namespace faro::kernels
