// Slabs of arrays of any shape, cut along any axis on either side, evenly or not; rolls and flips of blocks.
//
//     transpose, 3 ranks          rank 0 | a a b b c |        a part of the input, cut along axis 0, and one
//                                 rank 1 | a a b b c |        of the output share a box; it is one message,
//                                 rank 2 | a a b b c |        in the order of the input's axes
//
// Packing copies each box out of the slab, unpacking turns it into its place. Where all boxes of a rank lie
// as whole runs in its array there is nothing to pack, respectively to unpack.
#include <algorithm>

#include "permutation/axis_map.hpp"
#include "shard/methods.hpp"

namespace faro::detail {
namespace {

using Extents = std::vector<std::uint64_t>;

// A range of the input's axis that is cut, and one of that which is the output's cut.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t length() const { return end - begin; }
};

class Boxes {
 public:
  Boxes(const std::vector<int>& order, const Spread& in, const Spread& out)
      : in_(in), out_(out), out_axis_(static_cast<std::size_t>(order[out.axis()])) {
    for (const int axis : order) order_.push_back(static_cast<std::size_t>(axis));
  }

  // What both hold, by ranges of all the input's axes; empty where they share nothing.
  std::vector<Range> shared(int source, int target) const {
    std::vector<Range> ranges;
    for (const std::uint64_t extent : in_.shape()) ranges.push_back({.begin = 0, .end = extent});
    const auto cut = [&ranges](std::size_t axis, const Spread& spread, int rank) {
      ranges[axis].begin = std::max(ranges[axis].begin, spread.start(rank));
      ranges[axis].end = std::min(ranges[axis].end, spread.start(rank + 1));
    };
    cut(in_.axis(), in_, source);
    cut(out_axis_, out_, target);
    if (std::any_of(ranges.begin(), ranges.end(), [](const Range& r) { return r.begin >= r.end; })) return {};
    return ranges;
  }

  static std::uint64_t count(const std::vector<Range>& ranges) {
    std::uint64_t product = ranges.empty() ? 0 : 1;
    for (const Range& range : ranges) product *= range.length();
    return product;
  }

  // From the slab of `source` to the message, whose first element is `at`.
  Strided packing(int source, const std::vector<Range>& ranges, std::uint64_t at) const {
    Extents slab = in_.shape();
    slab[in_.axis()] = in_.start(source + 1) - in_.start(source);
    Strided view{.extents = extents(ranges), .in_strides = dense_strides(slab), .out_strides = {}};
    view.out_strides = dense_strides(view.extents);
    view.out_offset = at;
    for (std::size_t a = 0; a < ranges.size(); ++a) {
      const std::uint64_t begin = ranges[a].begin - (a == in_.axis() ? in_.start(source) : 0);
      view.in_offset += begin * static_cast<std::uint64_t>(view.in_strides[a]);
    }
    return view;
  }

  // From the message to the slab of `target`.
  Strided unpacking(int target, const std::vector<Range>& ranges, std::uint64_t at) const {
    Extents slab = out_.shape();
    slab[out_.axis()] = out_.start(target + 1) - out_.start(target);
    const std::vector<std::int64_t> strides = dense_strides(slab);
    Strided view{.extents = extents(ranges), .in_strides = {}, .out_strides = {}};
    view.in_strides = dense_strides(view.extents);
    view.in_offset = at;
    view.out_strides.resize(ranges.size());
    for (std::size_t b = 0; b < order_.size(); ++b) {
      const std::size_t a = order_[b];
      view.out_strides[a] = strides[b];
      const std::uint64_t begin = ranges[a].begin - (b == out_.axis() ? out_.start(target) : 0);
      view.out_offset += begin * static_cast<std::uint64_t>(strides[b]);
    }
    return view;
  }

  // From the slab of `source` to the slab of `target`.
  Strided passing(int source, int target, const std::vector<Range>& ranges) const {
    Strided view = packing(source, ranges, 0);
    const Strided behind = unpacking(target, ranges, 0);
    view.out_strides = behind.out_strides;
    view.out_offset = behind.out_offset;
    return view;
  }

 private:
  static Extents extents(const std::vector<Range>& ranges) {
    Extents made;
    for (const Range& range : ranges) made.push_back(range.length());
    return made;
  }

  const Spread& in_;
  const Spread& out_;
  std::size_t out_axis_;  // of the input: the one that the output is cut along
  std::vector<std::size_t> order_;
};

// One run on both sides.
bool is_run(const Strided& view) {
  const Strided normal = normal_form(view);
  return normal.extents.size() <= 1 && (normal.extents.empty() || normal.extents[0] <= 1 ||
                                        (normal.in_strides[0] == 1 && normal.out_strides[0] == 1));
}

// Leaves a pass out whose views are all runs: messages then lie where these begin.
enum class Side { sending, receiving };
void leave_out_runs(ShardPass& pass, std::vector<ShardMessage>& messages, Side side) {
  if (!std::all_of(pass.views.begin(), pass.views.end(), is_run)) return;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Strided& view = pass.views[i];
    messages[i].offset_bytes = side == Side::sending ? view.in_offset : view.out_offset;
  }
  pass.views.clear();
}

}  // namespace

ShardPassing box_passing(const std::vector<int>& order, const Spread& in, const Spread& out, int rank) {
  const Boxes boxes(order, in, out);
  ShardPassing made;
  std::uint64_t at = 0;
  for (int peer = 0; peer < in.ranks(); ++peer) {
    const std::vector<Range> ranges = boxes.shared(rank, peer);
    if (ranges.empty()) continue;
    const std::uint64_t count = Boxes::count(ranges);
    made.pack.views.push_back(boxes.packing(rank, ranges, at));
    made.views.push_back({.peer = peer, .view = boxes.passing(rank, peer, ranges)});
    made.sends.push_back({.peer = peer, .offset_bytes = at, .bytes = count});
    at += count;
  }
  at = 0;
  for (int peer = 0; peer < in.ranks(); ++peer) {
    const std::vector<Range> ranges = boxes.shared(peer, rank);
    if (ranges.empty()) continue;
    const std::uint64_t count = Boxes::count(ranges);
    made.unpack.views.push_back(boxes.unpacking(rank, ranges, at));
    made.receives.push_back({.peer = peer, .offset_bytes = at, .bytes = count});
    at += count;
  }
  leave_out_runs(made.pack, made.sends, Side::sending);
  leave_out_runs(made.unpack, made.receives, Side::receiving);
  return made;
}

namespace {

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
  leave_out_runs(made.unpack, made.receives, Side::receiving);
  return made;
}

}  // namespace faro::detail
