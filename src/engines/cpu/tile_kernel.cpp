// Tiles flow through a pair of buffers: while the vectors of one tile are exchanged and written, the rows of the next are
// read, a row at a time between micro tiles, and rows a little further on are prefetched into the second-level cache.
//
//     memory --rows--> next tile's buffer          (loads, prefetched kLinesAhead lines ahead)
//     this tile's buffer --registers--> memory     (micro tiles: permute, exchange, permute, store)
//
// Rows at power-of-two strides share cache sets, so only a few rows may be on their way at once: prefetching a whole tile
// ahead evicts itself.
#define HWY_WANT_AVX3_DL  // 64-byte permutations of bytes
#include "engines/cpu/tile_kernel.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "faro/engines/cpu.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/tile_kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/register_line-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#if defined(__clang__)
#define FARO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FARO_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kLinesAhead = 32;

// Bits exchanged in one round: 2^4 registers are held at once.
constexpr int kRoundBits = 4;

template <class L, StoreKind kStores>
HWY_INLINE void Put(typename L::Line line, std::byte* to) {
  if constexpr (kStores == StoreKind::streamed) {
    L::Stream(line, to);
  } else {
    L::Store(line, to);
  }
}

// Step 2 of micro_tile.hpp over kBits bits of the vector number: lane by lane, vectors j and j ^ 2^k change places.
template <class L, int kBits>
HWY_INLINE void Exchange(const ExchangeLanes* lanes, typename L::Line* lines) {
  FARO_UNROLL for (int k = 0; k < kBits; ++k) {
    const auto choice = L::LoadChoice(lanes[k]);
    FARO_UNROLL for (int j = 0; j < (1 << kBits); ++j) {
      if ((j >> k & 1) != 0) continue;
      const auto low = lines[j];
      const auto high = lines[j | 1 << k];
      lines[j] = L::Choose(choice, high, low);
      lines[j | 1 << k] = L::Choose(choice, low, high);
    }
  }
}

template <class L>
HWY_INLINE typename L::Line FirstLine(const TileProgram& p, const std::byte* tile, std::uint64_t source,
                                      std::size_t j) {
  return L::Permute(L::Load(tile + (source ^ p.vector_sources[j])), L::LoadIndex(p.first_index[j]));
}

template <class L, StoreKind kStores>
HWY_INLINE void LastLine(const TileProgram& p, typename L::Line line, typename L::Line flip, std::byte* out,
                         std::uint64_t target, std::size_t j) {
  Put<L, kStores>(L::Permute(line, L::Xor(flip, L::LoadIndex(p.last_index[j]))),
                  out + (target ^ p.vector_targets[j]));
}

// One micro tile of 2^kBits vectors. `source` is an offset into the tile's buffer, `target` one from `out`.
template <class L, int kBits, StoreKind kStores>
HWY_INLINE void RunMicroTile(const TileProgram& p, const std::byte* tile, std::uint64_t source,
                             std::byte* out, std::uint64_t target, std::uint8_t flip_value) {
  const auto flip = L::SetIndex(flip_value);
  const ExchangeLanes* lanes = p.exchange_lanes.data();
  if constexpr (kBits <= kRoundBits) {
    constexpr std::size_t kVectors = std::size_t{1} << kBits;
    typename L::Line lines[kVectors];
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) lines[j] = FirstLine<L>(p, tile, source, j);
    Exchange<L, kBits>(lanes, lines);
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) {
      LastLine<L, kStores>(p, lines[j], flip, out, target, j);
    }
  } else {
    // More vectors than registers: the low bits first, in groups, then the others.
    constexpr int kLow = kBits / 2;
    constexpr int kHigh = kBits - kLow;
    constexpr std::size_t kLows = std::size_t{1} << kLow;
    constexpr std::size_t kHighs = std::size_t{1} << kHigh;
    alignas(kMaxVectorBytes) std::byte between[kLows * kHighs][L::kBytes];
    for (std::size_t high = 0; high < kHighs; ++high) {
      typename L::Line lines[kLows];
      FARO_UNROLL for (std::size_t low = 0; low < kLows; ++low) {
        lines[low] = FirstLine<L>(p, tile, source, high << kLow | low);
      }
      Exchange<L, kLow>(lanes, lines);
      FARO_UNROLL for (std::size_t low = 0; low < kLows; ++low) {
        L::Store(lines[low], between[high << kLow | low]);
      }
    }
    for (std::size_t low = 0; low < kLows; ++low) {
      typename L::Line lines[kHighs];
      FARO_UNROLL for (std::size_t high = 0; high < kHighs; ++high) {
        lines[high] = L::Load(between[high << kLow | low]);
      }
      Exchange<L, kHigh>(lanes + kLow, lines);
      FARO_UNROLL for (std::size_t high = 0; high < kHighs; ++high) {
        LastLine<L, kStores>(p, lines[high], flip, out, target, high << kLow | low);
      }
    }
  }
}

// Where the rows of one tile are read.
struct TileSource {
  const std::byte* array = nullptr;
  std::uint64_t block = 0;  // bytes

  const std::byte* row(const TileProgram& p, std::uint64_t r) const {
    return array + (block ^ p.source_rows[r]);
  }
};

inline TileSource SourceOf(const TileProgram& p, const std::byte* in, std::uint64_t tile) {
  const f2::Word block = tile & f2::low_mask(p.block_bits);
  return {in + (tile >> p.block_bits) * p.array_bytes, p.block_sources.at(block)};
}

template <class L>
HWY_INLINE void CopyRow(const std::byte* from, std::byte* to, std::uint64_t bytes, const std::byte* ahead) {
  if (bytes % kLineBytes == 0 && ahead != nullptr) {
    for (std::uint64_t at = 0; at < bytes; at += kLineBytes) {
      __builtin_prefetch(ahead + at, 0, 2);  // to the second level: the first is full of rows at the same sets
      for (std::uint64_t part = 0; part < kLineBytes; part += L::kBytes) {
        L::Store(L::Load(from + at + part), to + at + part);
      }
    }
  } else {
    for (std::uint64_t at = 0; at < bytes; at += L::kBytes) L::Store(L::Load(from + at), to + at);
  }
}

// Writes the rows of a staged tile.
template <class L, StoreKind kStores>
HWY_INLINE void WriteRows(const TileProgram& p, const std::byte* stage, std::byte* array, std::uint64_t target) {
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    std::byte* to = array + (target ^ p.target_rows[row]);
    const std::byte* from = stage + row * p.row_bytes;
    for (std::uint64_t at = 0; at < p.row_bytes; at += L::kBytes) Put<L, kStores>(L::Load(from + at), to + at);
  }
}

template <class L, int kBits, StoreKind kStores>
void RunRange(const TileProgram& p, TileRange range, const std::byte* in, std::byte* out, std::byte* scratch) {
  constexpr bool kStaged = L::kBytes < kLineBytes;
  constexpr StoreKind kMicroStores = kStaged ? StoreKind::cached : kStores;
  std::byte* const stage = scratch + 2 * p.tile_bytes();
  std::byte* tile_now = scratch;
  std::byte* tile_next = scratch + p.tile_bytes();
  const std::uint64_t micro_tiles = p.micro_sources.size();
  const std::uint64_t rows_ahead = std::max<std::uint64_t>(1, kLinesAhead * kLineBytes / p.row_bytes);

  TileSource next = SourceOf(p, in, range.begin);
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    CopyRow<L>(next.row(p, row), tile_now + row * p.row_bytes, p.row_bytes, nullptr);
  }
  if (range.begin + 1 < range.end) next = SourceOf(p, in, range.begin + 1);

  for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
    const bool reads = tile + 1 < range.end;
    const TileSource after = tile + 2 < range.end ? SourceOf(p, in, tile + 2) : next;
    const f2::Word block = p.block_targets.at(tile & f2::low_mask(p.block_bits));
    std::byte* const array = out + (tile >> p.block_bits) * p.array_bytes;
    const f2::Word lanes = block & p.lane_mask;
    const f2::Word kept = kStaged ? block & p.column_mask : block;
    const std::uint64_t target = (kept & ~p.lane_mask) << p.unit_shift;
    std::byte* const to = kStaged ? stage : array;

    std::uint64_t row = 0;
    for (std::uint64_t k = 0; k < micro_tiles; ++k) {
      for (; reads && row * micro_tiles <= k * p.rows && row < p.rows; ++row) {
        const std::uint64_t ahead = row + rows_ahead;
        const std::byte* const fetch = ahead < p.rows ? next.row(p, ahead) : after.row(p, ahead % p.rows);
        CopyRow<L>(next.row(p, row), tile_next + row * p.row_bytes, p.row_bytes, fetch);
      }
      RunMicroTile<L, kBits, kMicroStores>(p, tile_now, p.micro_sources[k], to, target ^ p.micro_targets[k],
                                           p.last_index_flip[lanes ^ p.micro_lanes[k]]);
    }
    for (; reads && row < p.rows; ++row) {
      CopyRow<L>(next.row(p, row), tile_next + row * p.row_bytes, p.row_bytes, after.row(p, row));
    }
    if constexpr (kStaged) {
      WriteRows<L, kStores>(p, stage, array, (block & ~p.column_mask) << p.unit_shift);
    }
    std::swap(tile_now, tile_next);
    next = after;
  }
}

template <class L, StoreKind kStores>
void RunBits(const TileProgram& p, TileRange range, const std::byte* in, std::byte* out, std::byte* scratch) {
  const auto run = [&]<int kBits>() {
    if constexpr (kBits <= L::kMaxBits) RunRange<L, kBits, kStores>(p, range, in, out, scratch);
  };
  switch (p.exchange_bits) {
    case 0: return run.template operator()<0>();
    case 1: return run.template operator()<1>();
    case 2: return run.template operator()<2>();
    case 3: return run.template operator()<3>();
    case 4: return run.template operator()<4>();
    case 5: return run.template operator()<5>();
    default: return run.template operator()<6>();
  }
}

template <class L>
void RunStores(const TileProgram& p, TileRange range, StoreKind stores, const std::byte* in, std::byte* out,
               std::byte* scratch) {
  if (stores == StoreKind::streamed) {
    RunBits<L, StoreKind::streamed>(p, range, in, out, scratch);
    hwy::FlushStream();
  } else {
    RunBits<L, StoreKind::cached>(p, range, in, out, scratch);
  }
}

void RunTiles(const TileProgram& p, TileRange range, StoreKind stores, const std::byte* in, std::byte* out,
              std::byte* scratch) {
#if FARO_HAVE_WIDE_LINES
  if (p.vector_bytes == 64) {
    switch (p.unit_bytes) {
#if HWY_TARGET == HWY_AVX3_DL
      case 1: return RunStores<WideLine<1>>(p, range, stores, in, out, scratch);
#endif
      case 2: return RunStores<WideLine<2>>(p, range, stores, in, out, scratch);
      case 4: return RunStores<WideLine<4>>(p, range, stores, in, out, scratch);
      default: return RunStores<WideLine<8>>(p, range, stores, in, out, scratch);
    }
  }
#endif
  RunStores<BlockLine>(p, range, stores, in, out, scratch);
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

std::uint64_t scratch_bytes(const TileProgram& program) {
  return (program.staged ? 3 : 2) * std::max<std::uint64_t>(program.tile_bytes(), 64);
}

void run_tiles(const TileProgram& program, TileRange range, StoreKind stores, const std::byte* in,
               std::byte* out, std::byte* scratch) {
  if (range.begin >= range.end) return;
  HWY_DYNAMIC_DISPATCH(RunTiles)(program, range, stores, in, out, scratch);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
