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
#pragma once

#include "faro/f2/matrix.hpp"
#include "faro/layout/shared.hpp"
#include "faro/machine/memory_geometry.hpp"

namespace faro::layout {

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
