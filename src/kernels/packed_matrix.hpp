// Matrices of elements of 1, 2 or 4 bits, transposed: any sides, rows that begin at any bit.
//
//     load     squares of 2^q rows and a word: two words of each row, shifted together; transposed in
//              registers, into shared memory
//     store    words of the output's rows, of two in shared memory, shifted together
//
//     tile of the input          groups of 2^q rows                rows of the output
//     words w                    word (g, i, w): rows of group g,  word k of column c = 2^q w + i is made of
//     ---------------- row 0     column 2^q w + i                  those of groups k - 1 and k
//     ---------------- row 1
//
// Output rows that begin inside a word need the end of the group before: a tile then has a group more than
// words. A thread stores words of columns 2^q apart, whose rows begin at the same bit of a word: 2^q pitches
// of whole elements are whole words. So how it shifts, and whether its words are whole, it asks once.
//
// A word in which a row ends and the next one begins is the next one's, whose tile loads the last rows of the
// one before where it has none of its own: whichever is behind in memory, the next column or the next matrix.
// Where there is none the bits are put in one by one, by atomic operations; words that are not wholly in the
// array are left out (packed_launch.hpp).
//
// Word (g, i, w) is at g R + i S + w, R odd and no less than the words across, S = R K modulo 32 for K words
// down: lanes of adjacent (g, w) store, and lanes of adjacent (i, k) load, in different banks. Tiles share out
// what there is evenly, so that none has a word or two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/packed_affine.hpp"
#include "kernels/packed_words.hpp"

namespace faro::kernels {

/// What lies behind a row of the output without a gap: nothing known, that of the next column, or that of the
/// next matrix along the first of the other axes.
enum class PackedNext : std::uint8_t { none, column, matrix };

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
  std::uint64_t matrices = 1;
  bool skewed = false;  // some row of the output begins inside a word
  PackedNext next = PackedNext::none;
  // Of all tiles, by cut().
  std::uint32_t words_down = 1;
  std::uint32_t words_across = 1;
  std::uint32_t group_pitch = 1;  // R, words
  std::uint32_t side_pitch = 1;   // S
  std::uint64_t down = 1;         // tiles
  std::uint64_t across = 1;
  device::Division64 of_matrix;  // tiles of one
  device::Division64 of_strip;   // and of kStrip rows of them
};

template <int q>
struct MovePackedMatrix : PackedMatrixParams {
  static constexpr std::uint32_t kSide = 1U << q;  // elements of a word
  static constexpr std::uint32_t kElementBits = 32U >> q;
  static constexpr std::uint32_t kMostWords = 32;  // of a tile's row
  static constexpr std::uint32_t kThreads = q == 3 ? 256 : 512;
  static constexpr std::uint32_t kMostGroups = kThreads / kSide;
  static constexpr int kMinBlocks = q == 3 ? 4 : 2;
  static constexpr std::uint32_t kAhead = 8;  // words of a thread on their way
  static constexpr std::uint64_t kStrip = 4;

  /// Chooses tiles. Requires: all that tells the matrices apart (unchecked).
  constexpr void cut() {
    const auto share = [](std::uint64_t words, std::uint64_t most, std::uint64_t& tiles) {
      tiles = (words + most - 1) / most;
      return static_cast<std::uint32_t>((words + tiles - 1) / tiles);
    };
    words_down = share(row_words(), kMostGroups - more_groups(), down);
    words_across = share((columns + kSide - 1) / kSide, kMostWords, across);
    group_pitch = words_across | 1;
    side_pitch = words_down * group_pitch + more_groups() * ((group_pitch + 31) / 32 * 32);
    of_matrix = device::Division64(down * across);
    of_strip = device::Division64(kStrip * across);
  }

  constexpr std::uint64_t blocks() const { return matrices * down * across; }
  constexpr std::uint32_t shared_bytes() const { return kSide * side_pitch * 4; }

  struct Tile {
    std::int64_t in = 0;  // bit where the matrix begins
    std::int64_t out = 0;
    std::int64_t row = 0;    // of the first group, below 0 in a first skewed one
    std::uint64_t word = 0;  // of the output's rows
    std::uint64_t column = 0;
    std::uint32_t columns = 0;
    std::uint32_t words_down = 0;  // and how many of each there are
    std::uint32_t words_across = 0;
    bool is_first = true;  // of the matrices that lie one behind another
    bool is_last = true;
  };

  template <typename Block>
  constexpr void operator()(Block& block) const {
    device::DirectMemory memory{in.base, out.base, block.shared()};
    const Tile tile = tile_of(block.index());
    load(memory, tile, block.thread());
    block.barrier();
    store(memory, tile, block.thread(), [&](std::uint64_t word, std::uint32_t value, std::uint32_t mask) {
      put_bits(block, out, word, value, mask);
    });
  }

  // --- phases, of the block's tile

  constexpr Tile tile_of(std::uint64_t block) const {
    const std::uint64_t matrix = of_matrix.divide(block);
    Tile tile;
    tile.in = static_cast<std::int64_t>(in_first);
    tile.out = static_cast<std::int64_t>(out_first);
    others.add(matrix, tile.in, tile.out);
    if (next == PackedNext::matrix) {
      std::uint64_t along = matrix;
      others.axes[0].extent.divide(along);
      tile.is_first = along == 0;
      tile.is_last = along + 1 == others.axes[0].extent.divisor();
    }
    // Strips of tiles: neighbours on both sides are on their way together.
    const std::uint64_t strip = of_strip.divide(block);
    const std::uint64_t high = down - strip * kStrip < kStrip ? down - strip * kStrip : kStrip;
    const auto in_strip = static_cast<std::uint32_t>(block);
    const std::uint32_t column = in_strip / static_cast<std::uint32_t>(high);
    tile.word = (strip * kStrip + (in_strip - column * high)) * words_down;
    tile.column = std::uint64_t{column} * words_across * kSide;
    tile.row = (static_cast<std::int64_t>(tile.word) - more_groups()) * kSide;
    const auto few = [](std::uint64_t number, std::uint32_t most) {
      return number < most ? static_cast<std::uint32_t>(number) : most;
    };
    tile.columns = tile.column < columns ? few(columns - tile.column, words_across * kSide) : 0;
    tile.words_across = (tile.columns + kSide - 1) / kSide;
    tile.words_down = tile.word < row_words() ? few(row_words() - tile.word, words_down) : 0;
    return tile;
  }

  template <device::Memory Memory>
  constexpr void load(Memory& memory, const Tile& tile, std::uint32_t thread) const {
    const std::uint32_t squares = (tile.words_down + more_groups()) * tile.words_across;
    for (std::uint32_t n = thread; n < squares; n += kThreads) {
      const std::uint32_t group = n / tile.words_across;
      const std::uint32_t w = n - group * tile.words_across;
      std::uint32_t words[kSide] = {};
      load_square(memory, tile, tile.row + std::int64_t{group} * kSide, w, words);
      device::converge(memory);
      if (in.high_first != out.high_first) {
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kSide; ++i) words[i] = turned_elements(words[i], kElementBits);
      }
      detail::transpose_words<q>(words);
      const std::uint32_t first = 4 * (group * group_pitch + w);
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        memory.template store_shared<4>(first + i * (4 * side_pitch), device::Packet<4>{{words[i]}});
    }
  }

  /// ends(word, value, mask): what the output's word `word`, of which others write the rest, gets.
  template <device::Memory Memory, typename Ends>
  constexpr void store(Memory& memory, const Tile& tile, std::uint32_t thread, const Ends& ends) const {
    if (thread >= kSide * tile.words_down) return;
    const std::uint32_t i = thread / tile.words_down;
    const std::uint32_t k = thread - i * tile.words_down;
    if (i >= tile.columns) return;
    const std::uint32_t count = (tile.columns - i + kSide - 1) / kSide;
    const std::uint64_t column = tile.column + i;
    const std::int64_t first = tile.out + static_cast<std::int64_t>(column) * out_pitch;
    const auto phase = static_cast<std::uint32_t>(static_cast<std::uint64_t>(first) % kWordBits);
    const std::uint64_t word = tile.word + k;
    // What of the word are the row's elements, or those of the row before: it is this one's if that is known,
    // and the next one's where this one ends.
    const std::int64_t held =
        phase + (static_cast<std::int64_t>(rows) - static_cast<std::int64_t>(word * kSide)) *
                    static_cast<std::int64_t>(kElementBits);
    const auto mask_of = [&](bool is_first, bool is_last) {
      std::uint32_t mask = ~std::uint32_t{0};
      if (held < static_cast<std::int64_t>(kWordBits))
        mask = held <= 0 || !is_last ? 0 : low_ones(static_cast<std::uint64_t>(held));
      return word == 0 && is_first ? mask & ~std::uint32_t{0} << phase : mask;
    };
    const bool by_columns = next == PackedNext::column;
    const std::uint64_t first_column = out_pitch < 0 ? columns - 1 : 0;
    const std::uint64_t last_column = columns - 1 - first_column;
    const auto has = [&](std::uint64_t c) {
      return c >= column && (c - column) % kSide == 0 && c - column < tile.columns;
    };
    const std::uint32_t mask = by_columns ? mask_of(false, false) : mask_of(tile.is_first, tile.is_last);
    const bool is_special = by_columns && ((mask != mask_of(true, false) && has(first_column)) ||
                                           (mask != mask_of(false, true) && has(last_column)));
    if (mask == 0 && !is_special) return;

    const std::uint32_t from = 4 * (k * group_pitch + i * side_pitch);
    const std::uint32_t behind = 4 * group_pitch;
    std::uint64_t at = (static_cast<std::uint64_t>(first) / kWordBits + word) * 4;
    const auto step = static_cast<std::uint64_t>(out_pitch / static_cast<std::int64_t>(kElementBits) * 4);
    const auto value_of = [&](std::uint32_t w) {
      std::uint32_t value = memory.template load_shared<4>(from + 4 * w).unit[0];
      if (skewed)
        value = shifted_in(value, memory.template load_shared<4>(from + behind + 4 * w).unit[0], phase);
      return out.high_first ? turned_bytes(value) : value;
    };
    if (mask == ~std::uint32_t{0} && !is_special) {
      std::uint32_t w = 0;
      for (; w + kAhead <= count; w += kAhead) {
        std::uint32_t values[kAhead];
        FARO_UNROLL
        for (std::uint32_t a = 0; a < kAhead; ++a) values[a] = value_of(w + a);
        FARO_UNROLL
        for (std::uint32_t a = 0; a < kAhead; ++a, at += step)
          memory.template store_global<4>(device::kOutput, at, device::Packet<4>{{values[a]}});
      }
      for (; w < count; ++w, at += step)
        memory.template store_global<4>(device::kOutput, at, device::Packet<4>{{value_of(w)}});
      return;
    }
    for (std::uint32_t w = 0; w < count; ++w, at += step) {
      const std::uint64_t c = column + std::uint64_t{w} * kSide;
      const std::uint32_t own = is_special ? mask_of(c == first_column, c == last_column) : mask;
      if (own == 0) continue;
      const std::uint32_t value = value_of(w);
      if (own == ~std::uint32_t{0}) {
        memory.template store_global<4>(device::kOutput, at, device::Packet<4>{{value}});
      } else if (out.holds_word(at / 4)) {
        ends(at / 4, value, out.high_first ? turned_bytes(own) : own);
      }
    }
  }

 private:
  // Of a tile, for the ends of rows before.
  constexpr std::uint32_t more_groups() const { return skewed ? 1 : 0; }
  // That a row of the output may have a part in.
  constexpr std::uint64_t row_words() const {
    return (rows + (kSide - 1) + more_groups() * (kSide - 1)) / kSide;
  }
  // Bits of the input from a row of the output to the one before it.
  constexpr std::int64_t to_row_before() const {
    constexpr auto kElement = static_cast<std::int64_t>(kElementBits);
    return next == PackedNext::matrix ? -others.axes[0].in : out_pitch < 0 ? kElement : -kElement;
  }

  // 32 bits of each row from word w of the tile on; zero what is behind the last row.
  template <device::Memory Memory>
  constexpr void load_square(Memory& memory, const Tile& tile, std::int64_t row, std::uint32_t w,
                             std::uint32_t (&words)[kSide]) const {
    std::int64_t bit = tile.in + row * in_pitch +
                       static_cast<std::int64_t>((tile.column + std::uint64_t{w} * kSide) * kElementBits);
    std::int64_t held = static_cast<std::int64_t>(rows) - row;
    if (row < 0) {
      bit += static_cast<std::int64_t>(rows) * in_pitch + to_row_before();
      held = next == PackedNext::column || !tile.is_first ? kSide : 0;
    }
    const bool is_shifted = static_cast<std::uint64_t>(bit | in_pitch) % kWordBits != 0;
    const std::int64_t reach = (kSide - 1) * in_pitch;
    const std::int64_t low = bit + (reach < 0 ? reach : 0);
    const std::int64_t high = bit + (reach < 0 ? 0 : reach) + (is_shifted ? kWordBits : 0);
    if (held < kSide || low < 0 || !in.holds_word(static_cast<std::uint64_t>(low) / kWordBits) ||
        !in.holds_word(static_cast<std::uint64_t>(high) / kWordBits)) {
      load_words<std::int64_t>(words, bit, is_shifted, [&](std::uint32_t i, std::int64_t word) {
        return i < held ? word_of(memory, static_cast<std::uint64_t>(word)) : 0;
      });
      return;
    }
    const std::uint64_t base = static_cast<std::uint64_t>(bit) / kWordBits * 4;
    const auto word = [&](std::uint32_t, std::int64_t words_on) {
      return memory
          .template load_global<4>(device::kInput, base + static_cast<std::uint64_t>(words_on * 4))
          .unit[0];
    };
    const auto into = static_cast<std::uint32_t>(static_cast<std::uint64_t>(bit) % kWordBits);
    constexpr std::int64_t kNear = std::int64_t{1} << 30;
    if (-kNear < reach && reach < kNear)
      load_words<std::int32_t>(words, static_cast<std::int32_t>(into), is_shifted, word);
    else
      load_words<std::int64_t>(words, into, is_shifted, word);
  }

  // word(i, n): word n, counted from where `bit` is, of row i.
  template <typename Number, typename Word>
  constexpr void load_words(std::uint32_t (&words)[kSide], Number bit, bool is_shifted,
                            const Word& word) const {
    const auto pitch = static_cast<Number>(in_pitch);
    if (!is_shifted) {
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i, bit += pitch) words[i] = word(i, bit >> 5);
      if (in.high_first) turn_all(words);
      return;
    }
    FARO_UNROLL
    for (std::uint32_t done = 0; done < kSide; done += kAhead) {
      std::uint32_t first[kAhead];
      std::uint32_t second[kAhead];
      Number at = bit;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k, at += pitch) {
        first[k] = word(done + k, at >> 5);
        second[k] = word(done + k, (at >> 5) + 1);
      }
      if (in.high_first) {
        turn_all(first);
        turn_all(second);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k, bit += pitch)
        words[done + k] =
            shifted_out(first[k], second[k], static_cast<std::uint32_t>(bit) % kWordBits);
    }
  }

  template <std::uint32_t count>
  static constexpr void turn_all(std::uint32_t (&words)[count]) {
    FARO_UNROLL
    for (std::uint32_t& word : words) word = turned_bytes(word);
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
