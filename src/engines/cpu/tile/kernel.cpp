// A tile is read, permuted and written without leaving the registers: 2^q cache lines in, 2^q lines out.
//
//     memory --lines, prefetched--> registers: permute, exchange, permute --past the caches--> memory
//
// Consecutive tiles read consecutive lines of the same few pages (the order of a plan's blocks), so that the
// memory sees long reads although a tile takes only one line of each row; writes past the caches are happy
// with single lines.
#define HWY_WANT_AVX3_DL  // 64-byte permutations of bytes
#include "engines/cpu/tile/kernel.hpp"

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

// How far ahead lines are fetched: tiles through a buffer are the larger ones.
constexpr std::uint64_t kLinesAhead = 128;
constexpr std::uint64_t kStagedLinesAhead = 256;
// Of tiles that are fetched together, all of the next ones by the time that those before are done.
HWY_INLINE std::uint64_t LinesAhead(const TileProgram& p) {
  return p.group_bits == 0 ? kLinesAhead : p.source_lines.size() + kLinesAhead / 2;
}

template <class L, int kBits, StoreKind kStores>
void RunRange(const TileProgram& p, TileRange range, const std::byte* in, std::byte* out) {
  constexpr bool kStaged = L::kBytes < kLineBytes;
  const bool fetches = kStores == StoreKind::streamed || range.fetches_ahead;
  const MicroTables tables(p);
  constexpr std::uint64_t kWideUnit = 8;
  const FetchSteps steps(p, L::kTiles, !kStaged && p.unit_bytes == kWideUnit);
  TileCursor source(p.block_sources, p.block_bits, p.array_bytes, range.begin);
  TileCursor target(p.block_targets, p.block_bits, p.array_bytes, range.begin);
  LineFetcher ahead(p, steps, SourceCursor(p, fetches ? range : TileRange{}, in),
                    kStaged ? kStagedLinesAhead : LinesAhead(p));
  const auto fetch = [&] { ahead.step(); };

  for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
    const std::byte* const from = in + source.array();
    std::byte* const array = out + target.array();
    const f2::Word block = target.value();
    if constexpr (kStaged) {
      alignas(kMaxVectorBytes) std::byte stage[kMaxTileBytes];
      FillStage<L, kBits>(p, tables, steps.micro_tiles, from, source.value(), block, stage, fetch);
      WriteRows<L, kStores>(p, stage, array, (block & ~p.column_mask) << p.unit_shift);
    } else {
      MoveStraight<L, kBits, kStores>(p, tables, steps.micro_tiles, from, source.value(), block, array,
                                      fetch);
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

std::uint64_t RegisterBytes(const TileProgram& p) { return InPairs(p) ? 32 : p.vector_bytes; }

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
#if FARO_HAVE_BLOCK_PAIRS
  if (InPairs(p)) return RunStores<BlockPair>(p, range, stores, in, out);
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
HWY_EXPORT(RegisterBytes);
HWY_EXPORT(DispatchedTarget);

std::uint64_t widest_vector_bytes(std::uint64_t unit_bytes) {
  return HWY_DYNAMIC_DISPATCH(WidestVectorBytes)(unit_bytes);
}

std::uint64_t register_bytes(const TileProgram& program) {
  return HWY_DYNAMIC_DISPATCH(RegisterBytes)(program);
}

std::string simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(DispatchedTarget)()); }

void run_tiles(const TileProgram& program, TileRange range, StoreKind stores, const std::byte* in,
               std::byte* out) {
  if (range.begin >= range.end) return;
  HWY_DYNAMIC_DISPATCH(RunTiles)(program, range, stores, in, out);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
