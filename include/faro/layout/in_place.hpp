// Affine permutations in place: how few passes, and which: theorems 3 to 5 of
// docs/theory/two-passes-in-place.md.
//
// A pass in place owns its memory: a block loads some tiles, and writes exactly these again. Let T be a space
// that contains S, the elements of a segment, and that B keeps, B T = T. Then x -> B x ^ c carries cosets of
// T to cosets of T. A block that holds a whole orbit of cosets (the tile it starts with, the one that this is
// written to, and so on until the first) depends on no other block:
//
//     orbit of 2     tile x + T  <====>  tile B x ^ c + T        both loaded, a barrier, both written
//     orbit of 1     tile x + T  permuted within itself
//
// A map whose own orbits are short and whose smallest such T is small takes one pass (theorem 3): bit
// reversal, square transposes, swaps, X and CNOT are involutions, orbits of two. Every other affine map is
// two maps, each an involution modulo its space (theorem 4), the first of which usually swaps whole segments
// and moves nothing inside them. Where one tile is all that a block can hold, factors that move nothing out
// of their cosets do it (theorem 5).
//
// Example: x -> A x on 2 bits with s = 0 and A of order 3, 01 -> 10 -> 11: no involution, and T = S = 0 has
// orbits of 1 and 3. With room for 4 elements it is one pass; with room for 2 it is two swaps.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/f2/subspace.hpp"
#include "faro/layout/tile.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::layout {

/// x -> map(x) in one pass in place.
struct InPlaceFactor {
  Affine map;
  f2::Subspace space;             // T: holds the segments' directions; map.matrix() T = T
  std::uint64_t orbit_tiles = 1;  // the most cosets of T in one orbit of the map
};

struct InPlaceOptions {
  int segment_bits = 0;   // s, at most n
  int capacity_bits = 0;  // m: a block holds 2^m elements, of all its tiles together
  /// Most tiles of an orbit that a block holds, whatever the capacity; 1: theorem 5's factors only.
  std::uint64_t max_orbit_tiles = 64;
  int tile_bits_max = f2::kMaxDimension;  // a tile holds at most 2^tile_bits_max elements, one orbit or many
};

/// Factors of `map`, the first to be applied first: map = factor[k-1] o ... o factor[0]. The fewest that
/// theorems 3 and 4 allow; where two tiles of theorem 4 do not fit the capacity, theorem 5's. None for the
/// identity.
///
/// Laws (tests): the product is the map; every factor keeps its space; dim space + ceil(log2 orbit_tiles)
/// fits the capacity. Errors: ErrorCode::unsupported for a capacity that holds no tile that any theorem can
/// use (m <= s and the map moves something across segments), naming the least that would do. Cost: O(n^4)
/// word operations; under 20 ms at n = 34.
std::vector<InPlaceFactor> factor_in_place(const Affine& map, const InPlaceOptions& options);

/// The tiles of a factor and which of them change places. Tile `b` starts at tile.block_source(b), and is
/// written where tile next(b) was read.
struct InPlaceTile {
  Tile tile;  // of factor.map, T exactly (or padded, still kept by the map)
  std::uint64_t orbit_tiles = 1;
  f2::Matrix next_matrix;  // on block numbers, block_bits x block_bits
  f2::Word next_complement = 0;

  f2::Word next(f2::Word block) const;  // next_matrix block ^ next_complement
};

/// `min_row_bits`: a tile of fewer row bits is padded to that many, by directions that leave it kept by the
/// map; to fewer where the array is exhausted, or where orbits are longer than 2 and no kept space of that
/// size is found. Padding never makes an orbit longer. `near_bits`: as in TileOptions.
///
/// Laws (tests): source and target rows are the same vectors, in the same order; for every block b, the
/// target rows of b are, as a set of segments, the source rows of next(b). Requires: the map keeps
/// factor.space, which holds the segments' directions (checked).
InPlaceTile make_in_place_tile(const InPlaceFactor& factor, int segment_bits, int min_row_bits,
                               int near_bits = 0);

}  // namespace faro::layout
