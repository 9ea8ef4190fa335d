#include "shard/mesh_method.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <tuple>
#include <utility>

#include "permutation/axis_map.hpp"

namespace faro::detail {
namespace {

std::uint64_t sum_of_places(const Cell& cell) {
  return std::accumulate(cell.begin(), cell.end(), std::uint64_t{0});
}

// Who sends what of `source` a rank wants that will hold `target`, and to whom: to the rank, or to the one
// that passes it on.
struct Route {
  int sender = 0;
  int receiver = 0;
};
class Routes {
 public:
  explicit Routes(const Redistribution& problem)
      : in_(problem.in), out_(problem.out), size_(problem.island) {}

  Route to(int rank, const Cell& source, const Cell& target) const {
    const int island = rank / size_;
    const int first = island * size_;
    if (in_.copies_among(source, rank, rank + 1).count() > 0) return {.sender = rank, .receiver = rank};
    const Holdings::Copies near = in_.copies_among(source, first, first + size_);
    if (near.count() > 0) {
      const std::uint64_t turn = sum_of_places(target) + static_cast<std::uint64_t>(rank);
      return {.sender = in_.copy(source, near.first + turn % near.count()), .receiver = rank};
    }
    const Holdings::Copies wanting = out_.copies_among(target, first, first + size_);
    const std::uint64_t turn = sum_of_places(target) + static_cast<std::uint64_t>(island);
    return {.sender = in_.copy(source, turn % in_.copies(source)),
            .receiver = out_.copy(target, wanting.first + sum_of_places(source) % wanting.count())};
  }

  // The copies on the rank's island.
  std::vector<int> neighbours(int rank, const Cell& target) const {
    const int first = rank / size_ * size_;
    const Holdings::Copies copies = out_.copies_among(target, first, first + size_);
    std::vector<int> ranks;
    for (std::uint64_t i = copies.first; i < copies.end; ++i) {
      const int copy = out_.copy(target, i);
      if (copy != rank) ranks.push_back(copy);
    }
    return ranks;
  }

 private:
  const Holdings& in_;
  const Holdings& out_;
  int size_;
};

// A side of a box as the axes of a view: two for each digit, runs and their places.
struct ViewSide {
  std::vector<std::int64_t> strides;
  std::uint64_t offset = 0;
};

class Views {
 public:
  explicit Views(const Redistribution& problem) : problem_(problem) {}

  static std::vector<std::uint64_t> extents(const SharedBox& box) {
    std::vector<std::uint64_t> made;
    for (const SharedRuns& runs : box) {
      if (runs.count > 1) made.push_back(runs.count);
      if (runs.length > 1) made.push_back(runs.length);
    }
    if (made.empty()) made.push_back(1);
    return made;
  }

  ViewSide source(const SharedBox& box, const Cell& cell) const {
    return side(box, dense_strides(problem_.in.part_shape(cell)), &SharedRuns::source, &IndexDigit::in);
  }
  ViewSide target(const SharedBox& box, const Cell& cell) const {
    return side(box, dense_strides(problem_.out.part_shape(cell)), &SharedRuns::target, &IndexDigit::out);
  }
  // Of a message, from its element `at` on.
  static ViewSide message(const SharedBox& box, std::uint64_t at) {
    return {.strides = dense_strides(extents(box)), .offset = at};
  }

  static Strided view(const SharedBox& box, const ViewSide& from, const ViewSide& to) {
    return {.extents = extents(box),
            .in_strides = from.strides,
            .out_strides = to.strides,
            .in_offset = from.offset,
            .out_offset = to.offset};
  }

 private:
  ViewSide side(const SharedBox& box, const std::vector<std::int64_t>& strides, SideOfRuns SharedRuns::*of,
                IndexDigit::Side IndexDigit::*where) const {
    ViewSide made;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < box.size(); ++d) {
      const std::int64_t stride = strides[(problem_.digits[d].*where).axis];
      const SideOfRuns& runs = box[d].*of;
      offset += runs.local * stride;
      if (box[d].count > 1) made.strides.push_back(runs.local_stride * stride);
      if (box[d].length > 1) made.strides.push_back(runs.step * stride);
    }
    if (made.strides.empty()) made.strides.push_back(1);
    made.offset = static_cast<std::uint64_t>(offset);
    return made;
  }

  const Redistribution& problem_;
};

std::uint64_t elements_of_box(const SharedBox& box) {
  std::uint64_t product = 1;
  for (const SharedRuns& runs : box) product *= runs.length * runs.count;
  return product;
}

// One run on both sides.
bool is_run(const Strided& view) {
  const Strided normal = normal_form(view);
  return normal.extents.size() <= 1 && (normal.extents.empty() || normal.extents[0] <= 1 ||
                                        (normal.in_strides[0] == 1 && normal.out_strides[0] == 1));
}

// Boxes of a message. Two cells that share few have a message for each, which may lie anywhere as it is; of
// more a message holds all.
std::vector<std::span<const SharedBox>> in_messages(const std::vector<SharedBox>& boxes) {
  constexpr std::size_t most_messages = 2;
  if (boxes.size() > most_messages) return {boxes};
  std::vector<std::span<const SharedBox>> made;
  made.reserve(boxes.size());
  for (const SharedBox& box : boxes) made.emplace_back(&box, 1);
  return made;
}

// Messages and the views between them and a part, of which a message may have several.
class SideOfMessages {
 public:
  enum class Way { packing, unpacking };

  SideOfMessages(ShardPass& pass, Way way, const Redistribution& problem)
      : pass_(pass), way_(way), keeps_pass_(problem.by_two_passes) {}

  // From here on messages are of one packed piece, and of the views that are added.
  void begin() { pieces_.push_back({.begin = at_, .first_view = pass_.views.size()}); }
  void add(const SharedBox& box, const ViewSide& part) {
    const ViewSide message = Views::message(box, at_);
    pass_.views.push_back(way_ == Way::packing ? Views::view(box, part, message)
                                               : Views::view(box, message, part));
    at_ += elements_of_box(box);
  }
  void add_message(std::vector<ShardMessage>& to, int peer) {
    to.push_back({.peer = peer, .offset_bytes = pieces_.size() - 1, .bytes = at_ - pieces_.back().begin});
  }

  // Messages begin where their pieces do: of a pass whose pieces are runs as they are in the part, and then
  // the pass is left out.
  void place(std::initializer_list<std::vector<ShardMessage>*> lists) {
    const bool is_left_out = !keeps_pass_ && pieces_.size() == pass_.views.size() &&
                             std::all_of(pass_.views.begin(), pass_.views.end(), is_run);
    for (std::vector<ShardMessage>* const list : lists) {
      for (ShardMessage& message : *list) {
        const Piece& piece = pieces_[message.offset_bytes];
        message.offset_bytes = piece.begin;
        if (!is_left_out) continue;
        const Strided& view = pass_.views[piece.first_view];
        message.offset_bytes = way_ == Way::packing ? view.in_offset : view.out_offset;
      }
    }
    if (is_left_out) pass_.views.clear();
  }

 private:
  struct Piece {
    std::uint64_t begin = 0;  // in elements of what is packed
    std::size_t first_view = 0;
  };
  ShardPass& pass_;
  Way way_;
  bool keeps_pass_;
  std::uint64_t at_ = 0;
  std::vector<Piece> pieces_;
};

class Passing {
 public:
  Passing(const Redistribution& problem, int rank)
      : problem_(problem),
        rank_(rank),
        routes_(problem),
        views_(problem),
        map_(problem.digits, problem.in, problem.out) {}

  ShardPassing make() {
    if (const std::optional<Cell> source = problem_.in.cell_of(rank_)) send(*source);
    if (const std::optional<Cell> target = problem_.out.cell_of(rank_)) receive(*target);
    return std::move(made_);
  }

 private:
  // What goes to the copies of a cell is packed once.
  void send(const Cell& source) {
    struct PackedCell {
      MetCell met;
      std::vector<int> peers;
    };
    std::vector<PackedCell> all;
    for (MetCell& met : map_.met_targets(source)) {
      std::vector<int> peers;
      const std::uint64_t copies = problem_.out.copies(met.cell);
      for (std::uint64_t i = 0; i < copies; ++i) {
        const int peer = problem_.out.copy(met.cell, i);
        const Route route = routes_.to(peer, source, met.cell);
        if (route.sender == rank_ && route.receiver == peer) peers.push_back(peer);
      }
      if (!peers.empty()) all.push_back({.met = std::move(met), .peers = std::move(peers)});
    }
    std::sort(all.begin(), all.end(),
              [](const PackedCell& a, const PackedCell& b) { return a.peers.front() < b.peers.front(); });
    SideOfMessages side(made_.pack, SideOfMessages::Way::packing, problem_);
    for (const PackedCell& each : all) {
      for (const std::span<const SharedBox> boxes : in_messages(each.met.boxes)) {
        side.begin();
        for (const SharedBox& box : boxes) {
          const ViewSide from = views_.source(box, source);
          const ViewSide to = views_.target(box, each.met.cell);
          side.add(box, from);
          for (const int peer : each.peers)
            made_.views.push_back({.peer = peer, .view = Views::view(box, from, to)});
        }
        for (const int peer : each.peers) side.add_message(made_.sends, peer);
      }
    }
    side.place({&made_.sends});
    std::stable_sort(made_.sends.begin(), made_.sends.end(),
                     [](const ShardMessage& a, const ShardMessage& b) { return a.peer < b.peer; });
  }

  void receive(const Cell& target) {
    struct Arrival {
      MetCell met;
      int from = 0;
      bool is_passed_on = false;  // to this rank, by `from`
      std::vector<int> next;      // whom this rank passes it on to
    };
    std::vector<Arrival> all;
    const std::vector<int> neighbours = routes_.neighbours(rank_, target);
    for (MetCell& met : map_.met_sources(target)) {
      const Route route = routes_.to(rank_, met.cell, target);
      Arrival arrival{.met = std::move(met),
                      .from = route.receiver == rank_ ? route.sender : route.receiver,
                      .is_passed_on = route.receiver != rank_,
                      .next = {}};
      for (const int neighbour : neighbours) {
        if (!arrival.is_passed_on && routes_.to(neighbour, arrival.met.cell, target).receiver == rank_)
          arrival.next.push_back(neighbour);
      }
      all.push_back(std::move(arrival));
    }
    // By rank; what one passes on, by the cells, as both know them.
    std::sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) {
      return std::tie(a.is_passed_on, a.from, a.met.cell) < std::tie(b.is_passed_on, b.from, b.met.cell);
    });
    SideOfMessages side(made_.unpack, SideOfMessages::Way::unpacking, problem_);
    std::vector<std::pair<Cell, ShardMessage>> next;
    for (const Arrival& each : all) {
      for (const std::span<const SharedBox> boxes : in_messages(each.met.boxes)) {
        side.begin();
        for (const SharedBox& box : boxes) side.add(box, views_.target(box, target));
        side.add_message(each.is_passed_on ? made_.passed_on.receives : made_.receives, each.from);
        for (const int peer : each.next) {
          side.add_message(made_.passed_on.sends, peer);
          next.emplace_back(each.met.cell, made_.passed_on.sends.back());
        }
      }
    }
    std::stable_sort(next.begin(), next.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second.peer, a.first) < std::tie(b.second.peer, b.first);
    });
    for (std::size_t i = 0; i < next.size(); ++i) made_.passed_on.sends[i] = next[i].second;
    side.place({&made_.receives, &made_.passed_on.receives, &made_.passed_on.sends});
  }

  const Redistribution& problem_;
  int rank_;
  Routes routes_;
  Views views_;
  MeshMap map_;
  ShardPassing made_;
};

}  // namespace

std::optional<Distribution> as_distribution(const ShardCut& cut, int ranks) {
  if (const auto* const distribution = std::get_if<Distribution>(&cut)) return *distribution;
  const auto* const slabs = std::get_if<ShardAxis>(&cut);
  if (slabs == nullptr) return std::nullopt;
  return Distribution{.mesh = {.axes = {{.ranks = ranks}}},
                      .axes = {{.axis = slabs->axis, .over = {0}, .extents = slabs->extents}},
                      .boxes = {}};
}

std::optional<Redistribution> redistribution_of(const ShardProblem& problem) {
  const Shards& shards = problem.shards;
  const std::optional<Distribution> in = as_distribution(shards.in, shards.ranks);
  const std::optional<Distribution> out = as_distribution(shards.out, shards.ranks);
  if (!in || !out) return std::nullopt;
  Redistribution made{.in = Holdings(*in, problem.in_shape(), shards.ranks, "in"),
                      .out = Holdings(*out, problem.out_shape(), shards.ranks, "out"),
                      .digits = {},
                      .ranks = shards.ranks,
                      .island = std::max(1, shards.island),
                      .by_two_passes = problem.slices_even_by_two_passes};
  if (element_count(problem.permutation) == 0) return std::nullopt;
  auto digits = index_digits(problem.permutation, made.in.shape(), made.out.shape());
  if (!digits) return std::nullopt;
  made.digits = *std::move(digits);
  constexpr std::uint64_t most_boxes = 64;  // more are looked up sooner than moved one by one
  if (MeshMap(made.digits, made.in, made.out).most_boxes() > most_boxes) return std::nullopt;
  return made;
}

ShardPassing mesh_passing(const Redistribution& problem, int rank) { return Passing(problem, rank).make(); }

CrossingElements no_crossings(int ranks, std::span<const std::uint64_t> group_sizes) {
  const std::vector<std::uint64_t> none(static_cast<std::size_t>(ranks), 0);
  return {.sent = std::vector(group_sizes.size(), none), .heard = std::vector(group_sizes.size(), none)};
}

void add_crossing(CrossingElements& to, std::span<const std::uint64_t> group_sizes, const Crossing& each) {
  const auto sender = static_cast<std::size_t>(each.from);
  const auto receiver = static_cast<std::size_t>(each.to);
  for (std::size_t i = 0; i < group_sizes.size(); ++i) {
    if (sender / group_sizes[i] == receiver / group_sizes[i]) continue;
    to.sent[i][sender] += each.elements;
    to.heard[i][receiver] += each.elements;
  }
}

CrossingElements crossing_elements(const Redistribution& problem,
                                   std::span<const std::uint64_t> group_sizes) {
  CrossingElements made = no_crossings(problem.ranks, group_sizes);
  const Routes routes(problem);
  const MeshMap map(problem.digits, problem.in, problem.out);
  MeshMap::KeptCounts kept;
  for (int rank = 0; rank < problem.ranks; ++rank) {
    const std::optional<Cell> source = problem.in.cell_of(rank);
    if (!source || problem.in.copy(*source, 0) != rank) continue;
    // Once for all copies of the source.
    for (const MeshMap::Counted& met : map.counted_targets(*source, kept)) {
      const std::uint64_t copies = problem.out.copies(met.cell);
      for (std::uint64_t i = 0; i < copies; ++i) {
        const int peer = problem.out.copy(met.cell, i);
        const Route route = routes.to(peer, *source, met.cell);
        add_crossing(made, group_sizes,
                     {.from = route.receiver == peer ? route.sender : route.receiver,
                      .to = peer,
                      .elements = met.elements});
      }
    }
  }
  return made;
}

}  // namespace faro::detail
