// How much of each rank's part leaves groups of ranks, counted without any rank's plan: for thousands of
// ranks, and links that a rack shares.
//
//     8 ranks, groups of 1, 2, 4     a rank's elements that leave it     that leave its pair     its four
//     bit reversal                              7/8                            6/8                 4/8
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/shards.hpp"
#include "shard/mesh_method.hpp"

namespace faro::detail {

/// For each group size and each rank, the elements that rank sends to ranks outside its group, and hears from
/// them; groups are of consecutive ranks and begin at multiples of their size. Errors: those of ShardPlan;
/// ErrorCode::unsupported for an affine map of more than 2^30 messages between groups whose sizes are no
/// powers of two.   Cost: ranks x sizes for affine maps, slabs and blocks; a look-up an element for all
/// others.
CrossingElements crossing_elements(const ShardProblem& problem, std::span<const std::uint64_t> group_sizes);

/// The same the other way round: from the output's cut to the input's.
ShardProblem inverse_of(const ShardProblem& problem);

}  // namespace faro::detail
