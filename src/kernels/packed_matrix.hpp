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
// Matrices whose rows follow one another in the output are a chain: one matrix of all their rows, in which a
// row may lie a jump farther in the input than a pitch behind the one before.
//
//     rows of the chain     0 1 2 ... n - 1 | n n + 1 ... 2 n - 1 | ...       of n rows each
//     in the input          a pitch apart     a matrix farther
//
// Tiles are whole sectors of 32 bytes of each row, where that costs less than sectors that are written in
// part (cut()): word 0 of a row that begins s words into a sector is at s, and a tile has seven groups more
// than words.
//
// A sector, or at least a word, in which a row ends and the next one begins is the next one's, whose tile
// loads the last rows of the one before where it has none of its own: whichever is behind in memory, the next
// column or the next matrix. Where there is none bits are put in one by one, by atomic operations; words that
// are not wholly in the array are left out (packed_launch.hpp).
//
// A thread has two squares of nibbles side by side, so that it works out where their rows lie once. Rows
// behind the last one are those of rows before it again, so that nothing is asked of them.
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
  std::uint64_t rows = 0;     // side by side in the output, of a whole chain
  std::uint64_t columns = 0;  // side by side in the input
  std::int64_t in_pitch = 0;  // bits from row to row
  // A chain of matrices whose rows follow one another in the output: rows of each, fewer than 2^31 of all.
  device::Division32 of_chain;
  bool is_chain = false;
  std::int64_t chain_in = 0;   // bits of the input from a matrix to the next one
  std::int64_t out_pitch = 0;  // and from column to column
  std::uint64_t matrices = 1;
  PackedNext next = PackedNext::none;
  bool skewed = false;               // some row of the output begins inside a word
  bool parted = false;               // tiles are whole sectors of it, and some row begins inside one
  std::uint32_t base_in_sector = 0;  // words into one at which the output's base is
  // Of all tiles, by cut().
  std::uint32_t words_down = 1;
  std::uint32_t words_across = 1;
  std::uint32_t group_pitch = 1;  // R, words
  std::uint32_t side_pitch = 1;   // S
  std::uint64_t down = 1;         // tiles
  std::uint64_t across = 1;
  device::Division32 of_matrix;  // tiles of one
  device::Division32 of_strip;   // and of kStrip rows of them
  device::Division32 of_group;   // threads across
  device::Division32 of_column;  // and words down
};

template <int q>
struct MovePackedMatrix : PackedMatrixParams {
  static constexpr std::uint32_t kSide = 1U << q;  // elements of a word
  static constexpr std::uint32_t kElementBits = 32U >> q;
  static constexpr std::uint32_t kMostWords = 32;  // of a tile's row
  static constexpr std::uint32_t kThreads = q == 3 ? 256 : 512;
  static constexpr std::uint32_t kMostSquares = q == 5 ? 640 : 1024;
  static constexpr int kMinBlocks = q == 3 ? 4 : 2;
  static constexpr std::uint32_t kAhead = 8;                  // words of a thread on their way
  static constexpr std::uint32_t kTogether = q == 3 ? 2 : 1;  // squares of a thread whose rows it finds once
  static constexpr std::uint32_t kSectorWords = 8;
  static constexpr std::uint64_t kStrip = 4;

  /// Chooses tiles: by what they load and store, what sectors cost that are written in part, and what a
  /// thread does before, in instructions of a word. `ragged`: rows begin inside sectors. Requires: all that
  /// tells the matrices apart (unchecked).
  constexpr void cut(bool ragged) {
    // Not where three rows may have a part in a sector.
    const bool can_part = ragged && rows > (kSectorWords + 1) * kSide;
    std::uint64_t least = ~std::uint64_t{0};
    MovePackedMatrix best = *this;
    for (const bool asked : {false, true}) {
      if (asked && !can_part) break;
      parted = asked;
      for (std::uint32_t k = 1; k + more_groups() <= kMostSquares / kSectorWords; ++k) {
        if (parted && k % kSectorWords != 0) continue;
        const std::uint64_t cost = cut_to(k, ragged);
        if (cost >= least) continue;
        least = cost;
        best = *this;
      }
    }
    *this = best;
    group_pitch = words_across | 1;
    side_pitch = words_down * group_pitch + (more_groups() * group_pitch + 31) / 32 * 32;
    of_matrix = device::Division32(static_cast<std::uint32_t>(down * across));
    of_strip = device::Division32(static_cast<std::uint32_t>(kStrip * across));
    of_group = device::Division32(threads_across());
    of_column = device::Division32(words_down);
  }

  constexpr std::uint64_t blocks() const { return matrices * down * across; }
  /// With what is loaded ahead of a last word.
  constexpr std::uint32_t shared_bytes() const { return kTileBytes + (kSide * side_pitch + kAhead) * 4; }

  /// What a block works on: worked out by one thread, kept in shared memory.
  struct Tile {
    std::int64_t in = 0;       // bit of the first row, which another tile may have
    std::int64_t row = 0;      // of the first group, below 0 for ends of rows before
    std::int64_t out = 0;      // bit where the first column's row begins
    std::int64_t word = 0;     // of the output's rows, counted from sectors on
    std::uint64_t column = 0;  // the first
    std::uint32_t columns = 0;
    std::uint32_t words_down = 0;  // and how many of each there are
    std::uint32_t words_across = 0;
    std::uint32_t first_group = 0;  // that is loaded
    std::uint32_t groups = 0;       // the last one and 1
    std::uint32_t ends = 0;  // bit i: of columns i, i + 2^q .. one has bits that no other row's words hold
    bool is_first = true;    // of the matrices that lie one behind another
    bool is_last = true;
    bool is_inside = false;   // all that is loaded is whole words of the array
    bool is_shifted = false;  // some row begins inside a word
  };
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

  constexpr Tile tile_of(std::uint64_t block) const {
    auto in_strip = static_cast<std::uint32_t>(block);
    std::uint32_t matrix = of_matrix.divide(in_strip);
    const std::uint32_t strip = of_strip.divide(in_strip);
    Tile tile;
    tile.in = static_cast<std::int64_t>(in_first);
    tile.out = static_cast<std::int64_t>(out_first);
    others.add(matrix, tile.in, tile.out);
    if (next == PackedNext::matrix) {
      const std::uint32_t along =
          matrix - others.axes[0].extent.quotient(matrix) * others.axes[0].extent.divisor();
      tile.is_first = along == 0;
      tile.is_last = along + 1 == others.axes[0].extent.divisor();
    }
    // Strips of tiles: neighbours on both sides are on their way together.
    const std::uint64_t high = down - strip * kStrip < kStrip ? down - strip * kStrip : kStrip;
    const std::uint32_t across_strip = in_strip / static_cast<std::uint32_t>(high);
    const std::uint64_t word = (strip * kStrip + (in_strip - across_strip * high)) * words_down;
    tile.word = static_cast<std::int64_t>(word);
    tile.column = std::uint64_t{across_strip} * words_across * kSide;
    const auto few = [](std::uint64_t number, std::uint32_t most) {
      return number < most ? static_cast<std::uint32_t>(number) : most;
    };
    tile.columns = few(columns - tile.column, words_across * kSide);
    tile.words_across = (tile.columns + kSide - 1) / kSide;
    tile.words_down = few(row_words() - word, words_down);
    tile.row = (tile.word - more_groups()) * kSide;
    const std::int64_t left = static_cast<std::int64_t>(rows) - tile.row;
    if (left > 0) {
      tile.groups =
          few((static_cast<std::uint64_t>(left) + kSide - 1) / kSide, tile.words_down + more_groups());
    }
    if (tile.row < 0 && next != PackedNext::column && tile.is_first)
      tile.first_group = few(static_cast<std::uint64_t>(-tile.row) / kSide, tile.groups);
    tile.in += static_cast<std::int64_t>(tile.column * kElementBits);
    tile.out += static_cast<std::int64_t>(tile.column) * out_pitch;
    tile.is_shifted = !is_near() ||
                      static_cast<std::uint64_t>(tile.in | in_pitch | chain_in) % kWordBits != 0 ||
                      (tile.row < 0 && to_row_before() % static_cast<std::int64_t>(kWordBits) != 0);
    tile.is_inside = is_inside(tile);
    if (next == PackedNext::column) {
      for (const std::uint64_t c : {first_column(), last_column()}) {
        if (c - tile.column < tile.columns) tile.ends |= std::uint32_t{1} << c % kSide;
      }
    } else if (tile.is_first || tile.is_last) {
      tile.ends = ~std::uint32_t{0};
    }
    return tile;
  }

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

  // A thread has squares side by side.
  constexpr std::uint32_t threads_across() const { return (words_across + kTogether - 1) / kTogether; }
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
  constexpr std::uint64_t first_column() const { return out_pitch < 0 ? columns - 1 : 0; }
  constexpr std::uint64_t last_column() const { return columns - 1 - first_column(); }

  // Whether 32 bits number those of a square.
  constexpr bool is_near() const {
    constexpr std::int64_t kNear = (std::int64_t{1} << 30) / kSide;
    return -kNear < in_pitch && in_pitch < kNear;
  }

  // Tiles of k words down and as many across as there is room for: their cost, in instructions of a word of
  // 2^q columns.
  constexpr std::uint64_t cut_to(std::uint32_t k, bool ragged) {
    constexpr std::uint64_t kBefore = 200 * kThreads / kSide;
    constexpr std::uint64_t kOfLoads = 16;
    constexpr std::uint64_t kOfStores = 10;
    constexpr std::uint64_t kSectors = 12;  // of a row of a tile: what is loaded besides
    constexpr std::uint64_t kPartly = 400;  // a column's first and last sector, if not all of it is written
    const std::uint64_t row = row_words();
    const std::uint64_t in_row = (columns + kSide - 1) / kSide;
    const std::uint32_t groups = k + more_groups();
    const std::uint64_t most = kMostSquares / groups < kMostWords ? kMostSquares / groups : kMostWords;
    words_down = k;
    across = (in_row + most - 1) / most;
    down = (row + k - 1) / k;
    const std::uint64_t w = (in_row + across - 1) / across;
    words_across = static_cast<std::uint32_t>(w);
    const std::uint64_t partly = ragged && !parted ? kPartly * w : 0;
    return down * across * (kOfLoads * groups * (w + kSectors) + kOfStores * k * w + partly + kBefore);
  }

  // Where a row of the tile begins in the input, how many from it on are a pitch apart, and by how much the
  // one behind these is farther: the next matrix of a chain, or, where there is none, some row before.
  struct Row {
    std::int64_t bit = 0;
    std::uint64_t left = 0;
    std::int64_t jump = 0;
  };
  constexpr Row row_of(const Tile& tile, std::int64_t row) const {
    Row made{.bit = tile.in, .jump = -in_pitch * kSide};
    if (row < 0) {
      row += static_cast<std::int64_t>(rows);
      made.bit += to_row_before();
    }
    made.left = rows - static_cast<std::uint64_t>(row);
    if (is_chain) {
      auto of_one = static_cast<std::uint32_t>(row);
      made.bit += of_chain.divide(of_one) * chain_in;
      row = of_one;
      const std::uint32_t left = of_chain.divisor() - of_one;
      if (left < made.left) {
        made.left = left;
        made.jump = chain_in - std::int64_t{of_chain.divisor()} * in_pitch;
      }
    }
    made.bit += row * in_pitch;
    return made;
  }

  // Whether words at a bit and so many bits on are whole in the array.
  constexpr bool holds(std::int64_t bit, std::int64_t width) const {
    return bit >= 0 && in.holds_word(static_cast<std::uint64_t>(bit) / kWordBits) &&
           in.holds_word(static_cast<std::uint64_t>(bit + width) / kWordBits);
  }
  // The same of the places of two rows and all between, of matrices that begin at `bit`.
  constexpr bool holds_rows(std::int64_t bit, std::int64_t first, std::int64_t last,
                            std::int64_t width) const {
    std::int64_t begin = bit;
    std::int64_t end = bit;
    if (is_chain) {
      const std::int64_t number = of_chain.divisor();
      const std::int64_t one = of_chain.quotient(static_cast<std::uint32_t>(first));
      const std::int64_t other = of_chain.quotient(static_cast<std::uint32_t>(last));
      begin += one * chain_in;
      end += other * chain_in;
      first = one == other ? first - one * number : 0;
      last = one == other ? last - one * number : number - 1;
    }
    return holds(begin + first * in_pitch, width) && holds(begin + last * in_pitch, width) &&
           holds(end + first * in_pitch, width) && holds(end + last * in_pitch, width);
  }
  // Whether all words that are loaded are whole in the array.
  constexpr bool is_inside(const Tile& tile) const {
    const auto number = static_cast<std::int64_t>(rows);
    const std::int64_t width = std::int64_t{tile.words_across} * kWordBits;
    const std::int64_t first = tile.row + std::int64_t{tile.first_group} * kSide;
    const std::int64_t end = tile.row + std::int64_t{tile.groups} * kSide;
    if (first < 0 &&
        !holds_rows(tile.in + to_row_before(), first + number, (end < 0 ? end : 0) + number - 1, width))
      return false;
    if (end <= 0) return true;
    const std::int64_t last = (end < number ? end : number) - 1;
    const std::int64_t least = last < kSide ? 0 : last - (kSide - 1);  // rows that stand for others
    return holds_rows(tile.in, first < 0 ? 0 : first < least ? first : least, last, width);
  }

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
