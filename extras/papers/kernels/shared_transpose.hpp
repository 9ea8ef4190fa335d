// Transposing a w x w matrix inside shared memory, in the three orders of the RAP paper and for any layout:
// b(j, i) = a(i, j), both matrices stored the same way. One thread an element; thread w i + j moves:
//
//              reads             writes               a warp (one i, every j)      w = 4, who reads a:
//     CRSW     a(i, j)           b(j, i)              reads a row, writes a column     0  1  2  3
//     SRCW     a(j, i)           b(i, j)              reads a column, writes a row     4  5  6  7   CRSW
//     DRDW     a(i + j, j)       b(j, i + j)          diagonals, modulo w
//
// Stored in natural order a column lies in one bank: CRSW and SRCW wait w turns at one side, DRDW none.
// Stored as RAP, rows and columns are free of conflicts, and the simple orders win.
//
// CRSW as the paper prints it for RAP,
//
//     b[(j + r_i) & 31][i] = a[i][(j + r_i) & 31]
//
// transposes the *storage*: it writes address (c, i) for what it read at address (i, c). For a warp i is
// fixed, so all its writes fall into bank i, 32 turns; and b is then not the RAP layout of the transpose.
// What the table claims, 1 and 1, is this kernel's: b[j][(i + r_j) & 31] = a[i][(j + r_i) & 31]. Both are
// here.
//
// Shared memory holds a, then b, each of Layout::size(w) elements. Three phases (device/memory.hpp):
//
//     fill_shared     buffer kInput, row after row, into a
//     transpose_shared<order>     a to b; the one to count and to time (repeat_transpose)
//     drain_shared    b into buffer kOutput, row after row
//
// Where an element is as wide as a bank (4 bytes on today's GPUs) its congestion is the memory machine's. A
// warp's access of 8-byte elements runs there as two phases of half a warp each, 16 lanes on 16 pairs of
// banks: count it with machine::CountingMemory.
//
// Source: Nakano, Matsumae, Ito, "Random address permute-shift technique for the shared memory on GPUs",
// sections III and VI.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/layout/shared.hpp"

namespace faro::kernels {

enum class TransposeOrder { crsw, srcw, drdw, crsw_as_printed };

/// Which element, or place of the storage, of a w x w matrix.
struct MatrixPlace {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// The element of a that thread i w + j reads, i, j < w; what it becomes in b is the element (column, row).
template <TransposeOrder order, std::uint32_t w>
constexpr MatrixPlace transposed_element(std::uint32_t thread) {
  const std::uint32_t i = thread / w;
  const std::uint32_t j = thread % w;
  if constexpr (order == TransposeOrder::srcw) return {j, i};
  if constexpr (order == TransposeOrder::drdw) return {(i + j) % w, j};
  return {i, j};
}

/// Address in a, in elements.
template <TransposeOrder order, std::uint32_t w, typename Layout>
constexpr std::uint32_t transpose_source(const Layout& layout, std::uint32_t thread) {
  const MatrixPlace element = transposed_element<order, w>(thread);
  return layout(element.row, element.column);
}

/// Address in b, in elements.
template <TransposeOrder order, std::uint32_t w, typename Layout>
constexpr std::uint32_t transpose_target(const Layout& layout, std::uint32_t thread) {
  if constexpr (order == TransposeOrder::crsw_as_printed) {
    const std::uint32_t source = transpose_source<order, w>(layout, thread);
    return source % w * w + source / w;
  } else {
    const MatrixPlace element = transposed_element<order, w>(thread);
    return layout(element.column, element.row);
  }
}

/// Bytes of shared memory for a and b.
template <typename Layout, std::uint32_t w, int element_bytes>
constexpr std::uint32_t transpose_shared_bytes() {
  return 2 * Layout::size(w) * static_cast<std::uint32_t>(element_bytes);
}

/// Phase 1: matrix `block` of the input, thread i w + j its element (i, j).
/// Requires: thread < w w, transpose_shared_bytes() of shared memory (unchecked), as the other phases.
template <std::uint32_t w, int element_bytes, device::Memory Memory, typename Layout>
constexpr void fill_shared(Memory& memory, const Layout& layout, std::uint64_t block, std::uint32_t thread) {
  constexpr auto bytes = static_cast<std::uint32_t>(element_bytes);
  const std::uint64_t element = block * w * w + thread;
  memory.template store_shared<element_bytes>(
      layout(thread / w, thread % w) * bytes,
      memory.template load_global<element_bytes>(device::kInput, element * bytes));
}

/// Phase 2: one load of a and one store to b.
template <TransposeOrder order, std::uint32_t w, int element_bytes, device::Memory Memory, typename Layout>
constexpr void transpose_shared(Memory& memory, const Layout& layout, std::uint32_t thread) {
  constexpr auto bytes = static_cast<std::uint32_t>(element_bytes);
  constexpr std::uint32_t b = Layout::size(w);
  const std::uint32_t source = transpose_source<order, w>(layout, thread);
  const std::uint32_t target = transpose_target<order, w>(layout, thread);
  memory.template store_shared<element_bytes>((b + target) * bytes,
                                              memory.template load_shared<element_bytes>(source * bytes));
}

/// Phase 2 again and again, to be timed; `barrier()` after each (on a GPU __syncthreads, which also keeps the
/// compiler from doing it only once).
template <TransposeOrder order, std::uint32_t w, int element_bytes, device::Memory Memory, typename Layout,
          typename Barrier>
constexpr void repeat_transpose(Memory& memory, const Layout& layout, std::uint32_t repeats,
                                std::uint32_t thread, const Barrier& barrier) {
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    transpose_shared<order, w, element_bytes>(memory, layout, thread);
    barrier();
  }
}

/// Phase 3: b to matrix `block` of the output.
template <std::uint32_t w, int element_bytes, device::Memory Memory, typename Layout>
constexpr void drain_shared(Memory& memory, const Layout& layout, std::uint64_t block, std::uint32_t thread) {
  constexpr auto bytes = static_cast<std::uint32_t>(element_bytes);
  constexpr std::uint32_t b = Layout::size(w);
  const std::uint64_t element = block * w * w + thread;
  memory.template store_global<element_bytes>(
      device::kOutput, element * bytes,
      memory.template load_shared<element_bytes>((b + layout(thread / w, thread % w)) * bytes));
}

}  // namespace faro::kernels
