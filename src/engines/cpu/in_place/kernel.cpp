// Tiles and whole segments in place, for every instruction set.
#define HWY_WANT_AVX3_DL  // 64-byte permutations of bytes
#include <algorithm>
#include <cstring>
#include <utility>

#include "engines/cpu/in_place/program.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/in_place/kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/in_place/tiles-inl.hpp"
#include "engines/cpu/tile/register_line-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if FARO_SINGLE_BYTES_ALONE

void MoveTileOrbits(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  if (p.tile.vector_bytes != 64 || p.tile.unit_bytes != 1)
    return N_AVX3::MoveTileOrbits(p, range, fetch, data);
  MoveTiles<WideLine<1>>(p, range, fetch, data);
}

void MoveSegmentOrbits(const SegmentOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  N_AVX3::MoveSegmentOrbits(p, range, fetch, data);
}

#else

void MoveTileOrbits(const TileOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
#if FARO_HAVE_WIDE_LINES
  if (p.tile.vector_bytes == 64) {
    switch (p.tile.unit_bytes) {
#if HWY_TARGET == HWY_AVX3_DL
      case 1:
        return MoveTiles<WideLine<1>>(p, range, fetch, data);
#endif
      case 2:
        return MoveTiles<WideLine<2>>(p, range, fetch, data);
      case 4:
        return MoveTiles<WideLine<4>>(p, range, fetch, data);
      default:
        return MoveTiles<WideLine<8>>(p, range, fetch, data);
    }
  }
#endif
#if FARO_HAVE_BLOCK_PAIRS
  if (InPairs(p.tile)) return MoveTiles<BlockPair>(p, range, fetch, data);
#endif
  MoveTiles<BlockLine>(p, range, fetch, data);
}

// Two runs of `bytes`, a multiple of kStep, change places.
template <std::size_t kStep>
HWY_INLINE void Swap(std::byte* a, std::byte* b, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kStep> d;
  const std::uint64_t lanes = hn::Lanes(d);
  auto* const first = reinterpret_cast<std::uint8_t*>(a);
  auto* const second = reinterpret_cast<std::uint8_t*>(b);
  for (std::uint64_t at = 0; at < bytes; at += lanes) {
    const auto from_first = hn::LoadU(d, first + at);
    const auto from_second = hn::LoadU(d, second + at);
    hn::StoreU(from_second, d, first + at);
    hn::StoreU(from_first, d, second + at);
  }
}

template <std::size_t kStep>
void SwapPairs(const SegmentOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  // Long segments are fetched ahead by the processor itself.
  constexpr std::uint64_t kBytesAhead = kInPlaceLinesAhead * kLineBytes;
  const std::uint64_t bytes = p.segment_bytes;
  const bool fetches = fetch == Fetch::ahead && 2 * bytes <= kBytesAhead;
  PairCursor pair(p.orbits, range);
  PairCursor ahead = pair;
  const auto fetch_next = [&] {
    if (ahead.done()) return;
    const std::byte* const array = data + ahead.array();
    if (!ahead.alone()) {
      for (std::uint64_t at = 0; at < bytes; at += kLineBytes) {
        __builtin_prefetch(array + ahead.places().source + at, 0, 2);
        __builtin_prefetch(array + ahead.places().next_source + at, 0, 2);
      }
    }
    ahead.advance();
  };
  if (fetches) {
    for (std::uint64_t at = 0; at < kBytesAhead; at += 2 * bytes) fetch_next();
  }
  for (; !pair.done(); pair.advance()) {
    if (fetches) fetch_next();
    if (pair.alone()) continue;
    std::byte* const array = data + pair.array();
    Swap<kStep>(array + pair.places().source, array + pair.places().next_source, bytes);
  }
}

// A piece of every segment at a time, around the orbit.
void RotateSegments(const SegmentOrbits& p, TileRange range, std::byte* data) {
  std::byte buffers[2][kMaxTileBytes];
  const f2::Word mask = f2::low_mask(p.orbits.block_bits);
  for (std::uint64_t number = range.begin; number < range.end; ++number) {
    const f2::Word leader = number & mask;
    if (!p.orbits.table.leads(leader)) continue;
    std::byte* const array = data + (number >> p.orbits.block_bits) * p.orbits.array_bytes;
    for (std::uint64_t from = 0; from < p.segment_bytes; from += kMaxTileBytes) {
      const std::uint64_t bytes = std::min<std::uint64_t>(kMaxTileBytes, p.segment_bytes - from);
      BlockPlaces at = p.orbits.table.at(leader);
      if (at.next == leader) break;
      std::byte* held = buffers[0];
      std::byte* other = buffers[1];
      std::memcpy(held, array + at.source + from, bytes);
      while (at.next != leader) {
        std::memcpy(other, array + at.next_source + from, bytes);
        std::memcpy(array + at.next_source + from, held, bytes);
        std::swap(held, other);
        at = p.orbits.table.at(at.next);
      }
      std::memcpy(array + at.next_source + from, held, bytes);
    }
  }
}

void MoveSegmentOrbits(const SegmentOrbits& p, TileRange range, Fetch fetch, std::byte* data) {
  if (!p.orbits.in_pairs) return RotateSegments(p, range, data);
  if (p.segment_bytes % kLineBytes == 0) return SwapPairs<kLineBytes>(p, range, fetch, data);
  SwapPairs<16>(p, range, fetch, data);
}

#endif  // FARO_SINGLE_BYTES_ALONE

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(MoveTileOrbits);
HWY_EXPORT(MoveSegmentOrbits);

void move_tile_orbits(const TileOrbits& program, TileRange range, Fetch fetch, std::byte* data) {
  if (range.begin < range.end) HWY_DYNAMIC_DISPATCH(MoveTileOrbits)(program, range, fetch, data);
}

void move_segment_orbits(const SegmentOrbits& program, TileRange range, Fetch fetch, std::byte* data) {
  if (range.begin < range.end) HWY_DYNAMIC_DISPATCH(MoveSegmentOrbits)(program, range, fetch, data);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
