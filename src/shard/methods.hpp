// The ways of finding out who sends what to whom, one a file: each fills in the same parts of a plan.
//
//     affine_method.cpp    an affine map, both cuts by index bits
//     mesh_method.cpp      permutations of axes between distributions; slabs are distributions too
//     block_method.cpp     rolls and flips between blocks
//     index_method.cpp     any permutation between any cuts, element by element
//
// Messages are counted in elements here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "faro/shards.hpp"
#include "permutation/text.hpp"
#include "shard/spread.hpp"

namespace faro::detail {

/// Most slices that a message is cut into, log2.
inline constexpr int kMostSliceBits = 4;

struct ShardPassing {
  ShardPass pack;
  ShardPass unpack;
  std::vector<ShardMessage> sends;  // offset_bytes and bytes still in elements
  std::vector<ShardMessage> receives;
  ShardPassedOn passed_on = {};  // in elements too
  std::optional<int> rho = std::nullopt;
  /// For an affine map, from places of all parts, local bits low and rank bits high: to those of all outputs,
  std::optional<Affine> places = std::nullopt;
  /// and to those of all that is received, where there is an unpacking.
  std::optional<Affine> arrivals = std::nullopt;
  int slice_bits = 0;  // messages may be cut into so many slices, log2
  /// For distributions and blocks: straight from the rank's part to another's output.
  std::vector<ShardView> views = {};
};

/// Index bits as ranks distinguish them: those of the input and of the output.
struct ShardRankBits {
  std::vector<int> in;
  std::vector<int> out;
};
struct SliceChoice {
  int segment_bits = 0;  // what memory likes to have together, log2 of elements; slices keep it whole
  bool even_by_two_passes = false;  // rather than one pass whose slices are fewer
};
ShardPassing affine_passing(const Affine& map, const ShardRankBits& bits, int rank,
                            const SliceChoice& choice);

/// The map of a rank's messages in standard form, local bits low and rank bits high.
/// `standard` is map between places: element + rank * 2^m.
Affine standard_form(const Affine& map, const ShardRankBits& bits);

/// Requires: both spreads are blocks (is_blocks).
ShardPassing block_passing(const Cyclic& map, const Spread& in, const Spread& out, int rank);

/// Element by element, by apply() forwards and backwards. `island`: ranks of one, 1 or more.
struct RankOfIsland {
  int rank = 0;
  int island = 1;
};

/// The ranks that hold an element before and after, ascending.
struct RanksOfElement {
  const std::vector<int>& sources;
  const std::vector<int>& targets;
};
/// Where elements are looked up: who sends what a rank wants, and to whom: to the rank, or to another of the
/// targets on its island, which passes it on.
struct ElementRoute {
  int sender = 0;
  int receiver = 0;
};
ElementRoute element_route(const RankOfIsland& wanting, const RanksOfElement& held);

ShardPassing index_passing(const Permutation& permutation, const Spread& in, const Spread& out,
                           const RankOfIsland& self);

/// By parts of an index array. Collective. Errors: ErrorCode::value on all ranks where the entries are no
/// permutation.
struct ShardIndexPart {
  std::span<const std::uint64_t> entries;
  Direction direction = Direction::scatter;
};
ShardPassing part_passing(const ShardIndexPart& part, const Spread& in, const Spread& out,
                          Communicator& communicator);

/// Messages that were counted in elements of so many bytes.
inline std::vector<ShardMessage> counted_in_bytes(std::vector<ShardMessage> messages, std::uint64_t width) {
  for (ShardMessage& message : messages) {
    message.offset_bytes *= width;
    message.bytes *= width;
  }
  return messages;
}

/// What goes to or comes from peers, that of the next rank first: if all ranks began with rank 0, its link
/// would serve them one by one.
template <typename OfPeer>
std::vector<OfPeer> next_rank_first(std::span<const OfPeer> all, int rank, int ranks) {
  std::vector<OfPeer> by_turns(all.begin(), all.end());
  const auto turn = [&](const OfPeer& each) { return (each.peer - rank + ranks) % ranks; };
  std::stable_sort(by_turns.begin(), by_turns.end(),
                   [&](const OfPeer& a, const OfPeer& b) { return turn(a) < turn(b); });
  return by_turns;
}

/// The axes that a text names, as cuts count them: those of a pattern as they are written, brackets and all.
void count_axes(ShardProblem& problem, const NotedPermutation& read);

}  // namespace faro::detail
