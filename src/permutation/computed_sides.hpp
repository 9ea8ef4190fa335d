// Which side of the arrays the tiles of a computed map are consecutive on.
#pragma once

#include "faro/permutation/computed.hpp"
#include "permutation/computed_map.hpp"

namespace faro::detail {

/// Whether tiles are consecutive on that side of the arrays that `map` moves.
inline bool is_ordered_side(const Computed& map, ComputedSide side) {
  const ComputedSide ordered = map.map().ordered_side();
  return side == (map.direction() == Direction::scatter ? ordered : opposite(ordered));
}

/// How as_index_array() writes it: the way that tiles give entries in their order.
inline Direction entry_direction(const Computed& map) {
  return is_ordered_side(map, ComputedSide::input) ? Direction::scatter : Direction::gather;
}

}  // namespace faro::detail
