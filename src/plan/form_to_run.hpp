// In which form a permutation is carried out. The kernels of affine maps take elements whose width is a power
// of two; of other widths an affine map is run as what else it is, where it is something else:
//
//     transpose(4096, 16), bit_reversal(20), morton(3, 7)     bits change places: axes of extent 2, joined
//     identity(20), reverse(20), xor(20, 0x80000)             a roll or a flip
//     gray(20)                                                nothing else
#pragma once

#include <cstdint>
#include <optional>

#include "faro/permutation/recognise.hpp"
#include "faro/plan/problem.hpp"

namespace faro::detail {

/// The roll, flip or permutation of axes that an affine map is; nothing where it is none.
std::optional<Permutation> form_of_any_width(const Affine& map);

/// A problem with its permutation in the form that elements of this width are moved by: as it is, but for
/// affine maps. One that has no such form stays as it is, and its plan refuses the width.
Problem in_form_to_run(Problem problem);

/// What an index array is carried out as: what it was recognised as where that has a good way of its own for
/// elements of this width, else as the array that it is.
Permutation form_to_run(const Problem& problem, const Recognition& recognition);

}  // namespace faro::detail
