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
// A thread has two squares of nibbles side by side, so that it works out where their rows lie once. What
// tiles are, and where their rows lie: packed_matrix_tiles.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/packed_exchange.hpp"
#include "kernels/packed_matrix_tiles.hpp"
#include "kernels/packed_words.hpp"

namespace faro::kernels {

template <int q>
struct MovePackedMatrix : PackedMatrixTiles<q> {
  using Tiles = PackedMatrixTiles<q>;
  using Tile = typename Tiles::Tile;
  using Tiles::group_pitch, Tiles::side_pitch, Tiles::of_group, Tiles::of_column, Tiles::tile_of;
  using Tiles::in, Tiles::out, Tiles::rows, Tiles::next, Tiles::in_pitch, Tiles::out_pitch;
  using Tiles::kSide, Tiles::kElementBits, Tiles::kThreads, Tiles::kTogether, Tiles::kSectorWords;
  using Tiles::skewed, Tiles::parted, Tiles::base_in_sector, Tiles::words_down;
  static constexpr int kMinBlocks = q == 3 ? 4 : 2;
  static constexpr std::uint32_t kAhead = 8;  // words of a thread on their way

  /// With what is loaded ahead of a last word.
  constexpr std::uint32_t shared_bytes() const { return kTileBytes + (kSide * side_pitch + kAhead) * 4; }

  static constexpr std::uint32_t kTileBytes = (sizeof(Tile) + 15) / 16 * 16;

  template <typename Block>
  constexpr void operator()(Block& block) const {
    Tile& kept = *reinterpret_cast<Tile*>(block.shared());
    if (block.thread() == 0) kept = tile_of(block.index());
    block.barrier();
    device::DirectMemory memory{in.base, out.base, block.shared()};
    load(memory, Tile(kept), block.thread());  // a copy: words are stored beside it
    block.barrier();
    store(memory, Tile(kept), block.thread(),
          [&](std::uint64_t word, std::uint32_t value, std::uint32_t mask) {
            put_bits(block, out, word, value, mask);
          });
  }

  // --- phases, of the block's tile

  template <device::Memory Memory>
  constexpr void load(Memory& memory, const Tile& tile, std::uint32_t thread) const {
    const std::uint32_t width = threads_across();
    for (std::uint32_t n = tile.first_group * width + thread; n < tile.groups * width; n += kThreads) {
      const std::uint32_t group = of_group.quotient(n);
      const std::uint32_t w = (n - group * width) * kTogether;
      if (w < tile.words_across) {
        const std::uint32_t first = kTileBytes + 4 * (group * group_pitch + w);
        Squares squares = {};
        load_squares(memory, tile, group, w, first, squares);
        device::converge(memory);
        FARO_UNROLL
        for (std::uint32_t t = 0; t < kTogether; ++t) {
          std::uint32_t(&words)[kSide] = squares[t];
          if (in.high_first != out.high_first) {
            FARO_UNROLL
            for (std::uint32_t i = 0; i < kSide; ++i) words[i] = turned_elements(words[i], kElementBits);
          }
          detail::transpose_words<q>(words);
          if (t == 0 || w + t < tile.words_across) {
            FARO_UNROLL
            for (std::uint32_t i = 0; i < kSide; ++i)
              memory.template store_shared<4>(first + 4 * t + i * (4 * side_pitch),
                                              device::Packet<4>{{words[i]}});
          }
        }
      }
    }
  }

  /// ends(word, value, mask): what the output's word `word`, of which others write the rest, gets.
  template <device::Memory Memory, typename Ends>
  constexpr void store(Memory& memory, const Tile& tile, std::uint32_t thread, const Ends& ends) const {
    for (std::uint32_t n = thread; n < kSide * words_down; n += kThreads) {
      const std::uint32_t i = of_column.quotient(n);
      const std::uint32_t k = n - i * words_down;
      if (i >= tile.columns) return;
      if (k < tile.words_down) store_words(memory, tile, i, k, ends);
      device::converge(memory);
    }
  }

 private:
  using Squares = std::uint32_t[kTogether][kSide];
  using Row = typename Tiles::Row;
  using Tiles::is_near, Tiles::row_of, Tiles::holds;
  using Tiles::threads_across, Tiles::more_groups, Tiles::first_column, Tiles::last_column;

  // Whether the word and those two sectors before and behind it are the row's.
  static constexpr bool is_inside_row(std::int64_t word, std::int64_t end) {
    constexpr std::int64_t kApart = std::int64_t{2} * kSectorWords;
    return word >= kApart && word + kApart <= end;
  }

  // Words of columns 2^q apart, a word of the output's rows each.
  struct Column {
    std::uint32_t from = 0;       // where it lies in shared memory, if rows begin with sectors
    std::uint32_t count = 0;      // of such words
    std::uint32_t phase = 0;      // bits into a word at which rows begin,
    std::uint32_t into = 0;       // words into a sector at which the first one does, which the next ones do
    std::uint32_t more_into = 0;  // so many more
    std::uint64_t at = 0;         // word of the output, if its row begins with a sector
  };

  // Words k of the tile of its columns i, i + 2^q ..
  template <device::Memory Memory, typename Ends>
  constexpr void store_words(Memory& memory, const Tile& tile, std::uint32_t i, std::uint32_t k,
                             const Ends& ends) const {
    const auto first = static_cast<std::uint64_t>(tile.out + std::int64_t{i} * out_pitch);
    const std::int64_t furthest = tile.word + k;  // word of the row, if it begins with a sector
    Column column;
    column.from = kTileBytes + 4 * ((k + more_groups() - (skewed ? 1 : 0)) * group_pitch + i * side_pitch);
    column.count = (tile.columns - i + kSide - 1) / kSide;
    column.phase = static_cast<std::uint32_t>(first % kWordBits);
    column.at = first / kWordBits + static_cast<std::uint64_t>(furthest);
    const std::int64_t row_bits = static_cast<std::int64_t>(rows * kElementBits) + column.phase;
    const std::int64_t end = row_bits / static_cast<std::int64_t>(kWordBits);
    const bool has_end = (tile.ends >> i & 1) != 0;
    if (parted) {
      column.into = (static_cast<std::uint32_t>(first / kWordBits) + base_in_sector) & (kSectorWords - 1);
      column.more_into = static_cast<std::uint32_t>(word_step()) & (kSectorWords - 1);
      if (has_end && !is_inside_row(furthest, end))
        store_ends(memory, tile, column, i, furthest, row_bits, ends);
      else if (furthest < end + kSectorWords)
        store_parted(memory, column, furthest, end);
    } else if (has_end && (furthest >= end || (furthest == 0 && column.phase != 0))) {
      store_ends(memory, tile, column, i, furthest, row_bits, ends);
    } else if (furthest < end) {
      store_whole(memory, column);
    }
  }

  // Words from a column's to the one 2^q on.
  constexpr std::int64_t word_step() const { return out_pitch / static_cast<std::int64_t>(kElementBits); }

  template <device::Memory Memory>
  constexpr std::uint32_t value_at(Memory& memory, std::uint32_t address, std::uint32_t phase) const {
    const std::uint32_t value = memory.template load_shared<4>(address).unit[0];
    if (!skewed) return value;
    return shifted_in(value, memory.template load_shared<4>(address + 4 * group_pitch).unit[0], phase);
  }
  template <device::Memory Memory>
  static constexpr void store_at(Memory& memory, std::uint64_t byte, std::uint32_t value) {
    memory.template store_global<4>(device::kOutput, byte, device::Packet<4>{{value}});
  }

  // The output from a byte on: a pointer that moves on is two instructions, an offset to a base four.
  template <typename Memory>
  struct Cursor {
    Memory& memory;
    std::uint64_t at = 0;

    constexpr void store(std::int64_t further, std::uint32_t value) const {
      store_at(memory, at + static_cast<std::uint64_t>(further), value);
    }
    constexpr void move(std::int64_t bytes) { at += static_cast<std::uint64_t>(bytes); }
  };
  struct Pointer {
    std::byte* at = nullptr;

    constexpr void store(std::int64_t further, std::uint32_t value) const {
      *reinterpret_cast<std::uint32_t*>(at + further) = value;
    }
    constexpr void move(std::int64_t bytes) { at += bytes; }
  };
  template <typename Memory>
  static constexpr Cursor<Memory> cursor(Memory& memory, std::uint64_t at) {
    return {memory, at};
  }
  static constexpr Pointer cursor(device::DirectMemory& memory, std::uint64_t at) {
    return {memory.output + at};
  }

  // Words of rows that begin anywhere in a sector.
  template <device::Memory Memory>
  constexpr void store_whole(Memory& memory, const Column& column) const {
    const std::int64_t step = word_step() * 4;
    auto to = cursor(memory, column.at * 4);
    std::uint32_t from = column.from;
    for (std::uint32_t left = column.count;; left -= kAhead, from += 4 * kAhead) {
      std::uint32_t values[kAhead];
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a) values[a] = value_at(memory, from + 4 * a, column.phase);
      if (out.high_first) turn_all(values);
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a) {
        if (a < left) to.store(0, values[a]);
        to.move(step);
      }
      if (left <= kAhead) return;
    }
  }

  // Rows that begin behind a sector's begin are shifted to it. `furthest` and `end`: words of the row.
  template <device::Memory Memory>
  constexpr void store_parted(Memory& memory, const Column& column, std::int64_t furthest,
                              std::int64_t end) const {
    // After so many columns rows begin at the same word of a sector again.
    static_assert(kAhead % kSectorWords == 0);
    const std::uint32_t behind = 4 * group_pitch;
    const std::int64_t step = word_step();
    std::uint32_t addresses[kAhead];
    std::int64_t places[kAhead];
    std::uint32_t before = column.into;
    std::uint32_t whole = 0;  // bit a: the word is the row's, whose last sector is the next one's
    FARO_UNROLL
    for (std::uint32_t a = 0; a < kAhead; ++a) {
      addresses[a] = column.from + 4 * a - before * behind;
      places[a] = 4 * (step * a - before);
      const std::int64_t next_begins = (end + before) & ~(std::int64_t{kSectorWords} - 1);
      whole |= (furthest < next_begins ? 1U : 0U) << a;
      before = (before + column.more_into) & (kSectorWords - 1);
    }
    auto to = cursor(memory, column.at * 4);
    for (std::uint32_t w = 0; w < column.count; w += kAhead) {
      std::uint32_t values[kAhead];
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a)
        values[a] = value_at(memory, addresses[a] + 4 * w, column.phase);
      if (out.high_first) turn_all(values);
      const std::uint32_t left = column.count - w;
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a) {
        if (a < left && (whole >> a & 1) != 0) to.store(places[a], values[a]);
      }
      to.move(4 * std::int64_t{kAhead} * step);
    }
  }

  // Where rows begin or end: each word asks which of its bits are its row's, or those of the one before.
  template <device::Memory Memory, typename Ends>
  constexpr void store_ends(Memory& memory, const Tile& tile, const Column& column, std::uint32_t i,
                            std::int64_t furthest, std::int64_t row_bits, const Ends& ends) const {
    const std::int64_t shared = parted ? std::int64_t{kSectorWords} - 1 : 0;
    const std::int64_t end = row_bits / static_cast<std::int64_t>(kWordBits);
    const auto mask_of = [&](std::uint32_t before, bool is_first, bool is_last) {
      const std::int64_t word = furthest - before;
      std::uint32_t mask = ~std::uint32_t{0};
      if (word < (is_first ? 0 : -shared) || word > end) mask = 0;
      if (is_first && word == 0) mask &= ~std::uint32_t{0} << column.phase;
      if (is_last && word == end) mask &= low_ones(static_cast<std::uint64_t>(row_bits) % kWordBits);
      if (!is_last && furthest >= ((end + before) & ~shared)) mask = 0;
      return mask;
    };
    std::uint64_t at = column.at;
    std::uint32_t into = column.into;
    FARO_NO_UNROLL
    for (std::uint32_t w = 0; w < column.count; ++w, at += static_cast<std::uint64_t>(word_step())) {
      const std::uint64_t c = tile.column + i + std::uint64_t{w} * kSide;
      const std::uint32_t mask = next == PackedNext::column
                                     ? mask_of(into, c == first_column(), c == last_column())
                                     : mask_of(into, tile.is_first, tile.is_last);
      if (mask != 0) {
        std::uint32_t value = value_at(memory, column.from + 4 * w - into * 4 * group_pitch, column.phase);
        if (out.high_first) value = turned_bytes(value);
        if (mask == ~std::uint32_t{0}) {
          store_at(memory, 4 * (at - into), value);
        } else if (out.holds_word(at - into)) {
          ends(at - into, value, out.high_first ? turned_bytes(mask) : mask);
        }
      }
      into = (into + column.more_into) & (kSectorWords - 1);
    }
  }

  // 32 bits of each row from word w of the tile on, and from those that the thread has besides; zero what is
  // no part of the array. `first`: where the square will lie in shared memory, a word each 4 * side_pitch
  // bytes.
  template <device::Memory Memory>
  constexpr void load_squares(Memory& memory, const Tile& tile, std::uint32_t group, std::uint32_t w,
                              std::uint32_t first, Squares& squares) const {
    const Row row = row_of(tile, tile.row + std::int64_t{group} * kSide);
    const std::int64_t bit = row.bit + std::int64_t{w} * kWordBits;
    // What the tile does not have is the first square once more.
    const std::uint32_t apart = w + 1 < tile.words_across ? 1 : 0;
    if (!tile.is_inside && !holds_square(tile, row, bit, apart)) {
      FARO_UNROLL
      for (std::uint32_t t = 0; t < kTogether; ++t)
        load_outside(memory, bit + std::int64_t{t} * apart * kWordBits, row, first, squares[t]);
      return;
    }
    const std::uint64_t base = static_cast<std::uint64_t>(bit) / kWordBits * 4;
    const auto word = [&](std::uint32_t t, auto words_on) {
      return memory
          .template load_global<4>(device::kInput, base + 4 * std::uint64_t{t} * apart +
                                                       static_cast<std::uint64_t>(std::int64_t{words_on} * 4))
          .unit[0];
    };
    const auto into = static_cast<std::uint32_t>(static_cast<std::uint64_t>(bit) % kWordBits);
    if (is_near() && row.left >= kSide) {
      const auto pitch = static_cast<std::int32_t>(in_pitch);
      load_words<std::int32_t>(squares, static_cast<std::int32_t>(into), tile.is_shifted, word,
                               [&](std::uint32_t) { return pitch; });
    } else {
      load_words<std::int64_t>(squares, into, true, word, [&](std::uint32_t i) {
        return in_pitch + (i + 1 == row.left ? row.jump : 0);
      });
    }
  }

  // As is_inside(), of a thread's squares. Rows that jump have their words each looked at as shifted.
  constexpr bool holds_square(const Tile& tile, const Row& row, std::int64_t bit, std::uint32_t apart) const {
    const bool jumps = row.left < kSide;
    const std::int64_t width = (std::int64_t{apart} + (tile.is_shifted || jumps ? 1 : 0)) * kWordBits;
    const std::int64_t last = (jumps ? static_cast<std::int64_t>(row.left) : std::int64_t{kSide}) - 1;
    return holds(bit, width) && holds(bit + last * in_pitch, width) &&
           (!jumps || (holds(bit + (last + 1) * in_pitch + row.jump, width) &&
                       holds(bit + (kSide - 1) * in_pitch + row.jump, width)));
  }

  // Words that are whole in the array at once; the others, of few rows, byte by byte, by way of the square's
  // own place.
  template <device::Memory Memory>
  constexpr void load_outside(Memory& memory, std::int64_t bit, const Row& row, std::uint32_t first,
                              std::uint32_t (&words)[kSide]) const {
    const auto row_at = [&](std::uint32_t i) { return bit + i * in_pitch + (i < row.left ? 0 : row.jump); };
    std::uint32_t rest = 0;
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kSide; ++i) {
      const std::int64_t at = row_at(i);
      words[i] = 0;
      if (holds(at, kWordBits))
        words[i] = bits_of(memory, at);
      else
        rest |= std::uint32_t{1} << i;
    }
    if (rest == 0) return;
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kSide; ++i)
      memory.template store_shared<4>(first + i * (4 * side_pitch), device::Packet<4>{{words[i]}});
    FARO_NO_UNROLL
    for (std::uint32_t i = 0; i < kSide; ++i) {
      if ((rest >> i & 1) == 0) continue;
      memory.template store_shared<4>(first + i * (4 * side_pitch),
                                      device::Packet<4>{{bytes_of(memory, row_at(i))}});
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kSide; ++i)
      words[i] = memory.template load_shared<4>(first + i * (4 * side_pitch)).unit[0];
  }

  // word(t, n): word n of square t, counted from where `bit` is; pitch(i): from row i to the next.
  template <typename Number, typename Word, typename Pitch>
  constexpr void load_words(Squares& squares, Number bit, bool is_shifted, const Word& word,
                            const Pitch& pitch) const {
    if (!is_shifted) {
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; bit += pitch(i++)) {
        FARO_UNROLL
        for (std::uint32_t t = 0; t < kTogether; ++t) squares[t][i] = word(t, bit >> 5);
      }
      if (in.high_first) {
        FARO_UNROLL
        for (std::uint32_t t = 0; t < kTogether; ++t) turn_all(squares[t]);
      }
      return;
    }
    FARO_UNROLL
    for (std::uint32_t done = 0; done < kSide; done += kAhead) {
      std::uint32_t ahead[kAhead][kTogether + 1];  // each square's second word is the next one's first
      Number at = bit;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; at += pitch(done + k++)) {
        ahead[k][0] = word(0, at >> 5);
        FARO_UNROLL
        for (std::uint32_t t = 0; t < kTogether; ++t) ahead[k][t + 1] = word(t, (at >> 5) + 1);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; bit += pitch(done + k++)) {
        if (in.high_first) turn_all(ahead[k]);
        FARO_UNROLL
        for (std::uint32_t t = 0; t < kTogether; ++t)
          squares[t][done + k] =
              shifted_out(ahead[k][t], ahead[k][t + 1], static_cast<std::uint32_t>(bit) % kWordBits);
      }
    }
  }

  template <std::uint32_t count>
  static constexpr void turn_all(std::uint32_t (&words)[count]) {
    FARO_UNROLL
    for (std::uint32_t& word : words) word = turned_bytes(word);
  }

  // 32 bits of two words that are whole, and of ones that may not be.
  template <device::Memory Memory>
  constexpr std::uint32_t bits_of(Memory& memory, std::int64_t bit) const {
    const std::uint64_t byte = static_cast<std::uint64_t>(bit) / kWordBits * 4;
    return shifted(memory.template load_global<4>(device::kInput, byte).unit[0],
                   memory.template load_global<4>(device::kInput, byte + 4).unit[0], bit);
  }
  template <device::Memory Memory>
  constexpr std::uint32_t bytes_of(Memory& memory, std::int64_t bit) const {
    constexpr int kShift = 5;
    const auto word = static_cast<std::uint64_t>(bit >> kShift);  // downwards, too, before the array
    return shifted(word_of(memory, word), word_of(memory, word + 1), bit);
  }
  constexpr std::uint32_t shifted(std::uint32_t low, std::uint32_t high, std::int64_t bit) const {
    return shifted_out(in.high_first ? turned_bytes(low) : low, in.high_first ? turned_bytes(high) : high,
                       static_cast<std::uint32_t>(static_cast<std::uint64_t>(bit) % kWordBits));
  }
  template <device::Memory Memory>
  constexpr std::uint32_t word_of(Memory& memory, std::uint64_t word) const {
    std::uint32_t value = 0;
    for (std::uint64_t k = 0; k < 4; ++k) {
      if (in.holds_byte(4 * word + k))
        value |= std::uint32_t{memory.template load_global<1>(device::kInput, 4 * word + k).unit[0]} << 8 * k;
    }
    return value;
  }
};

}  // namespace faro::kernels
