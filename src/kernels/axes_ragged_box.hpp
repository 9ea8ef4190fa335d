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

/// Phase 1: the list of places, and runs of the input to shared memory.
/// Requires: block < tiles - first_tile, thread < kBoxThreads.
template <BoxShape shape, device::Memory Memory>
constexpr void load_ragged_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  constexpr int unit = shape.unit_bytes;
  constexpr std::uint32_t vector = shape.in_vector;
  constexpr bool copies = box_copies<Memory>;
  constexpr int unroll = 4;
  static_assert(unit * shape.in_vector == kMovedBytes);
  FARO_NO_UNROLL
  for (std::uint32_t j = thread; j < p.out.units; j += kBoxThreads) {
    const BoxPoint point = box_point(p.out.run, p.out.run_digits, j);
    memory.template store_shared<kPlaceBytes>(p.run_places + j * kPlaceBytes,
                                              {static_cast<std::uint16_t>(point.place)});
  }
  device::converge(memory);
  std::uint32_t slot = thread;
  const std::uint32_t group = p.in.slots.divide(slot);
  if (group >= p.in.groups) return;
  const BoxOrigin origin = box_origin(p, block);
  const std::uint32_t units = box_cut(p.in.slots_step, p.in.slots_cut, origin);
  const std::uint32_t rows = box_cut(p.in.rows_step, p.in.rows_cut, origin);
  const std::uint32_t base_place = static_cast<std::uint32_t>(origin.in) % vector;
  const BoxRow* const row_of = p.row + p.in.first_row;
  FARO_NO_UNROLL
  for (std::uint32_t base = group; base < rows; base += unroll * p.in.groups) {
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * p.in.groups;
      BoxRow entry{};
      if (row < rows) entry = row_of[row];
      const std::uint64_t begin = origin.in + entry.at();
      const std::uint32_t past = static_cast<std::uint32_t>(begin) % vector;
      const bool has = row < rows && slot * vector < units + past;
      const std::uint64_t at = begin - past + slot * vector;
      const std::uint32_t place = base_place + entry.place() - past + slot * vector;
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

/// Phase 2: shared memory to runs of the output.
template <BoxShape shape, device::Memory Memory>
constexpr void store_ragged_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                                std::uint32_t thread) {
  constexpr int unit = shape.unit_bytes;
  constexpr int vector = shape.out_vector;
  constexpr int grain = ragged_grain<shape>;
  constexpr int unroll = vector <= 4 ? 2 : 1;
  const std::uint32_t near = 1U << p.near_bits;
  std::uint32_t slot = thread >> p.near_bits;
  const std::uint32_t group = p.out.slots.divide(slot);
  if (group >= p.out.groups) return;
  const BoxOrigin origin = box_origin(p, block);
  const auto units = static_cast<std::int32_t>(box_cut(p.out.slots_step, p.out.slots_cut, origin));
  const std::uint32_t rows = box_cut(p.out.rows_step, p.out.rows_cut, origin);
  const std::uint32_t base_place = static_cast<std::uint32_t>(origin.in) % shape.in_vector;
  const auto begin = static_cast<std::int32_t>(slot) * vector;
  std::uint32_t all[grain + vector - 1];  // bytes, of units begin - (grain - 1) on
  FARO_UNROLL
  for (int m = 0; m < grain + vector - 1; ++m) {
    std::int32_t j = begin + m - (grain - 1);
    j = j < 0 ? 0 : j < units ? j : units - 1;
    const auto entry =
        memory.template load_shared<kPlaceBytes>(p.run_places + static_cast<std::uint32_t>(j) * kPlaceBytes);
    all[m] = (base_place + entry.unit[0]) * unit;
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
      const std::uint64_t row_at = origin.out + entry.at();
      const auto past = static_cast<std::int32_t>(row_at % grain);
      const std::int32_t first = begin - past;
      const std::int32_t left = units - first;
      const bool has = row < rows && left > 0 && first > -vector;
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
      const bool whole = first >= 0 && left >= vector;
      if (has && whole) {
        memory.template store_global<unit * vector>(device::kOutput, at, moved);
      } else {
        device::idle(memory);
      }
      if (has && !whole) {
        store_ragged_part<shape>(memory, at, moved, static_cast<std::uint32_t>(first < 0 ? -first : 0),
                                 static_cast<std::uint32_t>(left < vector ? left : vector));
      } else {
        idle_times(memory, store_part_steps(unit));
      }
    }
  }
}

/// The phases of either kind of box.
template <BoxShape shape, device::Memory Memory>
constexpr void read_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block, std::uint32_t thread) {
  if constexpr (shape.ragged) {
    load_ragged_box<shape>(memory, p, block, thread);
  } else {
    load_box<shape>(memory, p, block, thread);
  }
}
template <BoxShape shape, device::Memory Memory>
constexpr void write_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block, std::uint32_t thread) {
  if constexpr (shape.ragged) {
    store_ragged_box<shape>(memory, p, block, thread);
  } else {
    store_box<shape>(memory, p, block, thread);
  }
}

}  // namespace faro::kernels
