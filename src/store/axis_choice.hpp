// Permutations that move whole axes, found in those of all elements.
#pragma once

#include <optional>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "store/sweep.hpp"

namespace faro::store {

/// The axes and flips that a permutation of an array of this shape is, where it is no more than that.
std::optional<AxisChoice> axis_choice_of(const Permutation& permutation, const Shape& shape);

/// Of numbers as numpy.transpose takes them, negative ones included. Errors: ErrorCode::value, with
/// `operation`.
AxisChoice axis_choice_of(const std::vector<int>& axes, std::size_t rank, const std::string& operation);

}  // namespace faro::store
