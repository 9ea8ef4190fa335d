// Affine maps of elements of 1, 2 or 4 bits in place: the tiles of packed_affine.hpp, of which a block loads
// all that change places before it stores any (block_orbits.hpp).
//
//     tile b         ======== ->  part 0 of shared memory  -> words exchanged -> where tile next(b) was read
//     tile next(b)   ======== ->  part 1 of shared memory  -> words exchanged -> where tile b was read
//
// Orbits have two tiles at most, so that nearly every map is two passes (docs/theory/two-passes-in-place.md);
// nothing of the theory knows bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "kernels/affine_in_place.hpp"
#include "kernels/packed_affine.hpp"

namespace faro::kernels {

inline constexpr std::uint64_t kMostPackedOrbit = 2;

struct PackedInPlaceParams {
  PackedAffineParams affine;
  BlockOrbits orbits;
};

/// The kernels that are compiled: for large arrays, and for small ones.
inline constexpr CompiledPackedTile kPackedInPlaceTiles[] = {
    {{5, {2, 4, 9, 2, 8}}, 3},   // 32 KiB
    {{4, {2, 4, 8, 2, 8}}, 6},   // 16 KiB
    {{3, {2, 5, 8, 2, 8}}, 3},   // 32 KiB
    {{5, {2, 2, 7, 2, 7}}, 4},   // 2 KiB
    {{4, {2, 2, 6, 2, 6}}, 8},   // 1 KiB
    {{3, {2, 2, 5, 2, 5}}, 16},  // 512 bytes
};
inline constexpr std::size_t kPackedInPlaceTileCount = std::size(kPackedInPlaceTiles);

/// Calls move(memory, block) for each tile of the orbit, with the part of shared memory that is the tile's.
template <PackedAffineShape shape, device::Memory Memory, typename Move>
constexpr void each_tile_of_orbit(Memory& memory, const PackedInPlaceParams& params, const OwnedOrbit& orbit,
                                  const Move& move) {
  std::uint64_t block = orbit.first;
  FARO_NO_UNROLL
  for (std::uint32_t j = 0; j < orbit.tiles; ++j) {
    SharedPart<Memory> part{&memory, j * static_cast<std::uint32_t>(shape.words.tile_bytes())};
    move(part, block);
    block = next_block(params.orbits, block);
  }
}

/// The phases as a kernel that is a value.
template <std::size_t index>
struct MovePackedInPlace {
  static constexpr CompiledPackedTile kTile = kPackedInPlaceTiles[index];
  static constexpr PackedAffineShape kShape = kTile.shape;
  static constexpr std::uint32_t kThreads = static_cast<std::uint32_t>(kShape.words.threads());
  static constexpr int kMinBlocks = kTile.min_blocks;

  PackedInPlaceParams params;
  std::byte* data = nullptr;  // aligned to vectors

  constexpr std::uint64_t blocks() const { return params.orbits.numbers(); }
  constexpr std::uint32_t shared_bytes() const {
    return static_cast<std::uint32_t>(kShape.words.tile_bytes() * params.orbits.most_tiles);
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    device::DirectMemory memory{data, data, block.shared()};
    const OwnedOrbit orbit = owned_orbit(params.orbits, block.index());
    const std::uint32_t thread = block.thread();
    each_tile_of_orbit<kShape>(memory, params, orbit, [&](auto& part, std::uint64_t tile) {
      load_tile<kShape.words>(part, params.affine.tile, tile, thread);
    });
    block.barrier();
    each_tile_of_orbit<kShape>(memory, params, orbit, [&](auto& part, std::uint64_t tile) {
      exchange_words<kShape>(part, params.affine, tile, thread);
    });
    block.barrier();
    each_tile_of_orbit<kShape>(memory, params, orbit, [&](auto& part, std::uint64_t tile) {
      store_tile<kShape.words>(part, params.affine.tile, tile, thread);
    });
  }
};
static_assert(sizeof(MovePackedInPlace<0>) <= 4096, "kernel parameters are at most 4 KiB");

}  // namespace faro::kernels
