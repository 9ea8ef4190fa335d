// Affine maps of packed elements by lines of memory, on processors that permute 64 bytes and multiply 8 x 8
// matrices of bits in an instruction (AVX-512 VBMI, GFNI).
//
// A line is a vector of 512 bits, and a bit's place in it has nine: 3 inside its byte, 6 that say which byte.
// The tile of such vectors is the micro tile of micro_tile.hpp, whatever an element is: 2^q lines become 2^q
// lines by three steps,
//
//     1. l1 = l + H j       each line XORs the places of its bits: bytes by a permutation, bits inside them
//                           by a matrix
//     2. j' = j + Q l1      lines j and j ^ 2^k exchange the bits that a mask names
//     3. l' = G l1 + K j'   each line permutes its bits: G is the same for all (LineTurn)
//
// G is any invertible 9 x 9 matrix. Turned squares (T: byte i, bit b of each 8 bytes become byte b, bit i)
// and permutations of the 64 bytes are enough for nearly all, and one step more, where bits move inside bytes
// by what their 8 bytes are, for all:
//
//     V1            bytes whose bits never get inside others are brought together, eight by eight
//     T             now what was inside of bytes says which byte it is
//     V2            what shall be inside of bytes, which depends on nothing else, is made the low three bits
//     (S, V2b)
//     T             and gets there
//     V3            bytes go where they belong
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cpu/tile/program.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/layout/tile.hpp"

namespace faro::packed {

inline constexpr int kPlaceBits = 9;      // log2, of the bits of a line
inline constexpr int kBitsInByte = 3;     // log2
inline constexpr int kMostRoundBits = 5;  // of the lines' number, that are exchanged in registers at once
inline constexpr std::uint64_t kLineSize = 64;
inline constexpr int kMostTogetherBits = 2;  // log2, of micro tiles whose lines lie side by side

struct alignas(kLineSize) LineImage {
  std::uint8_t bytes[kLineSize] = {};
};

/// G of step 3, as instructions. An addition to what comes out is an XOR of the last two permutations'
/// indices, or without squares of an index and of a place in bytes.
struct LineTurn {
  enum class Kind : std::uint8_t {
    bytes,    // a permutation of bytes, and of the bits of all bytes alike
    squares,  // V1 T V2 T V3
    sheared,  // V1 T V2 S V2b T V3
  };
  /// Requires: a matrix of 9 x 9 with an inverse (checked).
  explicit LineTurn(const f2::Matrix& turn);

  Kind kind = Kind::bytes;
  LineImage first;   // V1
  LineImage second;  // V2, or V2 before S
  LineImage shear;   // S: a matrix for each 8 bytes
  LineImage third;   // V2b
  LineImage last;    // V3
  f2::Matrix bits;   // of kind bytes: what becomes of places in bytes
  f2::Matrix inner;  // what an addition to places in bytes adds to the last index but one (6 x 3)
  f2::Matrix outer;  // and one to the bytes' numbers to the last one (6 x 6)
};

/// What a line's number, or a micro tile, adds to the indices of step 3.
struct TurnFlip {
  std::uint32_t inner = 0;  // in each byte; of kind bytes: a place in a byte
  std::uint32_t outer = 0;
};

/// Where the rows of a tile lie that is read.
enum class TileSource : std::uint8_t { array, buffer };

/// A tile as flat tables. Everything is XOR-linear, in bytes.
struct BitLines {
  /// Requires: segments of a line at least (checked).
  BitLines(const layout::Tile& tile, std::uint32_t element_bits, TileSource source);

  std::size_t buffer_lines() const { return section << exchange_bits; }

  int element_shift;  // log2 of an element's bits
  int block_bits;
  std::uint64_t array_bytes;
  std::uint64_t tile_bytes;
  cpu::BlockWalk block_sources;  // in bits
  cpu::BlockWalk block_targets;

  int exchange_bits;  // q
  std::vector<std::uint64_t> micro_sources;
  std::vector<std::uint64_t> micro_targets;
  std::vector<std::uint16_t> micro_lanes;
  std::vector<std::uint64_t> line_sources;  // 2^q
  std::vector<std::uint64_t> line_targets;
  bool turns_first;                           // H is not 0
  std::vector<std::uint32_t> first_bytes;     // H j: what is added to bytes' numbers, in each byte
  std::vector<std::uint64_t> first_matrices;  // and to places in bytes
  std::vector<LineImage> exchange_masks;      // q
  LineTurn turn;
  std::vector<TurnFlip> last_flips;   // K j', by target line
  std::vector<TurnFlip> place_flips;  // of 2^9 additions to places in a line
  std::uint64_t matrices[8];          // places in bytes, turned by `turn` and added to

  // Micro tiles are numbered by where they write, and listed by where they read. Of those whose lines lie
  // side by side, 2^load_bits are read and 2^store_bits written together, so that memory sees runs.
  // A section of micro tiles is loaded before it is stored: all of an array's, whose rows are read in runs.
  bool reads_array;
  std::uint64_t section = 1;
  std::vector<std::uint32_t> load_order;
  int load_bits = 0;
  int store_bits = 0;
};

/// Whether this machine has the instructions.
bool has_bit_lines();

struct LineRange {
  std::uint64_t begin = 0;  // tiles, over all arrays
  std::uint64_t end = 0;
  bool streamed = false;  // past the caches: the output is aligned to lines
};

/// `buffer`: program.buffer_lines() lines of the thread's. Requires: has_bit_lines() (unchecked).
void move_bit_lines(const BitLines& program, LineRange range, const std::byte* in, std::byte* out,
                    LineImage* buffer);

// Matrices of any sides by squares of lines: as many rows as a line has elements, each shifted to begin with
// a line, become as many columns. Of a column two lines are turned one after the other, and the line before
// is kept, since where it belongs lines of memory begin elsewhere: these three make two of memory.
inline constexpr std::uint64_t kKeptLines = 3;

/// The program of a square of 2^q x 2^q elements that becomes lines kKeptLines apart.
/// `turned`: the bits of each element change places end for end, as they do where one side has high ones
/// first.
BitLines square_program(std::uint32_t element_bits, bool turned);

/// Rows that are read, side by side as lines: line s of row r is line s side + r.
struct SquareRows {
  const std::byte* in = nullptr;
  const std::uint64_t* first_bits = nullptr;  // of each row, and of those that come after it
  std::uint64_t rows = 0;
  std::uint64_t rows_after = 0;
  std::uint64_t bits = 0;  // of a row; nothing behind them is read but the rest of their last byte
  bool is_high_first = false;
};
/// Rows that are not there are zeros. Requires: has_bit_lines() (unchecked), as all that follow.
void load_squares(const SquareRows& rows, std::uint64_t side, LineImage* lines);
void turn_square(const BitLines& square, const LineImage* lines, LineImage* buffer, LineImage* kept);

/// Lines of memory, one of each column from each slot on: bits 512 - shift and on of the line that is kept
/// there, and the first ones of the next.
struct KeptColumns {
  LineImage* lines = nullptr;  // kKeptLines a column, and one more after all
  std::uint64_t count = 0;
  std::byte* out = nullptr;  // that begins `line_bit` bits after a line
  std::uint64_t line_bit = 0;
  std::uint64_t first_bit = 0;  // of column 0, from `out` on; its line is `line` lines further
  std::uint64_t pitch_bits = 0;
  std::uint64_t line = 0;
  bool is_high_first = false;
  bool streamed = false;
};
/// Writes all columns' lines from a slot on.
void store_columns(const KeptColumns& columns, std::uint64_t slot, std::uint64_t lines);
/// Column `c`'s line to memory of anybody's.
void make_column(const KeptColumns& columns, std::uint64_t c, std::uint64_t slot, std::byte* to);
/// What was the last line becomes the first one.
void keep_lines(const KeptColumns& columns);

}  // namespace faro::packed
