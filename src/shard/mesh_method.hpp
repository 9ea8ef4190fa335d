// Redistributions: permutations of axes between any two distributions.
//
// A rank meets cells of the other side (shard/mesh_map.hpp), and each that it sends to or hears from is a
// message. Which copy of a cell sends, and to which of the copies that want it, both find out by one rule:
//
//     the rank itself, if it holds the cell before and after
//     a copy on its own island, if there is one; of several each serves its share
//     else one copy serves the island: one rank there hears it over the slow links, and passes it on to the
//     others of the island that hold the same
//
//     islands of 2      cell a: rank 0       wanted by 1, 2, 3        0 --> 1     0 ==> 2 --> 3
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shard/mesh_map.hpp"
#include "shard/methods.hpp"

namespace faro::detail {

/// Both sides of a problem whose cuts are distributions, or slabs of axes, and its digits.
struct Redistribution {
  Holdings in;
  Holdings out;
  std::vector<IndexDigit> digits;
  int ranks = 1;
  int island = 1;              // ranks of an island; 1: each is its own
  bool by_two_passes = false;  // both, also of runs that could leave, or arrive, where they are
};

/// Nothing where no axes say the permutation, a cut is by bits of an index that axes do not hold, or there
/// are no elements.
std::optional<Redistribution> redistribution_of(const ShardProblem& problem);

ShardPassing mesh_passing(const Redistribution& problem, int rank);

/// For each group size and each rank, the elements that cross the border of its group: sent, and heard.
struct CrossingElements {
  std::vector<std::vector<std::uint64_t>> sent;
  std::vector<std::vector<std::uint64_t>> heard;
};
CrossingElements crossing_elements(const Redistribution& problem, std::span<const std::uint64_t> group_sizes);
/// None so far.
CrossingElements no_crossings(int ranks, std::span<const std::uint64_t> group_sizes);
/// Elements from one rank to another.
struct Crossing {
  int from = 0;
  int to = 0;
  std::uint64_t elements = 0;
};
void add_crossing(CrossingElements& to, std::span<const std::uint64_t> group_sizes, const Crossing& each);

/// A cut as a distribution, where it is one: slabs of an axis are a mesh of one axis over it.
std::optional<Distribution> as_distribution(const ShardCut& cut, int ranks);

}  // namespace faro::detail
