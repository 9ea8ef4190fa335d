// The inner loops of passes in place on one thread.
#pragma once

#include <cstddef>

#include "engines/cpu/in_place/program.hpp"
#include "engines/cpu/tile/kernel.hpp"

namespace faro::cpu {

/// Whether lines are asked for before they are needed: worth it in arrays beyond the caches.
enum class Fetch { none, ahead };

/// Moves the orbits whose leaders are in `range`, each whole. Orbits are disjoint: shares of the tiles may be
/// moved at the same time. Any alignment.
/// Cost: no allocation; at most 16 KiB of stack.
void move_tile_orbits(const TileOrbits& program, TileRange range, Fetch fetch, std::byte* data);
void move_segment_orbits(const SegmentOrbits& program, TileRange range, Fetch fetch, std::byte* data);

}  // namespace faro::cpu
