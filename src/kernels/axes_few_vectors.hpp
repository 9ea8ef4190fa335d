// Transposes with two to eight rows or columns of units of 1 or 2 bytes, where both sides begin at vectors:
// everything moves by vectors of 16 bytes, and units change places in registers.
//
//     3 rows, 2 bytes      a thread's vectors       transposed: 3 vectors of the stretch
//     a                    a0 a1 ... a7             a0 b0 c0 a1 b1 c1 a2 b2
//     b                    b0 b1 ... b7             c2 a3 b3 c3 a4 b4 c4 a5
//     c                    c0 c1 ... c7             b5 c5 a6 b6 c6 a7 b7 c7
//
// A word of 2-byte units takes one selection of bytes, one of single bytes three. A thread's vectors of the
// stretch lie together, so that lanes would be apart by all of them; the stretch therefore passes through
// shared memory, in its own order, and lanes read or write neighbours. Where `few` is even, vectors exchange
// places there (LinesExchange), so that 8 lanes meet in no bank.
//
// Tiles are those of axes_lines.hpp, without halo: lines are cut at vectors. (axes_stretch.hpp moves what
// begins anywhere, by words.)
#pragma once

#include <cstdint>

#include "kernels/axes_stretch.hpp"

namespace faro::kernels {

/// Where a unit comes from: a word of a thread's vectors, and which of its units.
struct FewSource {
  std::uint32_t word = 0;
  std::uint32_t piece = 0;
};

/// The place of unit `number` of the vectors that result: of the stretch (`to_stretch`), or of the rows one
/// after another.
template <AxesSkinnyShape shape>
constexpr FewSource few_source(bool to_stretch, std::uint32_t number) {
  constexpr auto few = static_cast<std::uint32_t>(shape.few);
  constexpr std::uint32_t in_word = 4 / static_cast<std::uint32_t>(shape.unit_bytes);
  constexpr std::uint32_t in_vector = 4 * in_word;
  const std::uint32_t from =
      to_stretch ? number % few * in_vector + number / few : number % in_vector * few + number / in_vector;
  return {.word = from / in_word, .piece = from % in_word};
}

/// Rows to the stretch, or the stretch to rows.   Cost: a selection of bytes a word, or three of bytes.
template <AxesSkinnyShape shape, bool to_stretch>
constexpr void turn_few(const device::Packet<16> (&from)[shape.few], device::Packet<16> (&to)[shape.few]) {
  static_assert(shape.unit_bytes <= 2);
  constexpr std::uint32_t in_word = 4 / static_cast<std::uint32_t>(shape.unit_bytes);
  FARO_UNROLL
  for (std::uint32_t w = 0; w < 4 * static_cast<std::uint32_t>(shape.few); ++w) {
    std::uint32_t half[2]{};
    FARO_UNROLL
    for (std::uint32_t h = 0; h < 2; ++h) {
      const FewSource low = few_source<shape>(to_stretch, w * in_word + h * in_word / 2);
      const std::uint32_t a = from[low.word / 4].unit[low.word % 4];
      if constexpr (shape.unit_bytes == 1) {
        const FewSource high = few_source<shape>(to_stretch, w * in_word + h * 2 + 1);
        const std::uint32_t b = from[high.word / 4].unit[high.word % 4];
        half[h] = device::select_bytes(a, b, low.piece | (4 + high.piece) << 4);
      } else {
        half[h] = a;
      }
    }
    std::uint32_t selector = 0x5410;  // the low halves
    if constexpr (shape.unit_bytes == 2) {
      const std::uint32_t low = few_source<shape>(to_stretch, w * 2).piece;
      const std::uint32_t high = few_source<shape>(to_stretch, w * 2 + 1).piece;
      selector += low * 0x22 + high * 0x2200;
    }
    to[w / 4].unit[w % 4] = device::select_bytes(half[0], half[1], selector);
  }
}

/// What the threads of a block have in common.
template <AxesSkinnyShape shape>
struct FewVectors {
  static constexpr auto kFew = static_cast<std::uint32_t>(shape.few);

  LinesExchange exchange;
  std::uint64_t row;      // where the tile's part of the first row, or line, begins
  std::uint64_t pitch;    // from one to the next
  std::uint64_t stretch;  // where its stretch begins
  std::uint32_t most;     // vectors of a row in a whole tile
  std::uint32_t vectors;  // in this one

  constexpr FewVectors(const AxesLinesParams& p, const AxesLinesTile& tile)
      : exchange(p.exchange),
        row(shape.by_rows ? tile.in : tile.out + tile.cut),
        pitch(shape.by_rows ? p.in_pitch : p.out_pitch),
        stretch(shape.by_rows ? tile.out + tile.cut : tile.in),
        most(p.tile_bytes / (shape.by_rows ? kFew * kMovedBytes : std::uint32_t{kMovedBytes})),
        vectors(tile.row_bytes / (shape.by_rows ? std::uint32_t{kMovedBytes} : kFew * kMovedBytes)) {}

  /// The place of a vector of the stretch, in shared memory.
  constexpr std::uint32_t place(std::uint32_t vector) const {
    return shape.exchanged ? exchange.place(vector * kMovedBytes) : vector * kMovedBytes;
  }
};

/// Phase 1. Requires: thread < kAxesSkinnyThreads.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void load_few_vectors(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                std::uint32_t thread) {
  constexpr auto few = FewVectors<shape>::kFew;
  const FewVectors<shape> of(p, tile);
  FARO_NO_UNROLL
  for (std::uint32_t base = 0; base < of.most; base += kAxesSkinnyThreads) {
    device::Packet<16> moved[few];
    device::Packet<16> turned[few];
    // A vector of each row; of a stretch, as many that are a block apart.
    const std::uint32_t vector = base + thread;
    FARO_UNROLL
    for (std::uint32_t i = 0; i < few; ++i) {
      const std::uint32_t along = base * few + i * kAxesSkinnyThreads + thread;
      const bool has = shape.by_rows ? vector < of.vectors : along < of.vectors * few;
      const std::uint64_t at = shape.by_rows ? of.row + i * of.pitch + std::uint64_t{vector} * kMovedBytes
                                             : of.stretch + std::uint64_t{along} * kMovedBytes;
      if (has) {
        moved[i] = memory.template load_global<16>(device::kInput, at);
      } else {
        moved[i] = {};
        device::idle(memory);
      }
    }
    if constexpr (shape.by_rows) turn_few<shape, true>(moved, turned);
    FARO_UNROLL
    for (std::uint32_t i = 0; i < few; ++i) {
      const std::uint32_t along =
          shape.by_rows ? vector * few + i : base * few + i * kAxesSkinnyThreads + thread;
      if (along < of.vectors * few) {
        memory.template store_shared<16>(of.place(along), shape.by_rows ? turned[i] : moved[i]);
      } else {
        device::idle(memory);
      }
    }
  }
}

/// Phase 2.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void store_few_vectors(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                 std::uint32_t thread) {
  constexpr auto few = FewVectors<shape>::kFew;
  const FewVectors<shape> of(p, tile);
  FARO_NO_UNROLL
  for (std::uint32_t base = 0; base < of.most; base += kAxesSkinnyThreads) {
    device::Packet<16> moved[few];
    device::Packet<16> turned[few];
    const std::uint32_t vector = base + thread;
    FARO_UNROLL
    for (std::uint32_t i = 0; i < few; ++i) {
      const std::uint32_t along =
          shape.by_rows ? base * few + i * kAxesSkinnyThreads + thread : vector * few + i;
      if (along < of.vectors * few) {
        moved[i] = memory.template load_shared<16>(of.place(along));
      } else {
        moved[i] = {};
        device::idle(memory);
      }
    }
    if constexpr (!shape.by_rows) turn_few<shape, false>(moved, turned);
    FARO_UNROLL
    for (std::uint32_t i = 0; i < few; ++i) {
      const std::uint32_t along = base * few + i * kAxesSkinnyThreads + thread;
      const bool has = shape.by_rows ? along < of.vectors * few : vector < of.vectors;
      const std::uint64_t at = shape.by_rows ? of.stretch + std::uint64_t{along} * kMovedBytes
                                             : of.row + i * of.pitch + std::uint64_t{vector} * kMovedBytes;
      if (has) {
        memory.template store_global<16>(device::kOutput, at, shape.by_rows ? moved[i] : turned[i]);
      } else {
        device::idle(memory);
      }
    }
  }
}

}  // namespace faro::kernels
