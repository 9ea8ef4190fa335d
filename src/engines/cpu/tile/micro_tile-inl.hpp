// A micro tile (micro_tile.hpp) in the registers of the target being compiled: lines in, three steps, lines
// out.
#if defined(FARO_MICRO_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_MICRO_TILE_INL_HPP
#undef FARO_MICRO_TILE_INL_HPP
#else
#define FARO_MICRO_TILE_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include "engines/cpu/tile/kernel.hpp"
#include "engines/cpu/tile/program.hpp"
#include "engines/cpu/tile/register_line-inl.hpp"
#include "hwy/highway.h"

#ifndef FARO_UNROLL
#if defined(__clang__)
#define FARO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FARO_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

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
HWY_INLINE typename L::Line FirstLine(const MicroTables& t, const std::byte* in, std::uint64_t source,
                                      std::size_t j) {
  return L::Permute(L::Load(in + (source ^ t.sources[j])), L::LoadIndex(t.first[j]));
}

template <class L, StoreKind kStores>
HWY_INLINE void LastLine(const MicroTables& t, typename L::Line line, typename L::Line flip, std::byte* out,
                         std::uint64_t target, std::size_t j) {
  Put<L, kStores>(L::Permute(line, L::Xor(flip, L::LoadIndex(t.last[j]))), out + (target ^ t.targets[j]));
}

// One micro tile of 2^kBits vectors; `source` and `target` are offsets from `in` and `out`.
template <class L, int kBits, StoreKind kStores>
HWY_INLINE void RunMicroTile(const MicroTables& t, const std::byte* in, std::uint64_t source, std::byte* out,
                             std::uint64_t target, std::uint8_t flip_value) {
  const auto flip = L::SetIndex(flip_value);
  if constexpr (kBits <= kRoundBits) {
    constexpr std::size_t kVectors = std::size_t{1} << kBits;
    typename L::Line lines[kVectors];
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) lines[j] = FirstLine<L>(t, in, source, j);
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
        lines[low] = FirstLine<L>(t, in, source, high << kLow | low);
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

// Permutes the tile that starts at `source`, whose target is `block` in units, into `stage`: its target's
// rows one after another.
template <class L, int kBits>
HWY_INLINE void FillStage(const TileProgram& p, const MicroTables& t, const std::byte* array,
                          std::uint64_t source, f2::Word block, std::byte* stage) {
  const std::uint64_t* const micro_sources = p.micro_sources.data();
  const std::uint64_t* const micro_targets = p.micro_targets.data();
  const std::uint8_t* const micro_lanes = p.micro_lanes.data();
  const std::uint8_t* const index_flip = p.last_index_flip.data();
  const std::uint64_t micro_tiles = p.micro_sources.size();
  const f2::Word lanes = block & p.lane_mask;
  const std::uint64_t place = (block & p.column_mask & ~p.lane_mask) << p.unit_shift;
  for (std::uint64_t k = 0; k < micro_tiles; ++k) {
    RunMicroTile<L, kBits, StoreKind::cached>(t, array, source ^ micro_sources[k], stage,
                                              place ^ micro_targets[k], index_flip[lanes ^ micro_lanes[k]]);
  }
}

// Writes the rows of a staged tile.
template <class L, StoreKind kStores>
HWY_INLINE void WriteRows(const TileProgram& p, const std::byte* stage, std::byte* array,
                          std::uint64_t target) {
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    std::byte* const to = array + (target ^ p.target_rows[row]);
    const std::byte* const from = stage + row * p.row_bytes;
    for (std::uint64_t at = 0; at < p.row_bytes; at += L::kBytes)
      Put<L, kStores>(L::Load(from + at), to + at);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_MICRO_TILE_INL_HPP
