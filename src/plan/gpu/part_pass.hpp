// A pass over a part of an array, whose output lies in several arrays: the tile kernel of an affine map,
// where what is written is spread over ranks.
//
//     the part: 2^m units                   2^g arrays of 2^m units        places: [ array | place in it ]
//
//     rank 1's input   [a b c d]   --->     rank 0   [. . a c]             y = A (1, x) ^ c
//                                           rank 1   [. . b d]
//
// The theorem of one pass holds as it stands: a tile is a coset of T = S + A^-1 S, and where A^-1 S has no
// bits of the rank, each rank reads its own tiles whole and writes whole segments, wherever they belong. So
// the kernels are those of an affine map but for the store, which finds its array by the upper bits of the
// place. The blocks of a part are numbered so that neighbours write to different arrays, for links and memory
// are to be busy together; or so that the blocks of a slice follow each other (docs/theory/shards.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "faro/problem/target.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/part_arrays.hpp"

namespace faro::detail {

struct PartProblem {
  /// Places of all arrays from places of all parts: unit bits below, m of the place, g of the rank on top.
  Affine map;
  int local_bits = 0;  // m, in units
  f2::Word rank = 0;   // whose part this is
  int unit_bits = 0;   // log2 of a unit's bytes
  /// The part in 2^k slices: bit i of the slice flips along slice_sources[i], and is the scalar product of a
  /// place of the part with slice_masks[i].
  std::vector<f2::Word> slice_sources = {};
  std::vector<f2::Word> slice_masks = {};
};

struct PartPass {
  using Params =
      std::variant<kernels::AffineTileParams, kernels::AffineBlockedParams, kernels::AffineSegmentsParams>;
  std::optional<kernels::CompiledTile> tile;  // none: one vector a thread
  Params params;
  std::uint64_t blocks = 0;  // of all slices; those of a slice follow each other
  int threads = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t vector_bytes = 0;  // what arrays are to be aligned to
  int slice_bits = 0;
  int array_bytes_bits = 0;  // log2 of the bytes of an output array: its number is above
  std::string kernel;        // in words

  std::uint64_t slices() const { return std::uint64_t{1} << slice_bits; }
};

/// Whether A^-1 S has no bits of the rank for segments of 2^segment_bits units.
bool keeps_segments_local(const Affine& map, int local_bits, int segment_bits);

/// The tile kernel, or where whole vectors of 16 bytes change places one vector a thread. None where no
/// kernel takes the map so: segments come from several ranks, the part has less than a tile, slices cut
/// tiles, or there are too many arrays.
std::optional<PartPass> make_part_pass(const PartProblem& problem, const Target& target);

/// The same by one unit a thread, for any map and any alignment, without slices. None for too many arrays or
/// units.
std::optional<PartPass> make_unit_part_pass(const PartProblem& problem);

}  // namespace faro::detail
