// Functionals of vectors over F2, as masks: the value of g at v is the parity of v & g. Choosing some of
// them, one by one, so that they tell the vectors of a subspace apart: what is left to tell is the part where
// all chosen vanish.
#pragma once

#include <vector>

#include "faro/f2/matrix.hpp"

namespace faro::exchange {

/// Functionals, or a basis of vectors.
using Rows = std::vector<f2::Word>;

/// The vectors of F2^dimension on which all of `rows` vanish.
Rows kernel_of(const Rows& rows, int dimension);

/// A basis of the part of span(basis) on which g vanishes.
Rows where_zero(const Rows& basis, f2::Word g);

/// Whether g is not zero on all of span(basis).
bool is_nonzero_on(const Rows& basis, f2::Word g);

Rows joined(std::initializer_list<const Rows*> parts);

}  // namespace faro::exchange
