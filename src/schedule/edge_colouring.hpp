// Colours the edges of a bipartite multigraph so that no two edges of a colour share a node, with as few
// colours as the largest degree.
//
//     left   0 0 0   1 1 1   2 2 2       3 nodes a side, degree 3:      colour 0   0-1  1-2  2-0
//     right  1 1 2   2 2 0   0 0 1       9 edges                        colour 1   0-1  1-2  2-0
//                                                                       colour 2   0-2  1-0  2-1
//
// Where every node has the same degree d, the graph is *regular* and each colour is a perfect matching: every
// node once. That is what turns a permutation into conflict-free rounds (nodes are memory banks, edges are
// elements, colours are rounds; faro/schedule/conflict_free.hpp) and into passes over rows and columns (nodes
// are rows, colours are columns).
//
// How. A graph whose degrees are even splits into two of half the degrees: walk along it without taking an
// edge twice and deal the edges out in turn (Euler splitting, linear time). A degree of 2^k is done after k
// splittings. For any other even degree one half is coloured first, and lends the other half so many of its
// colours that its degree becomes 2^k. For an odd degree one perfect matching is taken away first, found by
// splitting, too: edges get weights so large that all degrees are a power of two. Graphs that are not regular
// are filled up: nodes of low degree are joined until few are left, then edges are added.
//
// Source: Theorem 6.1 of Nakano's memory machines paper is Koenig's theorem (1916); Gabow 1976 and Gabow and
// Kariv 1982 for the splitting, Alon 2003 for the matching.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/bipartite_graph.hpp"

namespace faro::schedule {

struct EdgeColouring {
  std::uint32_t colours = 0;          // the largest degree
  std::vector<std::uint32_t> colour;  // of edge e, below `colours`
};

/// Law:    edges that share a node differ in colour; every colour is used.
/// Errors: ErrorCode::value where `left` and `right` differ in length, an edge names a node that is not
///         there, or there are too many nodes or edges: 2^32 - 16, the edges filled up, which at most
///         triples them.
/// Cost:   E edges of largest degree d: O(E log d); where d is no power of two, also O(E log N) for N nodes
///         a side. 24 bytes an edge, 44 for such d. The result is verified, always, in linear time.
EdgeColouring colour_edges(const BipartiteGraph& graph);

/// The same where the caller promises that all nodes have one degree: every colour is a perfect matching.
/// Errors: also ErrorCode::value where the graph is not regular, naming a node.
EdgeColouring colour_regular_edges(const BipartiteGraph& graph);

}  // namespace faro::schedule
