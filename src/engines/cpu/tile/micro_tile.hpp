// The innermost level of theorem 1: a permutation of cache lines in vector registers.
//
// Inside a tile the map is linear on tile places. With V = span of the lanes of one vector, the tile of
// *that* map is V + M^-1 V: 2^q source vectors exchange their elements and become 2^q target vectors. Writing
// (j, l) for vector j and lane l, the map of every such micro tile is the same matrix,
//
//     j' = P j + Q l        Q: q x v, of rank q
//     l' = R j + U l
//
// and it is three steps, none of which moves an element between vectors and between lanes at once:
//
//     1. l1 = l + H j       each vector permutes its lanes (an XOR)
//     2. j' = j + Q l1      each lane exchanges vectors: bit k of j flips in lanes where row k of Q is odd
//     3. l' = G l1 + K j'   each vector permutes its lanes
//
// where Q H = P + I (solvable, since Q has full row rank), K = R + U H and G = U + K Q. Steps 1 and 3 are one
// table lookup a vector, step 2 is q blends a vector; the same instructions serve every affine map. (Swizzle
// Inventor's row, column, row shuffle, with XOR in place of rotation.)
#pragma once

#include <vector>

#include "faro/layout/tile.hpp"

namespace faro::cpu {

struct MicroTile {
  int lane_bits = 0;      // v
  int exchange_bits = 0;  // q
  // Vectors are named by the place of their lane 0 in the tile.
  std::vector<f2::Word> source_vectors;  // 2^q, of micro tile 0
  std::vector<f2::Word> target_vectors;  // 2^q, of micro tile 0
  std::vector<f2::Word> source_blocks;   // one a micro tile; XORed onto source_vectors
  std::vector<f2::Word> target_blocks;   // one a micro tile; its lane bits are XORed onto l'
  f2::Matrix first_lanes;                // H, v x q
  f2::Matrix exchange;                   // Q, q x v
  f2::Matrix last_lanes_inverse;         // G^-1, v x v
  f2::Matrix last_lanes_offset;          // G^-1 K, v x q: l1 = G^-1 l' + G^-1 K j'
};

/// Which micro tiles follow each other where the map allows: those that read consecutive vectors of the
/// tile's rows, or write them.
enum class MicroOrder { source, target };

/// Splits a tile's map for vectors of 2^lane_bits elements. Requires: lane_bits <= tile.segment_bits
/// (checked).
MicroTile make_micro_tile(const layout::Tile& tile, int lane_bits, MicroOrder order = MicroOrder::source);

}  // namespace faro::cpu
