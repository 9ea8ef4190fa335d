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

// The tiles of pairs, for a LineFetcher: of each the one that leads, then the other.
class PairSourceCursor {
 public:
  PairSourceCursor(const Orbits& orbits, TileRange range, const std::byte* data)
      : pair_(orbits, range), data_(data) {}

  bool done() const { return pair_.done(); }
  const std::byte* source(std::uint64_t line) const {
    const BlockPlaces& at = pair_.places();
    return data_ + pair_.array() + ((is_second_ ? at.next_source : at.source) ^ line);
  }
  void advance() {
    is_second_ = !is_second_ && !pair_.alone();
    if (!is_second_) pair_.advance();
  }

 private:
  PairCursor pair_;
  const std::byte* data_;
  bool is_second_ = false;
};

// The tiles of longer orbits, likewise.
class OrbitSourceCursor {
 public:
  OrbitSourceCursor(const Orbits& orbits, TileRange range, const std::byte* data)
      : orbit_(orbits, range), data_(data) {}

  bool done() const { return orbit_.done(); }
  const std::byte* source(std::uint64_t line) const {
    return data_ + orbit_.array() + (orbit_.places().source ^ line);
  }
  void advance() { orbit_.advance(); }

 private:
  OrbitCursor orbit_;
  const std::byte* data_;
};

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
  const TileRange fetched = fetch == Fetch::ahead ? range : TileRange{};
  const FetchSteps steps(tile, L::kTiles);
  LineFetcher ahead(tile, steps, PairSourceCursor(p.orbits, fetched, data), kInPlaceLinesAhead);
  const auto fetch_some = [&] { ahead.step(); };
  const auto fill = [&](const std::byte* array, std::uint64_t source, f2::Word block, std::byte* stage) {
    FillStage<L, kBits>(tile, tables, steps.micro_tiles, array, source, block, stage, fetch_some);
  };
  // Requires: no line that is written is yet to be read; a tile that stays where it is has one micro tile,
  // whose lines are all loaded before the first is stored.
  const auto move = [&](std::byte* array, std::uint64_t source, f2::Word block) {
    MoveStraight<L, kBits, StoreKind::cached>(straight, straight_tables, steps.micro_tiles, array, source,
                                              block, array, fetch_some);
  };

  for (PairCursor pair(p.orbits, range); !pair.done(); pair.advance()) {
    std::byte* const array = data + pair.array();
    const BlockPlaces& at = pair.places();
    if (pair.alone() && stays_straight) {
      move(array, at.source, at.target);
      continue;
    }
    fill(array, at.source, at.target, buffer);
    if (!pair.alone()) {
      if (goes_straight) {
        move(array, at.next_source, at.next_target);
      } else {
        fill(array, at.next_source, at.next_target, other);
        WriteBuffer<L>(tile, other, array, at.next_target);
      }
    }
    WriteBuffer<L>(tile, buffer, array, at.target);
  }
}

template <class L, int kBits>
void MoveOrbits(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  alignas(kMaxVectorBytes) std::byte buffer[kInPlaceBufferBytes];
  std::byte* held = buffer;  // permuted, and not yet written
  std::byte* other = buffer + kInPlaceBufferBytes / 2;
  const TileProgram& tile = p.tile;
  const MicroTables tables(tile);
  const FetchSteps steps(tile, L::kTiles);
  const TileRange fetched = fetch == Fetch::ahead ? range : TileRange{};
  LineFetcher ahead(tile, steps, OrbitSourceCursor(p.orbits, fetched, data), kInPlaceLinesAhead);
  const auto fill = [&](const std::byte* array, std::uint64_t source, f2::Word block, std::byte* stage) {
    FillStage<L, kBits>(tile, tables, steps.micro_tiles, array, source, block, stage, [&] { ahead.step(); });
  };
  for (OrbitCursor orbit(p.orbits, range); !orbit.done(); orbit.advance()) {
    std::byte* const array = data + orbit.array();
    const BlockPlaces& at = orbit.places();
    if (orbit.is_first()) fill(array, at.source, at.target, held);
    if (!orbit.is_last()) fill(array, at.next_source, at.next_target, other);
    WriteBuffer<L>(tile, held, array, at.target);
    std::swap(held, other);
  }
}

template <class L, int kBits>
void MoveBits(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  if constexpr (kBits <= L::kMaxBits) {
    if (p.orbits.in_pairs) return MovePairs<L, kBits>(p, range, fetch, data);
    MoveOrbits<L, kBits>(p, range, fetch, data);
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
