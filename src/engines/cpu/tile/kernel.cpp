// A tile is read, permuted and written without leaving the registers: 2^q cache lines in, 2^q lines out.
//
//     memory --lines, prefetched--> registers: permute, exchange, permute --past the caches--> memory
//
// Consecutive tiles read consecutive lines of the same few pages (the order of a plan's blocks), so that the
// memory sees long reads although a tile takes only one line of each row; writes past the caches are happy
// with single lines.
#define HWY_WANT_AVX3_DL  // 64-byte permutations of bytes
#include "engines/cpu/tile/kernel.hpp"

#include <algorithm>
#include <string>

#include "engines/cpu.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/tile/kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/tile/micro_tile-inl.hpp"
#include "engines/cpu/tile/register_line-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

// How far ahead lines are fetched.
constexpr std::uint64_t kLinesAhead = 128;

template <class L, int kBits, StoreKind kStores>
void RunRange(const TileProgram& p, TileRange range, const std::byte* in, std::byte* out) {
  constexpr bool kStaged = L::kBytes < kLineBytes;
  const bool fetches = kStores == StoreKind::streamed || range.fetches_ahead;
  const MicroTables tables(p);
  const std::uint64_t* const micro_sources = p.micro_sources.data();
  const std::uint64_t* const micro_targets = p.micro_targets.data();
  const std::uint8_t* const micro_lanes = p.micro_lanes.data();
  const std::uint8_t* const index_flip = p.last_index_flip.data();
  const std::uint64_t micro_tiles = p.micro_sources.size();
  const std::uint64_t* const lines = p.source_lines.data();
  const std::uint64_t line_count = p.source_lines.size();
  const f2::Word lane_mask = p.lane_mask;
  const f2::Word column_mask = p.column_mask;
  const int unit_shift = p.unit_shift;

  const std::uint64_t tiles_ahead = std::max<std::uint64_t>(1, kLinesAhead / line_count);
  const std::uint64_t last_ahead = range.end - std::min(range.end - range.begin, tiles_ahead);
  TileCursor source(p.block_sources, p.block_bits, p.array_bytes, range.begin);
  TileCursor target(p.block_targets, p.block_bits, p.array_bytes, range.begin);
  TileCursor ahead(p.block_sources, p.block_bits, p.array_bytes, range.begin + tiles_ahead);

  for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
    if (fetches && tile < last_ahead) {
      const std::byte* const array = in + ahead.array();
      for (std::uint64_t line = 0; line < line_count; ++line) {
        // To the second level: rows at power-of-two strides crowd the same sets of the first.
        __builtin_prefetch(array + (ahead.value() ^ lines[line]), 0, 2);
      }
      ahead.advance();
    }
    const std::byte* const from = in + source.array();
    std::byte* const array = out + target.array();
    const f2::Word block = target.value();
    const f2::Word lanes = block & lane_mask;
    if constexpr (kStaged) {
      alignas(kMaxVectorBytes) std::byte stage[kMaxTileBytes];
      FillStage<L, kBits>(p, tables, from, source.value(), block, stage);
      WriteRows<L, kStores>(p, stage, array, (block & ~column_mask) << unit_shift);
    } else {
      const std::uint64_t place = (block & ~lane_mask) << unit_shift;
      for (std::uint64_t k = 0; k < micro_tiles; ++k) {
        RunMicroTile<L, kBits, kStores>(tables, from, source.value() ^ micro_sources[k], array,
                                        place ^ micro_targets[k], index_flip[lanes ^ micro_lanes[k]]);
      }
    }
    source.advance();
    target.advance();
  }
}

template <class L, StoreKind kStores>
void RunBits(const TileProgram& p, TileRange range, const std::byte* in, std::byte* out) {
  const auto run = [&]<int kBits>() {
    if constexpr (kBits <= L::kMaxBits) RunRange<L, kBits, kStores>(p, range, in, out);
  };
  switch (p.exchange_bits) {
    case 0:
      return run.template operator()<0>();
    case 1:
      return run.template operator()<1>();
    case 2:
      return run.template operator()<2>();
    case 3:
      return run.template operator()<3>();
    case 4:
      return run.template operator()<4>();
    case 5:
      return run.template operator()<5>();
    default:
      return run.template operator()<6>();
  }
}

template <class L>
void RunStores(const TileProgram& p, TileRange range, StoreKind stores, const std::byte* in, std::byte* out) {
  if (stores == StoreKind::streamed) {
    RunBits<L, StoreKind::streamed>(p, range, in, out);
    hwy::FlushStream();
  } else {
    RunBits<L, StoreKind::cached>(p, range, in, out);
  }
}

void RunTiles(const TileProgram& p, TileRange range, StoreKind stores, const std::byte* in, std::byte* out) {
#if FARO_SINGLE_BYTES_ALONE
  if (p.vector_bytes != 64 || p.unit_bytes != 1) return N_AVX3::RunTiles(p, range, stores, in, out);
  RunStores<WideLine<1>>(p, range, stores, in, out);
#else
#if FARO_HAVE_WIDE_LINES
  if (p.vector_bytes == 64) {
    switch (p.unit_bytes) {
#if HWY_TARGET == HWY_AVX3_DL
      case 1:
        return RunStores<WideLine<1>>(p, range, stores, in, out);
#endif
      case 2:
        return RunStores<WideLine<2>>(p, range, stores, in, out);
      case 4:
        return RunStores<WideLine<4>>(p, range, stores, in, out);
      default:
        return RunStores<WideLine<8>>(p, range, stores, in, out);
    }
  }
#endif
  RunStores<BlockLine>(p, range, stores, in, out);
#endif
}

std::uint64_t WidestVectorBytes(std::uint64_t unit_bytes) {
#if FARO_HAVE_WIDE_LINES
  if (unit_bytes > 1 || HWY_TARGET == HWY_AVX3_DL) return 64;
#endif
  static_cast<void>(unit_bytes);
  return 16;
}

std::int64_t DispatchedTarget() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(RunTiles);
HWY_EXPORT(WidestVectorBytes);
HWY_EXPORT(DispatchedTarget);

std::uint64_t widest_vector_bytes(std::uint64_t unit_bytes) {
  return HWY_DYNAMIC_DISPATCH(WidestVectorBytes)(unit_bytes);
}

std::string simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(DispatchedTarget)()); }

void run_tiles(const TileProgram& program, TileRange range, StoreKind stores, const std::byte* in,
               std::byte* out) {
  if (range.begin >= range.end) return;
  HWY_DYNAMIC_DISPATCH(RunTiles)(program, range, stores, in, out);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
