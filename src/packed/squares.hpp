// Small squares of packed elements, transposed in registers: P rows of P elements a byte become P bytes of
// one row element each.
//
//     4 bits, P = 2     row 0   b a d c        half 0   A a C c       of every column that begins a byte
//                       row 1   B A D C        half 1   B b D d       of every one that ends a byte
//
// So a matrix of elements becomes one of bytes, whose columns are those of the elements, and bytes are
// transposed as bytes are. Where halves lie one behind another no byte changes its place at all: log2 P
// rounds of exchanges between registers, shifts and masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/packed_exchange.hpp"

namespace faro::packed {

/// rows[i], each of `bytes` bytes, for i below 8 / element_bits; `to` is as many halves of `bytes` bytes, the
/// j-th has the j-th elements of the rows' bytes, row 0 lowest. Requires: elements of 1, 2 or 4 bits.
void transpose_squares(const std::byte* const* rows, std::uint64_t bytes, std::uint32_t element_bits,
                       std::byte* to);

/// out[i] has the end of in[i] and the beginning of in[i + 1], so that `down` bits, 1 to 7, of in[0] are left
/// out. Reads bytes + 1 bytes.
void shift_bytes(const std::uint8_t* in, std::uint64_t bytes, int down, bool is_low_first, std::uint8_t* out);

/// Whole lines of memory, made of bits from bit `down` of `from` on.
struct LineRun {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;  // aligned to a line
  std::uint64_t bytes = 0;  // a multiple of a line's
  int down = 0;             // 0 to 7; otherwise a byte more is read
};
/// `streamed`: past the caches.
void store_lines(std::span<const LineRun> runs, bool is_low_first, bool streamed);

/// What becomes of a row of bytes.
struct ByteTurn {
  bool backwards = false;          // the bytes change places end for end
  std::uint32_t element_bits = 0;  // and the elements of 1, 2 or 4 bits in each; 0: they stay
};
/// Requires: arrays that do not overlap (unchecked).
void turn_bytes(const std::uint8_t* in, std::uint64_t bytes, const ByteTurn& turn, std::uint8_t* out);

/// A matrix of bytes, whose rows are as many bytes apart.
struct ByteRows {
  std::byte* data = nullptr;
  std::uint64_t pitch = 0;
};

constexpr std::uint64_t kByteTileRows = 16;
constexpr std::uint64_t kByteTileColumns = 64;

/// to.data[c pitch + r] = from.data[r pitch + c]. Requires: rows and columns that are multiples of
/// kByteTileRows and kByteTileColumns (unchecked).
void transpose_bytes(const ByteRows& from, std::uint64_t rows, std::uint64_t columns, const ByteRows& to);

constexpr std::size_t kMostSquareLanes = 16;

/// An affine map's exchange inside words of 32 bits, as the kernels of a GPU make it
/// (kernels/packed_exchange.hpp): squares of 2^q words, one in each lane. Words are numbered in the tile as
/// it lies there, and as it is to lie.
struct WordSquares {
  int word_index_bits = 3;  // q
  std::size_t groups = 0;   // squares; the vectors have kMostSquareLanes at least, and no end inside lanes
  std::vector<std::uint32_t> from = {};
  std::vector<std::uint32_t> to = {};
  std::vector<std::uint32_t> place = {};  // what is added to places in words
  std::vector<std::uint32_t> from_word = {};
  std::vector<std::uint32_t> to_word = {};
  std::uint32_t from_place[kernels::kMostWordIndexBits] = {};  // of bit t of what is added to places
  std::uint32_t to_place[kernels::kMostWordIndexBits] = {};
  kernels::WordExchange exchange = {};
};

/// All squares. `place`: added to the places in all words; `to_added`: to the number of each word that is
/// stored. Requires: arrays aligned to words.
void exchange_words(const WordSquares& squares, const std::byte* from, std::uint32_t place,
                    std::uint32_t to_added, std::byte* to);

}  // namespace faro::packed
