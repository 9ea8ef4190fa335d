// Theorem 5: factors that move nothing out of their cosets, for a block that holds a single tile.
//
// Let F be the functionals that the map fixes, Phi those of them that vanish on the segments' directions, and
//
//     rho = dim S^ / Phi = dim(S + Im(A^ + I)) - s           what is yet to be fixed
//
// A map moves nothing out of the cosets of the common kernel of Phi, which has s + rho dimensions: rho is
// what one tile needs. A factor whose tile has s + d fixes all but d dimensions of S^, so that each of them
// takes at most d off rho: no fewer than ceil(rho / d) will do, and so many suffice.
#pragma once

#include <vector>

#include "faro/layout/tile.hpp"

namespace faro::layout::detail {

/// rho, for the map's homogeneous functionals.
int unfixed_dimensions(const Affine& map, int segment_bits);

/// A factor, to be applied first, whose tile has s + d dimensions at most, such that what is left has a rho
/// less by d: map = (rest) o (factor). Requires: 1 <= d <= rho (checked).
Affine fixing_factor(const Affine& map, int segment_bits, int d);

/// ceil(rho / row_bits) factors, at least one, the first to be applied first, of as equal tiles as may be.
/// Requires: row_bits >= 1 or rho = 0 (checked).
std::vector<InPlaceFactor> factor_in_single_tiles(const Affine& map, int segment_bits, int row_bits);

}  // namespace faro::layout::detail
