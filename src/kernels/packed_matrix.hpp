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
// Output rows that begin inside a word need the end of the group before. A thread stores words of columns 2^q
// apart, whose rows begin at the same bit of a word: 2^q pitches of whole elements are whole words. So how it
// shifts it asks once.
//
// Tiles are whole sectors of 32 bytes of each row, where rows are long: word 0 of a row that begins s words
// into a sector is at s, and a tile has seven groups more than words.
//
// A sector, or at least a word, in which a row ends and the next one begins is the next one's, whose tile
// loads the last rows of the one before where it has none of its own: whichever is behind in memory, the next
// column or the next matrix. Where there is none bits are put in one by one, by atomic operations; words that
// are not wholly in the array are left out (packed_launch.hpp).
//
// Word (g, i, w) is at g R + i S + w, R odd and no less than the words across, S = R K modulo 32 for K words
// down: lanes of adjacent (g, w) store, and lanes of adjacent (i, k) load, in different banks.
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
  PackedNext next = PackedNext::none;
  bool skewed = false;               // some row of the output begins inside a word,
  bool parted = false;               // or inside a sector
  std::uint32_t base_in_sector = 0;  // words into one at which the output's base is
  std::uint32_t shared_words = 1;    // the next row's, where one ends and it begins: a sector or a word
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
  static constexpr std::uint32_t kMostSquares = q == 5 ? 512 : 1024;
  static constexpr int kMinBlocks = q == 3 ? 4 : 2;
  static constexpr std::uint32_t kAhead = 8;  // words of a thread on their way
  static constexpr std::uint32_t kSectorWords = 8;
  static constexpr std::uint64_t kStrip = 4;

  /// Chooses tiles: by what they load and store, and by what a thread does before, in instructions of a word.
  /// Requires: all that tells the matrices apart (unchecked).
  constexpr void cut() {
    constexpr std::uint64_t kBefore = 600 * kThreads / kSide;
    constexpr std::uint64_t kOfLoads = 16;
    constexpr std::uint64_t kOfStores = 10;
    constexpr std::uint64_t kSectors = 12;  // of a row of a tile: what is loaded besides
    const std::uint64_t row = row_words();
    const std::uint64_t in_row = (columns + kSide - 1) / kSide;
    const std::uint32_t step = parted ? kSectorWords : 1;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t k = step; k + more_groups() <= kMostSquares / kSectorWords; k += step) {
      const std::uint32_t groups = k + more_groups();
      const std::uint64_t most = kMostSquares / groups < kMostWords ? kMostSquares / groups : kMostWords;
      const std::uint64_t tiles_across = (in_row + most - 1) / most;
      const std::uint64_t tiles_down = (row + k - 1) / k;
      const std::uint64_t w = (in_row + tiles_across - 1) / tiles_across;
      const std::uint64_t cost =
          tiles_down * tiles_across * (kOfLoads * groups * (w + kSectors) + kOfStores * k * w + kBefore);
      if (cost >= least) continue;
      least = cost;
      words_down = k;
      words_across = static_cast<std::uint32_t>(w);
      down = tiles_down;
      across = tiles_across;
    }
    group_pitch = words_across | 1;
    side_pitch = words_down * group_pitch + (more_groups() * group_pitch + 31) / 32 * 32;
    of_matrix = device::Division64(down * across);
    of_strip = device::Division64(kStrip * across);
  }

  constexpr std::uint64_t blocks() const { return matrices * down * across; }
  /// With what is loaded ahead of a last word.
  constexpr std::uint32_t shared_bytes() const { return (kSide * side_pitch + kAhead) * 4; }

  struct Tile {
    std::int64_t in = 0;  // bit where the matrix begins
    std::int64_t out = 0;
    std::int64_t row = 0;   // of the first group, below 0 in a first one that has more
    std::int64_t word = 0;  // of the output's rows, counted from sectors on
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
    const std::uint64_t word = (strip * kStrip + (in_strip - column * high)) * words_down;
    tile.word = static_cast<std::int64_t>(word);
    tile.column = std::uint64_t{column} * words_across * kSide;
    tile.row = (tile.word - more_groups()) * kSide;
    const auto few = [](std::uint64_t number, std::uint32_t most) {
      return number < most ? static_cast<std::uint32_t>(number) : most;
    };
    tile.columns = few(columns - tile.column, words_across * kSide);
    tile.words_across = (tile.columns + kSide - 1) / kSide;
    tile.words_down = few(row_words() - word, words_down);
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
    for (std::uint32_t n = thread; n < kSide * tile.words_down; n += kThreads) {
      const std::uint32_t i = n / tile.words_down;
      if (i >= tile.columns) return;
      store_words(memory, tile, i, n - i * tile.words_down, ends);
    }
  }

 private:
  // Groups of a tile that are more than its words: for the ends of rows before, and for sectors.
  constexpr std::uint32_t more_groups() const { return (skewed ? 1 : 0) + (parted ? kSectorWords - 1 : 0); }
  // That a row of the output may have a part in, from a sector on.
  constexpr std::uint64_t row_words() const {
    return (rows + (kSide - 1) + (skewed ? kSide - 1 : 0)) / kSide + (parted ? kSectorWords - 1 : 0);
  }
  // Bits of the input from a row of the output to the one before it.
  constexpr std::int64_t to_row_before() const {
    constexpr auto kElement = static_cast<std::int64_t>(kElementBits);
    return next == PackedNext::matrix ? -others.axes[0].in : out_pitch < 0 ? kElement : -kElement;
  }

  // Whether the word and those two sectors before and behind it are the row's.
  static constexpr bool is_inside_row(std::int64_t word, std::int64_t row_bits) {
    constexpr std::int64_t kApart = std::int64_t{2} * kSectorWords;
    return word >= kApart && (word + kApart) * static_cast<std::int64_t>(kWordBits) <= row_bits;
  }

  // Words k of the tile of its columns i, i + 2^q ..
  template <device::Memory Memory, typename Ends>
  constexpr void store_words(Memory& memory, const Tile& tile, std::uint32_t i, std::uint32_t k,
                             const Ends& ends) const {
    constexpr auto kElement = static_cast<std::int64_t>(kElementBits);
    constexpr std::uint32_t kInSector = kSectorWords - 1;
    const std::uint32_t count = (tile.columns - i + kSide - 1) / kSide;
    const std::uint64_t column = tile.column + i;
    const auto first = static_cast<std::uint64_t>(tile.out + static_cast<std::int64_t>(column) * out_pitch);
    const auto phase = static_cast<std::uint32_t>(first % kWordBits);
    const std::int64_t step = out_pitch / kElement;  // words
    // Word 0 of the row is `into` words behind a sector; that of the next one so many more.
    std::uint32_t into =
        parted ? (static_cast<std::uint32_t>(first / kWordBits) + base_in_sector) & kInSector : 0;
    const std::uint32_t more_into = parted ? static_cast<std::uint32_t>(step) & kInSector : 0;
    const std::int64_t furthest = tile.word + k;  // word of the row, if it begins with a sector
    std::uint64_t at = first / kWordBits + static_cast<std::uint64_t>(furthest);
    const std::uint32_t from = 4 * ((k + more_groups() - (skewed ? 1 : 0)) * group_pitch + i * side_pitch);
    const std::uint32_t behind = 4 * group_pitch;
    const auto value_at = [&](std::uint32_t address) {
      const std::uint32_t value = memory.template load_shared<4>(address).unit[0];
      return skewed ? shifted_in(value, memory.template load_shared<4>(address + behind).unit[0], phase)
                    : value;
    };
    const auto store_at = [&](std::uint64_t byte, std::uint32_t value) {
      memory.template store_global<4>(device::kOutput, byte, device::Packet<4>{{value}});
    };
    // Which bits of the word are the row's, or those of the one before.
    const std::int64_t row_bits = static_cast<std::int64_t>(rows) * kElement + phase;
    const std::int64_t shared = static_cast<std::int64_t>(shared_words) - 1;
    const auto mask_of = [&](std::uint32_t before, bool is_first, bool is_last) {
      const std::int64_t word = furthest - before;
      const std::int64_t end = row_bits / static_cast<std::int64_t>(kWordBits);
      std::uint32_t mask = ~std::uint32_t{0};
      if (word < (is_first ? 0 : -shared) || word > end) mask = 0;
      if (is_first && word == 0) mask &= ~std::uint32_t{0} << phase;
      if (is_last && word == end) mask &= low_ones(static_cast<std::uint64_t>(row_bits) % kWordBits);
      if (!is_last && furthest >= ((end + before) & ~shared)) mask = 0;
      return mask;
    };
    const bool by_columns = next == PackedNext::column;
    const std::uint64_t first_column = out_pitch < 0 ? columns - 1 : 0;
    const std::uint64_t last_column = columns - 1 - first_column;
    const auto has = [&](std::uint64_t c) {
      return c >= column && (c - column) % kSide == 0 && c - column < tile.columns;
    };
    bool is_special = by_columns && (has(first_column) || has(last_column));
    // After so many columns rows begin at the same word of a sector again.
    static_assert(kAhead % kSectorWords == 0);
    std::uint32_t addresses[kAhead];
    std::int64_t places[kAhead];
    bool is_whole[kAhead];
    bool is_any = is_special;
    const bool is_inside = is_inside_row(furthest, row_bits);
    std::uint32_t mask = ~std::uint32_t{0};
    std::uint32_t before = into;
    FARO_UNROLL
    for (std::uint32_t a = 0; a < kAhead; ++a) {
      if ((a == 0 || parted) && !is_inside)
        mask = by_columns ? mask_of(before, false, false) : mask_of(before, tile.is_first, tile.is_last);
      is_whole[a] = mask == ~std::uint32_t{0};
      is_special = is_special || (mask != 0 && !is_whole[a]);
      is_any = is_any || mask != 0;
      addresses[a] = from + 4 * a - before * behind;
      places[a] = 4 * (step * a - before);
      before = (before + more_into) & kInSector;
    }
    if (!is_any) return;
    if (!is_special) {
      at *= 4;
      constexpr std::uint64_t kBytesAhead = 4 * std::uint64_t{kAhead};
      for (std::uint32_t w = 0; w < count;
           w += kAhead, at += kBytesAhead * static_cast<std::uint64_t>(step)) {
        std::uint32_t values[kAhead];
        FARO_UNROLL
        for (std::uint32_t a = 0; a < kAhead; ++a) values[a] = value_at(addresses[a] + 4 * w);
        if (out.high_first) turn_all(values);
        FARO_UNROLL
        for (std::uint32_t a = 0; a < kAhead; ++a) {
          if (w + a < count && is_whole[a]) store_at(at + static_cast<std::uint64_t>(places[a]), values[a]);
        }
      }
      return;
    }
    for (std::uint32_t w = 0; w < count; ++w, at += static_cast<std::uint64_t>(step)) {
      const std::uint64_t c = column + std::uint64_t{w} * kSide;
      mask = by_columns ? mask_of(into, c == first_column, c == last_column)
                        : mask_of(into, tile.is_first, tile.is_last);
      if (mask != 0) {
        std::uint32_t value = value_at(from + 4 * w - into * behind);
        if (out.high_first) value = turned_bytes(value);
        if (mask == ~std::uint32_t{0}) {
          store_at(4 * (at - into), value);
        } else if (out.holds_word(at - into)) {
          ends(at - into, value, out.high_first ? turned_bytes(mask) : mask);
        }
      }
      into = (into + more_into) & kInSector;
    }
  }

  // 32 bits of each row from word w of the tile on; zero what is behind the last row.
  template <device::Memory Memory>
  constexpr void load_square(Memory& memory, const Tile& tile, std::int64_t row, std::uint32_t w,
                             std::uint32_t (&words)[kSide]) const {
    std::int64_t bit = tile.in + row * in_pitch +
                       static_cast<std::int64_t>((tile.column + std::uint64_t{w} * kSide) * kElementBits);
    std::int64_t held = static_cast<std::int64_t>(rows) - row;
    if (row < -static_cast<std::int64_t>(shared_words) * kSide) return;
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
      return memory.template load_global<4>(device::kInput, base + static_cast<std::uint64_t>(words_on * 4))
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
        words[done + k] = shifted_out(first[k], second[k], static_cast<std::uint32_t>(bit) % kWordBits);
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
