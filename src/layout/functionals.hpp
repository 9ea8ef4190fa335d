// Theorem 4's view of a map: what it does to functionals, cut into chains that end in the segments and a rest
// that never meets them.
//
// Homogeneous coordinates make x -> A x ^ c linear: V^ = F2^(n+1), the last coordinate 1 for indices. A
// functional is a word, phi(x) = parity(phi & x), and the map carries it to alpha phi = phi o A^, where alpha
// is the transpose of A^. h, the last coordinate, is fixed by every affine map. S^, the functionals that
// vanish on the segments' directions, are the words without the low s bits.
//
// A chain is phi, alpha phi, .., all in S^ but the last. For any map, chains and the largest subspace of S^
// that alpha keeps are together a basis (Brunovsky's form of the pair of alpha and S):
//
//     rotating 4 bits up, s = 1: bit i of A x is bit i - 1 of x, so alpha e_i = e_(i-1), alpha e_0 = e_3
//     one chain, e_3 -> e_2 -> e_1 -> e_0, which ends outside S^; the rest is h alone
#pragma once

#include <vector>

#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::layout::detail {

/// The map on F2^(n+1). Requires: n <= 63 (checked).
f2::Matrix homogeneous(const Affine& map);

/// The other way. Requires: a matrix that keeps the last coordinate and is invertible (checked).
Affine affine_of(const f2::Matrix& homogeneous);

/// {phi : phi(x) = 0 for all x in U}, of dimension n + 1 - dim U; also {x : phi(x) = 0 for all phi in U}.
f2::Subspace annihilator(const f2::Subspace& u);

struct Functionals {
  int bits = 0;          // n
  int segment_bits = 0;  // s
  f2::Matrix alpha;      // phi -> phi o A^
  f2::Matrix inverse;    // of alpha

  f2::Word last() const { return f2::unit(bits); }  // h
  f2::Subspace vanishing_on_segments() const;       // S^
};

Functionals functionals_of(const Affine& map, int segment_bits);

/// phi, alpha phi, ..: members of S^, then one that is not.
using Chain = std::vector<f2::Word>;

struct ChainForm {
  std::vector<Chain> chains;  // s of them, the longest first
  f2::Subspace rest;          // the largest subspace of S^ that alpha keeps; holds h
};

/// Laws: the chains' members and a basis of `rest` are a basis of all functionals; the chains' last members
/// are independent as functionals on S; as many chains have more than one member as rank gamma says.
ChainForm chain_form(const Functionals& f);

}  // namespace faro::layout::detail
