// Matrices of elements of 1, 2 or 4 bits, transposed: any sides, rows that begin at any bit.
//
//     load        rows of 32 words, shifted so that columns begin with words
//     transpose   2^q words of 2^q elements by each thread, in registers, back to where they were
//     store       words of the output's rows, shifted to where these begin
//
//     tile of the input         groups of 2^q rows                 rows of the output
//     32 words                  word (g, i, w): rows of group g,   word k of column c = 2^q w + i is made of
//     ---------------- row 0    column 2^q w + i                   those of groups k - 1 and k
//     ---------------- row 1
//
// Output rows that begin inside a word need the end of the group before: a tile then has a group more than
// words. Words that hold anything else than elements of one row are left out (MovePackedEnds).
//
// Word (g, i, w) is at g (32 2^q + 1) + 32 i + w: loads, transposes and stores have all banks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/packed_affine.hpp"
#include "kernels/packed_words.hpp"

namespace faro::kernels {

inline constexpr int kMostMatrixAxes = 16;

/// What the kernels of all widths take.
struct PackedMatrixParams {
  struct Axis {
    device::Division64 extent;
    std::int64_t in = 0;  // bits
    std::int64_t out = 0;
  };
  PackedArray<const std::byte> in = {};
  PackedArray<std::byte> out = {};
  Axis others[kMostMatrixAxes] = {};  // that number the matrices
  std::int32_t count = 0;
  std::uint64_t in_first = 0;  // bits, from the base
  std::uint64_t out_first = 0;
  std::uint64_t rows = 0;      // side by side in the output
  std::uint64_t columns = 0;   // side by side in the input
  std::int64_t in_pitch = 0;   // bits from row to row
  std::int64_t out_pitch = 0;  // and from column to column
  bool skewed = false;         // some row of the output begins inside a word
  std::uint64_t matrices = 1;
  std::uint64_t down = 1;  // tiles
  std::uint64_t across = 1;
  device::Division64 of_matrix;  // tiles of one
  device::Division64 of_strip;   // and of kStrip rows of them
};

template <int q>
struct MovePackedMatrix : PackedMatrixParams {
  static constexpr std::uint32_t kSide = 1U << q;  // elements of a word
  static constexpr std::uint32_t kElementBits = 32U >> q;
  static constexpr std::uint32_t kWords = 32;  // of a tile's row
  static constexpr std::uint32_t kGroups = q == 5 ? 16 : 32;
  static constexpr std::uint32_t kGroupPitch = kWords * kSide + 1;
  static constexpr std::uint32_t kThreads = q == 3 ? 256 : 512;
  static constexpr int kMinBlocks = q == 3 ? 4 : 2;
  static constexpr std::uint32_t kLanes = 32;
  static constexpr std::uint32_t kWarps = kThreads / kLanes;
  static constexpr std::uint32_t kAhead = 8;  // rows of a warp on their way
  static constexpr std::uint64_t kStrip = 4;

  constexpr std::uint64_t blocks() const { return matrices * down * across; }
  constexpr std::uint32_t shared_bytes() const { return kGroups * kGroupPitch * 4; }
  constexpr std::uint32_t words_down() const { return kGroups - (skewed ? 1 : 0); }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    device::DirectMemory memory{in.base, out.base, block.shared()};
    load(memory, block.index(), block.thread());
    block.barrier();
    transpose(memory, block.index(), block.thread());
    block.barrier();
    store(memory, block.index(), block.thread());
  }

  // --- phases

  template <device::Memory Memory>
  constexpr void load(Memory& memory, std::uint64_t block, std::uint32_t thread) const {
    const Tile tile = tile_of(block);
    const std::uint32_t lane = thread % kLanes;
    const std::uint64_t column = tile.column + lane * kSide;
    for (std::uint32_t first = thread / kLanes; first < kGroups * kSide; first += kAhead * kWarps) {
      std::uint32_t words[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const std::uint32_t row = first + k * kWarps;
        const std::int64_t number = tile.row + static_cast<std::int64_t>(row);
        if (number >= 0 && number < static_cast<std::int64_t>(rows) && column < columns) {
          const std::int64_t bit =
              tile.in + number * in_pitch + static_cast<std::int64_t>(column * kElementBits);
          words[k] = bits_of(memory, static_cast<std::uint64_t>(bit));
        } else {
          device::idle(memory);
          if ((in_first | static_cast<std::uint64_t>(in_pitch)) % kWordBits != 0) device::idle(memory);
        }
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const std::uint32_t row = first + k * kWarps;
        memory.template store_shared<4>(4 * place(row / kSide, row % kSide, lane),
                                        device::Packet<4>{{words[k]}});
      }
    }
  }

  template <device::Memory Memory>
  constexpr void transpose(Memory& memory, std::uint64_t /*block*/, std::uint32_t thread) const {
    FARO_UNROLL
    for (std::uint32_t n = 0; n < kGroups * kWords / kThreads; ++n) {
      const std::uint32_t group = n * kWarps + thread / kLanes;
      std::uint32_t words[kSide];
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        words[i] = memory.template load_shared<4>(4 * place(group, i, thread % kLanes)).unit[0];
      detail::transpose_words<q>(words);
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        memory.template store_shared<4>(4 * place(group, i, thread % kLanes), device::Packet<4>{{words[i]}});
    }
  }

  template <device::Memory Memory>
  constexpr void store(Memory& memory, std::uint64_t block, std::uint32_t thread) const {
    const Tile tile = tile_of(block);
    const std::uint32_t lane = thread % kLanes;
    const std::uint32_t k = lane % kGroups;
    // Two columns of a warp lie kWords / 2 words apart, where groups are that many.
    for (std::uint32_t n = thread / kLanes; n < kSide * kWords * kGroups / kLanes; n += kWarps) {
      const std::uint32_t i = n % kSide;
      const std::uint32_t w = n / kSide + lane / kGroups * (kWords / 2);
      const std::uint64_t column = tile.column + w * kSide + i;
      const std::int64_t first = tile.out + static_cast<std::int64_t>(column) * out_pitch;
      const std::uint32_t phase = static_cast<std::uint32_t>(first) % 32 / kElementBits;
      const std::uint64_t word = tile.word + k;
      const auto begin = static_cast<std::int64_t>(word * kSide) - static_cast<std::int64_t>(phase);
      if (column >= columns || k >= words_down() || begin < 0 ||
          begin + static_cast<std::int64_t>(kSide) > static_cast<std::int64_t>(rows)) {
        device::idle(memory);
        if (skewed) device::idle(memory);
        device::idle(memory);
        continue;
      }
      std::uint32_t value = memory.template load_shared<4>(4 * place(k + (skewed ? 1 : 0), i, w)).unit[0];
      if (skewed) {
        const std::uint32_t before = memory.template load_shared<4>(4 * place(k, i, w)).unit[0];
        if (phase != 0) value = value << phase * kElementBits | before >> (kSide - phase) * kElementBits;
      }
      if (out.high_first) value = turned_bytes(value);
      const std::uint64_t at = static_cast<std::uint64_t>(first) / kWordBits + word;
      memory.template store_global<4>(device::kOutput, 4 * at, device::Packet<4>{{value}});
    }
  }

 private:
  struct Tile {
    std::int64_t in = 0;  // bit where the matrix begins
    std::int64_t out = 0;
    std::int64_t row = 0;    // of the first group, below 0 in a first skewed one
    std::uint64_t word = 0;  // of the output's rows
    std::uint64_t column = 0;
  };
  constexpr Tile tile_of(std::uint64_t block) const {
    std::uint64_t matrix = of_matrix.divide(block);
    Tile tile;
    tile.in = static_cast<std::int64_t>(in_first);
    tile.out = static_cast<std::int64_t>(out_first);
    for (int a = 0; a < count; ++a) {
      const std::uint64_t rest = others[a].extent.quotient(matrix);
      const auto j = static_cast<std::int64_t>(matrix - rest * others[a].extent.divisor());
      tile.in += j * others[a].in;
      tile.out += j * others[a].out;
      matrix = rest;
    }
    // Strips of tiles: neighbours on both sides are on their way together.
    const std::uint64_t strip = of_strip.divide(block);
    const std::uint64_t high = down - strip * kStrip < kStrip ? down - strip * kStrip : kStrip;
    const auto in_strip = static_cast<std::uint32_t>(block);
    const std::uint32_t column = in_strip / static_cast<std::uint32_t>(high);
    tile.word = (strip * kStrip + (in_strip - column * high)) * words_down();
    tile.column = std::uint64_t{column} * kWords * kSide;
    tile.row = static_cast<std::int64_t>(tile.word * kSide) - (skewed ? static_cast<std::int64_t>(kSide) : 0);
    return tile;
  }

  static constexpr std::uint32_t place(std::uint32_t group, std::uint32_t i, std::uint32_t w) {
    return group * kGroupPitch + i * kWords + w;
  }

  // 32 bits of the input from a bit on.
  template <device::Memory Memory>
  constexpr std::uint32_t bits_of(Memory& memory, std::uint64_t bit) const {
    const std::uint64_t into = bit % kWordBits;
    std::uint32_t value = word_of(memory, bit / kWordBits);
    if (into != 0) value = value >> into | word_of(memory, bit / kWordBits + 1) << (kWordBits - into);
    return in.high_first != out.high_first ? turned_elements(value, kElementBits) : value;
  }
  template <device::Memory Memory>
  constexpr std::uint32_t word_of(Memory& memory, std::uint64_t word) const {
    std::uint32_t value = 0;
    if (in.holds_word(word)) {
      value = memory.template load_global<4>(device::kInput, 4 * word).unit[0];
    } else {
      for (std::uint64_t k = 0; k < 4; ++k) {
        if (in.holds_byte(4 * word + k))
          value |= std::uint32_t{memory.template load_global<1>(device::kInput, 4 * word + k).unit[0]}
                   << 8 * k;
      }
    }
    return in.high_first ? turned_bytes(value) : value;
  }
};

}  // namespace faro::kernels
