// The sizes of a plan's tiles and segments: what the caller asked for, or what suits the engine.
#pragma once

#include "faro/network/plan.hpp"
#include "network/grouping.hpp"

namespace faro::network::detail {

/// Sizes for `grouping`, whose own sizes are ignored. Of the segments that suit the engine, those whose
/// passes cost least together; of these the longest. Errors: ErrorCode::value for sizes out of range.
Sizes choose_sizes(const Grouping& grouping, const Sizes& wanted, std::uint64_t element_bytes, Engine engine);

}  // namespace faro::network::detail
