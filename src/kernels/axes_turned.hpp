// Transposes planes of single units whose rows begin anywhere. Units are transposed in registers on the way
// to shared memory, and lines are shifted on the way out.
//
// axes_plane.hpp spends most instructions, where rows or units are not aligned, on gathering narrow units
// from shared memory one by one and on joining vectors before they are stored there. Here a lane reads one
// word of each of so many rows that its units fill a vector of every line it meets, transposes them in
// registers, and stores whole vectors; shared memory holds lines:
//
//     bytes: 16 rows x 4 columns a lane          shared memory: one line, 16 rows a vector
//       r0   . b a b a . .     a word at any     column 0   | r0 .. r15 | r16 .. r31 | ...
//       r1   . b a b a . .     byte is two       column 4   | r0 .. r15 | ...
//       ...                    words, joined     ...
//       r15  . b a b a . .     by one step       column 1   | ...
//
// Two steps turn two rows and two columns of bytes, so 8 of them 16 bytes. Lines are cut where their sectors
// begin (axes_lines.hpp), mostly within a vector of shared memory: a lane reads the two around its 16 bytes
// and joins them. So 16 bytes of bytes take about 40 instructions in all, of 4-byte units 30.
//
//     unit          1           2          4          8
//     a lane has    16 x 4      8 x 2      4 x 1      2 x 1       rows x columns
//     a warp        16 x 128    8 x 64     4 x 32     2 x 32
//
// 2-byte and wider units of one row go to a lane twice or four times, 32 words apart; bytes of 256 columns to
// two warps. Large arrays have tiles twice as large, whose edges and halos are half as much of them.
//
// Vectors of 8 neighbouring lanes go to lines that are an odd number of vectors apart, so that they meet in
// no bank; 8 lanes that read a line read 128 bytes in order.
#pragma once

#include <cstdint>

#include "kernels/axes_plane.hpp"
#include "kernels/input_cursor.hpp"
#include "kernels/stored_part.hpp"

namespace faro::kernels {

/// The shapes that are compiled, as kAxesPlaneShapes: the usual one of each width first.
inline constexpr AxesPlaneShape kAxesTurnedShapes[] = {
    {.unit_bytes = 1, .row_bytes = 256, .line_bytes = 256, .threads = 576},
    {.unit_bytes = 1, .row_bytes = 128, .line_bytes = 256, .threads = 288},
    {.unit_bytes = 1, .row_bytes = 128, .line_bytes = 128, .threads = 160},
    {.unit_bytes = 2, .row_bytes = 256, .line_bytes = 512, .threads = 544},
    {.unit_bytes = 2, .row_bytes = 256, .line_bytes = 256, .threads = 288},
    {.unit_bytes = 2, .row_bytes = 128, .line_bytes = 256, .threads = 192},
    {.unit_bytes = 4, .row_bytes = 512, .line_bytes = 512, .threads = 544},
    {.unit_bytes = 4, .row_bytes = 256, .line_bytes = 512, .threads = 288},
    {.unit_bytes = 4, .row_bytes = 256, .line_bytes = 256, .threads = 192},
    {.unit_bytes = 4, .row_bytes = 128, .line_bytes = 256, .threads = 96},
    {.unit_bytes = 8, .row_bytes = 512, .line_bytes = 512, .threads = 288},
    {.unit_bytes = 8, .row_bytes = 256, .line_bytes = 512, .threads = 192},
    {.unit_bytes = 8, .row_bytes = 256, .line_bytes = 256, .threads = 96},
};

template <AxesPlaneShape shape>
struct TurnedLayout {
  static constexpr int kUnit = shape.unit_bytes;
  static constexpr int kWord = kUnit < 4 ? 4 : kUnit;  // bytes that a lane reads of a row
  static constexpr auto kWordUnits = static_cast<std::uint32_t>(kWord / kUnit);
  static constexpr auto kGroup = static_cast<std::uint32_t>(kMovedBytes / kUnit);  // rows of a vector
  static constexpr std::uint32_t kLanes = 32;
  static constexpr auto kWarps = static_cast<std::uint32_t>(shape.threads) / kLanes;
  static constexpr auto kColumns = static_cast<std::uint32_t>(shape.columns());
  static constexpr std::uint32_t kSides = kColumns / (kLanes * kWordUnits);  // words of a row, 32 apart
  /// A lane reads so many of these, in all at most 64 bytes of a group, and warps side by side the others.
  static constexpr std::uint32_t kMostWide = kUnit == 1 ? 1 : kUnit == 4 ? 4 : 2;
  static constexpr std::uint32_t kWide = kSides < kMostWide ? kSides : kMostWide;
  static constexpr std::uint32_t kAcross = kSides / kWide;
  static constexpr std::uint32_t kDeep = kWarps / kAcross;  // warps one below another: groups
  static constexpr auto kGroups =
      static_cast<std::uint32_t>(shape.line_bytes / kMovedBytes) + kLineSector / kMovedBytes;
  static constexpr std::uint32_t kPitch = (kGroups | 1) * kMovedBytes;
  static constexpr std::uint32_t kSharedBytes = kColumns * kPitch;
  /// Groups that a thread reads before it stores the first, at least 32 bytes.
  static constexpr std::uint32_t kUnroll = kWide * kWordUnits >= 4 ? 1 : 2;
  /// From word to word of a row that a lane reads, and from line to line of their units.
  static constexpr std::uint32_t kSide = kLanes * kWord;
  static constexpr std::uint32_t kColumnStep = kColumns / kWordUnits * kPitch;
  static_assert(kWide >= 1 && kAcross * kWide * kLanes * kWordUnits == kColumns && kDeep * kAcross == kWarps);

  /// Where a column's line begins: neighbouring lanes' lines are neighbours.
  static constexpr std::uint32_t line(std::uint32_t column) {
    return (column % kWordUnits * (kColumns / kWordUnits) + column / kWordUnits) * kPitch;
  }
};

/// One word of each row of a group, transposed: vector j is column j of them.
template <int unit_bytes, int word_bytes>
constexpr void turn_words(const device::Packet<word_bytes> (&row)[kMovedBytes / unit_bytes],
                          device::Packet<16> (&column)[word_bytes / unit_bytes]) {
  if constexpr (unit_bytes == 1) {
    FARO_UNROLL
    for (int t = 0; t < 4; ++t) {
      const std::uint32_t r0 = row[4 * t].unit[0];
      const std::uint32_t r1 = row[4 * t + 1].unit[0];
      const std::uint32_t r2 = row[4 * t + 2].unit[0];
      const std::uint32_t r3 = row[4 * t + 3].unit[0];
      const std::uint32_t low01 = device::select_bytes(r0, r1, 0x5140);  // columns 0 and 1
      const std::uint32_t low23 = device::select_bytes(r2, r3, 0x5140);
      const std::uint32_t high01 = device::select_bytes(r0, r1, 0x7362);
      const std::uint32_t high23 = device::select_bytes(r2, r3, 0x7362);
      column[0].unit[t] = device::select_bytes(low01, low23, 0x5410);
      column[1].unit[t] = device::select_bytes(low01, low23, 0x7632);
      column[2].unit[t] = device::select_bytes(high01, high23, 0x5410);
      column[3].unit[t] = device::select_bytes(high01, high23, 0x7632);
    }
  } else if constexpr (unit_bytes == 2) {
    FARO_UNROLL
    for (int t = 0; t < 4; ++t) {
      column[0].unit[t] = device::select_bytes(row[2 * t].unit[0], row[2 * t + 1].unit[0], 0x5410);
      column[1].unit[t] = device::select_bytes(row[2 * t].unit[0], row[2 * t + 1].unit[0], 0x7632);
    }
  } else {
    FARO_UNROLL
    for (int k = 0; k < kMovedBytes / unit_bytes; ++k) device::insert(column[0], k, row[k]);
  }
}

/// A word near the array's end, unit by unit.
template <int unit_bytes, int word_bytes, device::Memory Memory>
constexpr device::Packet<word_bytes> load_word_at_end(Memory& memory, const AxesLinesParams& p,
                                                      std::uint64_t at) {
  device::Packet<word_bytes> word{};
  FARO_UNROLL
  for (int k = 0; k < word_bytes / unit_bytes; ++k) {
    const std::uint64_t from = at + static_cast<std::uint64_t>(k * unit_bytes);
    if (from < p.in.end) {
      device::insert(word, k, memory.template load_global<unit_bytes>(device::kInput, from));
    } else {
      device::idle(memory);
    }
  }
  return word;
}

/// What a lane reads of a group of rows: a word of each, `kWide` times side by side. `words`: they begin at
/// words of the input.
template <AxesPlaneShape shape, bool words>
struct TurnedGroup {
  using Layout = TurnedLayout<shape>;
  using Word = device::Packet<Layout::kWord>;
  static constexpr auto kRows = static_cast<int>(Layout::kGroup);
  static constexpr int kWide = static_cast<int>(Layout::kWide);
  static constexpr int kClasses = words ? 1 : 4;  // rows that are four apart begin alike within a word

  Word row[kWide][kRows];
  Word next[words ? 1 : kWide][words ? 1 : kRows];

  /// The first `rows` of a group, or all of them. `has`: whether the lane has a word on each side; `at`: of
  /// its first row.
  template <bool part, typename Memory>
  constexpr void load(Memory& memory, std::uint64_t at, std::uint64_t pitch, const bool (&has)[kWide],
                      std::uint32_t rows = Layout::kGroup) {
    using Cursor = decltype(input_cursor(memory, at));
    Cursor cursor[kClasses]{};
    FARO_UNROLL
    for (int k = 0; k < kClasses; ++k) {
      cursor[k] = input_cursor(memory, at - (words ? 0 : at % Layout::kWord));
      at += pitch;
    }
    const std::uint64_t step = words ? pitch : 4 * pitch;
    FARO_UNROLL
    for (int k = 0; k < kRows; ++k) {
      Cursor& from = cursor[k % kClasses];
      FARO_UNROLL
      for (int side = 0; side < kWide; ++side) {
        const auto byte = static_cast<std::uint32_t>(side) * Layout::kSide;
        if (has[side] && (!part || static_cast<std::uint32_t>(k) < rows)) {
          row[side][k] = load_cursor<Layout::kWord>(memory, from + byte);
          if constexpr (!words) {
            next[side][k] = load_cursor<Layout::kWord>(memory, from + (byte + Layout::kWord));
          }
        } else {
          row[side][k] = Word{};
          if constexpr (!words) next[side][k] = Word{};
          idle_times(memory, words ? 1 : 2);
        }
      }
      from += step;
    }
  }
  /// The same near the array's ends, where words around a row's may not be read.
  template <typename Memory>
  constexpr void load_part(Memory& memory, const AxesLinesParams& p, std::uint64_t at, std::uint32_t rows,
                           const bool (&has)[kWide]) {
    FARO_UNROLL
    for (int side = 0; side < kWide; ++side) {
      FARO_NO_UNROLL
      for (std::uint32_t k = 0; k < Layout::kGroup; ++k) {
        Word word{};
        if (k < rows && has[side]) {
          const std::uint64_t from = at + k * p.in_pitch + static_cast<std::uint32_t>(side) * Layout::kSide;
          word = load_word_at_end<shape.unit_bytes, Layout::kWord>(memory, p, from);
        } else {
          idle_times(memory, static_cast<int>(Layout::kWordUnits));
        }
        FARO_UNROLL
        for (int i = 0; i < kRows; ++i) {
          row[side][i] = static_cast<std::uint32_t>(i) == k || k == 0 ? word : row[side][i];
        }
      }
    }
  }
  /// Joins words that load() read at `at`.
  constexpr void join_words(std::uint64_t at, std::uint64_t pitch) {
    if constexpr (!words) {
      std::uint32_t selector[kClasses];
      FARO_UNROLL
      for (int k = 0; k < kClasses; ++k) {
        selector[k] = 0x3210 + 0x1111 * static_cast<std::uint32_t>(at % Layout::kWord);
        at += pitch;
      }
      FARO_UNROLL
      for (int side = 0; side < kWide; ++side) {
        FARO_UNROLL
        for (int k = 0; k < kRows; ++k) {
          row[side][k].unit[0] =
              device::select_bytes(row[side][k].unit[0], next[side][k].unit[0], selector[k % kClasses]);
        }
      }
    }
  }
  template <typename Memory>
  constexpr void store(Memory& memory, std::uint32_t address, const bool (&has)[kWide]) {
    FARO_UNROLL
    for (int side = 0; side < kWide; ++side) {
      if (!has[side]) {
        idle_times(memory, static_cast<int>(Layout::kWordUnits));
        continue;
      }
      device::Packet<16> column[Layout::kWordUnits]{};
      turn_words<shape.unit_bytes, Layout::kWord>(row[side], column);
      FARO_UNROLL
      for (std::uint32_t j = 0; j < Layout::kWordUnits; ++j) {
        memory.template store_shared<16>(
            address + static_cast<std::uint32_t>(side) * Layout::kLanes * Layout::kPitch +
                j * Layout::kColumnStep,
            column[j]);
      }
    }
  }
};

/// Phase 1. Requires: thread < shape.threads; `words`, unless units are narrower: rows begin at words.
template <AxesPlaneShape shape, bool words, device::Memory Memory>
constexpr void load_axes_turned(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                std::uint32_t thread) {
  using Layout = TurnedLayout<shape>;
  constexpr std::uint32_t unroll = Layout::kUnroll;
  const std::uint32_t lane = thread % Layout::kLanes;
  const std::uint32_t warp = thread / Layout::kLanes / Layout::kAcross;
  const std::uint32_t column =  // of words
      thread / Layout::kLanes % Layout::kAcross * (Layout::kWide * Layout::kLanes) + lane;
  bool has[Layout::kWide];
  FARO_UNROLL
  for (std::uint32_t side = 0; side < Layout::kWide; ++side) {
    has[side] = (side * Layout::kLanes + column) * Layout::kWord < tile.row_bytes;
  }
  const std::uint32_t groups = (tile.rows + (Layout::kGroup - 1)) / Layout::kGroup;
  // Rows of whole words end with the array, or before it.
  const bool by_words = words || tile.inner;
  const std::uint32_t whole = by_words ? tile.rows / Layout::kGroup : 0;
  const std::uint64_t step = Layout::kDeep * Layout::kGroup * p.in_pitch;
  std::uint64_t at = tile.in + column * Layout::kWord + std::uint64_t{warp * Layout::kGroup} * p.in_pitch;
  std::uint32_t address = column * Layout::kPitch + warp * kMovedBytes;
  std::uint32_t number = warp;
  FARO_NO_UNROLL
  for (; number + (unroll - 1) * Layout::kDeep < whole; number += unroll * Layout::kDeep) {
    TurnedGroup<shape, words> group[unroll];
    FARO_UNROLL
    for (std::uint32_t i = 0; i < unroll; ++i) {
      group[i].template load<false>(memory, at + i * step, p.in_pitch, has);
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < unroll; ++i) {
      group[i].join_words(at, p.in_pitch);  // whole groups of four rows later, alike
      group[i].store(memory, address + i * Layout::kDeep * kMovedBytes, has);
    }
    at += unroll * step;
    address += unroll * Layout::kDeep * kMovedBytes;
  }
  FARO_NO_UNROLL
  for (; number < groups; number += Layout::kDeep) {
    TurnedGroup<shape, words> group;
    const std::uint32_t left = tile.rows - number * Layout::kGroup;
    if (by_words) {
      group.template load<true>(memory, at, p.in_pitch, has, left);
      group.join_words(at, p.in_pitch);
    } else {
      group.load_part(memory, p, at, left, has);
    }
    group.store(memory, address, has);
    at += step;
    address += Layout::kDeep * kMovedBytes;
  }
}

/// Where a lane's vectors of a line are: 16 bytes of 128, then of the next.
struct TurnedLine {
  std::uint64_t at = 0;     // the first, in the output
  std::int32_t within = 0;  // from the cut on
  std::int32_t place = 0;   // in shared memory, from the line's beginning there
};

constexpr TurnedLine turned_line(const AxesLinesParams& p, const AxesLinesTile& tile, std::uint32_t line,
                                 std::uint32_t slot) {
  const std::uint64_t begin = tile.out + line * p.out_pitch;
  const auto byte = static_cast<std::int32_t>(slot * kMovedBytes);
  TurnedLine result;
  result.within = byte - static_cast<std::int32_t>(begin % kLineSector);
  result.place = result.within + tile.before;
  result.at = begin - begin % kLineSector + tile.cut + std::uint64_t{slot} * kMovedBytes;
  return result;
}

/// A vector of output that a line's begin or end may cut, or that is beyond the tile's lines.
template <int unit_bytes, device::Memory Memory>
constexpr void store_turned_end(Memory& memory, const AxesLinesTile& tile, const TurnedLine& line,
                                std::uint32_t from, bool is_line, std::int32_t stored) {
  const bool some = is_line && line.within < tile.high && line.within + kMovedBytes > tile.low;
  const bool whole = some && line.within >= tile.low && line.within + kMovedBytes <= tile.high;
  const auto by = static_cast<std::uint32_t>(line.place) % kMovedBytes;
  const std::int32_t number = line.place >> 4;
  const std::uint32_t address = from + static_cast<std::uint32_t>(number) * kMovedBytes;
  device::Packet<16> vector{};
  device::Packet<16> next{};
  if (some && number >= 0) {
    vector = memory.template load_shared<16>(address);
  } else {
    device::idle(memory);
  }
  if (some && by != 0 && number + 1 < stored) {
    next = memory.template load_shared<16>(address + kMovedBytes);
  } else {
    device::idle(memory);
  }
  vector = join<unit_bytes>(vector, next, by);
  if (whole) {
    memory.template store_global<16>(device::kOutput, line.at, vector);
  } else {
    device::idle(memory);
  }
  if (some && !whole) {
    const std::int32_t low = tile.low > line.within ? tile.low - line.within : 0;
    const std::int32_t high = tile.high < line.within + kMovedBytes ? tile.high - line.within : kMovedBytes;
    store_part<unit_bytes>(memory, line.at, vector, static_cast<std::uint32_t>(low),
                           static_cast<std::uint32_t>(high));
  } else {
    idle_times(memory, store_part_steps(unit_bytes));
  }
}

/// Phase 2: a warp writes four lines, 128 bytes at a time.
template <AxesPlaneShape shape, device::Memory Memory>
constexpr void store_axes_turned(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                 std::uint32_t thread) {
  using Layout = TurnedLayout<shape>;
  constexpr int unit_bytes = shape.unit_bytes;
  constexpr std::uint32_t lanes = 8;  // of a line
  constexpr std::uint32_t quad = Layout::kLanes / lanes;
  constexpr std::uint32_t part = lanes * kMovedBytes;
  constexpr auto line_bytes = static_cast<std::uint32_t>(shape.line_bytes);
  const std::uint32_t lane = thread % Layout::kLanes;
  // Neither begins nor ends any line; all rows are there.
  const std::int32_t before = p.halo == 0 ? 0 : static_cast<std::int32_t>(kLineSector);
  const bool open = tile.lines == Layout::kColumns && tile.low <= -before && tile.high >= shape.line_bytes;
  const auto stored = static_cast<std::int32_t>((tile.rows + (Layout::kGroup - 1)) / Layout::kGroup);
  FARO_NO_UNROLL
  for (std::uint32_t visit = thread / Layout::kLanes; visit < Layout::kColumns / quad;
       visit += Layout::kWarps) {
    const std::uint32_t number = visit * quad + lane / lanes;
    TurnedLine line = turned_line(p, tile, number, lane % lanes);
    if (!open) {
      FARO_NO_UNROLL
      for (std::uint32_t first = 0; first < line_bytes; first += part) {
        store_turned_end<unit_bytes>(memory, tile, line, Layout::line(number), number < tile.lines, stored);
        line.at += part;
        line.within += static_cast<std::int32_t>(part);
        line.place += static_cast<std::int32_t>(part);
      }
      continue;
    }
    const auto place = static_cast<std::uint32_t>(line.place);
    const std::uint32_t by = place % kMovedBytes;
    const std::uint32_t address = Layout::line(number) + (place - by);
    FARO_UNROLL
    for (std::uint32_t first = 0; first < line_bytes; first += part) {
      auto vector = memory.template load_shared<16>(address + first);
      device::Packet<16> next{};
      if (by != 0) {
        next = memory.template load_shared<16>(address + first + kMovedBytes);
      } else {
        device::idle(memory);
      }
      vector = join<unit_bytes>(vector, next, by);
      memory.template store_global<16>(device::kOutput, line.at + first, vector);
    }
  }
}

}  // namespace faro::kernels
