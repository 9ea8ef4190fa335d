// Affine maps of packed elements: the one-pass theorem twice, once for segments of memory and once for bytes.
//
// A tile T = S + A^-1 S is a coset of whole segments on both sides, and the map inside it is linear again, of
// fewer bits: so the same construction (layout/tile.hpp) with a byte for a segment, Y = Q + B^-1 Q, gives
// sets of at most P bytes that become P bytes, P elements in a byte. A set of bits is a word of 64: 8 bytes,
// looked up one by one in tables of words that are added.
//
//     bits 4 and 12 of a set change places       in byte 1: 0x10 at bit 12      out byte 0: bit 4
//
// Where the map adds to the index inside a byte, there is a table for each of the P numbers that may be
// added; sets are ordered by it, so that a table stays in the first-level cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/layout/tile.hpp"
#include "faro/packed.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::packed {

/// log2 of the elements in a byte, of 1, 2 or 4 bits.
constexpr int bits_below_byte(std::uint32_t element_bits) {
  return element_bits == 4 ? 1 : element_bits == 2 ? 2 : 3;
}

/// The map of places that a map of elements is, where either side has the high bits of a byte first.
/// Requires: no fewer elements than a byte has (unchecked).
Affine map_of_places(const Affine& map, std::uint32_t element_bits, BitOrder in, BitOrder out);

/// A linear map inside of a tile.
class TileExchange {
 public:
  /// Requires: `local` maps places of whole bytes (checked).
  TileExchange(const f2::Matrix& local, std::uint32_t element_bits);

  /// to[local x ^ added] = from[x], for elements x of the tile.
  void run(const std::byte* from, f2::Word added, std::byte* to) const;

 private:
  struct Set {
    std::uint32_t from = 0;  // byte
    std::uint32_t to = 0;
  };
  void run_sets(const Set* sets, std::uint64_t count, const std::uint64_t* table, const std::byte* from,
                std::uint64_t added_bytes, std::byte* to) const;

  int below_byte_;
  int set_bits_ = 0;                       // log2 of a set's bytes
  std::vector<Set> sets_;                  // those that add the same number to the index in a byte together
  std::vector<f2::Word> added_;            // that number, of each group
  std::uint64_t group_ = 1;                // sets of each
  std::vector<std::uint32_t> from_bytes_;  // of a set's bytes, XORed onto its first
  std::vector<std::uint32_t> to_bytes_;
  std::vector<std::uint64_t> tables_;  // [added][byte of the set][value]
};

/// Segments of so many bits of the index, of an array of 2^n elements.
int segment_bits_of(int n, std::uint32_t element_bits);

/// out[map(x)] = in[x], of `batch` dense arrays. Requires: elements of 1, 2 or 4 bits, whole bytes.
void move_affine(const Affine& map, std::uint32_t element_bits, std::uint64_t batch, const std::byte* in,
                 std::byte* out, int threads);

/// The same in place, in one or two passes (docs/theory/two-passes-in-place.md).
void move_affine_in_place(const Affine& map, std::uint32_t element_bits, std::uint64_t batch, std::byte* data,
                          int threads);

}  // namespace faro::packed
