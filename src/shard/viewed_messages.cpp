#include "shard/viewed_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "permutation/axis_map.hpp"
#include "rounding.hpp"

namespace faro::detail {

std::vector<ViewedMessage> viewed_messages(const ShardPlan& plan, MessageSide side) {
  const bool is_packed = side == MessageSide::packed;
  const std::vector<ShardMessage>& messages = is_packed ? plan.sends() : plan.receives();
  const std::vector<Strided>& views = (is_packed ? plan.pack() : plan.unpack()).views;
  const std::uint64_t capacity = is_packed ? plan.packed_bytes() : plan.out_bytes();
  const std::uint64_t width = plan.problem().element_bytes;
  std::vector<ViewedMessage> made;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].peer == plan.problem().shards.rank) continue;
    made.push_back({.message = messages[i], .view = views.empty() ? Strided{} : views[i]});
  }
  if (views.empty()) return made;
  constexpr std::uint64_t line_bytes = 512;
  const std::uint64_t unit = std::lcm(line_bytes, width);
  std::uint64_t total = 0;
  for (const ViewedMessage& each : made) total += round_up(each.message.bytes, unit);
  if (total > capacity) return made;
  std::uint64_t at = 0;
  for (ViewedMessage& each : made) {
    each.message.offset_bytes = at;
    (is_packed ? each.view.out_offset : each.view.in_offset) = at / width;
    at += round_up(each.message.bytes, unit);
  }
  return made;
}

ViewedMessage part_of(const ViewedMessage& whole, const SliceGroup& group, int bits, std::uint64_t width) {
  ViewedMessage made = whole;
  const std::vector<std::uint64_t>& extents = whole.view.extents;
  const auto slowest = std::find_if(extents.begin(), extents.end(), [](std::uint64_t e) { return e > 1; });
  const std::uint64_t extent = slowest == extents.end() ? 1 : *slowest;
  const std::uint64_t slices = std::uint64_t{1} << bits;
  const auto cut_at = [&](std::uint64_t slice) {
    return extent / slices * slice + extent % slices * slice / slices;
  };
  const std::uint64_t begin = cut_at(group.first);
  const std::uint64_t length = cut_at(group.first + group.count) - begin;
  const std::uint64_t run = whole.message.bytes / width / extent;
  made.message.offset_bytes += begin * run * width;
  made.message.bytes = length * run * width;
  if (slowest == extents.end()) return made;
  const auto axis = static_cast<std::size_t>(slowest - extents.begin());
  made.view = as_strided(cut(axis_map(whole.view), axis, begin, length));
  return made;
}

}  // namespace faro::detail
