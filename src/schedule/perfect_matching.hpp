// One perfect matching of a regular bipartite multigraph, by halving.
//
//     degree 3, 2 nodes a side:   every edge 2 times   +   0-0 and 1-1 2 times, perhaps no edges: *false*
//                                 2 * 3 + 2 = 8 = 2^3: three halvings leave each node one edge
//
// Give each of the d N edges the weight a = floor(2^t / d) where 2^t >= d N, and fill up every degree to 2^t
// by a false edge u-u of weight 2^t - a d < d. Splitting halves all degrees: an edge of weight x goes
// floor(x / 2) times to both halves, and the edges of odd weight are dealt out by an Euler splitting. Keep
// the half with fewer false edges. After t halvings every degree is 1, and of fewer than d N <= 2^t false
// edges less than one is left.
//
// Cost: O(E) for each of the first log N halvings, then less and less. Source: Alon 2003.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/euler_split.hpp"

namespace faro::schedule {

/// For each left node the place in `edges` of its edge. Requires: `edges` sorted by left node, `degree` of
/// them at every node of either side (unchecked); a splitter for edges.size() + edges.size() / degree edges.
std::vector<std::uint32_t> perfect_matching(std::span<const ListedEdge> edges, std::uint64_t degree,
                                            EulerSplitter& splitter);

}  // namespace faro::schedule
