// The tile of a one-pass affine permutation (docs/theory/one-pass.md, theorem 1).
//
// For pi(x) = A x ^ c on n bits and segments S = span(e_0 .. e_{s-1}), put T = S + A^-1 S. Cosets of T
// partition the array; each is a union of whole input segments and its image one of whole output segments.
// One block handles one coset. With r = dim T - s, reading and writing look alike:
//
//     source   x = block_source(b) ^ source_row(j)   | column          2^r rows of 2^s elements
//     target   y = block_target(b) ^ target_row(j')  | column'         2^r rows of 2^s elements
//
// where block_source, source_row, block_target and target_row are XORs of basis vectors selected by the bits
// of b, j and j', and the low s bits of the first two rows are zero. Inside the tile the map is linear and
// the same for every block, except that the low s bits of block_target(b) are XORed onto column':
//
//     (j', column' ^ low bits of block_target(b)) = local (j, column)      as (column | j << s), s + r bits
//
// Example: reversing 4 bits with s = 1. S = {0000, 0001}, A^-1 S = {0000, 1000}, T = span(0001, 1000), r = 1:
// a tile is 4 elements, read as rows {x, x^1} at 0??0 and 1??0, and written as rows of the same shape.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/f2/matrix.hpp"
#include "faro/layout/shared.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::layout {

struct Tile {
  int index_bits = 0;    // n
  int segment_bits = 0;  // s
  int row_bits = 0;      // r

  std::vector<f2::Word> source_rows;    // r vectors, low s bits zero
  std::vector<f2::Word> target_rows;    // r vectors, low s bits zero
  std::vector<f2::Word> block_sources;  // n - s - r vectors, low s bits zero
  std::vector<f2::Word> block_targets;  // A times block_sources
  f2::Word complement = 0;              // c, the target of block 0

  f2::Matrix local;  // (s + r) x (s + r), source place (column | row << s) to target place

  int tile_bits() const { return segment_bits + row_bits; }
  int block_bits() const { return static_cast<int>(block_sources.size()); }

  /// Low s bits zero.
  f2::Word block_source(f2::Word block) const { return f2::combine(block_sources.data(), block); }
  /// Includes the complement; its low s bits are XORed onto the target column.
  f2::Word block_target(f2::Word block) const {
    return complement ^ f2::combine(block_targets.data(), block);
  }
  f2::Word source_row(f2::Word row) const { return f2::combine(source_rows.data(), row); }
  f2::Word target_row(f2::Word row) const { return f2::combine(target_rows.data(), row); }
};

/// Which addresses ascend with the block's number.
enum class BlockOrder { source, target };

struct TileOptions {
  int segment_bits = 0;  // s, at most n
  /// Rows are added (along the lowest index bits outside T) until there are 2^min_row_bits or the array is
  /// exhausted.
  int min_row_bits = 0;
  /// Blocks that share pages of 2^near_bits elements, read or written, are numbered next to each other: the
  /// low block bits run through (P + A^-1 P) / T with P = span(e_0 .. e_{near_bits-1}). 0: no preference.
  int near_bits = 0;
  /// The order of the blocks that near_bits leaves open.
  BlockOrder order = BlockOrder::source;
  /// T is made to hold these as well, before rows are added for min_row_bits: what the elements of a tile
  /// have to do with each other besides the move (network/network.hpp). They are of any number and
  /// dependence, n bits each.
  std::vector<f2::Word> directions = {};
};

/// Law: for every block, row, column the two address equations above hold (tests walk all of them).
/// Requires: 0 <= s <= n (checked). Cost: O(n^2) word operations.
Tile make_tile(const Affine& map, const TileOptions& options);

// Affine permutations in place: how few passes, and which: theorems 3 to 5 of
// docs/theory/two-passes-in-place.md.
//
// A pass in place owns its memory: a block loads some tiles, and writes exactly these again. Let T be a space
// that contains S, the elements of a segment, and that B keeps, B T = T. Then x -> B x ^ c carries cosets of
// T to cosets of T. A block that holds a whole orbit of cosets (the tile it starts with, the one that this is
// written to, and so on until the first) depends on no other block:
//
//     orbit of 2     tile x + T  <====>  tile B x ^ c + T        both loaded, a barrier, both written
//     orbit of 1     tile x + T  permuted within itself
//
// A map whose own orbits are short and whose smallest such T is small takes one pass (theorem 3): bit
// reversal, square transposes, swaps, X and CNOT are involutions, orbits of two. Every other affine map is
// two maps, each an involution modulo its space (theorem 4), the first of which usually swaps whole segments
// and moves nothing inside them. Where one tile is all that a block can hold, factors that move nothing out
// of their cosets do it (theorem 5).
//
// Example: x -> A x on 2 bits with s = 0 and A of order 3, 01 -> 10 -> 11: no involution, and T = S = 0 has
// orbits of 1 and 3. With room for 4 elements it is one pass; with room for 2 it is two swaps.

/// x -> map(x) in one pass in place.
struct InPlaceFactor {
  Affine map;
  f2::Subspace space;             // T: holds the segments' directions; map.matrix() T = T
  std::uint64_t orbit_tiles = 1;  // the most cosets of T in one orbit of the map
};

struct InPlaceOptions {
  int segment_bits = 0;   // s, at most n
  int capacity_bits = 0;  // m: a block holds 2^m elements, of all its tiles together
  /// Most tiles of an orbit that a block holds, whatever the capacity; 1: theorem 5's factors only.
  std::uint64_t max_orbit_tiles = 64;
  int tile_bits_max = f2::kMaxDimension;  // a tile holds at most 2^tile_bits_max elements, one orbit or many
};

/// Factors of `map`, the first to be applied first: map = factor[k-1] o ... o factor[0]. The fewest that
/// theorems 3 and 4 allow; where two tiles of theorem 4 do not fit the capacity, theorem 5's. None for the
/// identity.
///
/// Laws (tests): the product is the map; every factor keeps its space; dim space + ceil(log2 orbit_tiles)
/// fits the capacity. Errors: ErrorCode::unsupported for a capacity that holds no tile that any theorem can
/// use (m <= s and the map moves something across segments), naming the least that would do. Cost: O(n^4)
/// word operations; under 20 ms at n = 34.
std::vector<InPlaceFactor> factor_in_place(const Affine& map, const InPlaceOptions& options);

/// The tiles of a factor and which of them change places. Tile `b` starts at tile.block_source(b), and is
/// written where tile next(b) was read.
struct InPlaceTile {
  Tile tile;  // of factor.map, T exactly (or padded, still kept by the map)
  std::uint64_t orbit_tiles = 1;
  f2::Matrix next_matrix;  // on block numbers, block_bits x block_bits
  f2::Word next_complement = 0;

  f2::Word next(f2::Word block) const;  // next_matrix block ^ next_complement
};

/// `min_row_bits`: a tile of fewer row bits is padded to that many, by directions that leave it kept by the
/// map; to fewer where the array is exhausted, or where orbits are longer than 2 and no kept space of that
/// size is found. Padding never makes an orbit longer. `near_bits`: as in TileOptions.
///
/// Laws (tests): source and target rows are the same vectors, in the same order; for every block b, the
/// target rows of b are, as a set of segments, the source rows of next(b). Requires: the map keeps
/// factor.space, which holds the segments' directions (checked).
InPlaceTile make_in_place_tile(const InPlaceFactor& factor, int segment_bits, int min_row_bits,
                               int near_bits = 0);

// Places a tile's elements in shared memory so that neither writing its input rows nor reading its output
// rows makes two lanes wait for one bank (docs/theory/one-pass.md, theorem 2).
//
// A place of the tile is (column | row << s), m = s + r bits. Whatever s is, split it at the *bank row*: its
// low b bits choose one of the 2^b elements that the banks hold side by side (128 bytes of them), the others
// are `high`:
//
//     place     [      high: m - b bits      |  low: b bits  ]
//                        |                         |
//                        +---- X (a b x (m-b) matrix) --> ^
//                        v                         v
//     address   [      high                  |  low ^ X high ]
//
// The input is written in natural order, so one hardware phase of the write is all or part of one bank row,
// and a row XORed with a constant is still free of conflicts. The output is read along other directions: a
// phase is a coset of a subspace R. With Q the directions of elements that share a 4-byte word (2 for 1-byte
// elements, 1 for 2-byte, else none) the read is free of conflicts iff the bank map low ^ X high, taken
// without the bits of Q, is one to one on (R + Q) / Q: iff its kernel meets R + Q only in Q. The kernel must
// also be a complement of the low b bits. Two subspaces of equal dimension always have a common complement,
// so such a kernel, hence X, exists for every map, width and tile.
//
// Example: four banks, 4-byte elements, a 4 x 4 tile to transpose: b = 2, R = span(e_2, e_3), the common
// complement is span(e_0 + e_2, e_1 + e_3), X = identity: element (row, column) sits in bank column ^ row,
// the textbook swizzle.
//
//     bank     0  1  2  3          R reads a column of the tile: one element from every bank
//     row 0   00 01 02 03
//     row 1   11 10 13 12
//     row 2   22 23 20 21
//     row 3   33 32 31 30
//
// Why the split at b and not at the row: where rows are longer than a bank row (s > b), X also has to see the
// columns' high bits. X never touches the bits of Q, but it may touch bits inside a wide vector: a 16-byte
// store then carries its words in another order, a matter of registers (device::exchange_units).

/// Places that one hardware phase touches, up to a shift: the span of the lanes' directions and a vector's
/// components.
struct XorRequest {
  int tile_bits = 0;   // m
  int width_bits = 0;  // log2 of the bytes of an element: 0 .. 4
  f2::Subspace write;  // in F2^m
  f2::Subspace read;   // in F2^m
  machine::MemoryGeometry geometry;
};

/// The Xor whose congestion is 1 for both phases.
/// Requires: write within the low b bits, read + Q of dimension at most b (checked; kernels that number their
/// threads in the natural order and keep to MemoryGeometry::lanes_per_phase satisfy both for every map).
/// Cost: O(m^2) word operations. Source: docs/theory/one-pass.md, theorem 2.
Xor make_xor(const XorRequest& request);

/// The congestion that `layout` gives to a phase that touches a coset of `phase`, by ranks: 2^(dim words -
/// dim banks).
int predicted_congestion(const Xor& layout, int width_bits, const f2::Subspace& phase,
                         const machine::MemoryGeometry& geometry);

}  // namespace faro::layout
