// Affine maps of packed elements: the one-pass theorem for segments of memory, and again for words of 32
// bits.
//
// A tile T = S + A^-1 S is a coset of whole segments on both sides, and the map inside it is linear again:
// so the same construction with a word for a segment, Y = Q + B^-1 Q, gives squares of 2^q words that become
// 2^q words, 2^q elements in a word. They are exchanged as the kernels of a GPU do it
// (kernels/packed_exchange.hpp), a square in each lane of a register: words are gathered, exchanged and
// scattered to where they belong in the tile's other side. Where the processor has instructions for it, lines
// of memory are what is exchanged (bit_lines.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "faro/layout/tile.hpp"
#include "faro/packed.hpp"
#include "faro/permutation/affine.hpp"
#include "packed/bit_lines.hpp"

namespace faro::packed {

/// log2 of the elements in a byte, of 1, 2 or 4 bits.
constexpr int bits_below_byte(std::uint32_t element_bits) {
  return element_bits == 4 ? 1 : element_bits == 2 ? 2 : 3;
}

/// And of those in a word of 32 bits.
constexpr int bits_below_word(std::uint32_t element_bits) { return bits_below_byte(element_bits) + 2; }

/// Whether arrays of 2^n elements have a square of words.
constexpr bool has_squares(int n, std::uint32_t element_bits) {
  return n >= 2 * bits_below_word(element_bits);
}

/// Whether an affine map of 2^n elements goes by lines of memory on this machine (bit_lines.hpp).
bool moves_by_lines(int n, std::uint32_t element_bits);

/// The map of places that a map of elements is, where either side has the high bits of a byte first.
/// Requires: no fewer elements than a byte has (unchecked).
Affine map_of_places(const Affine& map, std::uint32_t element_bits, BitOrder in, BitOrder out);

/// Segments of so many bits of the index, of an array of 2^n elements.
int segment_bits_of(int n, std::uint32_t element_bits);

/// out[map(x)] = in[x], of `batch` dense arrays. Requires: elements of 1, 2 or 4 bits, has_squares(); its
/// tables are made once.
class AffineMove {
 public:
  AffineMove(const Affine& map, std::uint32_t element_bits);

  void run(std::uint64_t batch, const std::byte* in, std::byte* out, int threads) const;

 private:
  std::uint32_t element_bits_;
  layout::Tile tile_;
  std::optional<BitLines> lines_;
};

/// The same in place, in one or two passes (docs/theory/two-passes-in-place.md).
void move_affine_in_place(const Affine& map, std::uint32_t element_bits, std::uint64_t batch, std::byte* data,
                          int threads);

}  // namespace faro::packed
