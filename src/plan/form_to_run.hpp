// In which form a permutation is carried out. What is an affine map in another form, such as axes whose
// extents are powers of two, a flip or half a turn, is run as that affine map, which one pass moves at about
// nine tenths of a copy however many axes there are:
//
//     axes(4 4; 1 0), flip(16)                        bits(4; 2 3 0 1), reverse(4)
//     axes of 28 extents of 2, reversed               bit_reversal(28): on an H200 93% of a copy, as axes 82%
//
// On a GPU axes are at least as fast by kernels of their own where rows or whole planes move, and stay axes
// (src/plan/gpu/axes_choice.hpp has the kernels):
//
//     axes(64 64 32; 1 0 2) of 4 bytes                rows of 64 bytes and more: axes_rows.hpp
//     axes(4096 4096; 1 0)                            both sides 256 bytes and more: a plane
//     axes(4 1048576; 1 0), axes(8 8 8 8; 3 2 1 0)    short sides or boxes: affine
//
// What is no affine map is brought to its normal form, so that one permutation has one plan:
//
//     axes(10 100; 0 1), multiply(1000, 1), roll(1000, 0)      roll(1000, 0), which is a copy
//     affine_mod(1000, -1, 5)                                  compose(roll(1000, 6), flip(1000))
//
// The kernels of affine maps take elements whose width is a power of two; of other widths an affine map is
// run as what else it is, where it is something else:
//
//     transpose(4096, 16), bit_reversal(20), morton(3, 7)     bits change places: axes of extent 2, joined
//     identity(20), reverse(20), xor(20, 0x80000)             a roll or a flip
//     gray(20)                                                nothing else
#pragma once

#include <cstdint>
#include <optional>

#include "faro/permutation/permutation.hpp"
#include "faro/problem/problem.hpp"
#include "faro/problem/target.hpp"

namespace faro::detail {

/// The roll, flip or permutation of axes that an affine map is; nothing where it is none.
std::optional<Permutation> form_of_any_width(const Affine& map);

/// Whether a permutation is given as axes that kernels of their own move at least as fast as the affine map
/// that they are, of a batch of `arrays`. Requires: element_bytes > 0 (unchecked).
bool axes_suit(const Permutation& permutation, std::uint64_t element_bytes, std::uint64_t arrays,
               const Target& target);

/// The recognition of a permutation that says itself what it is.
Recognition known_form(const Permutation& permutation);

/// A problem with its permutation in the form that elements of this width are moved by on this target. One
/// that has no such form stays as it is, and its plan refuses the width. In place an affine map is always run
/// as one, for nothing has fewer passes.
Problem in_form_to_run(Problem problem, const Target& target);

/// Errors: ErrorCode::value for a view with a permutation or a batch, widths that there are none of, and
/// arrays past 2^62 bytes; ErrorCode::unsupported in place.
void check_view_problem(const Problem& problem);

/// What an index array is carried out as: what it was recognised as where that has a good way of its own for
/// elements of this width, else as the array that it is.
Permutation form_to_run(const Problem& problem, const Recognition& recognition);

/// Whether the map that all but a few elements follow (family exceptions) can be run at this width.
bool runs_with_exceptions(const Problem& problem, const Recognition& recognition, const Target& target);

/// For family blocks: a block as it is carried out, at most as wide an element as there may be, and no fewer
/// of them than a chunk holds, where there are as many.
Problem problem_of_block(const Problem& problem, const Recognition& recognition);
/// The problem of these blocks. Requires: an index array of the host that has them.
Problem problem_of_blocks(const Problem& problem, const Blocks& blocks);
/// What there is to know of its permutation, with the findings of all.
Recognition recognition_of_block(const Problem& block, Recognition of_all, int threads);

}  // namespace faro::detail
