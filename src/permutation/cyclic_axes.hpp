// Axes, flipped and rolled ones too (faro/permutation/axes.hpp), as what else they are: a simpler form,
// views.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "faro/permutation/strided.hpp"
#include "permutation/axis_map.hpp"

namespace faro::detail {

/// Axes where none is flipped or rolled, a Cyclic of one axis; else the same.
Permutation simplest_form(const CyclicAxes& axes);

/// The form of Axes, CyclicAxes and Cyclic; nothing for all others.
std::optional<AxisMap> axis_map(const Permutation& permutation);

/// Disjoint parts of an array, which together move it all; of as many arrays one after another as `batch`. An
/// axis that is rolled is two parts, 2^r of r such axes; rolled by half, one: the halves are flipped.
///
///     roll by 2 of 5    x 0 1 2 --> 2 3 4,  x 3 4 --> 0 1
///     roll by 3 of 6    x (0 1 2) (3 4 5) --> (3 4 5) (0 1 2)
/// Requires: axis_map().
std::vector<AxisMap> unrolled_parts(const Permutation& permutation, std::uint64_t batch);
/// The same as views.
std::vector<Strided> views_of(const Permutation& permutation, std::uint64_t batch);

/// How many there are.
std::uint64_t number_of_parts(const CyclicAxes& axes);

}  // namespace faro::detail
