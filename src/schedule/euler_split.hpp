// Euler splitting: the edges of a graph with even degrees dealt out into two halves of half the degrees.
//
// Edges are kept sorted by left node, so two that follow one another at an even place are *partners* at their
// left node. At each right node the edges are paired as they come: these are *mates*. Partner, mate, partner,
// mate … leads around a cycle of even length; its edges go to the first and the second half in turn:
//
//     place    0   1   2   3          partners (0 1) (2 3), mates (0 2) (1 3)
//     left     0   0   1   1          walk: 0 first, its partner 1 second, mate 3 first, its partner 2
//     right    5   7   5   7                second, mate 0: done          -->   first {0, 3}, second {1, 2}
//
// One edge of each pair of partners goes either way. So a half is the list of the pairs, one edge of each: it
// is sorted by left node again, without sorting, and there is nothing but arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace faro::schedule {

/// An edge in a list sorted by left node.
struct ListedEdge {
  std::uint32_t right;
  std::uint32_t id;
};

/// Edges are numbered, and counted, by 32 bits.
inline constexpr std::uint64_t kMostEdges = 0xffff'fff0;

/// Keeps its tables from call to call.
class EulerSplitter {
 public:
  /// For graphs of up to so many right nodes, and lists of up to so many edges.
  /// Requires: edges <= kMostEdges (checked).
  EulerSplitter(std::uint64_t right_nodes, std::uint64_t edges);

  /// Decides for every pair of partners, until the next call.
  /// Requires: even degrees; places 2 i and 2 i + 1 share their left node (unchecked).
  void choose(std::span<const ListedEdge> edges);

  /// Which of places 2 pair and 2 pair + 1 goes into the first half: 0 or 1.
  std::uint32_t choice(std::uint64_t pair) const { return steps_[2 * pair] - kFirst; }

  /// Chooses, and writes the first half to out[0 ..), the second after it.
  /// Requires: `out` is as long as `edges` and elsewhere.
  void split(std::span<const ListedEdge> edges, std::span<ListedEdge> out);

 private:
  static constexpr std::uint32_t kFirst = 0xffff'fffe;  // and the number after it: decided

  void find_mates(std::span<const ListedEdge> edges);

  // Where no edge waits for a mate at a right node: a place past the last.
  std::vector<std::uint32_t> waiting_;
  // The mate of a place; in both places of a pair that is decided, kFirst + choice.
  std::unique_ptr<std::uint32_t[]> steps_;
  std::uint64_t most_edges_;
};

}  // namespace faro::schedule
