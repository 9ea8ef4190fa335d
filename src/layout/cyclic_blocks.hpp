// A space with a linear operator, cut into cyclic blocks: what theorem 4 does to the part of a map that never
// meets the segments.
//
// psi, alpha psi, alpha^2 psi, .. span the cyclic block of psi; with d its dimension, some polynomial p of
// degree d kills it, p(alpha) psi = 0, and on the block alpha is multiplication by x in F2[x]/p. A block of a
// vector whose p kills the whole space W has a complement in W that alpha keeps, too: with a functional theta
// that is 1 on alpha^(d-1) psi and 0 on the powers before it,
//
//     {w in W : theta(alpha^i w) = 0 for i < d}
//
// so W falls apart, block by block. Vectors are words; `alpha` is a square matrix that keeps the space.
#pragma once

#include <vector>

#include "faro/f2/matrix.hpp"

namespace faro::layout::detail {

struct CyclicBlock {
  std::vector<f2::Word> powers;  // psi, alpha psi, .., alpha^(d-1) psi: a basis
  f2::Word annihilator = 1;      // p, a polynomial of degree d (f2/polynomial.hpp)

  int dimension() const { return static_cast<int>(powers.size()); }
};

/// The block of psi.
CyclicBlock cyclic_block(const f2::Matrix& alpha, f2::Word psi);

/// p(alpha) v.
f2::Word apply_polynomial(const f2::Matrix& alpha, f2::Word p, f2::Word v);

/// A vector of W whose annihilator kills all of W: the same one each time. Law: p(alpha) w = 0 for all w.
f2::Word maximal_vector(const f2::Matrix& alpha, const f2::Subspace& w);

/// The rational canonical form: blocks whose sum is W, direct, each annihilator a multiple of the next.
std::vector<CyclicBlock> frobenius_blocks(const f2::Matrix& alpha, const f2::Subspace& w);

/// The Jordan blocks of a W on which alpha + 1 is nilpotent; the last power of alpha + 1 that does not kill
/// the first block has the image {0, socle}. Requires: `socle` in W, fixed by alpha and not 0 (checked).
std::vector<CyclicBlock> unipotent_blocks(const f2::Matrix& alpha, const f2::Subspace& w, f2::Word socle);

/// W = where alpha + 1 is nilpotent, plus where it is invertible: Fitting's decomposition.
struct FittingParts {
  f2::Subspace unipotent;
  f2::Subspace rest;
};
FittingParts fitting_parts(const f2::Matrix& alpha, const f2::Subspace& w);

}  // namespace faro::layout::detail
