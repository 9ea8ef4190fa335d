// Tiles in place: every tile of an orbit is read before it is written over.
//
//     tile b        --permuted--> buffer --whole rows--> where next(b) was
//     tile next(b)  --permuted--> where b was, straight or through a second buffer
//
// The buffers stay in the first-level cache; memory sees every line read once and written once, as out of
// place. Stores go through the caches: the lines that they fall on have just been read, so that nothing is
// fetched for them, whereas stores past the caches would first have to throw them out. Around a longer orbit
// two buffers do as well: a tile is written once the one whose place it takes has been read.
#if defined(FARO_IN_PLACE_TILES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_IN_PLACE_TILES_INL_HPP
#undef FARO_IN_PLACE_TILES_INL_HPP
#else
#define FARO_IN_PLACE_TILES_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engines/cpu/in_place/program.hpp"
#include "engines/cpu/tile/micro_tile-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

// How far ahead lines are fetched.
constexpr std::uint64_t kInPlaceLinesAhead = 128;

// Permutes a tile from memory to memory. Requires: no line that is written is yet to be read; a tile that
// stays where it is has one micro tile, whose lines are all loaded before the first is stored.
template <class L, int kBits>
HWY_INLINE void MoveStraight(const TileProgram& p, const MicroTables& t, std::byte* array,
                             std::uint64_t source, f2::Word block) {
  const std::uint64_t* const micro_sources = p.micro_sources.data();
  const std::uint64_t* const micro_targets = p.micro_targets.data();
  const std::uint8_t* const micro_lanes = p.micro_lanes.data();
  const std::uint8_t* const index_flip = p.last_index_flip.data();
  const std::uint64_t micro_tiles = p.micro_sources.size();
  const f2::Word lanes = block & p.lane_mask;
  const std::uint64_t place = (block & ~p.lane_mask) << p.unit_shift;
  for (std::uint64_t k = 0; k < micro_tiles; ++k) {
    RunMicroTile<L, kBits, StoreKind::cached>(t, array, source ^ micro_sources[k], array,
                                              place ^ micro_targets[k], index_flip[lanes ^ micro_lanes[k]]);
  }
}

template <class L>
HWY_INLINE void WriteBuffer(const TileProgram& p, const std::byte* buffer, std::byte* array, f2::Word block) {
  WriteRows<L, StoreKind::cached>(p, buffer, array, (block & ~p.column_mask) << p.unit_shift);
}

template <class L, int kBits>
void MovePairs(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  alignas(kMaxVectorBytes) std::byte buffer[kInPlaceBufferBytes];
  std::byte* const other = buffer + kInPlaceBufferBytes / 2;
  const TileProgram& tile = p.tile;
  const TileProgram& straight = p.straight ? *p.straight : p.tile;
  const MicroTables tables(tile);
  const MicroTables straight_tables(straight);
  const bool goes_straight = p.straight.has_value();
  const bool stays_straight = goes_straight && tile.micro_sources.size() == 1;
  const std::uint64_t* const lines = tile.source_lines.data();
  const std::uint64_t line_count = tile.source_lines.size();

  PairCursor pair(p.orbits, range);
  PairCursor ahead = pair;
  const auto fetch_next = [&] {
    if (ahead.done()) return;
    const std::byte* const array = data + ahead.array();
    for (std::uint64_t line = 0; line < line_count; ++line) {
      // To the second level: rows at power-of-two strides crowd the same sets of the first.
      __builtin_prefetch(array + (ahead.places().source ^ lines[line]), 0, 2);
      if (!ahead.alone()) __builtin_prefetch(array + (ahead.places().next_source ^ lines[line]), 0, 2);
    }
    ahead.advance();
  };
  if (fetch == Fetch::ahead) {
    const std::uint64_t pairs = std::max<std::uint64_t>(1, kInPlaceLinesAhead / (2 * line_count));
    for (std::uint64_t i = 0; i < pairs; ++i) fetch_next();
  }
  for (; !pair.done(); pair.advance()) {
    if (fetch == Fetch::ahead) fetch_next();
    std::byte* const array = data + pair.array();
    const BlockPlaces& at = pair.places();
    if (pair.alone() && stays_straight) {
      MoveStraight<L, kBits>(straight, straight_tables, array, at.source, at.target);
      continue;
    }
    FillStage<L, kBits>(tile, tables, array, at.source, at.target, buffer);
    if (!pair.alone()) {
      if (goes_straight) {
        MoveStraight<L, kBits>(straight, straight_tables, array, at.next_source, at.next_target);
      } else {
        FillStage<L, kBits>(tile, tables, array, at.next_source, at.next_target, other);
        WriteBuffer<L>(tile, other, array, at.next_target);
      }
    }
    WriteBuffer<L>(tile, buffer, array, at.target);
  }
}

template <class L, int kBits>
void MoveOrbits(const TileOrbits& p, TileRange range, std::byte* data) {
  alignas(kMaxVectorBytes) std::byte buffer[kInPlaceBufferBytes];
  const TileProgram& tile = p.tile;
  const MicroTables tables(tile);
  const f2::Word mask = f2::low_mask(p.orbits.block_bits);
  for (std::uint64_t number = range.begin; number < range.end; ++number) {
    const f2::Word leader = number & mask;
    if (!p.orbits.table.leads(leader)) continue;
    std::byte* const array = data + (number >> p.orbits.block_bits) * p.orbits.array_bytes;
    std::byte* held = buffer;  // permuted, and not yet written
    std::byte* other = buffer + kInPlaceBufferBytes / 2;
    BlockPlaces at = p.orbits.table.at(leader);
    FillStage<L, kBits>(tile, tables, array, at.source, at.target, held);
    while (at.next != leader) {
      FillStage<L, kBits>(tile, tables, array, at.next_source, at.next_target, other);
      WriteBuffer<L>(tile, held, array, at.target);
      std::swap(held, other);
      at = p.orbits.table.at(at.next);
    }
    WriteBuffer<L>(tile, held, array, at.target);
  }
}

template <class L, int kBits>
void MoveBits(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  if constexpr (kBits <= L::kMaxBits) {
    if (p.orbits.in_pairs) return MovePairs<L, kBits>(p, range, fetch, data);
    MoveOrbits<L, kBits>(p, range, data);
  }
}

template <class L>
void MoveTiles(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  switch (p.tile.exchange_bits) {
    case 0:
      return MoveBits<L, 0>(p, range, fetch, data);
    case 1:
      return MoveBits<L, 1>(p, range, fetch, data);
    case 2:
      return MoveBits<L, 2>(p, range, fetch, data);
    case 3:
      return MoveBits<L, 3>(p, range, fetch, data);
    case 4:
      return MoveBits<L, 4>(p, range, fetch, data);
    case 5:
      return MoveBits<L, 5>(p, range, fetch, data);
    default:
      return MoveBits<L, 6>(p, range, fetch, data);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_IN_PLACE_TILES_INL_HPP
