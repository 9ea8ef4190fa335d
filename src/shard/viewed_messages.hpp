// Messages between slabs and blocks as they are sent over GPUs: without the rank's own, each with the view
// that packs or unpacks it, at lines of memory, whole or in slices.
//
//     messages      | 1: 7 elements | 2: 5 |           workspace     | 1 . . . . . . _ | 2 . . . . _ _ _ |
#pragma once

#include <vector>

#include "faro/permutation/strided.hpp"
#include "faro/shards.hpp"
#include "shard/device_shards.hpp"

namespace faro::detail {

struct ViewedMessage {
  ShardMessage message;
  Strided view;       // nothing where the pass is
  bool moves = true;  // not where another rank's message is of the same, which has been packed
};

enum class MessageSide { packed, unpacked };

/// Whether each message of that side has one view, or none a pass.
bool has_a_view_each(const ShardPlan& plan, MessageSide side);

/// Those of a plan, in their order. Requires: has_a_view_each(). NCCL takes twice as long where messages
/// begin at other than multiples of 16 bytes. What the rank's own leaves free puts each at a line of memory,
/// but for small arrays and where there is no pass.
std::vector<ViewedMessage> viewed_messages(const ShardPlan& plan, MessageSide side);

/// The slices `group` of 2^bits of a message that has a view: a range of its slowest axis. Messages are boxes
/// in the order of their axes, so that it is one run, and both ranks cut alike. Empty slices have 0 bytes.
ViewedMessage part_of(const ViewedMessage& whole, const SliceGroup& group, int bits, std::uint64_t width);

}  // namespace faro::detail
