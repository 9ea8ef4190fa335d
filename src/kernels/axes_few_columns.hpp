// Transposes with few columns: a stretch of the input is kept as it is, and each line picks its units from
// it.
//
//     input, 3 columns      a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 ...       vectors, to shared memory
//     line b                b0 b1 b2 b3 | ...                       a word of 4 bytes a lane: 3 units apart
//
// Lines are cut where their own sectors begin (axes_lines.hpp), so that a request of 32 words is whole
// sectors. (axes_stretch.hpp has more.)
#pragma once

#include <cstdint>

#include "kernels/axes_box.hpp"
#include "kernels/axes_stretch.hpp"

namespace faro::kernels {

/// Few columns, phase 1: the stretch as it is.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void load_skinny_stretch(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                   std::uint32_t thread) {
  using Layout = SkinnyLayout<shape>;
  constexpr std::uint32_t unroll = 4;
  constexpr std::uint32_t units = kMovedBytes / Layout::kUnit;
  constexpr bool copies = skinny_copied(shape) && box_copies<Memory>;
  const Layout layout{.exchange = p.exchange};
  const std::uint64_t begin = tile.in / kLineSector * kLineSector;
  const std::uint32_t bytes = static_cast<std::uint32_t>(tile.in - begin) + tile.row_bytes;
  FARO_NO_UNROLL
  for (std::uint32_t first = thread * kMovedBytes; first < bytes;
       first += unroll * kAxesSkinnyThreads * kMovedBytes) {
    device::Packet<16> vector[unroll];
    FARO_UNROLL
    for (std::uint32_t i = 0; i < unroll; ++i) {
      const std::uint32_t byte = first + i * kAxesSkinnyThreads * kMovedBytes;
      if (!tile.inner || byte >= bytes) {
        device::idle(memory);
      } else if constexpr (copies) {
        memory.template copy_to_shared<16>(input_cursor(memory, begin + byte), byte);
      } else {
        vector[i] = memory.template load_global<16>(device::kInput, begin + byte);
      }
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < unroll && !copies; ++i) {
      const std::uint32_t byte = first + i * kAxesSkinnyThreads * kMovedBytes;
      if (tile.inner && byte < bytes) {
        layout.store(memory, byte, vector[i]);
      } else {
        device::idle(memory);
      }
    }
    if (tile.inner) continue;
    FARO_NO_UNROLL
    for (std::uint32_t k = 0; k < unroll * units; ++k) {
      const std::uint32_t byte =
          first + k / units * (kAxesSkinnyThreads * kMovedBytes) + k % units * Layout::kUnit;
      const std::uint64_t from = begin + byte;
      if (byte < bytes && from >= p.in.begin && from < p.in.end) {
        memory.template store_shared<shape.unit_bytes>(
            layout.place(byte), memory.template load_global<shape.unit_bytes>(device::kInput, from));
      } else {
        idle_times(memory, 2);
      }
    }
  }
}

/// Few columns, phase 2: a warp writes so many words of a line.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void store_skinny_lines(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                  std::uint32_t thread) {
  using Layout = SkinnyLayout<shape>;
  using Word = device::Packet<Layout::kWord>;
  constexpr std::uint32_t units = Layout::kWordUnits;
  const Layout layout{.exchange = p.exchange};
  const std::uint32_t lane = thread % Layout::kLanes;
  const std::uint32_t few = p.tile_columns;
  const std::uint32_t step = few * Layout::kUnit;
  const std::uint32_t items = tile.lines * p.line_slots.divisor();
  const bool open = skinny_open(p, tile);
  FARO_NO_UNROLL
  for (std::uint32_t item = thread / Layout::kLanes; item < items; item += Layout::kWarps) {
    std::uint32_t part = item;
    const std::uint32_t line = p.line_slots.divide(part);
    const std::uint64_t begin = tile.out + line * p.out_pitch;
    const auto over = static_cast<std::uint32_t>(begin % kLineSector);
    const std::uint32_t byte = part * (Layout::kChunks * Layout::kChunk) + lane * Layout::kWord;
    const std::uint64_t to = begin - over + tile.cut + byte;
    const auto within = static_cast<std::int32_t>(byte - over);
    const std::uint32_t address = static_cast<std::uint32_t>(tile.in % kLineSector) + line * Layout::kUnit +
                                  static_cast<std::uint32_t>(within + tile.before) * few;
    const std::uint32_t left = p.tile_bytes - byte;
    if (open) {
      Word word[Layout::kChunks];
      FARO_UNROLL
      for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
        word[h] = Word{};
        if (h * Layout::kChunk < left) {
          FARO_UNROLL
          for (std::uint32_t u = 0; u < units; ++u) {
            const std::uint32_t from = layout.place(address + h * Layout::kChunk * few + u * step);
            device::insert(word[h], static_cast<int>(u), memory.template load_shared<shape.unit_bytes>(from));
          }
        } else {
          idle_times(memory, static_cast<int>(units));
        }
      }
      FARO_UNROLL
      for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
        if (h * Layout::kChunk < left) {
          memory.template store_global<Layout::kWord>(device::kOutput, to + h * Layout::kChunk, word[h]);
        } else {
          device::idle(memory);
        }
      }
      continue;
    }
    FARO_NO_UNROLL
    for (std::uint32_t h = 0; h < Layout::kChunks; ++h) {
      const std::uint32_t moved = h * Layout::kChunk;
      if (moved >= left) continue;  // all lanes alike
      FARO_NO_UNROLL
      for (std::uint32_t u = 0; u < units; ++u) {
        const std::uint32_t unit_byte = moved + u * Layout::kUnit;
        const std::int32_t at = within + static_cast<std::int32_t>(unit_byte);
        if (at < tile.low || at >= tile.high) {
          idle_times(memory, 2);
          continue;
        }
        memory.template store_global<shape.unit_bytes>(
            device::kOutput, to + unit_byte,
            memory.template load_shared<shape.unit_bytes>(layout.place(address + unit_byte * few)));
      }
    }
  }
}

}  // namespace faro::kernels
