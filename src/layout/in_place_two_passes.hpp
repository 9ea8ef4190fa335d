// Theorem 4: every affine map is two maps, each an involution modulo a small space that it keeps.
#pragma once

#include <vector>

#include "faro/layout/tile.hpp"
#include "layout/cyclic_blocks.hpp"

namespace faro::layout::detail {

/// The blocks of a map's part that never meets the segments, by how they are reflected.
struct SortedBlocks {
  std::vector<CyclicBlock> palindromes;  // annihilators that are their own reciprocals
  std::vector<CyclicBlock> pairs;        // at 2 i and 2 i + 1: each other's reciprocals
  std::vector<CyclicBlock> leftovers;    // neither
};
SortedBlocks sort_blocks(std::vector<CyclicBlock> blocks);

/// Of `leftovers` blocks, how many the first factor takes so that the larger of 2^(s + first) and
/// 2^(s + r + the others) is least.
int leftovers_of_first(int leftovers, int rank_gamma);

/// The map of segments that `map`, which keeps S, makes of them: nothing moves inside. Law: the low s bits
/// stay, the others are those of map(x).
Affine segments_only(const Affine& map, int segment_bits);

/// At most two factors, the first to be applied first, identities left out; orbits of at most two tiles, each
/// factor's space the least for which it is an involution. Laws: the product is the map; with r = rank gamma
/// and l leftover blocks, dim T1 <= s + d1, dim T2 <= s + r + d2, d1 + d2 = l; where d1 is 0, the first moves
/// whole segments and nothing inside them.
std::vector<InPlaceFactor> factor_in_two(const Affine& map, int segment_bits);

}  // namespace faro::layout::detail
