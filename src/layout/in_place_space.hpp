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

#include "faro/layout/tile.hpp"

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

}  // namespace faro::layout::detail
