// Rolls and flips of an array whose parts are blocks: a block goes to at most two runs of the output, which
// lie in one block or several. Messages leave from where they are, and are turned where they arrive.
#include <algorithm>

#include "permutation/axis_map.hpp"
#include "shard/methods.hpp"

namespace faro::detail {
namespace {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t length() const { return end - begin; }
};

// A block's elements, by ranges of its array.
Range block_of(const Spread& spread, int rank) {
  return {.begin = spread.start(rank) * spread.inner(), .end = spread.start(rank + 1) * spread.inner()};
}

// The runs of the input that `map` takes to runs, or to runs backwards: at most two.
std::vector<Range> runs_of(const Cyclic& map) {
  const std::uint64_t turn = map.reversed ? map.shift + 1 : map.count - map.shift;
  std::vector<Range> runs;
  if (turn > 0) runs.push_back({.begin = 0, .end = std::min(turn, map.count)});
  if (turn < map.count) runs.push_back({.begin = turn, .end = map.count});
  return runs;
}

// What of the input's run a target's block takes.
Range preimage(const Cyclic& map, const Range& run, const Range& block) {
  const std::uint64_t first = map(run.begin);
  if (!map.reversed) {  // x goes to first + (x - run.begin)
    const std::uint64_t begin = std::max(block.begin, first);
    const std::uint64_t end = std::min(block.end, first + run.length());
    if (begin >= end) return {};
    return {.begin = run.begin + (begin - first), .end = run.begin + (end - first)};
  }
  const std::uint64_t last = first + 1 - run.length();  // x goes to first - (x - run.begin)
  const std::uint64_t begin = std::max(block.begin, last);
  const std::uint64_t end = std::min(block.end, first + 1);
  if (begin >= end) return {};
  return {.begin = run.begin + (first + 1 - end), .end = run.begin + (first + 1 - begin)};
}

}  // namespace

ShardPassing block_passing(const Cyclic& map, const Spread& in, const Spread& out, int rank) {
  ShardPassing made;
  // Every piece that goes from source to target, in the order of the input.
  const auto pieces = [&](int source, int target, const auto& use) {
    const Range from = block_of(in, source);
    for (const Range& run : runs_of(map)) {
      const Range here{.begin = std::max(run.begin, from.begin), .end = std::min(run.end, from.end)};
      if (here.begin >= here.end) continue;
      const Range piece = preimage(map, here, block_of(out, target));
      if (piece.begin < piece.end) use(piece);
    }
  };
  std::uint64_t at = 0;
  for (int peer = 0; peer < in.ranks(); ++peer) {
    pieces(rank, peer, [&](const Range& piece) {
      const std::uint64_t from = piece.begin - block_of(in, rank).begin;
      made.sends.push_back({.peer = peer, .offset_bytes = from, .bytes = piece.length()});
      made.views.push_back({.peer = peer,
                            .view = {.extents = {piece.length()},
                                     .in_strides = {1},
                                     .out_strides = {map.reversed ? -1 : 1},
                                     .in_offset = from,
                                     .out_offset = map(piece.begin) - block_of(out, peer).begin}});
    });
  }
  const std::uint64_t block = block_of(out, rank).begin;
  for (int peer = 0; peer < in.ranks(); ++peer) {
    pieces(peer, rank, [&](const Range& piece) {
      made.unpack.views.push_back({.extents = {piece.length()},
                                   .in_strides = {1},
                                   .out_strides = {map.reversed ? -1 : 1},
                                   .in_offset = at,
                                   .out_offset = map(piece.begin) - block});
      made.receives.push_back({.peer = peer, .offset_bytes = at, .bytes = piece.length()});
      at += piece.length();
    });
  }
  if (map.reversed) return made;
  // Runs as they are: received where they go.
  for (std::size_t i = 0; i < made.receives.size(); ++i)
    made.receives[i].offset_bytes = made.unpack.views[i].out_offset;
  made.unpack.views.clear();
  return made;
}

}  // namespace faro::detail
