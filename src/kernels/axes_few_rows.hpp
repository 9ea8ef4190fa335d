// Transposes with few rows: every unit of a row goes to its place of the stretch, which leaves in order.
//
//     part of a row      4 x 32 words, one after another, or 1 x 32 where rows are short; a warp reads so
//                        many parts that a thread has 64 bytes on their way
//     last words         a row that begins within a word may end in one word more: a thread a row
//     past registers     where the memory copies by itself, words of long rows of narrow units are all under
//                        way at a time, to behind the stretch, from where they are spread when they have come
//
// Where nothing is beyond the array, words are read whole, and what they hold of other tiles is put before
// the stretch or after it. The tiles at the array's ends go unit by unit. (axes_stretch.hpp has the picture.)
#pragma once

#include <cstdint>

#include "kernels/axes_box.hpp"
#include "kernels/axes_stretch.hpp"

namespace faro::kernels {

/// Few rows: where the stretch begins in shared memory, so that its vectors are vectors there. Before it,
/// p.pitch bytes are for what precedes the tile in its rows' words.
constexpr std::uint32_t skinny_base(const AxesLinesParams& p, const AxesLinesTile& tile) {
  const auto over = static_cast<std::uint32_t>(tile.out % kLineSector);
  return p.pitch + (over - static_cast<std::uint32_t>(tile.before)) % kMovedBytes;
}

/// The units of a word to their places: `address` of the first, `step` from place to place.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void spread_word(Memory& memory, const SkinnyLayout<shape>& layout,
                           const device::Packet<SkinnyLayout<shape>::kWord>& word, std::uint32_t address,
                           std::uint32_t step) {
  FARO_UNROLL
  for (std::uint32_t u = 0; u < SkinnyLayout<shape>::kWordUnits; ++u) {
    memory.template store_shared<shape.unit_bytes>(layout.place(address + u * step),
                                                   unit_of<shape.unit_bytes>(word, static_cast<int>(u)));
  }
}

/// What all parts of a tile's rows have in common.
template <AxesSkinnyShape shape>
struct SkinnyRows {
  using Layout = SkinnyLayout<shape>;
  static constexpr bool kNarrow = Layout::kWordUnits > 1;

  Layout layout;
  std::uint64_t in;
  std::uint64_t pitch;
  std::uint32_t rows;
  std::uint32_t base;  // of the stretch
  std::uint32_t row_bytes;

  /// How far a row begins past a word.
  constexpr std::uint32_t past(std::uint64_t at) const {
    return kNarrow ? static_cast<std::uint32_t>(at % Layout::kWord) : 0;
  }
  constexpr std::uint64_t row_at(std::uint32_t row) const { return in + row * pitch; }
  constexpr std::uint32_t address(std::uint32_t row, std::uint32_t byte) const {
    return base + (byte - past(row_at(row))) * rows + row * Layout::kUnit;
  }
};

template <AxesSkinnyShape shape>
constexpr SkinnyRows<shape> skinny_rows(const AxesLinesParams& p, const AxesLinesTile& tile) {
  return {.layout = {.exchange = p.exchange},
          .in = tile.in,
          .pitch = p.in_pitch,
          .rows = p.rows,
          .base = skinny_base(p, tile),
          .row_bytes = tile.row_bytes};
}

/// Parts of rows: numbers `first`, then every kWarps. `all`: each is there, to its last word; else the first
/// `items` of the tile's. Requires: words may be read beyond the row's ends.
template <AxesSkinnyShape shape, bool all, device::Memory Memory>
constexpr void load_row_parts(Memory& memory, const device::Division32& parts, const SkinnyRows<shape>& rows,
                              std::uint32_t first, std::uint32_t items, std::uint32_t lane) {
  using Layout = SkinnyLayout<shape>;
  device::Packet<Layout::kWord> word[Layout::kGroups][Layout::kChunks];
  std::uint32_t address[Layout::kGroups];
  std::int32_t left[Layout::kGroups];  // bytes of the row from the first word's place on
  FARO_UNROLL
  for (std::uint32_t g = 0; g < Layout::kGroups; ++g) {
    const std::uint32_t item = first + g * Layout::kWarps;
    std::uint32_t part = item;
    const std::uint32_t row = parts.divide(part);
    const std::uint64_t at = rows.row_at(row);
    const std::uint32_t byte = part * (Layout::kChunks * Layout::kChunk) + lane * Layout::kWord;
    const std::uint64_t from = at - rows.past(at) + byte;
    address[g] = rows.address(row, byte);
    left[g] = item < items ? static_cast<std::int32_t>(rows.row_bytes - byte) : 0;
    FARO_UNROLL
    for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
      if (all || left[g] > static_cast<std::int32_t>(h * Layout::kChunk)) {
        word[g][h] = memory.template load_global<Layout::kWord>(device::kInput, from + h * Layout::kChunk);
      } else {
        device::idle(memory);
      }
    }
  }
  FARO_UNROLL
  for (std::uint32_t g = 0; g < Layout::kGroups; ++g) {
    FARO_UNROLL
    for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
      if (all || left[g] > static_cast<std::int32_t>(h * Layout::kChunk)) {
        spread_word<shape>(memory, rows.layout, word[g][h], address[g] + h * Layout::kChunk * rows.rows,
                           rows.rows * Layout::kUnit);
      } else {
        idle_times(memory, static_cast<int>(Layout::kWordUnits));
      }
    }
  }
}

/// Whether words of rows of narrow units wait behind the stretch until all of a tile's have come.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr bool skinny_words_wait() {
  return skinny_copied(shape) && shape.by_rows && SkinnyLayout<shape>::kWordUnits > 1 && box_copies<Memory>;
}

/// Calls move(row, byte of the row, place where its word waits) for each word of a warp's parts of rows.
template <AxesSkinnyShape shape, device::Memory Memory, typename Move>
constexpr void each_waiting_word(Memory& memory, const AxesLinesParams& p, const SkinnyRows<shape>& rows,
                                 std::uint32_t thread, int accesses, const Move& move) {
  using Layout = SkinnyLayout<shape>;
  constexpr std::uint32_t part_bytes = Layout::kChunks * Layout::kChunk;
  const std::uint32_t items = p.rows * p.row_slots.divisor();
  const std::uint32_t of_lane = thread % Layout::kLanes * Layout::kWord;
  const std::uint32_t waiting = p.shared_bytes - items * part_bytes + of_lane;
  FARO_NO_UNROLL
  for (std::uint32_t item = thread / Layout::kLanes; item < items; item += Layout::kWarps) {
    std::uint32_t part = item;
    const std::uint32_t row = p.row_slots.divide(part);
    FARO_UNROLL
    for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
      const std::uint32_t byte = part * part_bytes + h * Layout::kChunk + of_lane;
      if (byte < rows.row_bytes) {
        move(row, byte, waiting + item * part_bytes + h * Layout::kChunk);
      } else {
        idle_times(memory, accesses);
      }
    }
  }
}

/// The units of a word that begins `word` bytes past its row's begin, one by one: only what is in the row.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void move_word_units(Memory& memory, const SkinnyRows<shape>& rows, std::uint32_t row,
                               std::uint32_t byte) {
  using Layout = SkinnyLayout<shape>;
  const std::uint64_t at = rows.row_at(row);
  const auto word = static_cast<std::int32_t>(byte - rows.past(at));
  FARO_NO_UNROLL
  for (std::uint32_t u = 0; u < Layout::kWordUnits; ++u) {
    const std::int32_t of_row = word + static_cast<std::int32_t>(u * Layout::kUnit);
    if (of_row < 0 || of_row >= static_cast<std::int32_t>(rows.row_bytes)) {
      idle_times(memory, 2);
      continue;
    }
    memory.template store_shared<shape.unit_bytes>(
        rows.layout.place(rows.address(row, byte) + u * rows.rows * Layout::kUnit),
        memory.template load_global<shape.unit_bytes>(device::kInput,
                                                      at + static_cast<std::uint32_t>(of_row)));
  }
}

/// Few rows, phase 1.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void load_skinny_rows(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                std::uint32_t thread) {
  using Layout = SkinnyLayout<shape>;
  constexpr auto units = static_cast<int>(Layout::kWordUnits);
  constexpr std::uint32_t part_bytes = Layout::kChunks * Layout::kChunk;
  const SkinnyRows<shape> rows = skinny_rows<shape>(p, tile);
  const std::uint32_t lane = thread % Layout::kLanes;
  const std::uint32_t items = p.rows * p.row_slots.divisor();
  const bool whole = units == 1 || tile.inner;
  std::uint32_t first = thread / Layout::kLanes;
  if constexpr (skinny_words_wait<shape, Memory>()) {
    if (whole) {
      each_waiting_word(memory, p, rows, thread, 1,
                        [&](std::uint32_t row, std::uint32_t byte, std::uint32_t to) {
                          const std::uint64_t at = rows.row_at(row);
                          memory.template copy_to_shared<Layout::kWord>(
                              input_cursor(memory, at - rows.past(at) + byte), to);
                        });
      first = items;
    }
  } else if (whole) {
    constexpr std::uint32_t step = Layout::kGroups * Layout::kWarps;
    const bool even = tile.row_bytes == p.row_slots.divisor() * part_bytes;
    FARO_NO_UNROLL
    for (; even && first + (step - Layout::kWarps) < items; first += step) {
      load_row_parts<shape, true>(memory, p.row_slots, rows, first, items, lane);
    }
    FARO_NO_UNROLL
    for (; first < items; first += step) {
      load_row_parts<shape, false>(memory, p.row_slots, rows, first, items, lane);
    }
  }
  if constexpr (units > 1) {
    FARO_NO_UNROLL
    for (; first < items; first += Layout::kWarps) {
      std::uint32_t part = first;
      const std::uint32_t row = p.row_slots.divide(part);
      FARO_NO_UNROLL
      for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
        const std::uint32_t byte = part * part_bytes + h * Layout::kChunk + lane * Layout::kWord;
        if (byte < tile.row_bytes) {
          move_word_units<shape>(memory, rows, row, byte);
        } else {
          idle_times(memory, 2 * units);
        }
      }
    }
    // Rows that begin within a word may end in one more.
    const std::uint32_t byte = (tile.row_bytes + Layout::kWord - 1) / Layout::kWord * Layout::kWord;
    FARO_NO_UNROLL
    for (std::uint32_t row = thread; row < p.rows; row += kAxesSkinnyThreads) {
      const std::uint64_t at = rows.row_at(row);
      if (rows.past(at) + tile.row_bytes <= byte) {
        idle_times(memory, 2 * units);
      } else if (whole) {
        const auto word =
            memory.template load_global<Layout::kWord>(device::kInput, at - rows.past(at) + byte);
        spread_word<shape>(memory, rows.layout, word, rows.address(row, byte), p.rows * Layout::kUnit);
        idle_times(memory, units - 1);
      } else {
        move_word_units<shape>(memory, rows, row, byte);
      }
    }
  }
}

/// Few rows: words that wait, to their places.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void spread_skinny_rows(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                  std::uint32_t thread) {
  using Layout = SkinnyLayout<shape>;
  if (!tile.inner) return;
  const SkinnyRows<shape> rows = skinny_rows<shape>(p, tile);
  each_waiting_word(memory, p, rows, thread, 1 + static_cast<int>(Layout::kWordUnits),
                    [&](std::uint32_t row, std::uint32_t byte, std::uint32_t from) {
                      spread_word<shape>(memory, rows.layout,
                                         memory.template load_shared<Layout::kWord>(from),
                                         rows.address(row, byte), rows.rows * Layout::kUnit);
                    });
}

/// Few rows, phase 2: the stretch leaves in order.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void store_skinny_stretch(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                    std::uint32_t thread) {
  using Layout = SkinnyLayout<shape>;
  constexpr std::uint32_t unroll = 4;
  const Layout layout{.exchange = p.exchange};
  const std::uint32_t slots = p.tile_bytes / kMovedBytes;
  const LineVector start = line_vector(p, tile, 0, 0);
  const std::uint32_t base = skinny_base(p, tile);
  const std::uint32_t address = base + static_cast<std::uint32_t>(start.within + tile.before);
  if (skinny_open(p, tile)) {
    FARO_NO_UNROLL
    for (std::uint32_t first = thread; first < slots; first += unroll * kAxesSkinnyThreads) {
      FARO_UNROLL
      for (std::uint32_t i = 0; i < unroll; ++i) {
        const std::uint32_t byte = (first + i * kAxesSkinnyThreads) * kMovedBytes;
        if (byte < p.tile_bytes) {
          const auto vector = layout.load(memory, address + byte);
          memory.template store_global<16>(device::kOutput, start.at + byte, vector);
        } else {
          idle_times(memory, 2);
        }
      }
    }
    return;
  }
  FARO_NO_UNROLL
  for (std::uint32_t slot = thread; slot < slots; slot += kAxesSkinnyThreads) {
    const LineVector v = line_vector(p, tile, 0, slot * kMovedBytes);
    if (v.whole) {
      const auto vector = layout.load(memory, address + slot * kMovedBytes);
      memory.template store_global<16>(device::kOutput, v.at, vector);
      idle_times(memory, 2 * kMovedBytes / shape.unit_bytes);
      continue;
    }
    idle_times(memory, 2);
    store_cut_vector<shape.unit_bytes>(memory, tile, v,
                                       [&](std::uint32_t byte) { return layout.place(base + byte); });
  }
}

}  // namespace faro::kernels
