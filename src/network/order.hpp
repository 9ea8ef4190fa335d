// The order of the array between passes: which map each pass writes by, given the subspaces of its group.
#pragma once

#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/plan/problem.hpp"
#include "network/grouping.hpp"

namespace faro::network::detail {

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
