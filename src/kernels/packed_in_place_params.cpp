// Passes in place of packed elements (packed_in_place.hpp).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "faro/layout/tile.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/packed_affine_params.hpp"
#include "kernels/packed_in_place.hpp"

namespace faro::kernels {
namespace {

constexpr std::uint64_t kFewOrbits = 132;  // of a multiprocessor each

// The passes by tiles of one shape; nothing where some pass has other tiles.
std::optional<std::vector<PackedInPlaceParams>> passes_of(const Affine& map, const PackedAffineShape& shape,
                                                          std::uint64_t batch) {
  const int segment_bits = shape.words.segment_bits + shape.word_index_bits;
  const int tile_bits = element_tile_bits(shape);
  if (map.bits() < tile_bits) return std::nullopt;
  std::vector<PackedInPlaceParams> passes;
  for (const layout::InPlaceFactor& factor : layout::factor_in_place(map, {.segment_bits = segment_bits,
                                                                          .capacity_bits = tile_bits + 1,
                                                                          .max_orbit_tiles = kMostPackedOrbit,
                                                                          .tile_bits_max = tile_bits})) {
    const layout::InPlaceTile tile = layout::make_in_place_tile(factor, segment_bits, shape.words.row_bits);
    if (tile.tile.tile_bits() != tile_bits || tile.orbit_tiles > kMostPackedOrbit) return std::nullopt;
    const OrderedTile ordered = order_orbits(tile, batch);
    PackedInPlaceParams params{.affine = make_packed_affine_params(ordered.tile, shape, batch),
                               .orbits = ordered.orbits};
    // Every look-up XORs exactly one value of digit 0, if there is a block bit at all.
    for (std::uint64_t& value : params.affine.tile.block_source[0])
      value ^= ordered.origin >> shape.word_index_bits;
    passes.push_back(params);
  }
  return passes;
}

}  // namespace

std::optional<PackedInPlacePasses> make_packed_in_place(std::uint32_t element_bits, const Affine& map,
                                                        std::uint64_t batch) {
  std::optional<PackedInPlacePasses> made;
  for (std::size_t i = 0; i < kPackedInPlaceTileCount; ++i) {
    const PackedAffineShape& shape = kPackedInPlaceTiles[i].shape;
    if (32U >> shape.word_index_bits != element_bits) continue;
    auto passes = passes_of(map, shape, batch);
    if (!passes) continue;
    const bool is_many = batch << (map.bits() - element_tile_bits(shape)) >= kFewOrbits;
    made = PackedInPlacePasses{.tile = i, .passes = std::move(*passes)};
    if (is_many) break;
  }
  return made;
}

}  // namespace faro::kernels
