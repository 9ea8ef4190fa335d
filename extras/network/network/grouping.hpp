// Grouping layers into passes: which subspaces, and never one more than there must be.
//
// All subspaces here are in the input's coordinates. A pass holds cosets of T in fast memory, at most 2^m
// elements; memory moves segments of 2^s. Where the array's order may change from pass to pass, a segment of
// the array as it lies between two passes is a coset of some s-dimensional U, and the pass before writes it,
// the pass after reads it: both hold it in their tiles.
//
//     in --[ T_1 ]-- U_1 --[ T_2 ]-- U_2 -- ... --[ T_K ]-- out
//     S                                                  B^-1 S    U_0 = S, U_K = B^-1 S, B the final map
//
//     T_k  contains  U_{k-1},  U_k  and the directions of its layers;  dim T_k <= m
//
// If the order never changes, every U_k is S (the plain rule): m - s directions beside S in every pass. If it
// may, a pass has room for m directions, of which s must be shared with each neighbour: they may be
// directions that both have use for. Only 4 of 8 elements in a tile and segments of 2, n = 3, m = 2, s = 1,
// layers along bits 1, 2, 1, 2:
//
//     plain     span(0, 1) | span(0, 2) | span(0, 1) | span(0, 2)       4 passes
//     moving    span(0, 1) | span(1, 2) | span(0, 2)                    3:  U_1 = span(1), U_2 = span(2)
//
// group_moving() has the fewest passes of all plans of this kind, and fewest_passes() is that number without
// a plan (docs/theory/network-passes.md proves both).
#pragma once

#include <cstddef>
#include <vector>

#include "faro/f2/matrix.hpp"
#include "faro/network/pass.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"

namespace faro::network {

struct Grouping {
  int bits = 0;                           // n
  int tile_bits = 0;                      // m
  int segment_bits = 0;                   // s < m, or m = n
  std::vector<f2::Word> directions = {};  // of the layers, in order
  f2::Matrix final_inverse = {};          // B^-1
};

/// The layers of one pass, and the spaces above.
struct Group {
  std::size_t first_layer = 0;
  std::size_t layers = 0;
  f2::Subspace tile;     // T_k
  f2::Subspace segment;  // U_k, as the pass writes
};

/// The order never changes but in the last pass: every pass takes all layers that fit beside S. A final map
/// whose segments do not fit beside the last layers' takes passes of its own.
/// Law: of all plans under the plain rule, the fewest passes up to the last layer.
std::vector<Group> group_plain(const Grouping& problem);

/// The order may change. Law: result.size() == fewest_passes(problem).
std::vector<Group> group_moving(const Grouping& problem);

/// No sequence of U_k and T_k as above is shorter. At least 1. Cost: O((L + s) K n) word operations for L
/// directions and K passes.
std::size_t fewest_passes(const Grouping& problem);

}  // namespace faro::network

namespace faro::network::detail {

// The sizes of a plan's tiles and segments: what the caller asked for, or what suits the engine.

/// Sizes for `grouping`, whose own sizes are ignored. Of the segments that suit the engine, those whose
/// passes cost least together; of these the longest. Errors: ErrorCode::value for sizes out of range.
Sizes choose_sizes(const Grouping& grouping, const Sizes& wanted, std::uint64_t element_bytes, Engine engine);

// The order of the array between passes: which map each pass writes by, given the subspaces of its group.

/// Whether `map` moves nothing out of a coset of `tile`.
bool keeps_cosets(const Affine& map, const f2::Subspace& tile);

/// A map of addresses for every group.
/// Law: composed, the first innermost, they are `final_map`; each carries its group's segment, as it lies in
/// memory by then, to S; all but the last keep the cosets of their tiles. Placement in_place: the last does,
/// too, where a way is found; it is searched for, not guaranteed. Out of place: each changes as little as it
/// can.
std::vector<Affine> choose_maps(const std::vector<Group>& groups, const Affine& final_map,
                                Placement placement);

}  // namespace faro::network::detail
