// The normal form of a network: every permutation moved out of the way.
//
// Whatever a program does, it lets pairs of elements meet, layer after layer, and moves elements about in
// between. A layer that runs after a permutation is the same layer on other elements, so all permutations can
// be carried out in the head first:
//
//     program  =  bmmc(final_map) . layer_L . ... . layer_1
//
// Each layer has a *frame*, an affine map on the index x that an element had in the input. In the frame's
// numbering the layer is plain: y = frame(x), and the elements with y = 2p and 2p + 1 meet.
//
//     frame(x) = y      bit 0 of y       which of the two:  0 the first, 1 the second
//                       bits 1 .. k-1    the operator's pair number, k the bits that the operator is given
//                       bits k ..        which of 2^(n-k) equal sub-arrays; the operator does not see it
//
// So a layer pairs x with x ^ d, where d = frame^-1 e_0 is its *direction*. A network's cost depends on its
// directions alone. An elementwise function looks at no partner: its layer has the frame of the layer before
// it, of the input where there is none, and no direction that was not there.
//
// Example: vcolumn(2) = parm(3; vcolumn(1)) lets 0 meet 3 and 1 meet 2. parm 3 sends x to y with y_0 = x_1
// and y_1 = x_0 ^ x_1; then y = 0, 1 are x = 0, 3 and y = 2, 3 are x = 1, 2. The direction is 0b11, and bits
// is 1: vcolumn(1) is pairs on two elements, all its pair numbers are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faro/layout/tile.hpp"
#include "faro/network/operator.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/problem/problem.hpp"
#include "faro/problem/target.hpp"

namespace faro::network {

struct Layer {
  Operator op;
  Affine frame;  // y = frame(x): elements with y = 2p and 2p + 1 meet
  int bits = 0;  // k of the operator; its pair number is (y >> 1) mod 2^(k-1)

  /// d: elements x and x ^ d meet. Requires: the program has a bit (unchecked).
  f2::Word direction() const { return frame.inverse_matrix().column(0); }
};

/// out[final_map(x)] = a[x], with a what the layers, first to last, make of the input in place.
struct NormalForm {
  int bits = 0;  // n
  std::vector<Layer> layers;
  Affine final_map;
  std::string final_text = {};  // what the program calls it, where it is one of the program's own maps
};

/// Law: layers and then final_map do what the program does, to every array and every operator.
/// Cost: one walk over the program, a product of matrices for every permutation in it.
NormalForm normal_form(const Program& program);

/// `batch` arrays of 2^program.bits() elements follow one another in memory; the program runs on each.
struct Problem {
  Program program;
  ElementType element;
  std::uint64_t batch = 1;  // any count; 0 is an empty problem
  /// in_place: a plan that needs no further array is preferred to one that changes the order in fewer passes.
  /// It has as many passes. Not every network has one: see Plan::workspace_bytes.
  Placement placement = Placement::out_of_place;
};

/// Largest n of a problem.
inline constexpr int kMaxNetworkBits = 40;

/// An affine function of a place j in a tile and the tile's number b, to one bit.
struct Functional {
  f2::Word place = 0;
  f2::Word block = 0;
  bool constant = false;

  bool operator()(f2::Word j, f2::Word b) const {
    return f2::parity(place & j) != (f2::parity(block & b) != constant);
  }
  friend bool operator==(const Functional&, const Functional&) = default;
};

/// A layer as the places of a tile see it.
struct LocalLayer {
  Operator op;
  int bits = 0;        // k of the operator
  f2::Word delta = 0;  // places j and j ^ delta meet; not zero
  std::vector<Functional>
      frame;  // k of them: [0] is 0 for the first of the two; [1 + i] is bit i of the pair

  /// Whether place j of tile b is the first of its pair.
  bool is_first(f2::Word j, f2::Word b) const { return !frame.front()(j, b); }
  /// The number of the pair that place j of tile b is in.
  f2::Word pair(f2::Word j, f2::Word b) const {
    f2::Word p = 0;
    for (std::size_t i = 1; i < frame.size(); ++i) {
      if (frame[i](j, b)) p |= f2::unit(static_cast<int>(i) - 1);
    }
    return p;
  }
};

/// One reading and one writing of every array.
///
/// Place j = (column | row << s) of tile b is the element at address
/// tile.block_source(b) ^ tile.source_row(row) ^ column when the pass reads. After all layers it is written
/// to map(address), which is what tile.local, tile.target_row and tile.block_target say.
struct Pass {
  Affine map;                      // of addresses; mostly the identity
  layout::Tile tile;               // of `map`; 2^tile_bits elements, s = segment_bits
  std::vector<LocalLayer> layers;  // applied in order inside every tile; may be empty
  std::size_t first_layer = 0;     // of NormalForm::layers
  /// Every tile writes the very addresses that it has read, in whatever order: so it may do so in one array,
  /// once all of it has been read. All passes but the last are so, and the last unless the final map forbids.
  bool in_place = false;
};

/// Sizes of a tile and of a segment, in elements. 0: the planner's choice.
struct Sizes {
  int tile_bits = 0;     // m
  int segment_bits = 0;  // s; less than m, unless one tile holds the array
};

/// How many passes it takes, and what it would take.
struct PassCounts {
  std::size_t as_written = 0;      // a pass for every layer and one for every permutation between two
  std::size_t layer_by_layer = 0;  // a pass for every layer, where it is, and one for the final map
  std::size_t plain = 0;           // grouped, the order of the array never changing; then the final map
  std::size_t planned = 0;  // this plan: the fewest there are for these sizes (docs/theory/network-passes.md)
};

/// Where a pass reads and writes.
enum class Place { in, out, workspace };
struct Places {
  Place source = Place::in;
  Place target = Place::out;
};

/// For every pass, so that the first reads `in`, the last writes `out`, `in` is never written, and a pass
/// that is not in place has two different arrays. Passes in place stay where they are, but for the first.
std::vector<Places> run_places(const std::vector<Pass>& passes);

}  // namespace faro::network
