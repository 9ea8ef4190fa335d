// The tile kernel in place: data[A x ^ c] becomes what data[x] was. It reads and writes every element once,
// in whole segments, and needs no second array (docs/theory/two-passes-in-place.md, theorems 3 to 5).
//
//     tile b          ========  ->  place 0 of shared memory  ->  where tile next(b) was read
//     tile next(b)    ========  ->  place 1 of shared memory  ->  where tile b was read
//                                         (barrier)
//
// The phases are those of the kernel out of place (affine_tile.hpp, affine_tile_blocked.hpp): load_tile(b)
// reads tile b at its source and store_tile(b) writes it to its target, which is where tile next(b) was read.
// A block that loads all tiles of an orbit before it stores any needs no memory but its shared memory, and
// accesses nothing that another block accesses (block_orbits.hpp).
//
// The threads are two groups, each as many as the kernel out of place has; a group takes every second tile,
// so that the loads of a pair are in flight together. Where every tile stays, there is one group. Groups of
// small tiles share a block and its barrier. Those of large tiles are *clustered*: each is a block with a
// tile of its own, and the barrier is that of their cluster.
//
//     groups of a block     block 0: [group 0 | group 1]  owns orbit 0     block 1 owns orbit 1
//     clustered             block 0:  group 0, block 1: group 1, own orbit 0; blocks 2 and 3 own orbit 1
//
// orbit_launch() says how many blocks of how many threads that makes.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "kernels/block_orbits.hpp"

namespace faro::kernels {

/// Groups of threads that the kernels are compiled for.
inline constexpr int kMostOrbitGroups = 2;

/// Whether a group is a block of a cluster, and holds one tile.
constexpr bool is_clustered(const AffineTileShape& shape) {
  constexpr int most_bytes = 32768;  // two of twice as much leave one block a multiprocessor
  return shape.tile_bytes() > most_bytes;
}

/// log2 of the groups.
constexpr int orbit_group_bits(const BlockOrbits& orbits) { return orbits.most_tiles > 1 ? 1 : 0; }
static_assert(kMostOrbitGroups == 1 << 1);

/// The grid of a kernel in place.
struct OrbitLaunch {
  std::uint64_t blocks = 0;
  int threads = 0;                 // a block
  int cluster_blocks = 1;          // blocks that wait for each other, consecutive ones
  std::uint64_t shared_bytes = 0;  // a block
};

/// Requires: orbits.most_tiles <= 2 where is_clustered(shape) (unchecked).
constexpr OrbitLaunch orbit_launch(const AffineTileShape& shape, const BlockOrbits& orbits) {
  const int group_bits = orbit_group_bits(orbits);
  const auto tile_bytes = static_cast<std::uint64_t>(shape.tile_bytes());
  if (is_clustered(shape)) {
    return {.blocks = orbits.numbers() << group_bits,
            .threads = shape.threads(),
            .cluster_blocks = 1 << group_bits,
            .shared_bytes = tile_bytes};
  }
  return {.blocks = orbits.numbers(),
          .threads = shape.threads() << group_bits,
          .cluster_blocks = 1,
          .shared_bytes = tile_bytes * static_cast<std::uint64_t>(orbits.most_tiles)};
}

/// `Tile` is AffineTileParams or AffineBlockedParams. Made by make_affine_in_place_params() and
/// make_blocked_in_place_params().
template <typename Tile>
struct InPlaceParams {
  Tile tile;
  BlockOrbits orbits;
};
using AffineInPlaceParams = InPlaceParams<AffineTileParams>;
using BlockedInPlaceParams = InPlaceParams<AffineBlockedParams>;
static_assert(sizeof(BlockedInPlaceParams) <= 4096, "kernel parameters are at most 4 KiB");

/// Shared memory from `offset` bytes on.
template <device::Memory Memory>
struct SharedPart {
  Memory* memory;
  std::uint32_t offset;

  template <int bytes>
  constexpr device::Packet<bytes> load_global(int buffer, std::uint64_t at) const {
    return memory->template load_global<bytes>(buffer, at);
  }
  template <int bytes>
  constexpr void store_global(int buffer, std::uint64_t at, const device::Packet<bytes>& packet) const {
    memory->template store_global<bytes>(buffer, at, packet);
  }
  template <int bytes>
  constexpr device::Packet<bytes> load_shared(std::uint32_t address) const {
    return memory->template load_shared<bytes>(offset + address);
  }
  template <int bytes>
  constexpr void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    memory->template store_shared<bytes>(offset + address, packet);
  }
  constexpr void idle() const { device::idle(*memory); }
};

/// The tiles of an orbit that the group of a thread takes: that of number `first`, and every 2^group_bits-th
/// after it.
struct OwnTiles {
  std::uint64_t block = 0;  // of the first one
  std::uint32_t first = 0;
  std::uint32_t orbit_tiles = 0;
};

/// Both phases need it, and computing it costs a thread as much as several vectors do: a kernel calls it
/// once. Requires: launched < blocks and thread < threads of orbit_launch(shape, orbits) (unchecked).
template <AffineTileShape shape>
constexpr OwnTiles own_tiles(const BlockOrbits& orbits, std::uint64_t launched, std::uint32_t thread) {
  constexpr bool clustered = is_clustered(shape);
  const int group_bits = orbit_group_bits(orbits);
  const std::uint64_t number = clustered ? launched >> group_bits : launched;
  const std::uint32_t group =
      clustered ? low_bits(static_cast<std::uint32_t>(launched), group_bits) : thread >> shape.thread_bits;
  const OwnedOrbit orbit = owned_orbit(orbits, number);
  return {.block = group == 0 ? orbit.first : next_block(orbits, orbit.first),
          .first = group,
          .orbit_tiles = orbit.tiles};
}

/// Calls move(part of shared memory, block of the tile, thread of the group) for each of the group's tiles.
template <AffineTileShape shape, device::Memory Memory, typename Move>
constexpr void for_own_tiles(Memory& memory, const BlockOrbits& orbits, const OwnTiles& own,
                             std::uint32_t thread, const Move& move) {
  constexpr auto step = static_cast<std::uint32_t>(is_clustered(shape) ? 0 : shape.tile_bytes());
  const auto groups = std::uint32_t{1} << orbit_group_bits(orbits);
  std::uint64_t block = own.block;
  FARO_NO_UNROLL
  for (std::uint32_t j = own.first; j < own.orbit_tiles; j += groups) {
    if (j != own.first) {
      for (std::uint32_t g = 0; g < groups; ++g) block = next_block(orbits, block);
    }
    SharedPart<Memory> part{&memory, j * step};
    move(part, block, low_bits(thread, shape.thread_bits));
  }
}

/// Phase 1: the orbit's tiles, from buffer kInput to shared memory. Between the phases is the barrier of the
/// block, or of the cluster where is_clustered(shape).
/// Requires: own_tiles() of the launched block and the thread; as much shared memory as
/// orbit_launch(shape, params.orbits) says (unchecked); kInput and kOutput are one array.
template <AffineTileShape shape, device::Memory Memory, typename Tile>
constexpr void load_orbit(Memory& memory, const InPlaceParams<Tile>& params, const OwnTiles& own,
                          std::uint32_t thread) {
  for_own_tiles<shape>(memory, params.orbits, own, thread,
                       [&](auto& part, std::uint64_t block, std::uint32_t in_group) {
                         load_tile<shape>(part, params.tile, block, in_group);
                       });
}

/// Phase 2: the orbit's tiles, from shared memory to buffer kOutput. Requirements as for load_orbit.
template <AffineTileShape shape, device::Memory Memory, typename Tile>
constexpr void store_orbit(Memory& memory, const InPlaceParams<Tile>& params, const OwnTiles& own,
                           std::uint32_t thread) {
  for_own_tiles<shape>(memory, params.orbits, own, thread,
                       [&](auto& part, std::uint64_t block, std::uint32_t in_group) {
                         store_tile<shape>(part, params.tile, block, in_group);
                       });
}

}  // namespace faro::kernels
