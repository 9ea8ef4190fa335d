// Tiles of matrices of elements of 1, 2 or 4 bits (packed_matrix.hpp): which words of both sides a block has,
// and where the rows of these lie.
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
// Rows behind the last one are those of rows before it again, so that nothing is asked of them.
//
// Word (g, i, w) is at g R + i S + w, R odd and no less than the words across, S = R K modulo 32 for K words
// down: lanes of adjacent (g, w) store, and lanes of adjacent (i, k) load, in different banks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
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
struct PackedMatrixTiles : PackedMatrixParams {
  static constexpr std::uint32_t kSide = 1U << q;  // elements of a word
  static constexpr std::uint32_t kElementBits = 32U >> q;
  static constexpr std::uint32_t kMostWords = 32;  // of a tile's row
  static constexpr std::uint32_t kThreads = q == 3 ? 256 : 512;
  static constexpr std::uint32_t kMostSquares = q == 5 ? 640 : 1024;
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
    PackedMatrixTiles best = *this;
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

 protected:
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
};

}  // namespace faro::kernels
