// What a network's kernels read of their tables, besides the arrays: warps that all read the same few
// sectors, which the first-level cache holds. Device memory does not see them, and the profiler's counters of
// loads do.
//
//     every group        code, if the kernel has several, the lanes' and the warp's places, a place for each register bit, whether blocks differ
//     where they do      a place for each digit of the block's number
//     a layer that flips first_block and first_thread, by the group's first_layer
//     a layer of Fourier its number, a power for the thread, one for each digit of the block's number
//
// It is what the compiler makes of apply_group (kernels/network_tile.hpp) where it knows a group's layers;
// each is one load of a warp.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "faro/machine/access_counts.hpp"
#include "network/launches.hpp"

namespace faro::network {

/// The loads of each launch, all blocks. Nothing for launches of which it is not known: users' operators,
/// Fourier's layers whose shares meet, and plans of more groups than the kernel has code for (kMostCodes).
std::vector<std::optional<machine::GlobalCounts>> count_table_loads(
    const std::vector<NetworkLaunch>& launches, const ElementType& element,
    const kernels::NetworkShape& shape);

}  // namespace faro::network
