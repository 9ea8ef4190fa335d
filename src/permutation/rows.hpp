// Permutations of wide elements, such as the rows of a matrix, as permutations of smaller ones that move
// together:
//
//     indices(2 0 1) of rows of 2      in  a A b B c C      out  b B c C a A
//     is indices(4 5 0 1 2 3) of elements
#pragma once

#include <cstdint>
#include <optional>

#include "faro/permutation/permutation.hpp"
#include "faro/permutation/strided.hpp"

namespace faro {

/// Every element is `units` that move together: i units + j goes to pi(i) units + j. In the form with the
/// most to offer: affine where pi is and units is a power of two, axes of axes, also flipped and rolled ones,
/// else an index array. Errors:
/// ErrorCode::value for 0 units, past 2^40 elements, for an array on a device, or for too little memory.
Permutation widened(const Permutation& permutation, std::uint64_t units);

/// A view of wide elements as one of smaller ones: its normal form with one axis more, the fastest on both
/// sides. Errors: those of check(), and ErrorCode::value past 2^56 units.
Strided widened(const Strided& view, std::uint64_t units);

/// The least number of equal parts, each of at most `most` bytes, of an element of `bytes`.
std::uint64_t widening_for(std::uint64_t bytes, std::uint64_t most);

/// The same permutation, entry by entry. Errors: ErrorCode::value past 2^40 elements or for too little
/// memory.
Indexed as_index_array(const Affine& map);

}  // namespace faro

// What composition and powers are without an index array: for those who must know before they make one.

namespace faro::detail {

/// a o b where no array is needed. Errors: ErrorCode::value for different counts.
std::optional<Permutation> compose_forms(const Permutation& a, const Permutation& b);

/// The k-fold composition where no array is needed.
std::optional<Permutation> power_form(const Permutation& permutation, std::int64_t k);

}  // namespace faro::detail
