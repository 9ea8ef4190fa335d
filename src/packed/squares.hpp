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

}  // namespace faro::packed
