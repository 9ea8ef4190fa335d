#include "shard/viewed_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

#include "faro/error.hpp"
#include "permutation/axis_map.hpp"
#include "rounding.hpp"

namespace faro::detail {

namespace {

constexpr std::uint64_t kLineBytes = 512;

const std::vector<ShardMessage>& messages_of(const ShardPlan& plan, MessageSide side) {
  return side == MessageSide::packed ? plan.sends() : plan.receives();
}
const std::vector<Strided>& side_views(const ShardPlan& plan, MessageSide side) {
  return (side == MessageSide::packed ? plan.pack() : plan.unpack()).views;
}

// Views lie behind each other in what is packed, as they do in what is received.
const Strided* view_of(const ShardPlan& plan, MessageSide side, const ShardMessage& message) {
  const std::vector<Strided>& views = side_views(plan, side);
  const std::uint64_t width = plan.problem().element_bytes;
  const auto begin = [side](const Strided& view) {
    return side == MessageSide::packed ? view.out_offset : view.in_offset;
  };
  const auto found =
      std::lower_bound(views.begin(), views.end(), message.offset_bytes / width,
                       [&](const Strided& view, std::uint64_t at) { return begin(view) < at; });
  if (found == views.end() || begin(*found) * width != message.offset_bytes ||
      element_count(*found) * width != message.bytes)
    return nullptr;
  return &*found;
}

}  // namespace

bool has_a_view_each(const ShardPlan& plan, MessageSide side) {
  const std::vector<ShardMessage>& messages = messages_of(plan, side);
  return side_views(plan, side).empty() ||
         std::all_of(messages.begin(), messages.end(),
                     [&](const ShardMessage& message) { return view_of(plan, side, message) != nullptr; });
}

std::vector<ViewedMessage> viewed_messages(const ShardPlan& plan, MessageSide side) {
  const bool is_packed = side == MessageSide::packed;
  const bool has_views = !side_views(plan, side).empty();
  const std::uint64_t capacity = is_packed ? plan.packed_bytes() : plan.out_bytes();
  const std::uint64_t width = plan.problem().element_bytes;
  std::vector<ViewedMessage> made;
  const std::uint64_t unit = std::lcm(kLineBytes, width);
  std::map<std::uint64_t, std::uint64_t> places;  // at lines, by where they are packed
  std::uint64_t at = 0;
  for (const ShardMessage& message : messages_of(plan, side)) {
    if (message.peer == plan.problem().shards.rank) continue;
    made.push_back({.message = message, .view = {}});
    if (!has_views) continue;
    const Strided* const view = view_of(plan, side, message);
    FARO_CHECK(view != nullptr);
    made.back().view = *view;
    made.back().moves = places.try_emplace(message.offset_bytes, at).second;
    if (made.back().moves) at += round_up(message.bytes, unit);
  }
  if (!has_views || at > capacity) return made;
  for (ViewedMessage& each : made) {
    each.message.offset_bytes = places.at(each.message.offset_bytes);
    (is_packed ? each.view.out_offset : each.view.in_offset) = each.message.offset_bytes / width;
  }
  return made;
}

ViewedMessage part_of(const ViewedMessage& whole, const SliceGroup& group, int bits, std::uint64_t width) {
  ViewedMessage made = whole;
  const std::vector<std::uint64_t>& extents = whole.view.extents;
  const auto slowest = std::find_if(extents.begin(), extents.end(), [](std::uint64_t e) { return e > 1; });
  const std::uint64_t extent = slowest == extents.end() ? 1 : *slowest;
  const std::uint64_t slices = std::uint64_t{1} << bits;
  const std::uint64_t run = whole.message.bytes / width / extent;
  // At lines of the message where it has so many.
  const std::uint64_t lines = kLineBytes / std::gcd(kLineBytes, std::max<std::uint64_t>(1, run * width));
  const std::uint64_t unit = extent / slices >= lines ? lines : 1;
  const auto cut_at = [&](std::uint64_t slice) {
    return slice == slices ? extent
                           : (extent / slices * slice + extent % slices * slice / slices) / unit * unit;
  };
  const std::uint64_t begin = cut_at(group.first);
  const std::uint64_t length = cut_at(group.first + group.count) - begin;
  made.message.offset_bytes += begin * run * width;
  made.message.bytes = length * run * width;
  if (slowest == extents.end()) return made;
  const auto axis = static_cast<std::size_t>(slowest - extents.begin());
  made.view = as_strided(cut(axis_map(whole.view), axis, begin, length));
  return made;
}

}  // namespace faro::detail
