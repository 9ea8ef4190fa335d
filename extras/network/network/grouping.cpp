// Both rules walk over *items*, the spaces that some pass must hold: first S, which the first pass reads,
// then the layers' directions, last B^-1 S, which the last pass writes.

#include "network/grouping.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "faro/error.hpp"

namespace faro::network {
namespace {

using f2::Subspace;
using f2::Word;

class Items {
 public:
  explicit Items(const Grouping& problem)
      : first_(Subspace::low(problem.bits, problem.segment_bits)),
        last_(f2::image(problem.final_inverse, first_)),
        directions_(problem.directions) {}

  std::size_t size() const { return directions_.size() + 2; }

  /// Adds item i.
  void add(std::size_t i, Subspace& space) const {
    if (i > 0 && i <= directions_.size()) {
      space.insert(directions_[i - 1]);
    } else {
      for (const Word v : i == 0 ? first_.basis() : last_.basis()) space.insert(v);
    }
  }

  /// Adds what item i has to offer, as long as there is room.
  void add_up_to(std::size_t i, int dimension, Subspace& space) const {
    Subspace offer(space.ambient_dimension());
    add(i, offer);
    for (const Word v : offer.basis()) {
      if (space.dimension() < dimension) space.insert(v);
    }
  }

  /// The layers among items begin .. end - 1.
  Group group(std::size_t begin, std::size_t end, Subspace tile) const {
    const std::size_t first = std::clamp<std::size_t>(begin, 1, size() - 1);
    const std::size_t past = std::clamp<std::size_t>(end, first, size() - 1);
    return {.first_layer = first - 1, .layers = past - first, .tile = std::move(tile), .segment = first_};
  }

  const Subspace& first() const { return first_; }
  const Subspace& last() const { return last_; }

 private:
  Subspace first_;
  Subspace last_;
  const std::vector<Word>& directions_;
};

void check(const Grouping& problem) {
  FARO_CHECK(problem.segment_bits >= 0 && problem.tile_bits <= problem.bits);
  FARO_CHECK(problem.segment_bits < problem.tile_bits || problem.tile_bits == problem.bits);
  FARO_CHECK(problem.final_inverse.rows() == problem.bits && problem.final_inverse.is_square());
}

// The end of the furthest run of items from `begin` on that one pass can hold after the pass with tile
// `before`: at most m dimensions, of which at most m - s are new.
std::size_t furthest(const Items& items, std::size_t begin, const Subspace& before, const Grouping& problem,
                     Subspace& held) {
  const int fresh_most = problem.tile_bits - problem.segment_bits;
  Subspace together = before;
  held = Subspace(problem.bits);
  std::size_t end = begin;
  for (; end < items.size(); ++end) {
    Subspace grown = held;
    items.add(end, grown);
    items.add(end, together);
    if (grown.dimension() > problem.tile_bits) break;
    if (together.dimension() - before.dimension() > fresh_most) break;
    held = std::move(grown);
  }
  return end;
}

// Makes `tile`, which holds the items from `begin` to `end` - 1, share s dimensions with the tile before it:
// those that the next items have use for soonest.
void carry(const Items& items, std::size_t begin, std::size_t end, const Subspace& before, int s,
           Subspace& tile) {
  Subspace wanted(tile.ambient_dimension());
  for (std::size_t i = begin; i < end; ++i) items.add(i, wanted);
  Subspace shared = f2::intersection(before, tile);
  const auto share = [&](const Subspace& useful) {
    for (const Word v : useful.basis()) {
      if (shared.dimension() < s && shared.insert(v)) tile.insert(v);
    }
  };
  for (std::size_t i = end; i < items.size() && shared.dimension() < s; ++i) {
    items.add(i, wanted);
    share(f2::intersection(before, wanted));
  }
  share(before);
}

// U_k: s dimensions of both tiles, those of the segments before as far as possible, so that less changes
// place.
Subspace shared_segment(const Subspace& tile, const Subspace& next, const Subspace& segment_before) {
  const Subspace meet = f2::intersection(tile, next);
  const int s = segment_before.dimension();
  FARO_CHECK(meet.dimension() >= s);
  Subspace segment = f2::intersection(segment_before, meet);
  for (const Word v : meet.basis()) {
    if (segment.dimension() < s) segment.insert(v);
  }
  return segment;
}

// Where the furthest passes can end: reach(begin, t) is the furthest end such that items begin .. end - 1
// span no more than t passes can hold, m dimensions and m - s more for every pass after the first.
class Reach {
 public:
  Reach(const Items& items, const Grouping& problem, std::size_t begin)
      : items_(items), problem_(problem), end_(begin), span_(problem.bits) {}

  /// For t = 1, 2, 3 ... from call to call.
  std::size_t next() {
    capacity_ += capacity_ == 0 ? problem_.tile_bits : problem_.tile_bits - problem_.segment_bits;
    while (end_ < items_.size()) {
      Subspace grown = span_;
      items_.add(end_, grown);
      if (grown.dimension() > capacity_) break;
      span_ = std::move(grown);
      ++end_;
    }
    return end_;
  }

 private:
  const Items& items_;
  const Grouping& problem_;
  std::size_t end_;
  Subspace span_;
  int capacity_ = 0;
};

}  // namespace

std::vector<Group> group_plain(const Grouping& problem) {
  check(problem);
  const Items items(problem);
  std::vector<Group> groups;
  Subspace tile = items.first();
  std::size_t begin = 0;
  for (std::size_t end = 1; end + 1 < items.size(); ++end) {
    Subspace grown = tile;
    items.add(end, grown);
    if (grown.dimension() > problem.tile_bits) {
      groups.push_back(items.group(begin, end, std::move(tile)));
      begin = end;
      grown = items.first();
      items.add(end, grown);
    }
    tile = std::move(grown);
  }
  Subspace whole = f2::sum(tile, items.last());
  if (whole.dimension() <= problem.tile_bits) {
    groups.push_back(items.group(begin, items.size(), std::move(whole)));
    groups.back().segment = items.last();
    return groups;
  }
  if (problem.directions.size() > 0) groups.push_back(items.group(begin, items.size(), std::move(tile)));
  // The final map alone.
  Grouping rest = problem;
  rest.directions.clear();
  for (Group& group : group_moving(rest)) {
    group.first_layer = problem.directions.size();
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<Group> group_moving(const Grouping& problem) {
  check(problem);
  const Items items(problem);
  std::vector<Group> groups;
  // Before the first pass everything is new, but nothing is in the way.
  Subspace before = items.first();
  for (std::size_t begin = 0; begin < items.size();) {
    Subspace tile;
    const std::size_t end = furthest(items, begin, before, problem, tile);
    if (!groups.empty()) carry(items, begin, end, before, problem.segment_bits, tile);
    for (std::size_t i = end; i < items.size() && tile.dimension() < problem.tile_bits; ++i) {
      items.add_up_to(i, problem.tile_bits, tile);
    }
    FARO_CHECK(end > begin || tile != before);
    groups.push_back(items.group(begin, end, tile));
    before = std::move(tile);
    begin = end;
  }
  const Subspace* segment = &items.first();
  for (std::size_t k = 0; k + 1 < groups.size(); ++k) {
    groups[k].segment = shared_segment(groups[k].tile, groups[k + 1].tile, *segment);
    segment = &groups[k].segment;
  }
  groups.back().segment = items.last();
  return groups;
}

std::size_t fewest_passes(const Grouping& problem) {
  check(problem);
  const Items items(problem);
  std::vector<Reach> starts;
  std::size_t reached = 0;
  while (reached < items.size()) {
    starts.emplace_back(items, problem, reached);
    reached = items.size();
    for (Reach& start : starts) reached = std::min(reached, start.next());
  }
  return starts.size();
}

}  // namespace faro::network

namespace faro::network::detail {
namespace {

// A tile in fast memory. On a GPU small ones win (bench/results/, networks): 2^12 elements, up to 32 KiB, so
// that several blocks share a multiprocessor and some compute while others wait; tiles twice as large, of
// 4-byte elements, take as long a pass where blocks are many, and so less where they save passes. On a CPU
// 256 KiB are a share of a core's second cache.
constexpr int kCudaTileBits = 12;
constexpr int kCudaLargeTileBits = 13;
constexpr int kCudaManyBits = 22;  // of index, for larger tiles
constexpr int kCudaTileBytesBits = 15;
constexpr int kCpuTileBytesBits = 18;

// What a pass over segments of 2^bytes_bits bytes costs, the longest being 1. Passes of networks compute as
// long as they wait for memory, so shorter segments cost less than they do a copy: measured on one H200 with
// sorts of 2^28 keys, and of elements of 8 bytes with Fourier transforms, whose passes compute less.
struct SegmentCost {
  int bytes_bits;
  double cost;
};
constexpr std::array<SegmentCost, 3> kSegmentCosts{{{8, 1.0}, {7, 1.04}, {6, 1.25}}};
constexpr double kShortOfWide = 1.4;  // the last, of elements of 8 bytes and more
void check(const Sizes& wanted, int n) {
  if (wanted.tile_bits < 0 || wanted.tile_bits > f2::kMaxDimension) {
    fail(ErrorCode::value, "plan network",
         std::string("tiles") + " of 2^" + std::to_string(wanted.tile_bits) + " elements",
         "2^1 to 2^" + std::to_string(f2::kMaxDimension), "0 leaves the size to the planner");
  }
  if (wanted.segment_bits < 0)
    fail(ErrorCode::value, "plan network",
         std::string("segments") + " of 2^" + std::to_string(wanted.segment_bits) + " elements",
         "2^1 or more", "0 leaves the size to the planner");
  if (wanted.tile_bits != 0 && wanted.tile_bits < n && wanted.segment_bits >= wanted.tile_bits) {
    fail(ErrorCode::value, "plan network",
         std::string("segments") + " of 2^" + std::to_string(wanted.segment_bits) + " elements",
         "less than a tile, which has 2^" + std::to_string(wanted.tile_bits) + " of the array's 2^" +
             std::to_string(n),
         "0 leaves the size to the planner");
  }
}

int default_tile_bits(const Sizes& wanted, std::uint64_t element_bytes, Engine engine) {
  const int width_bits = f2::trailing_bit(element_bytes);
  const int bits = engine == Engine::cuda ? std::min(kCudaTileBits, kCudaTileBytesBits - width_bits)
                                          : kCpuTileBytesBits - width_bits;
  return std::max({bits, wanted.segment_bits + 1, 1});
}

}  // namespace

Sizes choose_sizes(const Grouping& grouping, const Sizes& wanted, std::uint64_t element_bytes,
                   Engine engine) {
  const int n = grouping.bits;
  check(wanted, n);
  const int m =
      std::min(n, wanted.tile_bits > 0 ? wanted.tile_bits : default_tile_bits(wanted, element_bytes, engine));
  std::vector<int> tiles{m};
  if (engine == Engine::cuda && wanted.tile_bits == 0 && element_bytes == 4 && n >= kCudaManyBits &&
      m < kCudaLargeTileBits) {
    tiles.push_back(kCudaLargeTileBits);
  }

  Grouping trial = grouping;
  Sizes best{};
  double least = 0;
  for (const int tile_bits : tiles) {
    trial.tile_bits = tile_bits;
    for (const SegmentCost& segment : kSegmentCosts) {
      const int longest = tile_bits == n ? n : tile_bits - 1;
      trial.segment_bits = wanted.segment_bits > 0
                               ? std::min(n, wanted.segment_bits)
                               : std::clamp(segment.bytes_bits - f2::trailing_bit(element_bytes), 0, longest);
      const bool wide = engine == Engine::cuda && element_bytes >= 8;
      const double of_segment =
          wide && segment.bytes_bits == kSegmentCosts.back().bytes_bits ? kShortOfWide : segment.cost;
      const double cost = of_segment * static_cast<double>(fewest_passes(trial));
      if (least == 0 || cost < least) {
        least = cost;
        best = {.tile_bits = tile_bits, .segment_bits = trial.segment_bits};
      }
      if (wanted.segment_bits > 0) break;
    }
  }
  return best;
}

}  // namespace faro::network::detail
