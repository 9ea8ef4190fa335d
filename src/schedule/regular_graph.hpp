// Any bipartite multigraph as a regular one of the same largest degree d.
//
//     d = 3                      left                 right
//     degrees                    3 1 1 1              2 2 2
//     joined                     {0} {1 2 3}: 3 3     {0} {1} {2}: 2 2 2
//     a third node on the left   3 3 0                2 2 2
//     3 edges more, from it      3 3 3                3 3 3
//
// Nodes are joined, in their order, as long as their degrees sum to at most d: a colouring of the joined
// graph is one of the given graph. Two neighbours left over have more than d edges together, so the sides
// have at most 2 E / d + 1 nodes each. The shorter side gets empty nodes, and wherever a node lacks edges on
// both sides, edges are added, numbered from E: d N <= 3 E edges in all. A graph that is regular stays as it
// is.
//
// Each node's edges are listed in the order of their right nodes. Then the walks of an Euler splitting stay
// in a small part of the list, which the caches hold, and parallel edges, being neighbours, part at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/bipartite_graph.hpp"
#include "schedule/euler_split.hpp"

namespace faro::schedule {

struct RegularGraph {
  std::uint64_t nodes = 0;  // of each side
  std::uint64_t degree = 0;
  std::vector<std::uint32_t> left_node_of;          // given node -> node of this graph
  std::vector<std::uint32_t> right_node_of;         // likewise
  std::unique_ptr<ListedEdge[]> edges = nullptr;    // sorted by left node; ids from E on are added edges
  std::unique_ptr<ListedEdge[]> scratch = nullptr;  // as long

  std::uint64_t edge_count() const { return nodes * degree; }
};

/// Degrees of the nodes of one side.
std::vector<std::uint32_t> degrees_of(std::uint64_t nodes, std::span<const std::uint32_t> ends);

/// Requires: at least one edge; ends in range (unchecked).
/// Errors:   ErrorCode::value where edges, added ones and one a node included, are more than kMostEdges.
RegularGraph make_regular(const BipartiteGraph& graph);

}  // namespace faro::schedule
