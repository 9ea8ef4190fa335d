// An exchange in rounds, for memory that is less than the parts: of each message a piece goes in every round.
//
//     message     a b c d e f g h i j k         3 rounds     a b c | d e f g | h i j k
//
// Both ends cut a message by its elements alone, in the order in which it is packed, so that they agree
// without a word. A range of a packed box is a few boxes: the rest of a row, whole rows, the beginning of a
// row.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/shards.hpp"

namespace faro::detail {

/// What a plan does in one of its rounds; offsets into workspaces of so many bytes, or into the parts.
struct ShardRound {
  ShardPass pack;
  ShardPass unpack;
  std::vector<ShardMessage> sends;
  std::vector<ShardMessage> receives;
  ShardPassedOn passed_on;
  std::uint64_t packed_bytes = 0;
  std::uint64_t received_bytes = 0;
};

struct RoundNumber {
  std::uint64_t round = 0;
  std::uint64_t rounds = 1;
};
/// Requires: plan.can_go_in_rounds().
ShardRound round_of(const ShardPlan& plan, const RoundNumber& number);

/// Whether its passes are views, or nothing.
bool can_go_in_rounds(const ShardPlan& plan);

/// The least rounds whose workspace is at most so many bytes. Errors: ErrorCode::value where none are few
/// enough, saying what is needed; ErrorCode::unsupported for a plan that cannot go in rounds.
std::uint64_t rounds_within(const ShardPlan& plan, std::uint64_t memory_bytes);

/// The boxes of a view whose elements are those from `begin` to before `end`, counted along its extents.
std::vector<Strided> range_of(const Strided& view, std::uint64_t begin, std::uint64_t end);

}  // namespace faro::detail
