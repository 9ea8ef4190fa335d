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

template <int kBits, bool kTurns>
void LoadLines(const BitLines& p, const std::byte* in, std::uint64_t source, LineImage* to,
               Fetcher& fetcher) {
  const Line iota = Load(&kIota);
  const std::uint64_t* const sources = p.line_sources.data();
  const LineImage* const masks = p.exchange_masks.data();
  const std::uint64_t count = std::uint64_t{1} << p.exchange_bits;
  for (std::uint64_t first = 0; first < count; first += std::uint64_t{1} << kBits) {
    fetcher.Step<kBits>();
    Line lines[1 << kBits];
    FARO_UNROLL_LINES
    for (int i = 0; i < 1 << kBits; ++i) {
      const std::uint64_t j = first + static_cast<std::uint64_t>(i);
      Line line = Load(in + (source ^ sources[j]));
      if constexpr (kTurns) line = TurnedFirst(p, iota, j, line);
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

// The bits of each byte end for end.
constexpr std::uint64_t kOtherOrder = 0x8040201008040201;
HWY_INLINE Line OtherOrder(Line line, std::uint64_t matrix) {
  return _mm512_gf2p8affine_epi64_epi8(line, _mm512_set1_epi64(static_cast<long long>(matrix)), 0);
}

constexpr __mmask64 FirstBytes(std::uint64_t bytes) {
  return bytes >= kLineSize ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
}

// The line that begins at a bit, of which so many bits are there.
HWY_INLINE Line LoadShifted(const std::byte* in, std::uint64_t first_bit, std::uint64_t bits,
                            std::uint64_t order) {
  const std::byte* const from = in + first_bit / 8;
  const std::uint64_t shift = first_bit % 8;
  const std::uint64_t bytes = (shift + bits + 7) / 8;
  Line line = _mm512_maskz_loadu_epi8(FirstBytes(bytes), from);
  if (order != 0) line = OtherOrder(line, order);
  if (shift == 0) return line;
  Line next = _mm512_maskz_loadu_epi8(bytes > 8 ? FirstBytes(bytes - 8) : __mmask64{0}, from + 8);
  if (order != 0) next = OtherOrder(next, order);
  return _mm512_shrdv_epi64(line, next, _mm512_set1_epi64(static_cast<long long>(shift)));
}

void LoadSquares(const SquareRows& rows, std::uint64_t side, LineImage* to) {
  constexpr std::uint64_t kAhead = 16;
  constexpr std::uint64_t kLineBitCount = 8 * kLineSize;
  const std::uint64_t order = rows.is_high_first ? kOtherOrder : 0;
  for (std::uint64_t row = 0; row < side; ++row) {
    if (row + kAhead < rows.rows + rows.rows_after) {
      const std::byte* const next = rows.in + rows.first_bits[row + kAhead] / 8;
      for (std::uint64_t byte = 0; byte <= rows.bits / 8; byte += kLineSize)
        __builtin_prefetch(next + byte, 0, 2);
    }
    for (std::uint64_t bit = 0; bit < rows.bits; bit += kLineBitCount) {
      const std::uint64_t bits = rows.bits - bit < kLineBitCount ? rows.bits - bit : kLineBitCount;
      _mm512_store_si512(to + bit / kLineBitCount * side + row,
                         row < rows.rows ? LoadShifted(rows.in, rows.first_bits[row] + bit, bits, order)
                                         : _mm512_setzero_si512());
    }
  }
}

void TurnSquare(const BitLines& p, const LineImage* lines, LineImage* buffer, LineImage* kept) {
  const auto* const from = reinterpret_cast<const std::byte*>(lines);
  auto* const to = reinterpret_cast<std::byte*>(kept);
  constexpr LineTurn::Kind kBytes = LineTurn::Kind::bytes;
  Fetcher none(p);
  none.End();
  switch (p.exchange_bits) {
    case 7:
      LoadLines<4, true>(p, from, 0, buffer, none);
      return StoreLines<3, kBytes, false>(p, buffer, 0, to, 0, none);
    case 8:
      LoadLines<4, true>(p, from, 0, buffer, none);
      return StoreLines<4, kBytes, false>(p, buffer, 0, to, 0, none);
    default:
      LoadLines<3, true>(p, from, 0, buffer, none);
      ExchangeLines<3>(p, 3, buffer);
      return StoreLines<3, kBytes, false>(p, buffer, 0, to, 0, none);
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

HWY_INLINE Line ColumnLine(const KeptColumns& columns, std::uint64_t c, std::uint64_t skipped,
                           std::uint64_t order) {
  const auto* const from = reinterpret_cast<const std::byte*>(columns.lines + 2 * c) + skipped / 8;
  const Line line =
      _mm512_shrdv_epi64(Load(from), Load(from + 8), _mm512_set1_epi64(static_cast<long long>(skipped % 8)));
  return order == 0 ? line : OtherOrder(line, order);
}

template <bool kStreamed>
void StoreColumns(const KeptColumns& columns, std::uint64_t order) {
  for (std::uint64_t c = 0; c < columns.count; ++c) {
    const ColumnPlace place = PlaceOfColumn(columns, c);
    Store<kStreamed>(ColumnLine(columns, c, place.skipped, order), columns.out + place.byte);
  }
}

void MakeColumn(const KeptColumns& columns, std::uint64_t c, std::uint64_t order, std::byte* to) {
  Store<false>(ColumnLine(columns, c, PlaceOfColumn(columns, c).skipped, order), to);
}

void KeepLines(const KeptColumns& columns) {
  for (std::uint64_t c = 0; c < columns.count; ++c)
    _mm512_store_si512(columns.lines + 2 * c, Load(columns.lines + 2 * c + 1));
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

void store_columns(const KeptColumns& columns) {
  const std::uint64_t order = columns.is_high_first ? bit_lines::kOtherOrder : 0;
  columns.streamed ? bit_lines::StoreColumns<true>(columns, order)
                   : bit_lines::StoreColumns<false>(columns, order);
}

void make_column(const KeptColumns& columns, std::uint64_t c, std::byte* to) {
  bit_lines::MakeColumn(columns, c, columns.is_high_first ? bit_lines::kOtherOrder : 0, to);
}

void keep_lines(const KeptColumns& columns) { bit_lines::KeepLines(columns); }

#else

bool has_bit_lines() { return false; }

void load_squares(const SquareRows& /*rows*/, std::uint64_t /*side*/, LineImage* /*lines*/) {}
void turn_square(const BitLines& /*square*/, const LineImage* /*lines*/, LineImage* /*buffer*/,
                 LineImage* /*kept*/) {}
void store_columns(const KeptColumns& /*columns*/) {}
void make_column(const KeptColumns& /*columns*/, std::uint64_t /*c*/, std::byte* /*to*/) {}
void keep_lines(const KeptColumns& /*columns*/) {}

void move_bit_lines(const BitLines& /*program*/, LineRange /*range*/, const std::byte* /*in*/,
                    std::byte* /*out*/, LineImage* /*buffer*/) {}

#endif

}  // namespace faro::packed
