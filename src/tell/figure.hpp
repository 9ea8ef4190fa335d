// The figures of the published method (Bouverot-Dupuis and Sheeran 2023), drawn for any map that they are
// about.
//
//     1  global memory by segments of 128 bytes, shared memory by banks
//     2  what one block of threads touches in the source and in the target, warp by warp
//     4  index bits by role: column, row, both, block           6  the same with iteration bits
//     5  a tile in shared memory and what a warp touches, without and with the rows' shift
//     7  the matrix of a tiled map: an invertible block above a block of zeros
//     8  any matrix as a product of two tiled ones, (U R)(R L P)
//
// Figure 3, the sub-arrays of parm, is `faro network explain 'parm(MASK; id)'`, as are figures 13 and 14. The
// published tile has the t lowest index bits as columns and, as rows, the t source bits that become them:
//
//     n = 10, t = 5, every bit one place down, bit 0 to the top:       c  bits 0 .. 4
//     bit   9 8 7 6 5 4 3 2 1 0                                        r  bits 1 .. 5, of which
//           b b b b r o o o o c                                        o  both
#pragma once

#include <string>
#include <vector>

#include "faro/permutation/affine.hpp"

namespace faro {

/// Roles of the source's index bits, in ascending order.
struct PublishedTile {
  int tile_bits = 0;         // t
  std::vector<int> columns;  // bits 0 .. t-1
  std::vector<int> rows;     // t bits whose images fill the target's columns
  std::vector<int> overlap;  // both
  std::vector<int> blocks;   // neither
  int iteration_bits = 0;    // of the blocks, the lowest
};

/// n_tile of the drawings: 5, the literature's, or half the bits where there are fewer than 10.
int published_tile_bits(int n);

/// Errors: ErrorCode::unsupported where the map is no tiled one for t = `tile_bits`; ErrorCode::value for t
/// outside 1..n. Cost: O(n^2).
PublishedTile published_tile(const Affine& map, int tile_bits, int iteration_bits = 3);

/// The places that index bits make: col into the columns, row into the rows that are no columns, block into
/// the blocks; and the same by rows. Source: section 4.1 (stitch_col, stitch_row).
f2::Word stitch_col(const PublishedTile& tile, f2::Word col, f2::Word block, f2::Word row);
f2::Word stitch_row(const PublishedTile& tile, f2::Word col, f2::Word block, f2::Word row);

/// The same without the block bits, the others moved together.
f2::Word stitch_tile_col(const PublishedTile& tile, f2::Word col, f2::Word row);
f2::Word stitch_tile_row(const PublishedTile& tile, f2::Word col, f2::Word row);

/// One self-contained SVG. Errors: ErrorCode::value for a figure that is none of these, and for a map of no
/// bits or too many to draw (figure 2: 12 bits; the others: 40); those of published_tile for figures 2, 4, 5,
/// 6 and 7.
std::string figure_svg(int figure, const Affine& map);

}  // namespace faro
