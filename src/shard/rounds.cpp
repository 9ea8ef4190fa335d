#include "shard/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

std::uint64_t cut_of_round(std::uint64_t elements, std::uint64_t round, std::uint64_t rounds) {
  return elements / rounds * round + elements % rounds * round / rounds;
}

std::uint64_t moved_offset(std::uint64_t offset, std::uint64_t places, std::int64_t stride) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(offset) +
                                    static_cast<std::int64_t>(places) * stride);
}

// From axis `at` on; the places of the axes before are settled in the offsets of `view`.
void cut_view(const Strided& view, std::size_t at, std::uint64_t begin, std::uint64_t end,
              std::vector<Strided>& made) {
  if (begin >= end) return;
  std::uint64_t inner = 1;
  for (std::size_t a = at + 1; a < view.extents.size(); ++a) inner *= view.extents[a];
  const auto part = [&](std::uint64_t first, std::uint64_t count) {
    Strided cut = view;
    cut.extents[at] = count;
    cut.in_offset = moved_offset(view.in_offset, first, view.in_strides[at]);
    cut.out_offset = moved_offset(view.out_offset, first, view.out_strides[at]);
    return cut;
  };
  const std::uint64_t first = begin / inner;
  const std::uint64_t last = (end - 1) / inner;
  if (first == last && (begin % inner != 0 || end % inner != 0))
    return cut_view(part(first, 1), at + 1, begin % inner, end - first * inner, made);
  const std::uint64_t whole_first = ceil_div(begin, inner);
  const std::uint64_t whole_end = end / inner;
  if (whole_first != first) cut_view(part(first, 1), at + 1, begin % inner, inner, made);
  if (whole_first < whole_end) made.push_back(part(whole_first, whole_end - whole_first));
  if (whole_end == last) cut_view(part(last, 1), at + 1, 0, end - last * inner, made);
}

std::uint64_t elements_of_view(const Strided& view) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : view.extents) product *= extent;
  return product;
}

// One end of the messages of a round: pieces of what is packed or received as a whole.
class RoundSide {
 public:
  enum class Way { packing, unpacking };
  struct Messages {
    const std::vector<ShardMessage>& whole;
    std::vector<ShardMessage>& cut;
  };

  RoundSide(const ShardPass& pass, Way way, std::uint64_t width, const RoundNumber& number)
      : whole_(pass), way_(way), width_(width), number_(number) {}

  // Messages of one beginning are one piece, which is packed once.
  void cut(std::initializer_list<Messages> lists) {
    for (const Messages& messages : lists) {
      for (const ShardMessage& message : messages.whole) {
        const std::uint64_t elements = message.bytes / width_;
        const std::uint64_t first = cut_of_round(elements, number_.round, number_.rounds);
        const std::uint64_t end = cut_of_round(elements, number_.round + 1, number_.rounds);
        if (first == end) continue;
        std::uint64_t offset = message.offset_bytes + first * width_;
        if (!whole_.is_nothing()) offset = place_of(message.offset_bytes / width_, first, end) * width_;
        messages.cut.push_back(
            {.peer = message.peer, .offset_bytes = offset, .bytes = (end - first) * width_});
      }
    }
  }

  ShardPass& pass() { return made_; }
  std::uint64_t bytes() const { return at_ * width_; }

 private:
  std::uint64_t place_of(std::uint64_t begin, std::uint64_t first, std::uint64_t end) {
    const auto [known, is_new] = places_.try_emplace(begin, at_);
    if (!is_new) return known->second;
    add_views(begin + first, begin + end);
    at_ += end - first;
    return known->second;
  }

  std::uint64_t begin_of(const Strided& view) const {
    return way_ == Way::packing ? view.out_offset : view.in_offset;
  }

  // The views that hold what is packed from first to before end, as their part of this round.
  void add_views(std::uint64_t first, std::uint64_t end) {
    auto view =
        std::upper_bound(whole_.views.begin(), whole_.views.end(), first,
                         [&](std::uint64_t place, const Strided& each) { return place < begin_of(each); });
    std::uint64_t to = at_;
    for (--view; view != whole_.views.end() && begin_of(*view) < end; ++view) {
      const std::uint64_t begin = begin_of(*view);
      const std::uint64_t from = std::max(first, begin) - begin;
      const std::uint64_t until = std::min(end - begin, elements_of_view(*view));
      for (Strided& part : range_of(*view, from, until)) {
        (way_ == Way::packing ? part.out_offset : part.in_offset) = to;
        to += elements_of_view(part);
        made_.views.push_back(std::move(part));
      }
    }
  }

  const ShardPass& whole_;
  Way way_;
  std::uint64_t width_;
  RoundNumber number_;
  ShardPass made_;
  std::map<std::uint64_t, std::uint64_t> places_;  // of whole pieces by their beginnings
  std::uint64_t at_ = 0;
};

std::uint64_t most_message_elements(const ShardPlan& plan) {
  std::uint64_t most = 0;
  for (const auto* const list : {&plan.sends(), &plan.receives(), &plan.passed_on().receives}) {
    for (const ShardMessage& message : *list) most = std::max(most, message.bytes);
  }
  return most / plan.problem().element_bytes;
}

// Of any round: no piece is longer than its share, rounded up.
std::uint64_t workspace_of_rounds(const ShardPlan& plan, std::uint64_t rounds) {
  const std::uint64_t width = plan.problem().element_bytes;
  std::map<std::uint64_t, std::uint64_t> packed;  // by their beginnings, since messages may share a piece
  std::map<std::uint64_t, std::uint64_t> received;
  if (!plan.pack().is_nothing())
    for (const ShardMessage& message : plan.sends()) packed[message.offset_bytes] = message.bytes / width;
  if (!plan.unpack().is_nothing()) {
    for (const auto* const list : {&plan.receives(), &plan.passed_on().receives})
      for (const ShardMessage& message : *list) received[message.offset_bytes] = message.bytes / width;
  }
  std::uint64_t elements = 0;
  for (const auto* const pieces : {&packed, &received}) {
    for (const auto& [begin, length] : *pieces) elements += ceil_div(length, rounds);
  }
  return elements * width;
}

}  // namespace

std::vector<Strided> range_of(const Strided& view, std::uint64_t begin, std::uint64_t end) {
  std::vector<Strided> made;
  cut_view(view, 0, begin, end, made);
  return made;
}

bool can_go_in_rounds(const ShardPlan& plan) {
  return !plan.pack().permutation && !plan.unpack().permutation;
}

ShardRound round_of(const ShardPlan& plan, const RoundNumber& number) {
  const std::uint64_t width = plan.problem().element_bytes;
  ShardRound made;
  RoundSide packing(plan.pack(), RoundSide::Way::packing, width, number);
  packing.cut({{.whole = plan.sends(), .cut = made.sends}});
  RoundSide unpacking(plan.unpack(), RoundSide::Way::unpacking, width, number);
  unpacking.cut({{.whole = plan.receives(), .cut = made.receives},
                 {.whole = plan.passed_on().receives, .cut = made.passed_on.receives},
                 {.whole = plan.passed_on().sends, .cut = made.passed_on.sends}});
  made.pack = std::move(packing.pass());
  made.unpack = std::move(unpacking.pass());
  made.packed_bytes = packing.bytes();
  made.received_bytes = unpacking.bytes();
  return made;
}

std::uint64_t rounds_within(const ShardPlan& plan, std::uint64_t memory_bytes) {
  if (workspace_of_rounds(plan, 1) <= memory_bytes) return 1;
  if (!can_go_in_rounds(plan)) {
    fail(ErrorCode::unsupported, "make a plan of shards",
         fmt::format("{} bytes of workspace at most for method {}", memory_bytes, name(plan.method())),
         fmt::format("{} bytes, or a permutation of axes, which goes in rounds", plan.workspace_bytes()));
  }
  const std::uint64_t most = std::max<std::uint64_t>(1, most_message_elements(plan));
  const std::uint64_t least_bytes = workspace_of_rounds(plan, most);
  if (least_bytes > memory_bytes) {
    fail(ErrorCode::value, "make a plan of shards",
         fmt::format("{} bytes of workspace at most", memory_bytes),
         fmt::format("{} bytes or more, an element of each message", least_bytes));
  }
  std::uint64_t rounds = 2;
  while (workspace_of_rounds(plan, rounds) > memory_bytes) rounds *= 2;
  return rounds;
}

}  // namespace faro::detail
