// The inner loop of bit_lines.hpp. In three phases over a buffer of 2^q lines, each of which exchanges some
// bits of the lines' number in registers:
//
//     load     lines of memory, step 1, the low bits
//     between  the middle bits, where q is more than two rounds
//     last     the high bits, step 3, lines to memory
#include "packed/bit_lines.hpp"

#define HWY_WANT_AVX3_DL
#include <algorithm>
#include <bit>

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

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,gfni")
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

// Asks for lines in the order in which they are loaded, so far ahead that they are there and still there;
// while lines are stored too, for the memory is to do both at once. Counts chunks of 2^chunk_bits lines.
class Fetcher {
 public:
  Fetcher(const BitLines& p, int chunk_bits, LineRange range, const std::byte* in)
      : p_(p),
        in_(in),
        cursor_(p.block_sources, p.block_bits, p.array_bytes * 8, range.begin),
        chunk_bits_(chunk_bits),
        row_bits_(p.exchange_bits - chunk_bits),
        tile_(p.micro_sources.size() << row_bits_),
        ahead_(kLinesAhead >> chunk_bits),
        left_(p.reads_array ? (range.end - range.begin) * tile_ : 0) {
    Until(ahead_);
  }

  HWY_INLINE void WhileLoading(std::uint64_t chunk) {
    Until(std::max(ahead_ + chunk / 2, std::min(ahead_ + chunk, tile_)));
  }
  // Of 2^step_bits.
  HWY_INLINE void WhileStoring(std::uint64_t step, int step_bits) {
    const std::uint64_t loaded = std::max(ahead_ + tile_ / 2, tile_);
    Until(loaded + ((ahead_ + tile_ - loaded) * step >> step_bits));
  }
  void NextTile() { asked_ -= tile_; }

 private:
  static constexpr std::uint64_t kLinesAhead = 256;

  HWY_INLINE void Until(std::uint64_t chunks) {
    for (; asked_ < chunks; ++asked_) {
      if (left_ == 0) continue;
      --left_;
      Ask();
    }
  }
  HWY_INLINE void Ask() {
    const std::uint64_t row = chunk_ >> p_.load_bits;
    const std::uint64_t side = chunk_ & ((std::uint64_t{1} << p_.load_bits) - 1);
    const std::uint32_t micro = p_.load_order[row >> row_bits_ << p_.load_bits | side];
    const std::uint64_t first = (row & ((std::uint64_t{1} << row_bits_) - 1)) << chunk_bits_;
    const std::byte* const array = in_ + cursor_.array() / 8;
    const std::uint64_t base = cursor_.value() / 8 ^ p_.micro_sources[micro];
    const std::uint64_t* const sources = p_.line_sources.data() + first;
    for (std::uint64_t j = 0; j < std::uint64_t{1} << chunk_bits_; ++j)
      __builtin_prefetch(array + (base ^ sources[j]), 0, 2);
    if (++chunk_ < tile_) return;
    chunk_ = 0;
    cursor_.advance();
  }

  const BitLines& p_;
  const std::byte* in_;
  cpu::TileCursor cursor_;
  int chunk_bits_;
  int row_bits_;
  std::uint64_t tile_;
  std::uint64_t ahead_;
  std::uint64_t left_;
  std::uint64_t asked_ = 0;  // from the beginning of the tile that is moved
  std::uint64_t chunk_ = 0;  // of the tile that is asked for
};

constexpr LineImage kIota = [] {
  LineImage iota;
  for (unsigned i = 0; i < kLineSize; ++i) iota.bytes[i] = static_cast<std::uint8_t>(i);
  return iota;
}();

// Step 1.
HWY_INLINE Line TurnedFirst(const BitLines& p, Line iota, std::uint64_t j, Line line) {
  const Line index = _mm512_xor_si512(iota, _mm512_set1_epi32(static_cast<int>(p.first_bytes[j])));
  const auto matrix = static_cast<long long>(p.first_matrices[j]);
  return _mm512_gf2p8affine_epi64_epi8(Permuted(index, line), _mm512_set1_epi64(matrix), 0);
}

// 2^kBits lines of memory from line `first` of a micro tile on.
template <int kBits, bool kTurns>
HWY_INLINE void LoadLines(const BitLines& p, const std::byte* in, std::uint64_t source, std::uint64_t first,
                          LineImage* to) {
  const Line iota = Load(&kIota);
  const std::uint64_t* const sources = p.line_sources.data();
  Line lines[1 << kBits];
  FARO_UNROLL_LINES
  for (int i = 0; i < 1 << kBits; ++i) {
    const std::uint64_t j = first + static_cast<std::uint64_t>(i);
    Line line = Load(in + (source ^ sources[j]));
    if constexpr (kTurns) line = TurnedFirst(p, iota, j, line);
    lines[i] = line;
  }
  Exchange<kBits>(p.exchange_masks.data(), lines);
  FARO_UNROLL_LINES
  for (int i = 0; i < 1 << kBits; ++i) _mm512_store_si512(to + first + i, lines[i]);
}

// Bits first .. first + kBits - 1 of the lines' number, of 2^(first + kBits) lines.
template <int kBits>
HWY_INLINE void ExchangeLines(const BitLines& p, int first, LineImage* data) {
  const std::uint64_t step = std::uint64_t{1} << first;
  for (std::uint64_t low = 0; low < step; ++low) {
    LineImage* const at = data + low;
    Line lines[1 << kBits];
    FARO_UNROLL_LINES
    for (int i = 0; i < 1 << kBits; ++i) lines[i] = Load(at + static_cast<std::uint64_t>(i) * step);
    Exchange<kBits>(p.exchange_masks.data() + first, lines);
    FARO_UNROLL_LINES
    for (int i = 0; i < 1 << kBits; ++i)
      _mm512_store_si512(at + static_cast<std::uint64_t>(i) * step, lines[i]);
  }
}

struct TilePlaces {
  const std::byte* in;
  std::uint64_t source;
  std::byte* out;
  std::uint64_t target;
  std::uint64_t lanes;
};

// All lines of a section; kBetween bits more are exchanged while lines are near.
template <int kBits, bool kTurns, int kBetween>
void LoadSection(const BitLines& p, const TilePlaces& tile, std::uint64_t section, LineImage* buffer,
                 Fetcher& fetcher) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << kBits;
  constexpr std::uint64_t kNear = kChunk << kBetween;
  const std::uint64_t count = std::uint64_t{1} << p.exchange_bits;
  const std::uint64_t together = std::uint64_t{1} << p.load_bits;
  std::uint64_t chunk = 0;
  for (std::size_t group = section; group < section + p.section; group += together) {
    const std::uint32_t* const micros = p.load_order.data() + group;
    const auto lines_of = [&](std::uint64_t m) {
      return buffer + ((micros[m] - section) << p.exchange_bits);
    };
    for (std::uint64_t near = 0; near < count; near += kNear) {
      for (std::uint64_t first = near; first < near + kNear; first += kChunk) {
        for (std::uint64_t m = 0; m < together; ++m) {
          fetcher.WhileLoading(++chunk);
          LoadLines<kBits, kTurns>(p, tile.in, tile.source ^ p.micro_sources[micros[m]], first, lines_of(m));
        }
      }
      if constexpr (kBetween > 0) {
        for (std::uint64_t m = 0; m < together; ++m) ExchangeLines<kBetween>(p, kBits, lines_of(m) + near);
      }
    }
  }
}

// Step 3. `flip`: what the line's number and its micro tile add, together.
template <LineTurn::Kind kKind>
class Turner {
 public:
  explicit Turner(const BitLines& p) : matrices_(p.matrices), last_(Load(&p.turn.last)) {
    if constexpr (kKind == LineTurn::Kind::bytes) return;
    first_ = Load(&p.turn.first);
    second_ = Load(&p.turn.second);
    units_ = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
    if constexpr (kKind == LineTurn::Kind::sheared) {
      shear_ = Load(&p.turn.shear);
      third_ = Load(&p.turn.third);
    }
  }

  HWY_INLINE Line operator()(Line line, TurnFlip flip) const {
    if constexpr (kKind == LineTurn::Kind::bytes) {
      const auto matrix = static_cast<long long>(matrices_[flip.inner]);
      line = _mm512_gf2p8affine_epi64_epi8(line, _mm512_set1_epi64(matrix), 0);
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

  const std::uint64_t* matrices_;
  Line last_;
  Line first_;
  Line second_;
  Line shear_;
  Line third_;
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
HWY_INLINE void StoreLines(const BitLines& p, const Turner<kKind>& turned, TurnFlip lanes,
                           const LineImage* data, std::uint64_t low, std::byte* out, std::uint64_t target) {
  const std::uint64_t* const targets = p.line_targets.data();
  const TurnFlip* const flips = p.last_flips.data();
  const int shift = p.exchange_bits - kBits;
  Line lines[1 << kBits];
  LastExchange<kBits>(p, data, low, lines);
  FARO_UNROLL_LINES
  for (int i = 0; i < 1 << kBits; ++i) {
    const std::uint64_t j = low + (static_cast<std::uint64_t>(i) << shift);
    const TurnFlip flip{.inner = flips[j].inner ^ lanes.inner, .outer = flips[j].outer ^ lanes.outer};
    Store<kStreamed>(turned(lines[i], flip), out + (target ^ targets[j]));
  }
}

template <int kBits, LineTurn::Kind kKind, bool kStreamed>
void StoreSection(const BitLines& p, const TilePlaces& tile, std::uint64_t section, const LineImage* buffer,
                  Fetcher& fetcher) {
  const std::uint64_t steps = std::uint64_t{1} << (p.exchange_bits - kBits);
  const std::uint64_t together = std::uint64_t{1} << p.store_bits;
  const int step_bits = p.exchange_bits - kBits - p.store_bits + std::countr_zero(p.section);
  const Turner<kKind> turned(p);
  std::uint64_t step = 0;
  for (std::size_t k = section; k < section + p.section; k += together) {
    const LineImage* const data = buffer + ((k - section) << p.exchange_bits);
    for (std::uint64_t low = 0; low < steps; ++low) {
      fetcher.WhileStoring(++step, step_bits);
      for (std::size_t m = 0; m < together; ++m) {
        const TurnFlip lanes = p.place_flips[tile.lanes ^ p.micro_lanes[k + m]];
        StoreLines<kBits, kKind, kStreamed>(p, turned, lanes, data + (m << p.exchange_bits), low, tile.out,
                                            tile.target ^ p.micro_targets[k + m]);
      }
    }
  }
}

using Loading = void (*)(const BitLines&, const TilePlaces&, std::uint64_t, LineImage*, Fetcher&);
using Storing = void (*)(const BitLines&, const TilePlaces&, std::uint64_t, const LineImage*, Fetcher&);

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

template <bool kTurns>
Loading LoadingOf(const Rounds& rounds) {
  if (rounds.between != 0) return LoadSection<3, kTurns, 3>;
  constexpr Loading kAll[] = {LoadSection<0, kTurns, 0>, LoadSection<1, kTurns, 0>, LoadSection<2, kTurns, 0>,
                              LoadSection<3, kTurns, 0>, LoadSection<4, kTurns, 0>};
  return kAll[rounds.first];
}

template <LineTurn::Kind kKind, bool kStreamed>
Storing StoringOf(int bits) {
  constexpr Storing kAll[] = {StoreSection<0, kKind, kStreamed>, StoreSection<1, kKind, kStreamed>,
                              StoreSection<2, kKind, kStreamed>, StoreSection<3, kKind, kStreamed>,
                              StoreSection<4, kKind, kStreamed>};
  return kAll[bits];
}

template <LineTurn::Kind kKind>
void MoveTiles(const BitLines& p, LineRange range, const std::byte* in, std::byte* out, LineImage* buffer) {
  const Rounds rounds = RoundsOf(p.exchange_bits);
  const Loading load = p.turns_first ? LoadingOf<true>(rounds) : LoadingOf<false>(rounds);
  const Storing store =
      range.streamed ? StoringOf<kKind, true>(rounds.last) : StoringOf<kKind, false>(rounds.last);

  cpu::TileCursor source(p.block_sources, p.block_bits, p.array_bytes * 8, range.begin);
  cpu::TileCursor target(p.block_targets, p.block_bits, p.array_bytes * 8, range.begin);
  Fetcher fetcher(p, rounds.first, range, in);
  for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
    const std::uint64_t lanes = target.value() & f2::low_mask(kPlaceBits);
    const TilePlaces places{.in = in + source.array() / 8,
                            .source = source.value() / 8,
                            .out = out + target.array() / 8,
                            .target = (target.value() ^ lanes) / 8,
                            .lanes = lanes};
    for (std::uint64_t section = 0; section < p.micro_sources.size(); section += p.section) {
      load(p, places, section, buffer, fetcher);
      store(p, places, section, buffer, fetcher);
    }
    source.advance();
    target.advance();
    fetcher.NextTile();
  }
  if (range.streamed) _mm_sfence();
}

// The bits of each byte end for end.
constexpr std::uint64_t kOtherOrder = 0x8040201008040201;
HWY_INLINE Line OtherOrder(Line line, std::uint64_t matrix) {
  return _mm512_gf2p8affine_epi64_epi8(line, _mm512_set1_epi64(static_cast<long long>(matrix)), 0);
}

constexpr __mmask64 FirstBytes(std::uint64_t bytes) {
  return bytes >= kLineSize ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
}

// The line that begins `shift` bits after `from`, of which so many bytes from there on are there.
template <bool kWhole>
HWY_INLINE Line LoadShifted(const std::byte* from, Line shift, std::uint64_t bytes, std::uint64_t order) {
  Line line;
  Line next;
  if constexpr (kWhole) {
    line = Load(from);
    next = Load(from + 8);
  } else {
    line = _mm512_maskz_loadu_epi8(FirstBytes(bytes), from);
    next = _mm512_maskz_loadu_epi8(bytes > 8 ? FirstBytes(bytes - 8) : __mmask64{0}, from + 8);
  }
  if (order != 0) {
    line = OtherOrder(line, order);
    next = OtherOrder(next, order);
  }
  return _mm512_shrdv_epi64(line, next, shift);
}

void LoadSquares(const SquareRows& rows, std::uint64_t side, LineImage* to) {
  constexpr std::uint64_t kBitsAhead = 1 << 16;
  const std::uint64_t ahead = std::clamp<std::uint64_t>(kBitsAhead / rows.bits, 16, side);
  const std::uint64_t order = rows.is_high_first ? kOtherOrder : 0;
  for (std::uint64_t row = 0; row < side; ++row, ++to) {
    if (row + ahead < rows.rows + rows.rows_after) {
      const std::byte* const next = rows.in + rows.first_bits[row + ahead] / 8;
      for (std::uint64_t byte = 0; byte <= rows.bits / 8; byte += kLineSize)
        __builtin_prefetch(next + byte, 0, 2);
    }
    LineImage* line = to;
    if (row >= rows.rows) {
      for (std::uint64_t bit = 0; bit < rows.bits; bit += 8 * kLineSize, line += side)
        _mm512_store_si512(line, _mm512_setzero_si512());
      continue;
    }
    const std::byte* from = rows.in + rows.first_bits[row] / 8;
    const std::uint64_t skipped = rows.first_bits[row] % 8;
    const Line shift = _mm512_set1_epi64(static_cast<long long>(skipped));
    const std::byte* const end = from + (skipped + rows.bits + 7) / 8;
    for (; end - from >= static_cast<std::ptrdiff_t>(kLineSize + 8); from += kLineSize, line += side)
      _mm512_store_si512(line, LoadShifted<true>(from, shift, 0, order));
    // Where all that is left are the last bits of the line before, there is no line.
    for (; line < to + (rows.bits + 8 * kLineSize - 1) / (8 * kLineSize) * side;
         from += kLineSize, line += side)
      _mm512_store_si512(line,
                         LoadShifted<false>(from, shift, static_cast<std::uint64_t>(end - from), order));
  }
}

template <int kFirst, int kBetween, int kLast>
void TurnSquareOf(const BitLines& p, const LineImage* lines, LineImage* buffer, LineImage* kept) {
  const auto* const from = reinterpret_cast<const std::byte*>(lines);
  constexpr LineTurn::Kind kBytes = LineTurn::Kind::bytes;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << p.exchange_bits; first += 1 << kFirst)
    LoadLines<kFirst, true>(p, from, 0, first, buffer);
  if constexpr (kBetween > 0) {
    for (std::uint64_t near = 0; near < std::uint64_t{1} << p.exchange_bits; near += 1 << (kFirst + kBetween))
      ExchangeLines<kBetween>(p, kFirst, buffer + near);
  }
  const Turner<kBytes> turned(p);
  for (std::uint64_t low = 0; low < std::uint64_t{1} << (p.exchange_bits - kLast); ++low)
    StoreLines<kLast, kBytes, false>(p, turned, TurnFlip{}, buffer, low, reinterpret_cast<std::byte*>(kept),
                                     0);
}

void TurnSquare(const BitLines& p, const LineImage* lines, LineImage* buffer, LineImage* kept) {
  switch (p.exchange_bits) {
    case 7:
      return TurnSquareOf<4, 0, 3>(p, lines, buffer, kept);
    case 8:
      return TurnSquareOf<4, 0, 4>(p, lines, buffer, kept);
    default:
      return TurnSquareOf<3, 3, 3>(p, lines, buffer, kept);
  }
}

// Where a column's line is in memory, and where it begins in those that are kept.
struct ColumnPlace {
  std::uint64_t byte;
  std::uint64_t skipped;
};
HWY_INLINE ColumnPlace PlaceOfColumn(const KeptColumns& columns, std::uint64_t c) {
  const std::uint64_t bit = columns.line_bit + columns.first_bit + c * columns.pitch_bits;
  const std::uint64_t in_line = bit % (8 * kLineSize);
  // Bits of `out` may begin after its line: wraps round, and back when `out` is added.
  return {(bit - in_line) / 8 - columns.line_bit / 8 + columns.line * kLineSize, 8 * kLineSize - in_line};
}

// Of the line that is kept as number `slot`, and of the next one.
HWY_INLINE Line ColumnLine(const KeptColumns& columns, std::uint64_t c, std::uint64_t slot,
                           std::uint64_t skipped, std::uint64_t order) {
  const auto* const from =
      reinterpret_cast<const std::byte*>(columns.lines + kKeptLines * c + slot) + skipped / 8;
  const Line line =
      _mm512_shrdv_epi64(Load(from), Load(from + 8), _mm512_set1_epi64(static_cast<long long>(skipped % 8)));
  return order == 0 ? line : OtherOrder(line, order);
}

template <bool kStreamed>
void StoreColumns(const KeptColumns& columns, std::uint64_t first, std::uint64_t lines, std::uint64_t order) {
  for (std::uint64_t c = 0; c < columns.count; ++c) {
    const ColumnPlace place = PlaceOfColumn(columns, c);
    for (std::uint64_t slot = first; slot < first + lines; ++slot) {
      Store<kStreamed>(ColumnLine(columns, c, slot, place.skipped, order),
                       columns.out + place.byte + slot * kLineSize);
    }
  }
}

void MakeColumn(const KeptColumns& columns, std::uint64_t c, std::uint64_t slot, std::uint64_t order,
                std::byte* to) {
  Store<false>(ColumnLine(columns, c, slot, PlaceOfColumn(columns, c).skipped, order), to);
}

void KeepLines(const KeptColumns& columns) {
  for (std::uint64_t c = 0; c < columns.count; ++c) {
    LineImage* const kept = columns.lines + kKeptLines * c;
    _mm512_store_si512(kept, Load(kept + kKeptLines - 1));
  }
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

void load_squares(const SquareRows& rows, std::uint64_t side, LineImage* lines) {
  bit_lines::LoadSquares(rows, side, lines);
}

void turn_square(const BitLines& square, const LineImage* lines, LineImage* buffer, LineImage* kept) {
  bit_lines::TurnSquare(square, lines, buffer, kept);
}

void store_columns(const KeptColumns& columns, std::uint64_t slot, std::uint64_t lines) {
  const std::uint64_t order = columns.is_high_first ? bit_lines::kOtherOrder : 0;
  columns.streamed ? bit_lines::StoreColumns<true>(columns, slot, lines, order)
                   : bit_lines::StoreColumns<false>(columns, slot, lines, order);
}

void make_column(const KeptColumns& columns, std::uint64_t c, std::uint64_t slot, std::byte* to) {
  bit_lines::MakeColumn(columns, c, slot, columns.is_high_first ? bit_lines::kOtherOrder : 0, to);
}

void keep_lines(const KeptColumns& columns) { bit_lines::KeepLines(columns); }

#else

bool has_bit_lines() { return false; }

void load_squares(const SquareRows& /*rows*/, std::uint64_t /*side*/, LineImage* /*lines*/) {}
void turn_square(const BitLines& /*square*/, const LineImage* /*lines*/, LineImage* /*buffer*/,
                 LineImage* /*kept*/) {}
void store_columns(const KeptColumns& /*columns*/, std::uint64_t /*slot*/, std::uint64_t /*lines*/) {}
void make_column(const KeptColumns& /*columns*/, std::uint64_t /*c*/, std::uint64_t /*slot*/,
                 std::byte* /*to*/) {}
void keep_lines(const KeptColumns& /*columns*/) {}

void move_bit_lines(const BitLines& /*program*/, LineRange /*range*/, const std::byte* /*in*/,
                    std::byte* /*out*/, LineImage* /*buffer*/) {}

#endif

}  // namespace faro::packed
