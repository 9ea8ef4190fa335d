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

namespace faro::packed {

/// rows[i], each of `bytes` bytes, for i below 8 / element_bits; `to` is as many halves of `bytes` bytes, the
/// j-th has the j-th elements of the rows' bytes, row 0 lowest. Requires: elements of 1, 2 or 4 bits.
void transpose_squares(const std::byte* const* rows, std::uint64_t bytes, std::uint32_t element_bits,
                       std::byte* to);

/// out[i] has the end of in[i] and the beginning of in[i + 1], so that `down` bits, 1 to 7, of in[0] are left
/// out. Reads bytes + 1 bytes.
void shift_bytes(const std::uint8_t* in, std::uint64_t bytes, int down, bool is_low_first, std::uint8_t* out);

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

}  // namespace faro::packed
