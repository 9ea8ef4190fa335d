// What both planners for a CPU need, out of place and in place.
#pragma once

#include "plan/planners.hpp"

namespace faro::detail {

/// How many bits of the batch become index bits: enough that an array reaches a tile's size.
int batch_bits_to_fold(const Work& work, const Target& target);

/// log2 of the units of a register, which a segment holds at least.
int vector_bits(const Work& work, const Target& target);

/// The longest segments, of at least `least` bits, whose tile under `map` has at most 2^tile_bits units. A
/// longer segment never has a smaller tile, since dim T = dim(S + A^-1 S) grows with S.
int longest_segment_bits(const Affine& map, int unit_bits, int least, int tile_bits, const Target& target);

/// The largest run of index bits whose rows, read and written, fit the translations held at once.
int near_bits(const Affine& map, int unit_bits, int segment_bits, const Target& target);

}  // namespace faro::detail
