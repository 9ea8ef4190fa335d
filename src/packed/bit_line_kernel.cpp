// The inner loop of bit_lines.hpp. In three phases over a buffer of 2^q lines, each of which exchanges some
// bits of the lines' number in registers:
//
//     load     lines of memory, step 1, the low bits
//     between  the middle bits, where q is more than two rounds
//     last     the high bits, step 3, lines to memory
#include "packed/bit_lines.hpp"

#define HWY_WANT_AVX3_DL
#include "hwy/highway.h"
#include "hwy/targets.h"

#if HWY_ARCH_X86_64 && (HWY_TARGETS & HWY_AVX3_DL)
#define FARO_HAVE_BIT_LINES 1
#include <immintrin.h>
#else
#define FARO_HAVE_BIT_LINES 0
#endif

namespace faro::packed {

#if FARO_HAVE_BIT_LINES

#if defined(__clang__)
#define FARO_UNROLL_LINES _Pragma("clang loop unroll(full)")
#else
#define FARO_UNROLL_LINES _Pragma("GCC unroll 32")
#endif

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")
namespace bit_lines {

using Line = __m512i;

HWY_INLINE Line Load(const void* from) { return _mm512_loadu_si512(from); }

// With a mask, for without one GCC warns of what the result's register was before.
HWY_INLINE Line Permuted(Line index, Line line) {
  return _mm512_maskz_permutexvar_epi8(~__mmask64{0}, index, line);
}

template <bool kStreamed>
HWY_INLINE void Store(Line line, std::byte* to) {
  if constexpr (kStreamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  } else {
    _mm512_storeu_si512(to, line);
  }
}

// Lines i and i + 2^k exchange bits, of kBits bits k.
template <int kBits, int kBit = 0>
HWY_INLINE void Exchange(const LineImage* masks, Line* lines) {
  if constexpr (kBit < kBits) {
    constexpr int kSelect = 0xca;  // mask ? a : b
    const Line mask = Load(masks + kBit);
    FARO_UNROLL_LINES
    for (int pair = 0; pair < (1 << kBits) / 2; ++pair) {
      constexpr int kBelow = (1 << kBit) - 1;
      const int i = (pair & ~kBelow) << 1 | (pair & kBelow);
      const Line low = lines[i];
      const Line high = lines[i | 1 << kBit];
      lines[i] = _mm512_ternarylogic_epi64(mask, high, low, kSelect);
      lines[i | 1 << kBit] = _mm512_ternarylogic_epi64(mask, low, high, kSelect);
    }
    Exchange<kBits, kBit + 1>(masks, lines);
  }
}

// Asks for lines of the tiles that come next, row by row.
class Fetcher {
 public:
  explicit Fetcher(const BitLines& p) : rows_(p.fetched_rows), lines_(p.fetched_lines) {}

  void Begin(const std::byte* base_array, std::uint64_t base) {
    array_ = base_array;
    base_ = base;
    row_ = 0;
    line_ = 0;
  }
  void End() { row_ = rows_.size(); }

  // Half the lines of 2^kBits, for what is loaded is stored as well, and the memory is to do both at once.
  template <int kBits>
  HWY_INLINE void Step() {
    constexpr int kLines = ((1 << kBits) + 1) / 2;
    for (int i = 0; i < kLines && row_ < rows_.size(); ++i) {
      __builtin_prefetch(array_ + (base_ ^ rows_[row_] ^ lines_[line_]), 0, 2);
      if (++line_ != lines_.size()) continue;
      line_ = 0;
      ++row_;
    }
  }

 private:
  const std::vector<std::uint64_t>& rows_;
  const std::vector<std::uint64_t>& lines_;
  const std::byte* array_ = nullptr;
  std::uint64_t base_ = 0;
  std::uint64_t row_ = ~std::uint64_t{0};
  std::uint64_t line_ = 0;
};

template <int kBits, bool kTurns>
void LoadLines(const BitLines& p, const std::byte* in, std::uint64_t source, LineImage* to,
               Fetcher& fetcher) {
  alignas(kLineSize) static constexpr LineImage kIota = [] {
    LineImage iota;
    for (unsigned i = 0; i < kLineSize; ++i) iota.bytes[i] = static_cast<std::uint8_t>(i);
    return iota;
  }();
  const Line iota = Load(&kIota);
  const std::uint64_t* const sources = p.line_sources.data();
  const std::uint32_t* const bytes = p.first_bytes.data();
  const std::uint64_t* const matrices = p.first_matrices.data();
  const LineImage* const masks = p.exchange_masks.data();
  const std::uint64_t count = std::uint64_t{1} << p.exchange_bits;
  for (std::uint64_t first = 0; first < count; first += std::uint64_t{1} << kBits) {
    fetcher.Step<kBits>();
    Line lines[1 << kBits];
    FARO_UNROLL_LINES
    for (int i = 0; i < 1 << kBits; ++i) {
      const std::uint64_t j = first + static_cast<std::uint64_t>(i);
      Line line = Load(in + (source ^ sources[j]));
      if constexpr (kTurns) {
        const Line index = _mm512_xor_si512(iota, _mm512_set1_epi32(static_cast<int>(bytes[j])));
        line = Permuted(index, line);
        line = _mm512_gf2p8affine_epi64_epi8(line, _mm512_set1_epi64(static_cast<long long>(matrices[j])), 0);
      }
      lines[i] = line;
    }
    Exchange<kBits>(masks, lines);
    FARO_UNROLL_LINES
    for (int i = 0; i < 1 << kBits; ++i) _mm512_store_si512(to + first + i, lines[i]);
  }
}

// Bits first .. first + kBits - 1 of the lines' number.
template <int kBits>
void ExchangeLines(const BitLines& p, int first, LineImage* data) {
  const std::uint64_t step = std::uint64_t{1} << first;
  const std::uint64_t count = std::uint64_t{1} << p.exchange_bits;
  for (std::uint64_t high = 0; high < count; high += step << kBits) {
    for (std::uint64_t low = 0; low < step; ++low) {
      LineImage* const at = data + high + low;
      Line lines[1 << kBits];
      FARO_UNROLL_LINES
      for (int i = 0; i < 1 << kBits; ++i) lines[i] = Load(at + static_cast<std::uint64_t>(i) * step);
      Exchange<kBits>(p.exchange_masks.data() + first, lines);
      FARO_UNROLL_LINES
      for (int i = 0; i < 1 << kBits; ++i)
        _mm512_store_si512(at + static_cast<std::uint64_t>(i) * step, lines[i]);
    }
  }
}

// Step 3 for the lines of a micro tile.
template <LineTurn::Kind kKind>
class Turner {
 public:
  Turner(const BitLines& p, std::uint64_t lanes)
      : flips_(p.last_flips.data()), matrices_(p.matrices), lanes_(p.place_flips[lanes]) {
    last_ = Flipped(Load(&p.turn.last), lanes_.outer);
    if constexpr (kKind == LineTurn::Kind::bytes) return;
    first_ = Load(&p.turn.first);
    second_ = Load(&p.turn.second);
    units_ = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
    if constexpr (kKind == LineTurn::Kind::squares) {
      second_ = Flipped(second_, lanes_.inner);
    } else {
      shear_ = Load(&p.turn.shear);
      third_ = Flipped(Load(&p.turn.third), lanes_.inner);
    }
  }

  HWY_INLINE Line operator()(Line line, std::uint64_t j) const {
    const TurnFlip& flip = flips_[j];
    if constexpr (kKind == LineTurn::Kind::bytes) {
      const std::uint64_t matrix = matrices_[lanes_.inner ^ flip.inner];
      line = _mm512_gf2p8affine_epi64_epi8(line, _mm512_set1_epi64(static_cast<long long>(matrix)), 0);
    } else {
      line = Squares(Permuted(first_, line));
      if constexpr (kKind == LineTurn::Kind::sheared) {
        line = _mm512_gf2p8affine_epi64_epi8(Permuted(second_, line), shear_, 0);
        line = Permuted(Flipped(third_, flip.inner), line);
      } else {
        line = Permuted(Flipped(second_, flip.inner), line);
      }
      line = Squares(line);
    }
    return Permuted(Flipped(last_, flip.outer), line);
  }

 private:
  static HWY_INLINE Line Flipped(Line index, std::uint32_t flip) {
    return _mm512_xor_si512(index, _mm512_set1_epi32(static_cast<int>(flip)));
  }
  // Each 8 bytes as a matrix, whose columns are what it makes of unit vectors.
  HWY_INLINE Line Squares(Line line) const { return _mm512_gf2p8affine_epi64_epi8(units_, line, 0); }

  const TurnFlip* flips_;
  const std::uint64_t* matrices_;
  TurnFlip lanes_;
  Line first_;
  Line second_;
  Line shear_;
  Line third_;
  Line last_;
  Line units_;
};

template <int kBits>
HWY_INLINE void LastExchange(const BitLines& p, const LineImage* data, std::uint64_t low, Line* lines) {
  const int shift = p.exchange_bits - kBits;
  FARO_UNROLL_LINES
  for (int i = 0; i < 1 << kBits; ++i) lines[i] = Load(data + low + (static_cast<std::uint64_t>(i) << shift));
  Exchange<kBits>(p.exchange_masks.data() + shift, lines);
}

template <int kBits, LineTurn::Kind kKind, bool kStreamed>
void StoreLines(const BitLines& p, const LineImage* data, std::uint64_t lanes, std::byte* out,
                std::uint64_t target, Fetcher& fetcher) {
  const Turner<kKind> turned(p, lanes);
  const std::uint64_t* const targets = p.line_targets.data();
  const int shift = p.exchange_bits - kBits;
  for (std::uint64_t low = 0; low < std::uint64_t{1} << shift; ++low) {
    fetcher.Step<kBits>();
    Line lines[1 << kBits];
    LastExchange<kBits>(p, data, low, lines);
    FARO_UNROLL_LINES
    for (int i = 0; i < 1 << kBits; ++i) {
      const std::uint64_t j = low + (static_cast<std::uint64_t>(i) << shift);
      Store<kStreamed>(turned(lines[i], j), out + (target ^ targets[j]));
    }
  }
}

using Loading = void (*)(const BitLines&, const std::byte*, std::uint64_t, LineImage*, Fetcher&);
using Between = void (*)(const BitLines&, int, LineImage*);
using Storing = void (*)(const BitLines&, const LineImage*, std::uint64_t, std::byte*, std::uint64_t,
                         Fetcher&);

template <bool kTurns>
Loading LoadingOf(int bits) {
  constexpr Loading kAll[] = {LoadLines<0, kTurns>, LoadLines<1, kTurns>, LoadLines<2, kTurns>,
                              LoadLines<3, kTurns>, LoadLines<4, kTurns>, LoadLines<5, kTurns>};
  return kAll[bits];
}

template <LineTurn::Kind kKind, bool kStreamed>
Storing StoringOf(int bits) {
  constexpr Storing kAll[] = {StoreLines<0, kKind, kStreamed>, StoreLines<1, kKind, kStreamed>,
                              StoreLines<2, kKind, kStreamed>, StoreLines<3, kKind, kStreamed>,
                              StoreLines<4, kKind, kStreamed>};
  return kAll[bits];
}

struct Rounds {
  int first = 0;
  int between = 0;
  int last = 0;
};
Rounds RoundsOf(int bits) {
  if (bits <= 4) return {.first = bits};
  if (bits <= 8) return {.first = bits - bits / 2, .last = bits / 2};
  return {.first = bits / 3, .between = bits - 2 * (bits / 3), .last = bits / 3};
}

template <LineTurn::Kind kKind>
void MoveTiles(const BitLines& p, LineRange range, const std::byte* in, std::byte* out, LineImage* buffer) {
  const Rounds rounds = RoundsOf(p.exchange_bits);
  constexpr Between kBetween[] = {nullptr, nullptr, nullptr, ExchangeLines<3>};
  const Loading load = p.turns_first ? LoadingOf<true>(rounds.first) : LoadingOf<false>(rounds.first);
  const Between between = kBetween[rounds.between];
  const Storing store =
      range.streamed ? StoringOf<kKind, true>(rounds.last) : StoringOf<kKind, false>(rounds.last);

  cpu::TileCursor source(p.block_sources, p.block_bits, p.array_bytes * 8, range.begin);
  cpu::TileCursor target(p.block_targets, p.block_bits, p.array_bytes * 8, range.begin);
  Fetcher fetcher(p);
  const std::uint64_t group = std::uint64_t{1} << p.group_bits;
  cpu::TileCursor next(p.block_sources, p.block_bits, p.array_bytes * 8, range.begin / group * group);
  const std::uint64_t last_group = (range.end - 1) / group;
  for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
    if (tile == range.begin || tile % group == 0) {
      for (std::uint64_t i = 0; i < group; ++i) next.advance();
      if (tile / group < last_group && !p.fetched_rows.empty()) {
        fetcher.Begin(in + next.array() / 8, next.value() / 8);
      } else {
        fetcher.End();
      }
    }
    const std::byte* const from = in + source.array() / 8;
    std::byte* const to = out + target.array() / 8;
    const std::uint64_t lanes = target.value() & f2::low_mask(kPlaceBits);
    const std::uint64_t base = (target.value() ^ lanes) / 8;
    for (std::size_t k = 0; k < p.micro_sources.size(); ++k) {
      load(p, from, source.value() / 8 ^ p.micro_sources[k], buffer, fetcher);
      if (between != nullptr) between(p, rounds.first, buffer);
      store(p, buffer, lanes ^ p.micro_lanes[k], to, base ^ p.micro_targets[k], fetcher);
    }
    source.advance();
    target.advance();
  }
  if (range.streamed) _mm_sfence();
}

void MoveKinds(const BitLines& p, LineRange range, const std::byte* in, std::byte* out, LineImage* buffer) {
  switch (p.turn.kind) {
    case LineTurn::Kind::bytes:
      return MoveTiles<LineTurn::Kind::bytes>(p, range, in, out, buffer);
    case LineTurn::Kind::squares:
      return MoveTiles<LineTurn::Kind::squares>(p, range, in, out, buffer);
    case LineTurn::Kind::sheared:
      return MoveTiles<LineTurn::Kind::sheared>(p, range, in, out, buffer);
  }
}

}  // namespace bit_lines
HWY_POP_ATTRIBUTES

bool has_bit_lines() {
  static const bool has_squares_of_bits = __builtin_cpu_supports("gfni") != 0;
  return has_squares_of_bits && (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
}

void move_bit_lines(const BitLines& program, LineRange range, const std::byte* in, std::byte* out,
                    LineImage* buffer) {
  if (range.begin < range.end) bit_lines::MoveKinds(program, range, in, out, buffer);
}

#else

bool has_bit_lines() { return false; }

void move_bit_lines(const BitLines& /*program*/, LineRange /*range*/, const std::byte* /*in*/,
                    std::byte* /*out*/, LineImage* /*buffer*/) {}

#endif

}  // namespace faro::packed
