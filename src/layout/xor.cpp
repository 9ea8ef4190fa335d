#include <algorithm>

#include "faro/error.hpp"
#include "faro/layout/tile.hpp"

namespace faro::layout {
namespace {

using f2::Subspace;
using machine::log2_exact;

// Directions of elements that share one word of a bank: log2.
int shared_word_bits(int width_bits, const machine::MemoryGeometry& geometry) {
  return std::max(0, log2_exact(geometry.bank_bytes) - width_bits);
}

}  // namespace

Xor make_xor(const XorRequest& request) {
  const int m = request.tile_bits;
  const int q = shared_word_bits(request.width_bits, request.geometry);
  const int row_bits = log2_exact(request.geometry.bank_row_bytes()) - request.width_bits;
  FARO_CHECK(m >= 0 && m <= kMaxTileBits && request.width_bits >= 0 && row_bits >= q);
  FARO_CHECK(request.write.ambient_dimension() == m && request.read.ambient_dimension() == m);

  Xor layout;
  layout.tile_bits = m;
  layout.bank_row_bits = row_bits;
  if (m <= row_bits) return layout;  // the tile is one bank row

  const Subspace low = Subspace::low(m, row_bits);
  FARO_CHECK(low.contains(request.write));
  Subspace read = f2::sum(request.read, Subspace::low(m, q));
  FARO_CHECK(read.dimension() <= row_bits);
  // Any extension to b dimensions will do. Low bits first: what both spaces have in common needs no XOR.
  for (int i = 0; read.dimension() < row_bits; ++i) read.insert(f2::unit(i));

  const Subspace kernel = f2::sum(f2::common_complement(low, read), f2::complement(f2::sum(low, read)));
  FARO_CHECK(kernel.dimension() == m - row_bits &&
             kernel.pivots() == (f2::low_mask(m) & ~f2::low_mask(row_bits)));
  // The reduced basis of a complement of the low bits: one vector for every high bit, that bit and some low
  // ones. The bank of (high, low) is zero iff low = X high, so the low ones are the column of X.
  for (int i = 0; i < m - row_bits; ++i) {
    const f2::Word column =
        kernel.basis()[static_cast<std::size_t>(i)] & f2::low_mask(row_bits) & ~f2::low_mask(q);
    layout.mask[i] = static_cast<std::uint32_t>(column);
  }
  FARO_CHECK(predicted_congestion(layout, request.width_bits, request.write, request.geometry) == 1);
  FARO_CHECK(predicted_congestion(layout, request.width_bits, request.read, request.geometry) == 1);
  return layout;
}

int predicted_congestion(const Xor& layout, int width_bits, const Subspace& phase,
                         const machine::MemoryGeometry& geometry) {
  const int q = shared_word_bits(width_bits, geometry);
  Subspace words(layout.tile_bits);
  Subspace banks(layout.tile_bits);
  for (const f2::Word direction : phase.basis()) {
    const f2::Word word = layout(static_cast<std::uint32_t>(direction)) & ~f2::low_mask(q);
    words.insert(word);
    banks.insert(word & f2::low_mask(layout.bank_row_bits));
  }
  return 1 << (words.dimension() - banks.dimension());
}

}  // namespace faro::layout
