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

#include <string>
#include <vector>

#include "faro/network/operator.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"

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

}  // namespace faro::network
