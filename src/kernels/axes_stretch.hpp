// Transposes with few rows or few columns: one side is a single stretch, and shared memory holds it as it is.
//
// Where the output is a stretch (few rows), units are put in their places on the way in; where the input is
// (few columns), they are picked on the way out. The stretch itself moves by whole vectors, whatever its
// alignment, and nothing is joined. The other side, rows or lines that begin anywhere, moves by words of 4
// bytes (units of 8 by 8), 32 of a row by a warp:
//
//     3 rows of bytes                       shared memory: the output's own bytes
//     a  . a0 a1 a2|a3 a4 ...               : . . . a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 ...
//     b  b0 b1 b2 b3|b4 ...                           |
//     c  . . c0 c1|c2 ...                   a word of row c holds c-2 c-1 c0 c1: what is before the tile is
//        words of the input                 put before the stretch, and never read
//
// So 4-byte units take 30 instructions for 16 bytes, bytes 70, where gathering joined vectors took 140 and
// 220. Lanes of a warp are `few` words apart in shared memory: no conflict where that is odd. Where it has
// many factors of 2, words of the stretch exchange places (LinesExchange).
#pragma once

#include <cstdint>

#include "kernels/axes_lines.hpp"

namespace faro::kernels {

inline constexpr int kAxesSkinnyThreads = 256;

struct AxesSkinnyShape {
  int unit_bytes = 4;
  bool by_rows = true;     // few rows; else few columns
  bool exchanged = false;  // words of the stretch have other places
  int chunks = 4;          // of a row that a thread reads one after another; one where rows are short
  int few = 0;             // rows or columns that axes_few_vectors.hpp moves; 0: any, by words

  friend constexpr bool operator==(const AxesSkinnyShape&, const AxesSkinnyShape&) = default;
};

/// Whether the input goes to shared memory past registers, where the memory copies by itself: long rows of
/// narrow units, whose words wait before the stretch is made of them, and stretches of narrow units that stay
/// as they are. Others are as fast or faster by registers.
constexpr bool skinny_copied(const AxesSkinnyShape& shape) {
  constexpr int word = 4;
  if (shape.few > 0 || shape.unit_bytes >= word) return false;
  return shape.by_rows ? shape.chunks > 1 : !shape.exchanged;
}

inline constexpr int kLeastFewVectors = 2;
inline constexpr int kMostFewVectors = 8;

/// The shapes that are compiled: all of each width, numbered; then all that go by vectors.
inline constexpr int kAxesSkinnyKinds = 6;
inline constexpr int kAxesWordShapes = 4 * kAxesSkinnyKinds;
inline constexpr int kAxesSkinnyShapes = kAxesWordShapes + 4 * (kMostFewVectors - kLeastFewVectors + 1);
constexpr AxesSkinnyShape axes_skinny_shape(int number) {
  if (number >= kAxesWordShapes) {
    const int of = number - kAxesWordShapes;
    const int few = kLeastFewVectors + of / 4;
    return {.unit_bytes = 1 + of % 2, .by_rows = of / 2 % 2 != 0, .exchanged = few % 2 == 0, .few = few};
  }
  const int kind = number % kAxesSkinnyKinds;
  return {.unit_bytes = 1 << number / kAxesSkinnyKinds,
          .by_rows = kind < 4,
          .exchanged = kind % 2 != 0,
          .chunks = kind == 2 || kind == 3 ? 1 : 4};
}

template <AxesSkinnyShape shape>
struct SkinnyLayout {
  static constexpr auto kUnit = static_cast<std::uint32_t>(shape.unit_bytes);
  static constexpr std::uint32_t kWord = kUnit < 4 ? 4 : kUnit;
  static constexpr std::uint32_t kWordUnits = kWord / kUnit;
  static constexpr std::uint32_t kLanes = 32;
  static constexpr std::uint32_t kWarps = kAxesSkinnyThreads / kLanes;
  static constexpr std::uint32_t kChunk = kLanes * kWord;  // bytes that a warp reads, or writes, at once
  static constexpr auto kChunks = static_cast<std::uint32_t>(shape.chunks);
  /// Rows, or parts of them, that a thread reads before it stores the first: 64 bytes, of short rows 32.
  static constexpr std::uint32_t kGroups = (kChunks == 1 ? 32 : 64) / (kWord * kChunks);
  static constexpr int kExchangeUnits = kUnit <= 4 ? 0 : 1;

  LinesExchange exchange;

  constexpr std::uint32_t place(std::uint32_t address) const {
    return shape.exchanged ? exchange.place(address) : address;
  }
  template <typename Memory>
  constexpr void store(Memory& memory, std::uint32_t address, device::Packet<16> vector) const {
    const std::uint32_t at = place(address);
    if constexpr (shape.exchanged) device::exchange_units<kExchangeUnits>(vector, at >> 2 & 3);
    memory.template store_shared<16>(at & ~15U, vector);
  }
  template <typename Memory>
  constexpr device::Packet<16> load(Memory& memory, std::uint32_t address) const {
    const std::uint32_t at = place(address);
    auto vector = memory.template load_shared<16>(at & ~15U);
    if constexpr (shape.exchanged) device::exchange_units<kExchangeUnits>(vector, at >> 2 & 3);
    return vector;
  }
};

/// Whether a tile neither begins nor ends any line.
constexpr bool skinny_open(const AxesLinesParams& p, const AxesLinesTile& tile) {
  const std::int32_t before = p.halo == 0 ? 0 : static_cast<std::int32_t>(kLineSector);
  return tile.low <= -before && tile.high >= static_cast<std::int32_t>(p.tile_bytes);
}

}  // namespace faro::kernels
