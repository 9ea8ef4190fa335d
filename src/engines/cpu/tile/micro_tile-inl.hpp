// A micro tile (micro_tile.hpp) in the registers of the target being compiled: lines in, three steps, lines
// out.
#if defined(FARO_MICRO_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_MICRO_TILE_INL_HPP
#undef FARO_MICRO_TILE_INL_HPP
#else
#define FARO_MICRO_TILE_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// Whether the program's micro tiles are run two at a time: there are two, and rows that a register writes.
HWY_INLINE bool InPairs(const TileProgram& p) {
  return FARO_HAVE_BLOCK_PAIRS && p.vector_bytes == 16 && p.micro_sources.size() > 1 && p.row_bytes >= 32;
}

template <class L, StoreKind kStores>
HWY_INLINE void Put(typename L::Line line, std::byte* to) {
  if constexpr (kStores == StoreKind::streamed) {
    L::Stream(line, to);
  } else {
    L::Store(line, to);
  }
}

// Step 2 of micro_tile.hpp over kBits bits of the vector number, from bit kBit on: lane by lane, vectors j
// and j ^ 2^k change places. A loop over k would keep its lines in memory: compilers unroll only the inner.
template <class L, int kBits, int kBit = 0>
HWY_INLINE void Exchange(const ExchangeLanes* lanes, typename L::Line* lines) {
  if constexpr (kBit < kBits) {
    const auto choice = L::LoadChoice(lanes[kBit]);
    FARO_UNROLL for (int pair = 0; pair < (1 << kBits) / 2; ++pair) {
      constexpr int kBelow = (1 << kBit) - 1;
      const int j = (pair & ~kBelow) << 1 | (pair & kBelow);
      const auto low = lines[j];
      const auto high = lines[j | 1 << kBit];
      lines[j] = L::Choose(choice, high, low);
      lines[j | 1 << kBit] = L::Choose(choice, low, high);
    }
    Exchange<L, kBits, kBit + 1>(lanes, lines);
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
        lanes(p.exchange_lanes.data()),
        micro_sources(p.micro_sources.data()),
        micro_targets(p.micro_targets.data()),
        micro_lanes(p.micro_lanes.data()),
        flips(p.last_index_flip.data()) {}

  const std::uint64_t* sources;
  const std::uint64_t* targets;
  const RegisterImage* first;
  const RegisterImage* last;
  const ExchangeLanes* lanes;
  const std::uint64_t* micro_sources;
  const std::uint64_t* micro_targets;
  const std::uint8_t* micro_lanes;
  const std::uint8_t* flips;
};

// Where the micro tiles of a register lie, as offsets from the input and the output, and what is XORed onto
// their last index.
template <class L>
struct MicroPlaces {
  std::uint64_t source[L::kTiles];
  std::uint64_t target[L::kTiles];
  typename L::Line flip;
};

// Micro tiles k, k + 1, ... of a tile that is read at `source` and written at `target`; `lanes` are the lane
// bits of its target.
template <class L>
HWY_INLINE MicroPlaces<L> PlacesOf(const MicroTables& t, std::uint64_t k, std::uint64_t source,
                                   std::uint64_t target, f2::Word lanes) {
  const auto source_of = [&](std::uint64_t m) { return source ^ t.micro_sources[m]; };
  const auto target_of = [&](std::uint64_t m) { return target ^ t.micro_targets[m]; };
  const auto flip_of = [&](std::uint64_t m) { return t.flips[lanes ^ t.micro_lanes[m]]; };
  if constexpr (L::kTiles == 1) {
    return {{source_of(k)}, {target_of(k)}, L::SetIndex(flip_of(k))};
  } else {
    return {{source_of(k), source_of(k + 1)},
            {target_of(k), target_of(k + 1)},
            L::SetIndex(flip_of(k), flip_of(k + 1))};
  }
}

template <class L>
HWY_INLINE typename L::Line FirstLine(const MicroTables& t, const std::byte* in, const MicroPlaces<L>& at,
                                      std::size_t j) {
  const auto index = L::LoadIndex(t.first[j]);
  if constexpr (L::kTiles == 1) {
    return L::Permute(L::Load(in + (at.source[0] ^ t.sources[j])), index);
  } else {
    return L::Permute(L::Load(in + (at.source[0] ^ t.sources[j]), in + (at.source[1] ^ t.sources[j])), index);
  }
}

// Where the lines of a micro tile go: to memory; to a buffer, in their order; or to memory together with
// those of the micro tile in the buffer, each of which is the other half of 128 bytes.
template <class L, StoreKind kStores>
struct ToMemory {
  std::byte* out;
  HWY_INLINE void Take(typename L::Line line, const MicroPlaces<L>& at, std::uint64_t target,
                       std::size_t /*j*/) const {
    if constexpr (L::kTiles == 1) {
      Put<L, kStores>(line, out + (at.target[0] ^ target));
    } else {
      static_assert(kStores == StoreKind::cached, "halves of lines are staged");
      L::Store(line, out + (at.target[0] ^ target), out + (at.target[1] ^ target));
    }
  }
};

template <class L>
struct ToBuffer {
  std::byte* lines;
  HWY_INLINE void Take(typename L::Line line, const MicroPlaces<L>& /*at*/, std::uint64_t /*target*/,
                       std::size_t j) const {
    L::Store(line, lines + j * L::kBytes);
  }
};

template <class L>
struct WithBuffer {
  const std::byte* lines;
  std::byte* out;
  HWY_INLINE void Take(typename L::Line line, const MicroPlaces<L>& at, std::uint64_t target,
                       std::size_t j) const {
    std::byte* const to = out + (at.target[0] ^ target);
    L::Stream(L::Load(lines + j * L::kBytes), out + (at.target[0] ^ kLineBytes ^ target));
    L::Stream(line, to);
  }
};

template <class L, class Sink>
HWY_INLINE void LastLine(const MicroTables& t, typename L::Line line, const Sink& sink,
                         const MicroPlaces<L>& at, std::size_t j) {
  sink.Take(L::Permute(line, L::Xor(at.flip, L::LoadIndex(t.last[j]))), at, t.targets[j], j);
}

// As many micro tiles of 2^kBits vectors as a register holds.
template <class L, int kBits, class Sink>
HWY_INLINE void RunMicroTile(const MicroTables& t, const std::byte* in, const Sink& sink,
                             const MicroPlaces<L>& at) {
  if constexpr (kBits <= L::kRoundBits) {
    constexpr std::size_t kVectors = std::size_t{1} << kBits;
    typename L::Line lines[kVectors];
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) lines[j] = FirstLine<L>(t, in, at, j);
    Exchange<L, kBits>(t.lanes, lines);
    FARO_UNROLL for (std::size_t j = 0; j < kVectors; ++j) LastLine<L>(t, lines[j], sink, at, j);
  } else {
    // More vectors than registers: the low bits first, in groups, then the others.
    constexpr int kLow = kBits / 2;
    constexpr int kHigh = kBits - kLow;
    constexpr std::size_t kLows = std::size_t{1} << kLow;
    constexpr std::size_t kHighs = std::size_t{1} << kHigh;
    alignas(kMaxVectorBytes) std::byte between[kLows * kHighs][L::kTiles * L::kBytes];
    for (std::size_t high = 0; high < kHighs; ++high) {
      typename L::Line lines[kLows];
      FARO_UNROLL for (std::size_t low = 0; low < kLows; ++low) {
        lines[low] = FirstLine<L>(t, in, at, high << kLow | low);
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
        LastLine<L>(t, lines[high], sink, at, high << kLow | low);
      }
    }
  }
}

// A tile in steps of some micro tiles, which read as many lines as are asked for meanwhile, some way ahead:
// asked for all at once, lines would wait for each other, and nothing else be done. All powers of two. Lines
// of 8-byte units in one register each are moved as fast as they come, and asked for all at once: an Intel
// with AVX-512 takes 6 to 12 points less for the other way, a Zen 4 as long (docs/notes/cpu-experiments.md).
struct FetchSteps {
  // A step is so many lines that its loop costs nothing beside them.
  static constexpr std::uint64_t kLeastLines = 4;

  FetchSteps(const TileProgram& p, std::uint64_t micro_tiles_at_once, bool all_at_once = false) {
    const std::uint64_t turns = p.micro_sources.size() / micro_tiles_at_once;
    const std::uint64_t all = p.source_lines.size() >> p.group_bits;
    lines = all_at_once ? all : std::min(all, std::max(kLeastLines, all / turns));
    micro_tiles = p.micro_sources.size() * lines / all;
  }

  std::uint64_t lines;
  std::uint64_t micro_tiles;
};

// Asks for the lines of the tiles ahead. `Cursor` gives these: done(), source(line) and advance().
template <class Cursor>
class LineFetcher {
 public:
  LineFetcher(const TileProgram& p, FetchSteps steps, Cursor ahead, std::uint64_t lines_ahead)
      : ahead_(ahead), lines_(p.source_lines.data()), count_(p.source_lines.size()), step_(steps.lines) {
    for (std::uint64_t line = 0; line < lines_ahead; line += step_) step();
  }

  void step() {
    if (ahead_.done()) return;
    for (std::uint64_t line = 0; line < step_; ++line) {
      // To the second level: rows at power-of-two strides crowd the same sets of the first.
      __builtin_prefetch(ahead_.source(lines_[next_ + line]), 0, 2);
    }
    next_ += step_;
    if (next_ != count_) return;
    next_ = 0;
    ahead_.advance();
  }

 private:
  Cursor ahead_;
  const std::uint64_t* lines_;
  std::uint64_t count_;
  std::uint64_t step_;
  std::uint64_t next_ = 0;
};

// The tiles of a range, for a LineFetcher.
class SourceCursor {
 public:
  SourceCursor(const TileProgram& p, TileRange range, const std::byte* in)
      : group_(std::uint64_t{1} << p.group_bits),
        cursor_(p.block_sources, p.block_bits, p.array_bytes, range.begin / group_ * group_),
        in_(in),
        left_(range.end == 0 ? 0 : (range.end - 1) / group_ + 1 - range.begin / group_) {}

  bool done() const { return left_ == 0; }
  const std::byte* source(std::uint64_t line) const {
    return in_ + cursor_.array() + (cursor_.value() ^ line);
  }
  void advance() {
    for (std::uint64_t tile = 0; tile < group_; ++tile) cursor_.advance();
    --left_;
  }

 private:
  std::uint64_t group_;  // tiles
  TileCursor cursor_;
  const std::byte* in_;
  std::uint64_t left_;  // groups
};

// All micro tiles of a tile that is read at `source` and written at `target`; `lanes` are the lane bits of
// its target. between() is called before every step of them.
template <class L, int kBits, StoreKind kStores, typename Between>
HWY_INLINE void RunMicroTiles(const TileProgram& p, const MicroTables& t, std::uint64_t per_step,
                              const std::byte* in, std::uint64_t source, std::byte* out, std::uint64_t target,
                              f2::Word lanes, const Between& between) {
  const std::uint64_t micro_tiles = p.micro_sources.size();
  for (std::uint64_t k = 0; k < micro_tiles;) {
    between();
    for (const std::uint64_t end = k + per_step; k < end; k += L::kTiles) {
      RunMicroTile<L, kBits>(t, in, ToMemory<L, kStores>{out}, PlacesOf<L>(t, k, source, target, lanes));
    }
  }
}

// The same where micro tiles write halves of 128 bytes by turns: both at once, past the caches.
template <class L, int kBits, typename Between>
HWY_INLINE void RunMicroPairs(const TileProgram& p, const MicroTables& t, std::uint64_t per_step,
                              const std::byte* in, std::uint64_t source, std::byte* out, std::uint64_t target,
                              f2::Word lanes, const Between& between) {
  alignas(kMaxVectorBytes) std::byte held[L::kBytes << kBits];
  const std::uint64_t micro_tiles = p.micro_sources.size();
  for (std::uint64_t k = 0; k < micro_tiles; k += 2) {
    if (k % per_step == 0) between();
    RunMicroTile<L, kBits>(t, in, ToBuffer<L>{held}, PlacesOf<L>(t, k, source, target, lanes));
    if (per_step == 1) between();
    RunMicroTile<L, kBits>(t, in, WithBuffer<L>{held, out}, PlacesOf<L>(t, k + 1, source, target, lanes));
  }
}

// Permutes the tile that starts at `source`, whose target is `block` in units, into `stage`: its target's
// rows one after another.
template <class L, int kBits, typename Between>
HWY_INLINE void FillStage(const TileProgram& p, const MicroTables& t, std::uint64_t per_step,
                          const std::byte* array, std::uint64_t source, f2::Word block, std::byte* stage,
                          const Between& between) {
  const std::uint64_t place = (block & p.column_mask & ~p.lane_mask) << p.unit_shift;
  RunMicroTiles<L, kBits, StoreKind::cached>(p, t, per_step, array, source, stage, place, block & p.lane_mask,
                                             between);
}

// Permutes it from memory to memory.
template <class L, int kBits, StoreKind kStores, typename Between>
HWY_INLINE void MoveStraight(const TileProgram& p, const MicroTables& t, std::uint64_t per_step,
                             const std::byte* in, std::uint64_t source, f2::Word block, std::byte* out,
                             const Between& between) {
  const std::uint64_t place = (block & ~p.lane_mask) << p.unit_shift;
  if constexpr (kStores == StoreKind::streamed && L::kBytes == kLineBytes) {
    if (p.writes_pairs)
      return RunMicroPairs<L, kBits>(p, t, per_step, in, source, out, place, block & p.lane_mask, between);
  }
  RunMicroTiles<L, kBits, kStores>(p, t, per_step, in, source, out, place, block & p.lane_mask, between);
}

// Writes the rows of a staged tile.
template <class L, StoreKind kStores>
HWY_INLINE void WriteRows(const TileProgram& p, const std::byte* stage, std::byte* array,
                          std::uint64_t target) {
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    std::byte* const to = array + (target ^ p.target_rows[row]);
    const std::byte* const from = stage + row * p.row_bytes;
    for (std::uint64_t at = 0; at < p.row_bytes; at += L::kTiles * L::kBytes)
      Put<L, kStores>(L::Load(from + at), to + at);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_MICRO_TILE_INL_HPP
