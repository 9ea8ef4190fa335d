// Ragged boxes of axes: rows that begin anywhere, moved by vectors that begin where the arrays' own do.
//
//     input    | . . . a | a a a a | a a . . |      a row of 7 units that begins 3 past a vector: three
//                0 1 2 3   0 1 2 3   0 1 2 3        vectors are copied to shared memory, neighbours and all
//     shared   | . . . a | a a a a | a a . . |      it lies as far past a sector there, which
//                                                   layout/ragged_box.cpp sees to for all rows of the box
//     output   | . c c c | c c c c | c . . . |      vectors of the output are put together unit by unit, and
//                                                   written whole, but for a run's first and last
//
// Lanes begin where a run's first sector does, so that a warp writes whole sectors of it. The units of a
// lane's vector are therefore others in every row: those from `vector * slot - past` on, where the row begins
// `past` units after a sector. Where a unit of the run lies is read from a list that the block makes:
//
//     list     - - - - | 0 1 2 ... units of the run ... | units of the halo | - - - -     "-": nowhere
//
// A lane reads its vector's entries one after another, and its neighbours' are a vector of them on: of single
// bytes these would be in the same banks. There the list is a table in pages, a column for each vector and a
// row for each unit that it may begin with or reach, so that what neighbours read at a time lies together:
//
//     units of 1 byte, vectors of 16      column 0        column 1        ...  column 7
//                               row 0     entry 0         entry 16             entry 112
//                               row 1     entry 1         entry 17             entry 113
//                               ...
//                               row 30    entry 30        entry 46             entry 142
//
// A warp has whole rows: `near` of them, which lie side by side in the input, one stretch of vectors after
// another, so that what lies together in the output is written together. Rows that are long and few are cut
// into pieces.
//
// A sector that two runs of the output share is written whole, by the box where it begins. That box reads the
// halo: the first rows of the next box along the output, with as many units as a sector has but one. Runs
// follow on along a chain of axes with carries, as digits of a number do; a box at the end of the whole chain
// writes what it has of its last sector, and one at its beginning what it has of its first.
//
//     runs         box 0: a a a a a a a a a a a | box 1: b b b b b b b b b b b | box 2
//     sectors      |       0       |       1       |       2       |   ...
//     written by   |     box 0     |     box 0     |     box 1     |
//
// Of elements of three units the list has an entry each, and a vector is put together from words
// (axes_triples.hpp).
//
// An input's first and last vector may reach past the array. They are read unit by unit.
#pragma once

#include <cstdint>

#include "kernels/axes_box.hpp"
#include "kernels/axes_triples.hpp"
#include "kernels/stored_part.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kPlaceBytes = 2;  // of an entry of the list of places
inline constexpr std::uint32_t kRaggedWarp = 32;
inline constexpr int kRaggedSector = 32;

/// Units of a sector.
constexpr std::uint32_t ragged_grain(int unit_bytes) {
  return static_cast<std::uint32_t>(kRaggedSector / unit_bytes);
}
/// Rows begin as many units past a multiple of these in shared memory as in the input: a sector's, of bytes a
/// vector's.
constexpr std::uint32_t ragged_residues(int unit_bytes) {
  return unit_bytes == 1 ? std::uint32_t{kMovedBytes} : ragged_grain(unit_bytes);
}
/// Entries of the list of places before a run's: as many as make a sector less a unit.
constexpr std::uint32_t ragged_lead(int unit_bytes, int triples) {
  const std::uint32_t grain = ragged_grain(unit_bytes);
  return triples == 1 ? grain : grain / kTripleUnits + 1;
}
/// Entries of the list of places, of a run and the halo: vectors begin before a run and end after it. As many
/// as vectors have.
constexpr std::uint32_t ragged_list(int unit_bytes, int triples, std::uint32_t units) {
  const auto vector = static_cast<std::uint32_t>(kMovedBytes / unit_bytes);
  if (triples == 1) return (units + ragged_grain(unit_bytes) + 2 * vector - 1) / vector * vector;
  return ragged_lead(unit_bytes, triples) + (units + kTripleUnits - 1) / kTripleUnits + vector;
}

/// The list of places in shared memory, in bytes from its begin.
template <int unit_bytes, int triples = 1>
struct PlaceList {
  static constexpr std::uint32_t vector = static_cast<std::uint32_t>(kMovedBytes / unit_bytes);
  static constexpr bool paged = unit_bytes == 1 && triples == 1;
  static constexpr std::uint32_t columns = 8;  // of a page
  static constexpr std::uint32_t row_bytes = paged ? columns * kPlaceBytes : kPlaceBytes;
  static constexpr std::uint32_t page_bytes = (2 * vector - 1) * row_bytes;

  /// The first entry of a vector that begins with entry `number`; the next one is row_bytes on.
  static constexpr std::uint32_t at(std::uint32_t number) {
    if constexpr (!paged) return number * kPlaceBytes;
    const std::uint32_t column = number / vector;
    return column / columns * page_bytes + column % columns * kPlaceBytes + number % vector * row_bytes;
  }
};

/// Bytes of the list of places.
constexpr std::uint32_t ragged_list_bytes(int unit_bytes, int triples, std::uint32_t units) {
  using Paged = PlaceList<1>;
  const std::uint32_t entries = ragged_list(unit_bytes, triples, units);
  if (unit_bytes != 1 || triples != 1) return entries * kPlaceBytes;
  constexpr std::uint32_t page = Paged::vector * Paged::columns;
  return (entries + page - 1) / page * Paged::page_bytes;
}

/// What all threads of a box have in common, worked out by one of them and kept in shared memory.
struct RaggedBox {
  std::uint64_t in = 0;  // where the box begins
  std::uint64_t out = 0;
  std::uint64_t next_in = 0;  // where the next one along the output does
  std::uint32_t limit[2] = {1, 1};
  std::uint32_t shared_ends = 0;  // bit 0: the box before writes a run's first sector; bit 1: this the last

  constexpr BoxOrigin origin() const {
    BoxOrigin made{.in = in, .out = out};
    made.limit[0] = limit[0];
    made.limit[1] = limit[1];
    return made;
  }
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
  keep_words(memory, at, box.in, box.out);
  keep_words(memory, at + 16, box.next_in, box.shared_ends);
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

/// Phase 1: what a box's threads share. Requires: block < tiles - first_tile,
/// thread < the threads of its kernel.
template <device::Memory Memory>
constexpr void prepare_ragged_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  if (thread == 0) keep_ragged_box(memory, p.common, ragged_box(p, block));
}

/// Where some neighbouring units of the run lie, by two divisions: its fastest axis ends once among them at
/// most. Requires: p.out.run[0].extent is no less than `count`.
template <int count>
constexpr void find_places(const AxesBoxParams& p, std::uint32_t first, std::uint32_t (&place)[count]) {
  const BoxDigit& fastest = p.out.run[0];
  std::uint32_t digit = first;
  const std::uint32_t row = fastest.extent.divide(digit);
  const std::uint32_t left = fastest.extent.divisor() - digit;
  const std::uint32_t own = box_point(p.out.run + 1, p.out.run_digits - 1, row).place + digit * fastest.place;
  const std::uint32_t next =
      box_point(p.out.run + 1, p.out.run_digits - 1, row + 1).place - left * fastest.place;
  FARO_UNROLL
  for (std::uint32_t k = 0; k < count; ++k) place[k] = (k < left ? own : next) + k * fastest.place;
}

/// The list of places, in units: of the run, then of the halo, between entries that are not used. Of elements
/// of three units it has those of their first.
template <BoxShape shape, device::Memory Memory>
constexpr void list_places(Memory& memory, const AxesBoxParams& p, const RaggedBox& box,
                           std::uint32_t thread) {
  using List = PlaceList<shape.unit_bytes, shape.triples>;
  constexpr std::uint32_t lead = ragged_lead(shape.unit_bytes, shape.triples);
  constexpr std::uint32_t element = shape.triples;
  // Runs of single bytes are long enough for threads to have several entries each.
  constexpr std::uint32_t together = List::paged ? 4 : 1;
  static_assert(lead % together == 0 && List::vector % together == 0);
  const std::uint32_t units = box.cut(p.out.slots_step, p.out.slots_cut) / element;
  const std::uint32_t listed = units + (box.tail() ? (p.halo + element - 1) / element : 0);
  const std::uint32_t base_place = static_cast<std::uint32_t>(box.in) % ragged_residues(shape.unit_bytes);
  const std::uint32_t halo_place =
      p.halo_place + static_cast<std::uint32_t>(box.next_in) % ragged_residues(shape.unit_bytes);
  const std::uint32_t entries = ragged_list(shape.unit_bytes, shape.triples, p.out.units + p.halo);
  const std::uint32_t list = p.common + kRaggedBoxBytes;
  const bool in_rows = together > 1 && p.out.run_digits > 0 && p.out.run[0].extent.divisor() >= together;
  FARO_NO_UNROLL
  for (std::uint32_t j = thread * together; j < entries; j += shape.threads * together) {
    std::uint32_t place[together];
    if (in_rows && j >= lead && j - lead + together <= units) {
      find_places<together>(p, j - lead, place);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < together; ++k) place[k] += base_place;
    } else {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < together; ++k) {
        place[k] = base_place;  // of a unit that there is, where it is not used
        if (j < lead || j - lead + k >= listed) continue;
        const std::uint32_t of = j - lead + k;
        const bool own = of < units;
        place[k] = (own ? base_place : halo_place) +
                   box_point(p.out.run, p.out.run_digits, (own ? of : of - units) * element).place;
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < together; ++k) {
      const device::Packet<kPlaceBytes> entry{static_cast<std::uint16_t>(place[k])};
      memory.template store_shared<kPlaceBytes>(list + List::at(j) + k * List::row_bytes, entry);
      if constexpr (List::paged) {
        // In its second place, too: what the vector before reaches.
        if (j >= List::vector && j % List::vector + k + 1 < List::vector) {
          memory.template store_shared<kPlaceBytes>(
              list + List::at(j - List::vector) + (List::vector + k) * List::row_bytes, entry);
        } else {
          device::idle(memory);
        }
      }
    }
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
      device::idle(memory);
      if constexpr (shape.triples > 1) {  // words are read, of which units are used
        memory.template store_shared<unit>((place + k) * unit, {});
      } else {
        device::idle(memory);
      }
      continue;
    }
    memory.template store_shared<unit>((place + k) * unit,
                                       memory.template load_global<unit>(device::kInput, (at + k) * unit));
  }
}

/// Runs of the input to shared memory.
template <BoxShape shape, device::Memory Memory>
constexpr void load_ragged_rows(Memory& memory, const AxesBoxParams& p, const RaggedBox& box,
                                std::uint32_t thread) {
  constexpr int unit = shape.unit_bytes;
  constexpr std::uint32_t vector = shape.in_vector;
  constexpr bool copies = box_copies<Memory>;
  constexpr int unroll = 4;
  static_assert(unit * shape.in_vector == kMovedBytes);
  std::uint32_t slot = thread;
  const std::uint32_t group = p.in.slots.divide(slot);
  if (group >= p.in.groups) return;
  const std::uint32_t base_place = static_cast<std::uint32_t>(box.in) % ragged_residues(shape.unit_bytes);
  const std::uint32_t halo_place =
      p.halo_place + static_cast<std::uint32_t>(box.next_in) % ragged_residues(shape.unit_bytes);
  const std::uint32_t units = box.cut(p.in.slots_step, p.in.slots_cut);
  const std::uint32_t own = box.cut(p.in.rows_step, p.in.rows_cut);
  const std::uint32_t rows = own + (box.tail() ? p.halo_rows : 0);
  const BoxRow* const row_of = p.row + p.in.first_row;
  const std::uint32_t last = units + vector - 1;  // of a run, from a vector's begin on, at most
  FARO_NO_UNROLL
  for (std::uint32_t along = slot * vector; along < last; along += p.in.slots.divisor() * vector) {
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
            memory.template copy_to_shared<kMovedBytes>(input_cursor(memory, at * unit),
                                                        place * p.unit_bytes);
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
}

/// Phase 2: runs of the input, and where the output's lie, to shared memory.
template <BoxShape shape, device::Memory Memory>
constexpr void load_ragged_box(Memory& memory, const AxesBoxParams& p, const RaggedBox& box,
                               std::uint32_t thread) {
  load_ragged_rows<shape>(memory, p, box, thread);
  device::converge(memory);
  list_places<shape>(memory, p, box, thread);
}

/// What a lane stores of a row: the vectors that begin at `first`, and one more every `step` units.
struct RaggedRow {
  std::uint64_t at = 0;    // of the run's first unit
  std::uint32_t from = 0;  // its word in shared memory, from those listed
  // The units that the box writes: from a sector on, to a sector's end, where others share it; none of a row
  // that there is not.
  std::int32_t low = 0;
  std::int32_t high = 0;
};

/// What a row has from its unit `first` on, put together from elements of three units. `list`: of places,
/// those of a sector's units before the run's.
template <BoxShape shape, device::Memory Memory>
constexpr device::Packet<kMovedBytes> load_ragged_triples(Memory& memory, std::uint32_t list,
                                                          const RaggedRow& row, std::int32_t first,
                                                          bool has) {
  constexpr int unit = shape.unit_bytes;
  constexpr std::uint32_t lead = ragged_lead(unit, shape.triples) * kTripleUnits;
  constexpr int elements = kTriplesOfVector<unit>;
  const std::uint32_t number = lead + static_cast<std::uint32_t>(first);
  const std::uint32_t entry = number / kTripleUnits;
  std::uint32_t place[elements];
  FARO_UNROLL
  for (int k = 0; k < elements; ++k) {
    if (has) {
      place[k] = memory.template load_shared<kPlaceBytes>(list + (entry + k) * kPlaceBytes).unit[0];
    } else {
      device::idle(memory);
    }
  }
  Triple of[elements];
  FARO_UNROLL
  for (int k = 0; k < elements; ++k) {
    if (has) {
      of[k] = load_triple<unit>(memory, (row.from + place[k]) * unit);
    } else {
      idle_times(memory, kTripleLoads);
    }
  }
  return vector_of_triples<unit>(of, number - entry * kTripleUnits);
}

/// The same unit by unit.
template <BoxShape shape, device::Memory Memory>
constexpr device::Packet<kMovedBytes> load_ragged_units(Memory& memory, std::uint32_t list,
                                                        const RaggedRow& row, std::int32_t first, bool has) {
  constexpr int unit = shape.unit_bytes;
  constexpr int vector = shape.out_vector;
  using List = PlaceList<unit>;
  const std::uint32_t entry = list + List::at(ragged_grain(unit) + static_cast<std::uint32_t>(first));
  std::uint32_t place[vector];
  FARO_UNROLL
  for (int k = 0; k < vector; ++k) {
    if (has) {
      place[k] = memory.template load_shared<kPlaceBytes>(entry + k * List::row_bytes).unit[0];
    } else {
      device::idle(memory);
    }
  }
  device::Packet<unit * vector> moved{};
  FARO_UNROLL
  for (int k = 0; k < vector; ++k) {
    if (has) {
      device::insert(moved, k, memory.template load_shared<unit>((row.from + place[k]) * unit));
    } else {
      device::idle(memory);
    }
  }
  return moved;
}

/// The vector of a row whose first unit is `first` units after the run's.
template <BoxShape shape, device::Memory Memory>
constexpr void store_ragged_vector(Memory& memory, std::uint32_t list, const RaggedRow& row,
                                   std::int32_t first) {
  constexpr int unit = shape.unit_bytes;
  constexpr int vector = shape.out_vector;
  const bool has = first < row.high && first + vector > row.low;
  device::Packet<kMovedBytes> moved{};
  if constexpr (shape.triples == 1) {
    moved = load_ragged_units<shape>(memory, list, row, first, has);
  } else {
    moved = load_ragged_triples<shape>(memory, list, row, first, has);
  }
  const std::uint64_t at = (row.at + static_cast<std::uint64_t>(std::int64_t{first})) * unit;
  const bool whole = first >= row.low && first + vector <= row.high;
  if (has && whole) {
    memory.template store_global<unit * vector>(device::kOutput, at, moved);
  } else {
    device::idle(memory);
  }
  if (has && !whole) {
    const std::int32_t left = row.high - first;
    const std::int32_t skipped = first < row.low ? row.low - first : 0;
    store_part<unit>(memory, at, moved, static_cast<std::uint32_t>(skipped) * unit,
                     static_cast<std::uint32_t>(left < vector ? left : vector) * unit);
  } else {
    idle_times(memory, store_part_steps(unit));
  }
}

/// Phase 3: shared memory to runs of the output.
template <BoxShape shape, device::Memory Memory>
constexpr void store_ragged_box(Memory& memory, const AxesBoxParams& p, const RaggedBox& box,
                                std::uint32_t thread) {
  constexpr int unit = shape.unit_bytes;
  constexpr int vector = shape.out_vector;
  constexpr auto grain = static_cast<std::int32_t>(ragged_grain(unit));
  static_assert(unit * vector == kMovedBytes);
  const auto units = static_cast<std::int32_t>(box.cut(p.out.slots_step, p.out.slots_cut));
  const std::uint32_t rows = box.cut(p.out.rows_step, p.out.rows_cut);
  const std::uint32_t near = 1U << p.near_bits;
  const std::uint32_t lane = thread % kRaggedWarp;
  const auto begin = static_cast<std::int32_t>(lane >> p.near_bits) * vector;
  const auto step = static_cast<std::int32_t>(kRaggedWarp >> p.near_bits) * vector;
  const std::uint32_t list = p.common + kRaggedBoxBytes;
  const BoxRow* const row_of = p.row + p.out.first_row;
  constexpr std::uint32_t warps = shape.threads / kRaggedWarp;
  const std::uint32_t pieces = ((rows + near - 1) >> p.near_bits) * p.pieces.divisor();
  FARO_NO_UNROLL
  for (std::uint32_t item = thread / kRaggedWarp; item < pieces; item += warps) {
    std::uint32_t piece = item;
    const std::uint32_t number = (p.pieces.divide(piece) << p.near_bits) + (lane & (near - 1));
    RaggedRow row;
    std::int32_t past = 0;
    if (number < rows) {
      const BoxRow entry = row_of[number];
      row.at = box.out + entry.at();
      row.from = entry.place();
      past = static_cast<std::int32_t>(row.at % ragged_grain(unit));
      row.low = box.head() ? (grain - past) % grain : 0;
      row.high = box.tail() ? units + (grain - (past + units) % grain) % grain : units;
    }
    FARO_NO_UNROLL
    for (std::uint32_t k = 0; k < p.stretch; ++k) {
      const auto stretch = static_cast<std::int32_t>(piece * p.stretch + k);
      store_ragged_vector<shape>(memory, list, row, begin - past + stretch * step);
    }
  }
}

/// The phases of either kind of box, a barrier after each.
template <BoxShape shape, device::Memory Memory>
constexpr void prepare_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                           std::uint32_t thread) {
  if constexpr (shape.ragged) {
    prepare_ragged_box(memory, p, block, thread);
  } else {
    prepare_plain_box(memory, p, block, thread);
  }
}
template <BoxShape shape, device::Memory Memory>
constexpr void read_box(Memory& memory, const AxesBoxParams& p, std::uint32_t thread) {
  if constexpr (shape.ragged) {
    load_ragged_box<shape>(memory, p, kept_ragged_box(memory, p.common), thread);
  } else {
    const BoxReader<shape> lane = box_reader<shape>(p, thread);
    if (lane.group < p.in.groups) load_box<shape>(memory, p, lane, kept_origin(memory, p));
  }
}
template <BoxShape shape, device::Memory Memory>
constexpr void write_box(Memory& memory, const AxesBoxParams& p, std::uint32_t thread) {
  if constexpr (shape.ragged) {
    store_ragged_box<shape>(memory, p, kept_ragged_box(memory, p.common), thread);
  } else {
    const BoxWriter<shape> lane(p, thread);
    if (lane.group < p.out.groups) store_box<shape>(memory, p, lane, thread, kept_origin(memory, p));
  }
}

}  // namespace faro::kernels
