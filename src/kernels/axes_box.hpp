// Boxes: any permutation of axes, and any strided view, in one pass, with long runs on both sides
// (docs/theory/boxes.md, theorem 6). A block moves one box through shared memory.
//
//     in    axes 6 x 4, fastest last        a box of 6 x 4       out   4 x 6
//     a0 a1 a2 a3    a run of the input                          a0 b0 c0 d0 e0 f0    a run of the output
//     b0 b1 b2 b3    a row is where a run begins                 a1 b1 c1 d1 e1 f1
//     ...                                                        ...
//
//     phase 1   prepare   one thread works out where the box is, and keeps it in shared memory
//     phase 2   load      a thread keeps its slot of a run, a vector or some single units, and walks the rows
//     phase 3   store     the same for runs of the output; a vector's units lie apart in shared memory
//
// So nothing in the loops knows the rank: a row, the same in every box, is an entry of 8 bytes among the
// parameters, and what depends on the slot is worked out once a thread, by division, while others wait for
// memory: instructions are what bounds a device with much bandwidth. A box that is cut at an
// end of the array is a prefix in all four directions (slots and rows of both sides), so two limits say what
// is left of it.
//
// Units of 1 and 2 bytes lie in shared memory as in the input, and are read there as words of `words` units.
// A thread reads the words of out_vector neighbours along the output's run, and turns them in registers:
//
//     4 rows of 4 bytes      a0 a1 a2 a3 | b0 .. | c0 .. | d0 ..    -->   a0 b0 c0 d0 | a1 b1 c1 d1 | ...
//
// A place in shared memory is a sum of digits times steps, one step a digit of the box, whose pads are found
// by counting (layout/box_banks.cpp). Lanes that read take `near` rows, the words of one vector of the input,
// times slots: 4 x 8 of them meet in no bank twice.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/input_cursor.hpp"

namespace faro::kernels {

inline constexpr int kBoxThreads = 256;
inline constexpr int kLargeBoxThreads = 512;  // where shared memory has room for two boxes in any case
inline constexpr int kBoxDigits = 16;
inline constexpr int kBoxRows = 640;                   // of both sides
inline constexpr std::uint32_t kBoxMaxPlace = 0xffff;  // of 16 bits of a row
inline constexpr int kBoxOffsetBits = 47;              // bytes of an array, log2
inline constexpr std::uint32_t kBoxOriginBytes = 32;   // of shared memory

/// What a box kernel is compiled for.
struct BoxShape {
  int unit_bytes = 4;
  int words = 1;  // units of a word of shared memory, along the input: 1, or as many as make 4 bytes
  int in_vector = 1;
  int out_vector = 1;
  bool ragged = false;  // rows begin between vectors: axes_ragged_box.hpp
  int threads = kBoxThreads;
  int triples = 1;  // units that stay together: 1, or of ragged boxes 3 (axes_triples.hpp)

  constexpr int word_bytes() const { return unit_bytes * words; }
  /// Single units that a thread has in each row: as many as make 16 bytes, four at most.
  constexpr int spread(int vector) const {
    return vector > 1 || unit_bytes == 16 ? 1 : unit_bytes == 8 ? 2 : 4;
  }
  friend constexpr bool operator==(const BoxShape&, const BoxShape&) = default;
};

inline constexpr BoxShape kBoxShapes[] = {
    {1, 1, 1, 1},
    {1, 1, 16, 16},
    {2, 1, 8, 8},
    {1, 4, 4, 4},
    {1, 4, 4, 16},
    {1, 4, 16, 4},
    {1, 4, 16, 16},
    {2, 1, 1, 1},
    {2, 2, 2, 2},
    {2, 2, 2, 8},
    {2, 2, 8, 2},
    {2, 2, 8, 8},
    {4, 1, 1, 1},
    {4, 1, 1, 2},
    {4, 1, 1, 4},
    {4, 1, 2, 1},
    {4, 1, 2, 2},
    {4, 1, 2, 4},
    {4, 1, 4, 1},
    {4, 1, 4, 2},
    {4, 1, 4, 4},
    {8, 1, 1, 1},
    {8, 1, 1, 2},
    {8, 1, 2, 1},
    {8, 1, 2, 2},
    {16, 1, 1, 1},
    {1, 1, 16, 16, true},
    {2, 1, 8, 8, true},
    {4, 1, 4, 4, true},
    {8, 1, 2, 2, true},
    {4, 1, 2, 2, false, kLargeBoxThreads},
    {4, 1, 2, 4, false, kLargeBoxThreads},
    {4, 1, 4, 2, false, kLargeBoxThreads},
    {4, 1, 4, 4, false, kLargeBoxThreads},
    {8, 1, 2, 2, false, kLargeBoxThreads},
    {16, 1, 1, 1, false, kLargeBoxThreads},
    {4, 1, 4, 4, true, kLargeBoxThreads},
    {8, 1, 2, 2, true, kLargeBoxThreads},
    {1, 1, 16, 16, true, kBoxThreads, 3},
    {2, 1, 8, 8, true, kBoxThreads, 3},
};

struct BoxDigit {
  device::Division32 extent;
  std::uint32_t place;  // step in shared memory, in words
  std::int64_t stride;  // in the array
};

inline constexpr int kBoxUncut = -1;

/// One side of the box.
struct BoxSide {
  BoxDigit run[kBoxDigits];  // fastest first
  std::int32_t run_digits;
  std::int32_t slots_cut;  // which limit cuts the slots: 0, 1, or none
  std::int32_t rows_cut;
  std::uint32_t slots_step;  // units of a run, and rows, of a step along the axis that is cut; uncut: all
  std::uint32_t rows_step;
  std::uint32_t rows;        // of a whole box
  std::uint32_t first_row;   // its entry
  std::uint32_t groups;      // of lanes, each with rows of its own
  std::uint32_t units;       // of a whole run
  device::Division32 slots;  // of a whole run
};

/// A row: where its first unit is in the array, and that unit's word in shared memory, from those of the box.
struct BoxRow {
  std::uint64_t packed;

  static constexpr BoxRow of(std::int64_t at, std::uint32_t place) {
    return {static_cast<std::uint64_t>(at) << 16 | place};
  }
  constexpr std::uint32_t place() const { return static_cast<std::uint32_t>(packed) & kBoxMaxPlace; }
  constexpr std::uint64_t at() const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(packed) >> 16);
  }
};

/// Places in the arrays are in bytes; those of ragged boxes, whose kernel counts, in units.
struct AxesBoxParams {
  /// An axis along which there are several boxes, those first that are near in the output.
  struct GridAxis {
    device::Division32 boxes;  // where they are fewer than 2^31
    std::int32_t cut;          // the limit that it sets, or kBoxUncut
    std::uint64_t count;       // of them
    std::int64_t in_step;      // from box to box
    std::int64_t out_step;
  };
  struct Cut {
    std::uint64_t extent;
    std::uint32_t box;
  };
  std::int32_t grid_axes;
  std::uint32_t vector_step;  // in shared memory, between the words of a vector; 0: not the same for all
  std::uint32_t near_bits;    // log2 of the output's rows that neighbouring lanes take
  std::uint32_t box_bytes;    // of shared memory
  std::int64_t turned_step;   // in the output, between the units of a word
  std::uint64_t in_first;     // where the first box begins
  std::uint64_t out_first;
  std::uint64_t in_begin;  // units of the input that there are, for vectors that reach past rows
  std::uint64_t in_end;
  std::uint32_t skews;   // bytes, less one, of which a box lies as far past a multiple in shared memory as it
                         // begins past one in the input; 0: it begins where shared memory does
  std::uint32_t common;  // in shared memory: what all threads share, then of ragged boxes the list of places
  std::uint32_t halo;    // of ragged boxes: units after a run of the output
  std::uint32_t halo_rows;    // of the input, that those are in
  std::uint32_t stretch;      // of ragged boxes: vectors that a lane stores in each piece of a row
  device::Division32 pieces;  // of a row
  // Where it must not be compiled in: ptxas 13.0 misplaces shared addresses of units of 1.
  std::uint32_t unit_bytes;
  std::uint32_t halo_place;  // in shared memory, in words
  std::int32_t chain_axes;   // the first axes of the grid, along which runs of the output follow on
  std::int32_t in_sectors;   // whether whole sectors are read, of an array that is aligned to them, and are
                             // the first that the second-level cache drops
  std::int32_t out_sectors;
  std::uint64_t first_tile;
  std::uint64_t tiles;
  Cut cut[2];
  BoxSide in;
  BoxSide out;
  GridAxis grid[kMostAxes];
  BoxRow row[kBoxRows];

  constexpr std::uint32_t shared_bytes() const { return box_bytes; }

  /// For ragged boxes: both arrays begin so many units later, counted from an aligned address.
  constexpr void skew(std::uint64_t in_units, std::uint64_t out_units) {
    in_first += in_units;
    in_begin += in_units;
    in_end += in_units;
    out_first += out_units;
    if ((in_units | out_units) != 0) in_sectors = out_sectors = 0;
  }
};
static_assert(sizeof(AxesBoxParams) <= 12288, "what a launch copies");

struct BoxPoint {
  std::uint64_t at = 0;  // in the array, modulo 2^64
  std::uint32_t place = 0;
};

constexpr BoxPoint box_point(const BoxDigit* digits, std::int32_t count, std::uint32_t number) {
  BoxPoint point;
  FARO_NO_UNROLL
  for (std::int32_t d = 0; d < count; ++d) {
    std::uint32_t digit = number;
    number = digits[d].extent.divide(digit);
    point.at += static_cast<std::uint64_t>(static_cast<std::int64_t>(digit) * digits[d].stride);
    point.place += digit * digits[d].place;
  }
  return point;
}

/// Where a box begins, and how much there is of the two axes that may be cut.
struct BoxOrigin {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint32_t limit[2] = {1, 1};
};

/// The next digit of a box's number, which is divided by its axis's count.
constexpr std::uint64_t grid_digit(const AxesBoxParams::GridAxis& axis, std::uint64_t& tile) {
  const std::uint64_t digit = tile;
  if ((tile | axis.count) >> 31 == 0) {
    auto number = static_cast<std::uint32_t>(tile);
    tile = axis.boxes.divide(number);
    return number;
  }
  tile /= axis.count;
  return digit - tile * axis.count;
}
constexpr std::uint32_t grid_digit(const AxesBoxParams::GridAxis& axis, std::uint32_t& tile) {
  std::uint32_t digit = tile;
  tile = axis.boxes.divide(digit);
  return digit;
}

/// Requires: fewer than 2^31 boxes where Number has 32 bits.
template <typename Number>
constexpr BoxOrigin box_origin_of(const AxesBoxParams& p, Number tile) {
  BoxOrigin origin{.in = p.in_first, .out = p.out_first};
  FARO_NO_UNROLL
  for (std::int32_t a = 0; a < p.grid_axes; ++a) {
    const AxesBoxParams::GridAxis& axis = p.grid[a];
    const Number digit = grid_digit(axis, tile);
    origin.in += digit * static_cast<std::uint64_t>(axis.in_step);
    origin.out += digit * static_cast<std::uint64_t>(axis.out_step);
    if (axis.cut == kBoxUncut) continue;
    const AxesBoxParams::Cut& cut = p.cut[axis.cut];
    const std::uint64_t left = cut.extent - std::uint64_t{digit} * cut.box;
    const std::uint32_t limit = left < cut.box ? static_cast<std::uint32_t>(left) : cut.box;
    if (axis.cut == 0) {
      origin.limit[0] = limit;
    } else {
      origin.limit[1] = limit;
    }
  }
  return origin;
}

constexpr BoxOrigin box_origin(const AxesBoxParams& p, std::uint64_t block) {
  const std::uint64_t tile = p.first_tile + block;
  if (p.tiles >> 31 == 0) return box_origin_of(p, static_cast<std::uint32_t>(tile));
  return box_origin_of(p, tile);
}

/// Two words of 64 bits in one access.
template <device::Memory Memory>
constexpr void keep_words(Memory& memory, std::uint32_t at, std::uint64_t low, std::uint64_t high) {
  memory.template store_shared<16>(
      at, {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
           static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)});
}

/// Phase 1: where the box is, by one thread for all. Requires: block < tiles - first_tile.
template <device::Memory Memory>
constexpr void prepare_plain_box(Memory& memory, const AxesBoxParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  if (thread != 0) return;
  const BoxOrigin origin = box_origin(p, block);
  keep_words(memory, p.common, origin.in, origin.out);
  memory.template store_shared<8>(p.common + 16, {origin.limit[0], origin.limit[1]});
}

template <device::Memory Memory>
constexpr BoxOrigin kept_origin(Memory& memory, const AxesBoxParams& p) {
  const auto both = memory.template load_shared<16>(p.common);
  const auto limit = memory.template load_shared<8>(p.common + 16);
  BoxOrigin origin{.in = std::uint64_t{both.unit[1]} << 32 | both.unit[0],
                   .out = std::uint64_t{both.unit[3]} << 32 | both.unit[2]};
  origin.limit[0] = limit.unit[0];
  origin.limit[1] = limit.unit[1];
  return origin;
}

/// Bytes by which all places of the box are further on.
constexpr std::uint32_t box_skew(const AxesBoxParams& p, const BoxOrigin& origin) {
  return static_cast<std::uint32_t>(origin.in) & p.skews;
}

/// Units of a run, or rows, of a side that there are in a box.
constexpr std::uint32_t box_cut(std::uint32_t step, std::int32_t cut, const BoxOrigin& origin) {
  if (cut == kBoxUncut) return step;
  return step * (cut == 0 ? origin.limit[0] : origin.limit[1]);
}

/// A place of the output that is stepped on, as input_cursor.hpp's of the input.
template <device::Memory Memory>
constexpr auto output_cursor(Memory& memory, std::uint64_t at) {
  if constexpr (requires { memory.output_cursor(at); }) {
    return memory.output_cursor(at);
  } else {
    return at;
  }
}
template <int bytes, device::Memory Memory, typename Cursor>
constexpr void store_cursor(Memory& memory, Cursor cursor, const device::Packet<bytes>& packet) {
  if constexpr (requires { memory.store_cursor(cursor, packet); }) {
    memory.store_cursor(cursor, packet);
  } else {
    memory.template store_global<bytes>(device::kOutput, cursor, packet);
  }
}

/// Whether a memory moves vectors to shared memory by itself.
template <typename Memory>
inline constexpr bool box_copies = requires(Memory memory) {
  memory.template copy_to_shared<16>(memory.input_cursor(0), 0);
};

/// Rows that a thread has under way at a time, of so many accesses each.
constexpr int box_unroll(int accesses) { return accesses >= 8 ? 1 : accesses > 1 ? 8 / accesses : 4; }

/// Words of shared memory, each of some units along the input, to vectors of the output, one a unit: a matrix
/// of bytes or halves transposed.
template <int unit_bytes, int words, int vector>
struct BoxTurn {
  device::Packet<unit_bytes * vector> turned[words];

  explicit constexpr BoxTurn(const std::uint32_t (&from)[vector]) : turned{} {
    static_assert(unit_bytes * words == 4);
    if constexpr (words == 2) {
      FARO_UNROLL
      for (int h = 0; h < vector / 2; ++h) {
        turned[0].unit[h] = device::select_bytes(from[2 * h], from[2 * h + 1], 0x5410);
        turned[1].unit[h] = device::select_bytes(from[2 * h], from[2 * h + 1], 0x7632);
      }
    } else {
      FARO_UNROLL
      for (int h = 0; h < vector / 4; ++h) {
        const std::uint32_t low01 = device::select_bytes(from[4 * h], from[4 * h + 1], 0x5140);
        const std::uint32_t low23 = device::select_bytes(from[4 * h + 2], from[4 * h + 3], 0x5140);
        const std::uint32_t high01 = device::select_bytes(from[4 * h], from[4 * h + 1], 0x7362);
        const std::uint32_t high23 = device::select_bytes(from[4 * h + 2], from[4 * h + 3], 0x7362);
        turned[0].unit[h] = device::select_bytes(low01, low23, 0x5410);
        turned[1].unit[h] = device::select_bytes(low01, low23, 0x7632);
        turned[2].unit[h] = device::select_bytes(high01, high23, 0x5410);
        turned[3].unit[h] = device::select_bytes(high01, high23, 0x7632);
      }
    }
  }
};

/// What a thread does in every box: its slot's accesses of each of its rows.
template <int spread>
struct BoxLane {
  std::uint32_t slot = 0;
  std::uint32_t group = 0;  // its first row, in groups of rows that neighbouring lanes take
  BoxPoint first[spread];   // places in shared memory in bytes

  /// `vector`: what a run's numbers count of an access. `word`: bytes of one of shared memory.
  constexpr BoxLane(const BoxSide& side, std::uint32_t number, std::uint32_t vector, std::uint32_t word)
      : slot(number), group(side.slots.divide(slot)) {
    FARO_UNROLL
    for (int k = 0; k < spread; ++k) {
      first[k] = box_point(side.run, side.run_digits, accesses(side, k) * vector);
      first[k].place *= word;
    }
  }
  constexpr std::uint32_t accesses(const BoxSide& side, int k) const {
    return slot + static_cast<std::uint32_t>(k) * side.slots.divisor();
  }
};

template <BoxShape shape>
using BoxReader = BoxLane<shape.spread(shape.in_vector)>;
/// Runs of the input are counted in vectors.
template <BoxShape shape>
constexpr BoxReader<shape> box_reader(const AxesBoxParams& p, std::uint32_t thread) {
  return {p.in, thread, 1, shape.word_bytes()};
}

/// Phase 2: runs of the input to shared memory.
template <BoxShape shape, device::Memory Memory>
constexpr void load_box(Memory& memory, const AxesBoxParams& p, const BoxReader<shape>& lane,
                        const BoxOrigin& origin) {
  constexpr int bytes = shape.unit_bytes * shape.in_vector;
  constexpr bool copies = bytes >= 4 && box_copies<Memory>;
  constexpr int spread = shape.spread(shape.in_vector);
  constexpr int unroll = box_unroll(spread);
  if (lane.group >= p.in.groups) return;
  const std::uint32_t units = box_cut(p.in.slots_step, p.in.slots_cut, origin);
  if (lane.slot * shape.in_vector >= units) return;
  const std::uint32_t rows = box_cut(p.in.rows_step, p.in.rows_cut, origin);
  decltype(input_cursor(memory, 0)) from[spread] = {};
  bool has[spread];
  std::uint32_t first[spread];
  FARO_UNROLL
  for (int k = 0; k < spread; ++k) {
    has[k] = lane.accesses(p.in, k) * shape.in_vector < units;
    from[k] = input_cursor(memory, origin.in + lane.first[k].at);
    first[k] = lane.first[k].place + box_skew(p, origin);
  }
  const BoxRow* const row_of = p.row + p.in.first_row;
  FARO_NO_UNROLL
  for (std::uint32_t base = lane.group; base < rows; base += unroll * p.in.groups) {
    device::Packet<bytes> moved[unroll][spread];
    std::uint32_t place[unroll][spread];
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * p.in.groups;
      const bool inside = row < rows;
      BoxRow entry{};
      if (inside) entry = row_of[row];
      FARO_UNROLL
      for (int k = 0; k < spread; ++k) {
        if (!inside || !has[k]) {
          device::idle(memory);
          continue;
        }
        const auto at = from[k] + entry.at();
        if constexpr (shape.word_bytes() == 1) {
          place[i][k] = (entry.place() + first[k]) * p.unit_bytes;
        } else {
          place[i][k] = entry.place() * shape.word_bytes() + first[k];
        }
        if constexpr (copies) {
          memory.template copy_to_shared<bytes>(at, place[i][k]);
        } else {
          moved[i][k] = load_cursor<bytes>(memory, at);
        }
      }
    }
    if constexpr (!copies) {
      FARO_UNROLL
      for (int i = 0; i < unroll; ++i) {
        FARO_UNROLL
        for (int k = 0; k < spread; ++k) {
          if (base + static_cast<std::uint32_t>(i) * p.in.groups < rows && has[k]) {
            memory.template store_shared<bytes>(place[i][k], moved[i][k]);
          } else {
            device::idle(memory);
          }
        }
      }
    }
  }
}

/// The slots and rows that a thread stores, and where a vector's units lie in shared memory, in bytes.
template <BoxShape shape>
struct BoxWriter : BoxLane<shape.spread(shape.out_vector)> {
  std::uint32_t place[shape.out_vector] = {};

  constexpr BoxWriter(const AxesBoxParams& p, std::uint32_t thread)
      : BoxLane<shape.spread(shape.out_vector)>(p.out, thread >> p.near_bits, shape.out_vector,
                                                shape.word_bytes()) {
    constexpr std::uint32_t word = shape.word_bytes();
    place[0] = this->first[0].place;
    if (shape.words > 1 || p.vector_step != 0) {
      FARO_UNROLL
      for (int k = 1; k < shape.out_vector; ++k) place[k] = place[k - 1] + p.vector_step * word;
    } else if constexpr (shape.words == 1) {
      FARO_UNROLL
      for (int k = 1; k < shape.out_vector; ++k) {
        const std::uint32_t own = this->slot * shape.out_vector + static_cast<std::uint32_t>(k);
        place[k] = box_point(p.out.run, p.out.run_digits, own).place * word;
      }
    }
  }
};

/// One row's units of a slot, from shared memory to the output. `from`: bytes.
template <BoxShape shape, device::Memory Memory, typename Cursor>
constexpr void store_box_row(Memory& memory, const AxesBoxParams& p, Cursor to, std::uint32_t from,
                             const std::uint32_t (&place)[shape.out_vector]) {
  constexpr int vector = shape.out_vector;
  constexpr int words = shape.words;
  if constexpr (words == 1) {
    device::Packet<shape.unit_bytes * vector> moved{};
    FARO_UNROLL
    for (int k = 0; k < vector; ++k) {
      device::insert(moved, k, memory.template load_shared<shape.unit_bytes>(from + place[k]));
    }
    store_cursor<shape.unit_bytes * vector>(memory, to, moved);
  } else {
    constexpr int word_bytes = shape.word_bytes();
    std::uint32_t word[vector];
    FARO_UNROLL
    for (int k = 0; k < vector; ++k) {
      word[k] = memory.template load_shared<word_bytes>(from + place[k]).unit[0];
    }
    const BoxTurn<shape.unit_bytes, words, vector> turn(word);
    FARO_UNROLL
    for (int k = 0; k < words; ++k) {
      store_cursor<shape.unit_bytes * vector>(memory, to, turn.turned[k]);
      to += static_cast<std::uint64_t>(p.turned_step);
    }
  }
}

/// The same of single units, all of which are read before the first is written.
template <BoxShape shape, device::Memory Memory, typename Cursor>
constexpr void store_box_units(Memory& memory, const BoxWriter<shape>& lane, std::uint32_t skew,
                               const Cursor (&to)[shape.spread(1)], const bool (&has)[shape.spread(1)],
                               const BoxRow& row, bool inside) {
  constexpr int unit = shape.unit_bytes;
  device::Packet<unit> moved[shape.spread(1)];
  FARO_UNROLL
  for (int k = 0; k < shape.spread(1); ++k) {
    if (inside && has[k]) {
      moved[k] = memory.template load_shared<unit>(row.place() * unit + skew + lane.first[k].place);
    } else {
      device::idle(memory);
    }
  }
  FARO_UNROLL
  for (int k = 0; k < shape.spread(1); ++k) {
    if (inside && has[k]) {
      store_cursor<unit>(memory, to[k] + row.at(), moved[k]);
    } else {
      device::idle(memory);
    }
  }
}

/// Phase 3: shared memory to runs of the output.
template <BoxShape shape, device::Memory Memory>
constexpr void store_box(Memory& memory, const AxesBoxParams& p, const BoxWriter<shape>& lane,
                         std::uint32_t thread, const BoxOrigin& origin) {
  constexpr int vector = shape.out_vector;
  constexpr int words = shape.words;
  constexpr int spread = shape.spread(vector);
  constexpr int unroll = box_unroll(vector * spread);
  if (lane.group >= p.out.groups) return;
  const std::uint32_t units = box_cut(p.out.slots_step, p.out.slots_cut, origin);
  if (lane.slot * vector >= units) return;
  const std::uint32_t rows = box_cut(p.out.rows_step, p.out.rows_cut, origin);
  decltype(output_cursor(memory, 0)) to[spread] = {};
  bool has[spread];
  FARO_UNROLL
  for (int k = 0; k < spread; ++k) {
    has[k] = lane.accesses(p.out, k) * vector < units;
    to[k] = output_cursor(memory, origin.out + lane.first[k].at);
  }
  const std::uint32_t near = 1U << p.near_bits;
  const std::uint32_t skew = box_skew(p, origin);
  const BoxRow* const row_of = p.row + p.out.first_row;
  const std::uint32_t step = p.out.groups << p.near_bits;
  FARO_NO_UNROLL
  for (std::uint32_t base = (lane.group << p.near_bits) + (thread & (near - 1)); base < rows;
       base += unroll * step) {
    FARO_UNROLL
    for (int i = 0; i < unroll; ++i) {
      const std::uint32_t row = base + static_cast<std::uint32_t>(i) * step;
      const bool inside = row < rows;
      BoxRow entry{};
      if (inside) entry = row_of[row];
      if constexpr (spread > 1) {
        store_box_units<shape>(memory, lane, skew, to, has, entry, inside);
      } else if (inside) {
        store_box_row<shape>(memory, p, to[0] + entry.at(), entry.place() * shape.word_bytes() + skew,
                             lane.place);
      } else {
        FARO_UNROLL
        for (int k = 0; k < vector + words; ++k) device::idle(memory);
      }
    }
  }
}

}  // namespace faro::kernels
