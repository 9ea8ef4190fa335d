// Some tiles of a one-pass affine permutation, taken together, so that a box of memory can stand in for one
// of the two arrays.
//
// The tile of segments of 2^s elements (tile.hpp) is small, and so are its segments. Put P = span(e_0 ..
// e_{p-1}), p >= s, and B = P + A^-1 P, which holds T. A *box* is a coset of B: 2^k tiles, of which the
// source and the target are rows of 2^p elements. Where something is to be done with whole rows on one side,
// such as to convert their numbers, the box lies in a cache in the order of that side's rows, and tiles move
// between it and the array on the other side:
//
//     side target   array in --tiles--> box, rows after one another --row by row--> array out
//     side source   array in --row by row--> box --tiles--> array out
//
// A place of the array on that side is one number of the box and one place in it: coordinates in the frame of
// e_0 .. e_{p-1}, the rows' basis, and a basis of the boxes. Both are linear, so the tile's words of that
// side are replaced by their places in the box, and a kernel of tiles serves as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/layout/tile.hpp"

namespace faro::layout {

enum class BoxSide { source, target };

/// Rows of 2^p elements in an array.
struct BoxRows {
  std::vector<f2::Word> rows;  // low p bits zero, as those of the boxes
  std::vector<f2::Word> boxes;
  f2::Word first = 0;  // of box 0

  /// Where row `row` of box `box` begins.
  f2::Word at(f2::Word box, f2::Word row) const {
    return first ^ f2::combine(boxes.data(), box) ^ f2::combine(rows.data(), row);
  }
};

struct TileBox {
  /// Tiles of one box follow one another. On `side` all words are places in the box, (column | row <<
  /// row_bits).
  Tile tile;
  int tile_bits = 0;  // k: tiles of a box
  int row_bits = 0;   // p: elements of a row
  BoxRows source;
  BoxRows target;

  const BoxRows& of(BoxSide side) const { return side == BoxSide::source ? source : target; }
  std::uint64_t boxes() const { return f2::unit(static_cast<int>(source.boxes.size())); }
  std::uint64_t rows() const { return f2::unit(static_cast<int>(source.rows.size())); }
  int box_bits() const { return row_bits + static_cast<int>(source.rows.size()); }
};

struct TileBoxOptions {
  int segment_bits = 0;  // s
  int row_bits = 0;      // p
  BoxSide side = BoxSide::target;
};

/// Law (tests): for every box b, row j and column i, of(side).at(b, j) ^ i is place (i | j << p) of the box;
/// tiles
///              b 2^k .. (b + 1) 2^k - 1 move all of them, from the rows source.at(b, …) to target.at(b, …).
/// Requires: 0 <= s <= p <= n (checked).   Cost: O(n^2) word operations.
TileBox make_tile_box(const Affine& map, const TileBoxOptions& options);

/// log2 of a box's elements.
int tile_box_bits(const Affine& map, int row_bits);

}  // namespace faro::layout
