#include "engines/cpu/in_place/program.hpp"

#include <algorithm>
#include <bit>

#include "faro/error.hpp"

namespace faro::cpu {

using f2::Word;

OrbitTable::OrbitTable(const Pass& pass, int unit_shift) {
  FARO_CHECK(pass.orbits.has_value());
  const layout::InPlaceTile& orbits = *pass.orbits;
  const layout::Tile& tile = orbits.tile;
  const auto places = [&](Word block) {
    const Word next = orbits.next(block);
    return BlockPlaces{.next = next,
                       .source = tile.block_source(block) << unit_shift,
                       .target = tile.block_target(block),
                       .next_source = tile.block_source(next) << unit_shift,
                       .next_target = tile.block_target(next)};
  };
  zero_ = places(0);
  BlockPlaces sum;
  for (int k = 0; k < tile.block_bits(); ++k) {
    BlockPlaces direction = places(f2::unit(k));
    direction ^= zero_;
    directions_.push_back(direction);
    sum ^= direction;
    steps_.push_back(sum);
  }
}

BlockPlaces OrbitTable::at(Word block) const {
  BlockPlaces places = zero_;
  for (; block != 0; block &= block - 1) {
    places ^= directions_[static_cast<std::size_t>(f2::trailing_bit(block))];
  }
  return places;
}

bool OrbitTable::leads(Word block) const {
  Word other = at(block).next;
  while (other > block) other = at(other).next;
  return other == block;
}

Orbits::Orbits(const Pass& pass, std::uint64_t unit_bytes)
    : array_bytes(unit_bytes << pass.map.bits()),
      arrays(pass.arrays),
      block_bits(pass.tile.block_bits()),
      in_pairs(pass.orbits && pass.orbits->orbit_tiles <= 2),
      table(pass, std::countr_zero(unit_bytes)) {}

SegmentOrbits::SegmentOrbits(const Pass& pass, std::uint64_t unit_bytes)
    : orbits(pass, unit_bytes), segment_bytes(pass.segment_bytes) {}

std::uint64_t in_place_vector_bytes(std::uint64_t unit_bytes, std::uint64_t most) {
  constexpr std::uint64_t kUsual = 4;
  constexpr std::uint64_t kBlock = 16;
  return std::min(unit_bytes == kUsual ? kBlock : widest_vector_bytes(unit_bytes), most);
}

TileOrbits::TileOrbits(const Pass& pass, std::uint64_t unit_bytes, std::uint64_t vector_bytes)
    : orbits(pass, unit_bytes), tile(pass, unit_bytes, vector_bytes, Staging::always) {
  const std::uint64_t bytes = tile.rows * tile.row_bytes;
  FARO_CHECK(bytes <= (pass.orbits->orbit_tiles > 1 ? kInPlaceBufferBytes / 2 : kInPlaceBufferBytes));
  if (vector_bytes == kLineBytes && bytes <= kMaxTileBytes) straight.emplace(pass, unit_bytes, vector_bytes);
}

}  // namespace faro::cpu
