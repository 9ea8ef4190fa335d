// Theorem 3: the spaces that a map keeps, and how long it takes to bring a coset back.
//
// Let T hold S and be kept, B T = T. Cosets of T then go to cosets of T. The longest orbit among them is the
// order of x -> B x ^ c modulo T: in homogeneous coordinates the orbits of all lengths that occur have one
// vector whose length is their least common multiple, and one with a last coordinate of 1 at that.
//
// A pass in place needs 2^dim(T) times the longest orbit. The smallest kept space R that holds S is the best
// there is: an orbit of cosets of a larger T is a union of such orbits of R. Where no more than k tiles can
// be held at once, T = R + Im(B^k + I) is the smallest space whose orbits have lengths that divide k.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "faro/layout/tile.hpp"
#include "layout/cyclic_blocks.hpp"

namespace faro::layout::detail {

/// The smallest space that holds `seed` and that `a` keeps. Cost: O(n^2) word operations a dimension.
f2::Subspace kept_space(const f2::Matrix& a, const f2::Subspace& seed);

/// The longest orbit of the map on cosets of `space`; nothing where it is longer than `most`.
/// Requires: the map keeps `space` (unchecked). Cost: O(orbit n) word operations.
std::optional<std::uint64_t> longest_orbit(const Affine& map, const f2::Subspace& space, std::uint64_t most);

/// The space of the fewest elements an orbit, among equals the smaller space, that the map keeps and whose
/// orbits have at most `options.max_orbit_tiles` cosets: whether or not it fits the capacities.
/// Law: 2^dim * orbit_tiles is 2^dim(R) * longest_orbit(R) where the latter orbit is short enough.
InPlaceFactor smallest_space(const Affine& map, const InPlaceOptions& options);

/// Elements that a block holds, as a number of bits: dim space + ceil(log2 orbit_tiles).
int held_bits(const InPlaceFactor& factor);

/// Whether a block of the options holds an orbit of the factor.
bool fits(const InPlaceFactor& factor, const InPlaceOptions& options);

// Theorem 5: factors that move nothing out of their cosets, for a block that holds a single tile.
//
// Let F be the functionals that the map fixes, Phi those of them that vanish on the segments' directions, and
//
//     rho = dim S^ / Phi = dim(S + Im(A^ + I)) - s           what is yet to be fixed
//
// A map moves nothing out of the cosets of the common kernel of Phi, which has s + rho dimensions: rho is
// what one tile needs. A factor whose tile has s + d fixes all but d dimensions of S^, so that each of them
// takes at most d off rho: no fewer than ceil(rho / d) will do, and so many suffice.

/// rho, for the map's homogeneous functionals.
int unfixed_dimensions(const Affine& map, int segment_bits);

/// A factor, to be applied first, whose tile has s + d dimensions at most, such that what is left has a rho
/// less by d: map = (rest) o (factor). Requires: 1 <= d <= rho (checked).
Affine fixing_factor(const Affine& map, int segment_bits, int d);

/// ceil(rho / row_bits) factors, at least one, the first to be applied first, of as equal tiles as may be.
/// Requires: row_bits >= 1 or rho = 0 (checked).
std::vector<InPlaceFactor> factor_in_single_tiles(const Affine& map, int segment_bits, int row_bits);

// Theorem 4: every affine map is two maps, each an involution modulo a small space that it keeps.

/// The blocks of a map's part that never meets the segments, by how they are reflected.
struct SortedBlocks {
  std::vector<CyclicBlock> palindromes;  // annihilators that are their own reciprocals
  std::vector<CyclicBlock> pairs;        // at 2 i and 2 i + 1: each other's reciprocals
  std::vector<CyclicBlock> leftovers;    // neither
};
SortedBlocks sort_blocks(std::vector<CyclicBlock> blocks);

/// How many of `leftovers` blocks the first factor takes so that the larger of 2^(s + first) and
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
