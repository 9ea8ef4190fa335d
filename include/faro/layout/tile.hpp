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

#include <vector>

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
  /// have to do with each other besides the move (network/plan.hpp). Of any number and dependence, n bits
  /// each.
  std::vector<f2::Word> directions = {};
};

/// Law: for every block, row, column the two address equations above hold (tests walk all of them).
/// Requires: 0 <= s <= n (checked). Cost: O(n^2) word operations.
Tile make_tile(const Affine& map, const TileOptions& options);

}  // namespace faro::layout
