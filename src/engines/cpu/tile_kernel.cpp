// Tiles flow through a pair of buffers: while the vectors of one tile are exchanged and written, the rows of
// the next are read, a row at a time between micro tiles, and rows a little further on are prefetched into
// the second-level cache.
//
//     memory --rows--> next tile's buffer          (loads, prefetched kLinesAhead lines ahead)
//     this tile's buffer --registers--> memory     (micro tiles: permute, exchange, permute, store)
//
// Rows at power-of-two strides share cache sets, so only a few rows may be on their way at once: prefetching
// a whole tile ahead evicts itself.
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

// Step 2 of micro_tile.hpp over kBits bits of the vector number: lane by lane, vectors j and j ^ 2^k change
// places.
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

// The tables of a micro tile as plain pointers. A stored byte may alias anything, a vector's own pointer
// included, so that the loops below would otherwise fetch every pointer again after every store.
struct MicroTables {
  explicit MicroTables(const TileProgram& p)
      : sources(p.vector_sources.data()),
        targets(p.vector_targets.data()),
        first(p.first_index.data()),
        last(p.last_index.data()),
        lanes(p.exchange_lanes.data()) {}

  const std::uint64_t* sources;
  const std::uint64_t* targets;
  const RegisterImage* first;
  const RegisterImage* last;
  const ExchangeLanes* lanes;
};

template <class L>
HWY_INLINE typename L::Line FirstLine(const MicroTables& t, const std::byte* tile, std::uint64_t source,
                                      std::size_t j) {
  return L::Permute(L::Load(tile + (source ^ t.sources[j])), L::LoadIndex(t.first[j]));
}

template <class L, StoreKind kStores>
HWY_INLINE void LastLine(const MicroTables& t, typename L::Line line, typename L::Line flip, std::byte* out,
                         std::uint64_t target, std::size_t j) {
  Put<L, kStores>(L::Permute(line, L::Xor(flip, L::LoadIndex(t.last[j]))), out + (target ^ t.targets[j]));
}

// One micro tile of 2^kBits vectors. `source` is an offset into the tile's buffer, `target` one from `out`.
template <class L, int kBits, StoreKind kStores>
HWY_INLINE void RunMicroTile(const MicroTables& t, const std::byte* tile, std::uint64_t source,
                             std::byte* out, std::uint64_t target, std::uint8_t flip_value) {
  const auto flip = L::SetIndex(flip_value);
  if constexpr (kBits <= kRoundBits) {
    constexpr std::size_t kVectors = std::size_t{1} << kBits;
    typename L::Line lines[kVectors];
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) lines[j] = FirstLine<L>(t, tile, source, j);
    Exchange<L, kBits>(t.lanes, lines);
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) {
      LastLine<L, kStores>(t, lines[j], flip, out, target, j);
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
        lines[low] = FirstLine<L>(t, tile, source, high << kLow | low);
      }
      Exchange<L, kLow>(t.lanes, lines);
      FARO_UNROLL for (std::size_t low = 0; low < kLows; ++low) {
        L::Store(lines[low], between[high << kLow | low]);
      }
    }
    for (std::size_t low = 0; low < kLows; ++low) {
      typename L::Line lines[kHighs];
      FARO_UNROLL for (std::size_t high = 0; high < kHighs; ++high) {
        lines[high] = L::Load(between[high << kLow | low]);
      }
      Exchange<L, kHigh>(t.lanes + kLow, lines);
      FARO_UNROLL for (std::size_t high = 0; high < kHighs; ++high) {
        LastLine<L, kStores>(t, lines[high], flip, out, target, high << kLow | low);
      }
    }
  }
}

// Where the rows of one tile are read.
struct TileSource {
  const std::byte* array = nullptr;
  std::uint64_t block = 0;  // bytes

  const std::byte* row(const std::uint64_t* rows, std::uint64_t r) const { return array + (block ^ rows[r]); }
};

inline TileSource SourceOf(const TileProgram& p, const std::byte* in, std::uint64_t tile) {
  const f2::Word block = tile & f2::low_mask(p.block_bits);
  return {in + (tile >> p.block_bits) * p.array_bytes, p.block_sources.at(block)};
}

// Copies a row into the tile's buffer; `ahead`, where there is one, is a row to be read a little later.
template <class L>
HWY_INLINE void CopyRow(const std::byte* from, std::byte* to, std::uint64_t bytes, const std::byte* ahead) {
  if (bytes % kLineBytes != 0) {
    for (std::uint64_t at = 0; at < bytes; at += L::kBytes) L::Store(L::Load(from + at), to + at);
    return;
  }
  for (std::uint64_t line = 0; line < bytes; line += kLineBytes) {
    // To the second level: rows at power-of-two strides crowd the same sets of the first.
    if (ahead != nullptr) __builtin_prefetch(ahead + line, 0, 2);
    FARO_UNROLL for (std::uint64_t part = 0; part < kLineBytes; part += L::kBytes) {
      L::Store(L::Load(from + line + part), to + line + part);
    }
  }
}

// Writes the rows of a staged tile.
template <class L, StoreKind kStores>
HWY_INLINE void WriteRows(const TileProgram& p, const std::byte* stage, std::byte* array,
                          std::uint64_t target) {
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    std::byte* to = array + (target ^ p.target_rows[row]);
    const std::byte* from = stage + row * p.row_bytes;
    for (std::uint64_t at = 0; at < p.row_bytes; at += L::kBytes)
      Put<L, kStores>(L::Load(from + at), to + at);
  }
}

template <class L, int kBits, StoreKind kStores>
void RunRange(const TileProgram& p, TileRange range, const std::byte* in, std::byte* out,
              std::byte* scratch) {
  constexpr bool kStaged = L::kBytes < kLineBytes;
  constexpr bool kPrefetch = kStores == StoreKind::streamed;
  constexpr StoreKind kMicroStores = kStaged ? StoreKind::cached : kStores;
  const MicroTables tables(p);
  const std::uint64_t* const source_rows = p.source_rows.data();
  const std::uint64_t* const micro_sources = p.micro_sources.data();
  const std::uint64_t* const micro_targets = p.micro_targets.data();
  const std::uint8_t* const micro_lanes = p.micro_lanes.data();
  const std::uint8_t* const index_flip = p.last_index_flip.data();
  const std::uint64_t micro_tiles = p.micro_sources.size();
  const std::uint64_t rows = p.rows;
  const std::uint64_t row_bytes = p.row_bytes;
  const std::uint64_t rows_ahead = std::max<std::uint64_t>(1, kLinesAhead * kLineBytes / row_bytes);

  std::byte* const stage = scratch + 2 * p.tile_bytes();
  std::byte* tile_now = scratch;
  std::byte* tile_next = scratch + p.tile_bytes();

  TileSource next = SourceOf(p, in, range.begin);
  for (std::uint64_t row = 0; row < rows; ++row) {
    CopyRow<L>(next.row(source_rows, row), tile_now + row * row_bytes, row_bytes, nullptr);
  }
  if (range.begin + 1 < range.end) next = SourceOf(p, in, range.begin + 1);

  for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
    const TileSource after = tile + 2 < range.end ? SourceOf(p, in, tile + 2) : next;
    const std::uint64_t rows_to_read = tile + 1 < range.end ? rows : 0;
    std::uint64_t row = 0;
    const auto read_row = [&]() HWY_ATTR {
      const std::byte* fetch = nullptr;
      if constexpr (kPrefetch) {
        const std::uint64_t ahead = row + rows_ahead;
        fetch = ahead < rows ? next.row(source_rows, ahead) : after.row(source_rows, ahead % rows);
      }
      CopyRow<L>(next.row(source_rows, row), tile_next + row * row_bytes, row_bytes, fetch);
      ++row;
    };

    const f2::Word block = p.block_targets.at(tile & f2::low_mask(p.block_bits));
    std::byte* const array = out + (tile >> p.block_bits) * p.array_bytes;
    const f2::Word lanes = block & p.lane_mask;
    const f2::Word kept = kStaged ? block & p.column_mask : block;
    const std::uint64_t target = (kept & ~p.lane_mask) << p.unit_shift;
    std::byte* const to = kStaged ? stage : array;
    // Rows are read evenly between the micro tiles, so that memory is read and written all the time.
    std::uint64_t due = 0;
    for (std::uint64_t k = 0; k < micro_tiles; ++k) {
      for (due += rows_to_read; due >= micro_tiles; due -= micro_tiles) read_row();
      RunMicroTile<L, kBits, kMicroStores>(tables, tile_now, micro_sources[k], to, target ^ micro_targets[k],
                                           index_flip[lanes ^ micro_lanes[k]]);
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
      case 1:
        return RunStores<WideLine<1>>(p, range, stores, in, out, scratch);
#endif
      case 2:
        return RunStores<WideLine<2>>(p, range, stores, in, out, scratch);
      case 4:
        return RunStores<WideLine<4>>(p, range, stores, in, out, scratch);
      default:
        return RunStores<WideLine<8>>(p, range, stores, in, out, scratch);
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
