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
// words. In the words where rows begin and end, which others have a part in, bits are put in one by one, by
// atomic operations; those that are not wholly in the array are left out (packed_launch.hpp).
//
// Word (g, i, w) is at g (32 2^q + 1) + 32 i + w: loads, transposes and stores have all banks. Tiles at the
// ends of rows have fewer words; then several rows are a warp's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/packed_affine.hpp"
#include "kernels/packed_words.hpp"

namespace faro::kernels {

/// What the kernels of all widths take.
struct PackedMatrixParams {
  PackedArray<const std::byte> in = {};
  PackedArray<std::byte> out = {};
  PackedOthers others;         // that number the matrices
  std::uint64_t in_first = 0;  // bits, from the base
  std::uint64_t out_first = 0;
  std::uint64_t rows = 0;      // side by side in the output
  std::uint64_t columns = 0;   // side by side in the input
  std::int64_t in_pitch = 0;   // bits from row to row
  std::int64_t out_pitch = 0;  // and from column to column
  bool in_skewed = false;      // some row begins inside a word,
  bool skewed = false;         // and of the output
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
  static constexpr std::uint32_t kAhead = 8;  // rows of a thread on their way
  static constexpr std::uint64_t kStrip = 4;

  constexpr std::uint64_t blocks() const { return matrices * down * across; }
  constexpr std::uint32_t shared_bytes() const { return kGroups * kGroupPitch * 4; }
  constexpr std::uint32_t words_down() const { return kGroups - (skewed ? 1 : 0); }

  struct Tile {
    std::int64_t in = 0;  // bit where the matrix begins
    std::int64_t out = 0;
    std::int64_t row = 0;    // of the first group, below 0 in a first skewed one
    std::uint64_t word = 0;  // of the output's rows
    std::uint64_t column = 0;
    std::uint32_t rows = 0;  // and how many of each there are
    std::uint32_t columns = 0;
    std::uint32_t words_across = 0;
    std::uint32_t words_down = 0;
  };

  template <typename Block>
  constexpr void operator()(Block& block) const {
    device::DirectMemory memory{in.base, out.base, block.shared()};
    const Tile tile = tile_of(block.index());
    load(memory, tile, block.thread());
    block.barrier();
    transpose(memory, tile, block.thread());
    block.barrier();
    store(memory, tile, block.thread(), [&](std::uint64_t word, std::uint32_t value, std::uint32_t mask) {
      put_bits(block, out, word, value, mask);
    });
  }

  // --- phases, of the block's tile

  constexpr Tile tile_of(std::uint64_t block) const {
    std::uint64_t matrix = of_matrix.divide(block);
    Tile tile;
    tile.in = static_cast<std::int64_t>(in_first);
    tile.out = static_cast<std::int64_t>(out_first);
    others.add(matrix, tile.in, tile.out);
    // Strips of tiles: neighbours on both sides are on their way together.
    const std::uint64_t strip = of_strip.divide(block);
    const std::uint64_t high = down - strip * kStrip < kStrip ? down - strip * kStrip : kStrip;
    const auto in_strip = static_cast<std::uint32_t>(block);
    const std::uint32_t column = in_strip / static_cast<std::uint32_t>(high);
    tile.word = (strip * kStrip + (in_strip - column * high)) * words_down();
    tile.column = std::uint64_t{column} * kWords * kSide;
    tile.row = static_cast<std::int64_t>(tile.word * kSide) - (skewed ? static_cast<std::int64_t>(kSide) : 0);
    const auto few = [](std::uint64_t number, std::uint32_t most) {
      return number < most ? static_cast<std::uint32_t>(number) : most;
    };
    tile.rows = few(static_cast<std::uint64_t>(static_cast<std::int64_t>(rows) - tile.row), kGroups * kSide);
    tile.columns = few(columns - tile.column, kWords * kSide);
    tile.words_across = (tile.columns + kSide - 1) / kSide;
    const std::uint64_t words = (rows + kSide - 1 + (skewed ? kSide - 1 : 0)) / kSide;
    tile.words_down = few(words - tile.word, words_down());
    return tile;
  }

  template <device::Memory Memory>
  constexpr void load(Memory& memory, const Tile& tile, std::uint32_t thread) const {
    const std::uint32_t lanes = power_of_two_from(tile.words_across);
    const std::uint64_t low = lowest_inside(tile, lanes);
    if (low != kNotInside) {
      load_rows<std::uint32_t>(memory, tile, lanes, thread, static_cast<std::int64_t>(low),
                               [&](std::uint32_t, std::uint64_t word) {
                                 return memory.template load_global<4>(device::kInput, word).unit[0];
                               });
      return;
    }
    load_rows<std::uint64_t>(memory, tile, lanes, thread, 0, [&](std::uint32_t row, std::uint64_t word) {
      if ((thread & (lanes - 1)) < tile.words_across && static_cast<std::int64_t>(row) + tile.row >= 0)
        return word_of(memory, word / 4);
      device::idle(memory);
      return std::uint32_t{0};
    });
  }

  template <device::Memory Memory>
  constexpr void transpose(Memory& memory, const Tile& tile, std::uint32_t thread) const {
    const std::uint32_t lanes = power_of_two_from(tile.words_across);
    const std::uint32_t squares = (tile.rows + kSide - 1) / kSide * lanes;
    for (std::uint32_t n = thread; n < squares; n += kThreads) {
      const std::uint32_t first = 4 * place(n / lanes, 0, n & (lanes - 1));
      std::uint32_t words[kSide];
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        words[i] = memory.template load_shared<4>(first + 4 * place(0, i, 0)).unit[0];
      detail::transpose_words<q>(words);
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        memory.template store_shared<4>(first + 4 * place(0, i, 0), device::Packet<4>{{words[i]}});
    }
  }

  /// ends(word, value, mask): what the output's word `word`, of which others write the rest, gets.
  template <device::Memory Memory, typename Ends>
  constexpr void store(Memory& memory, const Tile& tile, std::uint32_t thread, const Ends& ends) const {
    const std::uint32_t lanes = power_of_two_from(tile.words_down);
    const std::uint32_t k = thread & (lanes - 1);
    const std::uint32_t warp = thread / kLanes;
    // Columns of a warp lie `lanes` words apart.
    const std::uint32_t apart = thread % kLanes / lanes * lanes;
    const std::uint64_t word = tile.word + k;
    const std::int64_t step_bits = out_pitch * kWarps;
    std::int64_t first =
        tile.out + static_cast<std::int64_t>(tile.column + std::uint64_t{apart} * kSide + warp) * out_pitch;
    const std::uint32_t of_lane = place(k, 0, apart);
    const std::uint32_t end = lanes * kSide < tile.columns ? lanes * kSide : tile.columns;
    const auto value_of = [&](std::uint32_t s, std::uint32_t phase) {
      const std::uint32_t at = 4 * (of_lane + s % kSide * kWords + s / kSide);
      std::uint32_t value = memory.template load_shared<4>(at + (skewed ? 4 * kGroupPitch : 0)).unit[0];
      if (skewed) value = shifted_in(memory.template load_shared<4>(at).unit[0], value, phase);
      return out.high_first ? turned_bytes(value) : value;
    };
    const auto phase_of = [&] {
      return static_cast<std::uint32_t>(static_cast<std::uint64_t>(first) % kWordBits);
    };
    const auto store_at = [&](std::uint32_t value) {
      const std::uint64_t at = static_cast<std::uint64_t>(first) / kWordBits + word;
      memory.template store_global<4>(device::kOutput, 4 * at, device::Packet<4>{{value}});
    };
    // A tile of whole words alone asks nothing of its lanes.
    if (tile.word != 0 && tile.columns == kWords * kSide && tile.words_down == lanes &&
        (tile.word + lanes) * kSide <= rows) {
      for (std::uint32_t s = warp; s < end; s += kWarps, first += step_bits)
        store_at(value_of(s, phase_of()));
      return;
    }
    // Elements from the row's begin that lie before the word's end, if the row begins with a word; many are
    // as good as all.
    const std::uint64_t before = word * kSide;
    const std::int32_t left = k >= tile.words_down ? -static_cast<std::int32_t>(kSide)
                              : rows < before
                                  ? -static_cast<std::int32_t>(before - rows < kSide ? before - rows : kSide)
                              : rows - before < 2 * kSide ? static_cast<std::int32_t>(rows - before)
                                                          : static_cast<std::int32_t>(2 * kSide);
    for (std::uint32_t s = warp; s < end; s += kWarps, first += step_bits) {
      const std::uint32_t phase = phase_of();
      const std::int32_t held = left + static_cast<std::int32_t>(phase / kElementBits);
      std::uint32_t mask = ~std::uint32_t{0};
      if (held < static_cast<std::int32_t>(kSide))
        mask = held <= 0 ? 0 : low_ones(static_cast<std::uint64_t>(held) * kElementBits);
      if (word == 0) mask &= ~std::uint32_t{0} << phase;
      if (apart * kSide + s >= tile.columns) mask = 0;
      if (mask == 0) {
        device::idle(memory);
        if (skewed) device::idle(memory);
        device::idle(memory);
        continue;
      }
      const std::uint32_t value = value_of(s, phase);
      if (mask == ~std::uint32_t{0}) {
        store_at(value);
      } else {
        device::idle(memory);
        const std::uint64_t at = static_cast<std::uint64_t>(first) / kWordBits + word;
        if (out.holds_word(at)) ends(at, value, out.high_first ? turned_bytes(mask) : mask);
      }
    }
  }

 private:
  // Rows of the tile to shared memory; word(row, byte) loads. Bits are counted from `low`, the first of a
  // word; `Number` holds how many words there are from there.
  template <typename Number, device::Memory Memory, typename Word>
  constexpr void load_rows(Memory& memory, const Tile& tile, std::uint32_t lanes, std::uint32_t thread,
                           std::int64_t low, const Word& word) const {
    const std::uint32_t lane = thread & (lanes - 1);
    const std::uint32_t first = thread / lanes;
    const std::uint32_t step = kThreads / lanes;
    const std::int64_t step_bits = step * in_pitch;
    std::int64_t bit = tile.in - low + (tile.row + static_cast<std::int64_t>(first)) * in_pitch +
                       static_cast<std::int64_t>((tile.column + std::uint64_t{lane} * kSide) * kElementBits);
    const std::uint64_t base = static_cast<std::uint64_t>(low) / kWordBits * 4;
    for (std::uint32_t row = first; row < tile.rows; row += kAhead * step, bit += kAhead * step_bits) {
      std::uint32_t words[kAhead] = {};
      std::uint32_t next[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const auto at = static_cast<std::uint64_t>(bit + static_cast<std::int64_t>(k) * step_bits);
        if (row + k * step < tile.rows) {
          const std::uint64_t from = base + Number{static_cast<Number>(at / kWordBits)} * std::uint64_t{4};
          words[k] = word(row + k * step, from);
          if (in_skewed) next[k] = word(row + k * step, from + 4);
        } else {
          device::idle(memory);
          if (in_skewed) device::idle(memory);
        }
      }
      put_in_order(words, next, bit, step_bits);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const std::uint32_t of_tile = row + k * step;
        if (of_tile < tile.rows) {
          memory.template store_shared<4>(4 * (of_tile * kWords + of_tile / kSide + lane),
                                          device::Packet<4>{{words[k]}});
        } else {
          device::idle(memory);
        }
      }
    }
  }

  // Words as loaded and those behind them to 32 bits from the bits on where rows are.
  constexpr void put_in_order(std::uint32_t (&words)[kAhead], std::uint32_t (&next)[kAhead], std::int64_t bit,
                              std::int64_t step_bits) const {
    if (in.high_first) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        words[k] = turned_bytes(words[k]);
        next[k] = turned_bytes(next[k]);
      }
    }
    if (in_skewed) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const auto at = static_cast<std::uint64_t>(bit + static_cast<std::int64_t>(k) * step_bits);
        words[k] = shifted_out(words[k], next[k], static_cast<std::uint32_t>(at % kWordBits));
      }
    }
    if (in.high_first != out.high_first) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) words[k] = turned_elements(words[k], kElementBits);
    }
  }

  static constexpr std::uint32_t power_of_two_from(std::uint32_t count) {
    std::uint32_t power = 1;
    while (power < count) power *= 2;
    return power;
  }

  // The first bit of the first word that `lanes` lanes load of the tile's rows, if all that they load is in
  // the array, and near enough.
  static constexpr std::uint64_t kNotInside = ~std::uint64_t{0};
  constexpr std::uint64_t lowest_inside(const Tile& tile, std::uint32_t lanes) const {
    constexpr std::int64_t kMostBits = std::int64_t{1} << 36;
    const std::int64_t first =
        tile.in + tile.row * in_pitch + static_cast<std::int64_t>(tile.column * kElementBits);
    const std::int64_t last = static_cast<std::int64_t>(tile.rows - 1) * in_pitch;
    const std::int64_t low = first + (last < 0 ? last : 0);
    const std::int64_t high = first + (last < 0 ? 0 : last) + static_cast<std::int64_t>(lanes * kWordBits);
    if (low < 0 || high - low > kMostBits || !in.holds_word(static_cast<std::uint64_t>(low) / kWordBits) ||
        !in.holds_word(static_cast<std::uint64_t>(high) / kWordBits))
      return kNotInside;
    return static_cast<std::uint64_t>(low) / kWordBits * kWordBits;
  }

  static constexpr std::uint32_t place(std::uint32_t group, std::uint32_t i, std::uint32_t w) {
    return group * kGroupPitch + i * kWords + w;
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
    return value;
  }
};

}  // namespace faro::kernels
