#include "packed/squares.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "packed/squares.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/register_transpose-inl.hpp"
#include "engines/cpu/reversed_lanes-inl.hpp"
#include "hwy/highway.h"

#ifndef FARO_UNROLL_WORDS
#if defined(__clang__)
#define FARO_UNROLL_WORDS _Pragma("unroll")
#else
#define FARO_UNROLL_WORDS _Pragma("GCC unroll 32")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace faro::packed {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Bits of `yes` where the mask has ones.
template <class V>
HWY_INLINE V Chosen(V mask, V yes, V no) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::IfVecThenElse(mask, yes, no);  // one instruction; elsewhere it looks at each byte's sign
#else
  return hn::Or(hn::And(mask, yes), hn::AndNot(mask, no));
#endif
}

// The upper elements of rows[i] change places with the lower ones of rows[i + kDistance].
template <int kBits, int kDistance, class D>
HWY_INLINE void ExchangeRows(D d, hn::Vec<D> (&rows)[8 / kBits]) {
  constexpr int kShift = kBits * kDistance;
  constexpr int kMask = kShift == 4 ? 0x0f0f : kShift == 2 ? 0x3333 : 0x5555;
  const auto mask = hn::Set(d, std::uint16_t{kMask});
  for (int i = 0; i < 8 / kBits; ++i) {
    if ((i & kDistance) != 0) continue;
    const auto low = rows[i];
    const auto high = rows[i + kDistance];
    rows[i] = Chosen(mask, low, hn::ShiftLeft<kShift>(high));
    rows[i + kDistance] = Chosen(mask, hn::ShiftRight<kShift>(low), high);
  }
}

template <int kBits, class D>
HWY_INLINE void TransposeVectors(D d, hn::Vec<D> (&rows)[8 / kBits]) {
  if constexpr (kBits == 1) ExchangeRows<kBits, 4>(d, rows);
  if constexpr (kBits <= 2) ExchangeRows<kBits, 2>(d, rows);
  ExchangeRows<kBits, 1>(d, rows);
}

#if HWY_TARGET != HWY_SCALAR
// A vector at a time; gives the first byte that is left.
template <int kBits, class D>
HWY_INLINE std::uint64_t TransposeBytes(D d, const std::byte* const* rows, std::uint64_t bytes,
                                        std::byte* to) {
  constexpr int kRows = 8 / kBits;
  const hn::Repartition<std::uint8_t, D> d8;
  const std::uint64_t step = hn::Lanes(d8);
  std::uint64_t begin = 0;
  for (; begin + step <= bytes; begin += step) {
    hn::Vec<D> vectors[kRows];
    for (int i = 0; i < kRows; ++i) {
      vectors[i] = hn::BitCast(d, hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(rows[i] + begin)));
    }
    TransposeVectors<kBits>(d, vectors);
    for (int i = 0; i < kRows; ++i) {
      hn::StoreU(hn::BitCast(d8, vectors[i]), d8,
                 reinterpret_cast<std::uint8_t*>(to + static_cast<std::uint64_t>(i) * bytes + begin));
    }
  }
  return begin;
}
#endif

template <int kBits>
void TransposeRows(const std::byte* const* rows, std::uint64_t bytes, std::byte* to) {
  constexpr int kRows = 8 / kBits;
  std::uint64_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  at = TransposeBytes<kBits>(hn::ScalableTag<std::uint16_t>(), rows, bytes, to);
#endif
  for (; at < bytes; ++at) {
    for (int j = 0; j < kRows; ++j) {
      unsigned byte = 0;
      for (int i = 0; i < kRows; ++i) {
        byte |= (static_cast<unsigned>(rows[i][at]) >> (kBits * j) & ((1U << kBits) - 1)) << (kBits * i);
      }
      to[static_cast<std::uint64_t>(j) * bytes + at] = static_cast<std::byte>(byte);
    }
  }
}

void TransposeSquaresOf(const std::byte* const* rows, std::uint64_t bytes, std::uint32_t element_bits,
                        std::byte* to) {
  if (element_bits == 4) TransposeRows<4>(rows, bytes, to);
  if (element_bits == 2) TransposeRows<2>(rows, bytes, to);
  if (element_bits == 1) TransposeRows<1>(rows, bytes, to);
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Blocks of 16 bytes of a vector, each to a row of its own, `distance` bytes apart.
template <class D>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> vector, std::uint8_t* to, std::uint64_t distance) {
  constexpr std::size_t kBlocks = hn::MaxLanes(D()) / 16;
  if constexpr (kBlocks == 1) {
    hn::StoreU(vector, d, to);
  } else {
    const hn::Half<D> half;
    StoreBlocks(half, hn::LowerHalf(half, vector), to, distance);
    StoreBlocks(half, hn::UpperHalf(half, vector), to + kBlocks / 2 * distance, distance);
  }
}

void TransposeBytesOf(const ByteRows& from, std::uint64_t rows, std::uint64_t columns, const ByteRows& to) {
  const hn::ScalableTag<std::uint8_t> d;
  for (std::uint64_t c = 0; c < columns; c += hn::Lanes(d)) {
    for (std::uint64_t r = 0; r < rows; r += kByteTileRows) {
      hn::Vec<decltype(d)> vectors[kByteTileRows];
      FARO_UNROLL_REGISTERS
      for (std::uint64_t i = 0; i < kByteTileRows; ++i) {
        vectors[i] =
            hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from.data + (r + i) * from.pitch + c));
      }
      cpu::HWY_NAMESPACE::TransposeRegisters(d, vectors);
      auto* const target = reinterpret_cast<std::uint8_t*>(to.data + c * to.pitch + r);
      FARO_UNROLL_REGISTERS
      for (std::uint64_t i = 0; i < kByteTileRows; ++i) {
        StoreBlocks(d, vectors[i], target + i * to.pitch, kByteTileRows * to.pitch);
      }
    }
  }
}
#else
void TransposeBytesOf(const ByteRows& from, std::uint64_t rows, std::uint64_t columns, const ByteRows& to) {
  for (std::uint64_t c = 0; c < columns; ++c) {
    for (std::uint64_t r = 0; r < rows; ++r) to.data[c * to.pitch + r] = from.data[r * from.pitch + c];
  }
}
#endif

// Calls of_vector(d, begin) for vectors that cover so many bytes, some of them twice, and one(i) for bytes
// where there are fewer than the shortest vector has. Nothing else is touched.
template <class D, class OfVector, class One>
HWY_INLINE void EachVector([[maybe_unused]] D d, std::uint64_t bytes,
                           [[maybe_unused]] const OfVector& of_vector, const One& one) {
#if HWY_TARGET != HWY_SCALAR
  const std::uint64_t step = hn::Lanes(d);
  if (bytes >= step) {
    for (std::uint64_t begin = 0; begin + step <= bytes; begin += step) of_vector(d, begin);
    if (bytes % step != 0) of_vector(d, bytes - step);
    return;
  }
#if !HWY_HAVE_SCALABLE
  if constexpr (hn::MaxLanes(D()) > 16) return EachVector(hn::Half<D>(), bytes, of_vector, one);
#endif
#endif
  for (std::uint64_t i = 0; i < bytes; ++i) one(i);
}

// Bytes made of two neighbours, which are shifted by `down` and by 8 - down bits.
#if HWY_TARGET != HWY_SCALAR
template <bool kLowFirst, class D>
HWY_INLINE hn::Vec<D> ShiftedBytes(D d8, const std::uint8_t* in, int down) {
  const hn::Repartition<std::uint16_t, D> d;
  const int left = kLowFirst ? 8 - down : down;
  const auto mask = hn::BitCast(d, hn::Set(d8, static_cast<std::uint8_t>(0xff << left)));
  const auto here = hn::BitCast(d, hn::LoadU(d8, in));
  const auto next = hn::BitCast(d, hn::LoadU(d8, in + 1));
  const auto high = hn::ShiftLeftSame(kLowFirst ? next : here, left);
  const auto low = hn::ShiftRightSame(kLowFirst ? here : next, 8 - left);
  return hn::BitCast(d8, hn::Or(hn::And(high, mask), hn::AndNot(mask, low)));
}
#endif

template <bool kLowFirst>
std::uint8_t ShiftedByte(const std::uint8_t* in, int down) {
  return static_cast<std::uint8_t>(kLowFirst ? in[0] >> down | in[1] << (8 - down)
                                             : in[0] << down | in[1] >> (8 - down));
}

template <bool kLowFirst>
void ShiftBytes(const std::uint8_t* in, std::uint64_t bytes, int down, std::uint8_t* out) {
  const auto of_vector = [&](auto d, std::uint64_t i)
                             HWY_ATTR { hn::StoreU(ShiftedBytes<kLowFirst>(d, in + i, down), d, out + i); };
  EachVector(hn::ScalableTag<std::uint8_t>(), bytes, of_vector,
             [&](std::uint64_t i) { out[i] = ShiftedByte<kLowFirst>(in + i, down); });
}

template <bool kLowFirst>
void StoreLines(std::span<const LineRun> runs, bool streamed) {
  for (const LineRun& run : runs) {
    const auto* const in = reinterpret_cast<const std::uint8_t*>(run.from);
    auto* const out = reinterpret_cast<std::uint8_t*>(run.to);
    const auto of_vector = [&](auto d, std::uint64_t i) HWY_ATTR {
      const auto v = run.down == 0 ? hn::LoadU(d, in + i) : ShiftedBytes<kLowFirst>(d, in + i, run.down);
      streamed ? hn::Stream(v, d, out + i) : hn::Store(v, d, out + i);
    };
    EachVector(hn::ScalableTag<std::uint8_t>(), run.bytes, of_vector, [&](std::uint64_t i) {
      out[i] = run.down == 0 ? in[i] : ShiftedByte<kLowFirst>(in + i, run.down);
    });
  }
}

void StoreLinesOf(std::span<const LineRun> runs, bool is_low_first, bool streamed) {
  is_low_first ? StoreLines<true>(runs, streamed) : StoreLines<false>(runs, streamed);
}

void ShiftBytesOf(const std::uint8_t* in, std::uint64_t bytes, int down, bool is_low_first,
                  std::uint8_t* out) {
  is_low_first ? ShiftBytes<true>(in, bytes, down, out) : ShiftBytes<false>(in, bytes, down, out);
}

// Halves of bytes change places, then halves of these, until elements have.
template <class D, class V>
HWY_INLINE V TurnedBytes(D d8, V bytes, std::uint32_t element_bits) {
  const hn::Repartition<std::uint16_t, D> d;
  auto v = hn::BitCast(d, bytes);
  const auto swap = [&]<int kBits>(std::uint16_t low) HWY_ATTR {
    const auto mask = hn::Set(d, low);
    v = hn::Or(hn::And(hn::ShiftRight<kBits>(v), mask), hn::ShiftLeft<kBits>(hn::And(v, mask)));
  };
  swap.template operator()<4>(0x0f0f);
  if (element_bits <= 2) swap.template operator()<2>(0x3333);
  if (element_bits == 1) swap.template operator()<1>(0x5555);
  return hn::BitCast(d8, v);
}

void TurnBytesOf(const std::uint8_t* in, std::uint64_t bytes, const ByteTurn& turn, std::uint8_t* out) {
  const auto of_vector = [&](auto d, std::uint64_t i) HWY_ATTR {
    auto v = hn::LoadU(d, in + (turn.backwards ? bytes - i - hn::Lanes(d) : i));
    if (turn.backwards) v = cpu::HWY_NAMESPACE::ReversedLanes(d, v);
    if (turn.element_bits != 0) v = TurnedBytes(d, v, turn.element_bits);
    hn::StoreU(v, d, out + i);
  };
  EachVector(hn::ScalableTag<std::uint8_t>(), bytes, of_vector, [&](std::uint64_t i) {
    unsigned v = in[turn.backwards ? bytes - 1 - i : i];
    if (turn.element_bits != 0) v = (v >> 4 | v << 4) & 0xff;
    if (turn.element_bits == 1 || turn.element_bits == 2) v = (v >> 2 & 0x33) | (v & 0x33) << 2;
    if (turn.element_bits == 1) v = (v >> 1 & 0x55) | (v & 0x55) << 1;
    out[i] = static_cast<std::uint8_t>(v);
  });
}

// --- words of 32 bits, a square of them in each lane

constexpr std::uint32_t BitsWithout(int p) {
  constexpr std::uint32_t kMasks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
  return kMasks[p];
}

template <int kNumber, class D>
HWY_INLINE void TransposeWords(D d, hn::Vec<D> (&words)[1 << kNumber]) {
  const auto step = [&]<int t>() HWY_ATTR {
    constexpr int p = t + 5 - kNumber;
    const auto mask = hn::Set(d, BitsWithout(p));
    FARO_UNROLL_WORDS
    for (int i = 0; i < 1 << kNumber; ++i) {
      if ((i >> t & 1) != 0) continue;
      const auto low = words[i];
      const auto high = words[i | 1 << t];
      words[i] = Chosen(mask, low, hn::ShiftLeft<(1 << p)>(high));
      words[i | 1 << t] = Chosen(mask, hn::ShiftRight<(1 << p)>(low), high);
    }
  };
  step.template operator()<0>();
  step.template operator()<1>();
  step.template operator()<2>();
  if constexpr (kNumber > 3) step.template operator()<3>();
  if constexpr (kNumber > 4) step.template operator()<4>();
}

template <int kNumber, class D>
HWY_INLINE void ShearWords(D d, hn::Vec<D> (&words)[1 << kNumber], const std::uint32_t* masks) {
  const auto step = [&]<int t>() HWY_ATTR {
    if (masks[t] == 0) return;
    const auto mask = hn::Set(d, masks[t]);
    FARO_UNROLL_WORDS
    for (int i = 0; i < 1 << kNumber; ++i) {
      if ((i >> t & 1) != 0) continue;
      const auto low = words[i];
      const auto high = words[i | 1 << t];
      words[i] = Chosen(mask, high, low);
      words[i | 1 << t] = Chosen(mask, low, high);
    }
  };
  step.template operator()<0>();
  step.template operator()<1>();
  step.template operator()<2>();
  if constexpr (kNumber > 3) step.template operator()<3>();
  if constexpr (kNumber > 4) step.template operator()<4>();
}

template <int kNumber, class D>
HWY_INLINE void TurnWords(D d, hn::Vec<D> (&words)[1 << kNumber], const std::uint32_t* turned,
                          hn::Vec<D> place) {
  const auto step = [&]<int a>() HWY_ATTR {
    const std::uint32_t asked = turned[a];
    if (asked == 0) return;
    constexpr int p = a + 5 - kNumber;
    const auto mask = hn::Set(d, BitsWithout(p));
    const auto bit = hn::And(hn::Shr(hn::Set(d, asked), place), hn::Set(d, 1U));
    const auto others = hn::Sub(hn::Zero(d), bit);
    FARO_UNROLL_WORDS
    for (int i = 0; i < 1 << kNumber; ++i) {
      const auto word = words[i];
      const auto swapped = Chosen(mask, hn::ShiftRight<(1 << p)>(word), hn::ShiftLeft<(1 << p)>(word));
      words[i] = (asked >> i & 1) != 0 ? Chosen(others, word, swapped) : Chosen(others, swapped, word);
    }
  };
  step.template operator()<0>();
  step.template operator()<1>();
  step.template operator()<2>();
  if constexpr (kNumber > 3) step.template operator()<3>();
  if constexpr (kNumber > 4) step.template operator()<4>();
}

template <int kNumber>
void ExchangeWords(const WordSquares& squares, const std::byte* from, std::uint32_t place,
                   std::uint32_t to_added, std::byte* to) {
  const hn::CappedTag<std::uint32_t, kMostSquareLanes> d;
  const hn::RebindToSigned<decltype(d)> signed_d;
  const auto* const in = reinterpret_cast<const std::uint32_t*>(from);
  auto* const out = reinterpret_cast<std::uint32_t*>(to);
  std::uint32_t from_place = 0;
  std::uint32_t to_place = to_added;
  for (int t = 0; t < kNumber; ++t) {
    if ((place >> t & 1) == 0) continue;
    from_place ^= squares.from_place[t];
    to_place ^= squares.to_place[t];
  }
  for (std::size_t g = 0; g < squares.groups; g += hn::Lanes(d)) {
    const auto places = hn::Xor(hn::LoadU(d, squares.place.data() + g), hn::Set(d, place));
    const auto first = hn::Xor(hn::LoadU(d, squares.from.data() + g), hn::Set(d, from_place));
    const auto last = hn::Xor(hn::LoadU(d, squares.to.data() + g), hn::Set(d, to_place));
    hn::Vec<decltype(d)> words[1 << kNumber];
    FARO_UNROLL_WORDS
    for (int w = 0; w < 1 << kNumber; ++w) {
      words[w] =
          hn::GatherIndex(d, in, hn::BitCast(signed_d, hn::Xor(first, hn::Set(d, squares.from_word[w]))));
    }
    TurnWords<kNumber>(d, words, squares.exchange.turned, places);
    ShearWords<kNumber>(d, words, squares.exchange.before);
    TransposeWords<kNumber>(d, words);
    ShearWords<kNumber>(d, words, squares.exchange.after);
    FARO_UNROLL_WORDS
    for (int w = 0; w < 1 << kNumber; ++w) {
      hn::ScatterIndex(words[w], d, out,
                       hn::BitCast(signed_d, hn::Xor(last, hn::Set(d, squares.to_word[w]))));
    }
  }
}

void ExchangeWordsOf(const WordSquares& squares, const std::byte* from, std::uint32_t place,
                     std::uint32_t to_added, std::byte* to) {
  if (squares.word_index_bits == 3) ExchangeWords<3>(squares, from, place, to_added, to);
  if (squares.word_index_bits == 4) ExchangeWords<4>(squares, from, place, to_added, to);
  if (squares.word_index_bits == 5) ExchangeWords<5>(squares, from, place, to_added, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::packed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::packed {

HWY_EXPORT(TransposeSquaresOf);
HWY_EXPORT(TransposeBytesOf);
HWY_EXPORT(ShiftBytesOf);
HWY_EXPORT(StoreLinesOf);
HWY_EXPORT(TurnBytesOf);
HWY_EXPORT(ExchangeWordsOf);

void transpose_squares(const std::byte* const* rows, std::uint64_t bytes, std::uint32_t element_bits,
                       std::byte* to) {
  HWY_DYNAMIC_DISPATCH(TransposeSquaresOf)(rows, bytes, element_bits, to);
}

void transpose_bytes(const ByteRows& from, std::uint64_t rows, std::uint64_t columns, const ByteRows& to) {
  HWY_DYNAMIC_DISPATCH(TransposeBytesOf)(from, rows, columns, to);
}

void shift_bytes(const std::uint8_t* in, std::uint64_t bytes, int down, bool is_low_first,
                 std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ShiftBytesOf)(in, bytes, down, is_low_first, out);
}

void store_lines(std::span<const LineRun> runs, bool is_low_first, bool streamed) {
  HWY_DYNAMIC_DISPATCH(StoreLinesOf)(runs, is_low_first, streamed);
}

void turn_bytes(const std::uint8_t* in, std::uint64_t bytes, const ByteTurn& turn, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(TurnBytesOf)(in, bytes, turn, out);
}

void exchange_words(const WordSquares& squares, const std::byte* from, std::uint32_t place,
                    std::uint32_t to_added, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(ExchangeWordsOf)(squares, from, place, to_added, to);
}

}  // namespace faro::packed
#endif  // HWY_ONCE
