// One register of units and the few operations a micro tile needs of it, for the target being compiled.
//
//     64 bytes      AVX-512: any permutation of the units is one instruction (bytes need VBMI); so is a blend
//     2 x 16 bytes  AVX2: any permutation within each half is one table lookup of bytes, whatever their
//     width.
//                   The halves belong to two micro tiles, which differ in nothing but where they lie
//     16 bytes      elsewhere, the same of one micro tile
//
// A register holds a vector of each of kTiles micro tiles, each of kBytes. Index and choice tables come
// ready-made from program.hpp, so nothing here knows what is permuted. Highway 1.0.3 has no lookup across the
// blocks of a 64-byte vector for 1- and 2-byte lanes, hence the intrinsics.
#if defined(FARO_REGISTER_LINE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_REGISTER_LINE_INL_HPP
#undef FARO_REGISTER_LINE_INL_HPP
#else
#define FARO_REGISTER_LINE_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include "engines/cpu/tile/program.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
// No vectors at all: the same operations on an array of bytes.
struct BlockLine {
  static constexpr std::size_t kTiles = 1;
  static constexpr std::size_t kBytes = 16;
  static constexpr int kMaxBits = 4;
  static constexpr int kRoundBits = 4;
  struct Line {
    std::uint8_t byte[16];
  };
  using Choice = Line;

  template <typename ByteOf>
  static HWY_INLINE Line Make(ByteOf byte_of) {
    Line line;
    for (std::size_t i = 0; i < 16; ++i) line.byte[i] = static_cast<std::uint8_t>(byte_of(i));
    return line;
  }
  static HWY_INLINE Line Load(const std::byte* from) {
    return Make([&](std::size_t i) { return from[i]; });
  }
  static HWY_INLINE void Store(Line line, std::byte* to) {
    for (std::size_t i = 0; i < 16; ++i) to[i] = static_cast<std::byte>(line.byte[i]);
  }
  static HWY_INLINE void Stream(Line line, std::byte* to) { Store(line, to); }
  static HWY_INLINE Line LoadIndex(const RegisterImage& image) { return Load(image.bytes); }
  static HWY_INLINE Line SetIndex(std::uint8_t value) {
    return Make([&](std::size_t) { return value; });
  }
  static HWY_INLINE Line Xor(Line a, Line b) {
    return Make([&](std::size_t i) { return a.byte[i] ^ b.byte[i]; });
  }
  static HWY_INLINE Line Permute(Line line, Line index) {
    return Make([&](std::size_t i) { return line.byte[index.byte[i]]; });
  }
  static HWY_INLINE Choice LoadChoice(const ExchangeLanes& lanes) { return LoadIndex(lanes.bytes); }
  static HWY_INLINE Line Choose(Choice choice, Line chosen, Line other) {
    return Make([&](std::size_t i) { return choice.byte[i] != 0 ? chosen.byte[i] : other.byte[i]; });
  }
};
#else
// What a register of 16-byte blocks can do, whatever their number: every block is looked up by itself.
template <class D>
struct RegisterBlocks {
  static constexpr std::size_t kBytes = 16;
  static constexpr int kMaxBits = 4;  // a block has at most 2^4 units
  using Line = hn::Vec<D>;
  using Choice = hn::Vec<D>;

  static const std::uint8_t* Bytes(const std::byte* from) {
    return reinterpret_cast<const std::uint8_t*>(from);
  }
  static std::uint8_t* Bytes(std::byte* to) { return reinterpret_cast<std::uint8_t*>(to); }
  static HWY_INLINE Line Load(const std::byte* from) { return hn::LoadU(D(), Bytes(from)); }
  static HWY_INLINE void Store(Line line, std::byte* to) { hn::StoreU(line, D(), Bytes(to)); }
  static HWY_INLINE void Stream(Line line, std::byte* to) { hn::Stream(line, D(), Bytes(to)); }
  static HWY_INLINE Line LoadIndex(const RegisterImage& image) {
    return hn::LoadDup128(D(), Bytes(image.bytes));
  }
  static HWY_INLINE Line Xor(Line a, Line b) { return hn::Xor(a, b); }
  static HWY_INLINE Line Permute(Line line, Line index) { return hn::TableLookupBytes(line, index); }
  static HWY_INLINE Choice LoadChoice(const ExchangeLanes& lanes) { return LoadIndex(lanes.bytes); }
  static HWY_INLINE Line Choose(Choice choice, Line chosen, Line other) {
    return hn::IfVecThenElse(choice, chosen, other);
  }
};

struct BlockLine : RegisterBlocks<hn::FixedTag<std::uint8_t, 16>> {
  static constexpr std::size_t kTiles = 1;
  static constexpr int kRoundBits = 4;
  static HWY_INLINE Line SetIndex(std::uint8_t value) {
    return hn::Set(hn::FixedTag<std::uint8_t, 16>(), value);
  }
};
#endif

#undef FARO_HAVE_BLOCK_PAIRS  // of the target before
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define FARO_HAVE_BLOCK_PAIRS 1

struct BlockPair : RegisterBlocks<hn::FixedTag<std::uint8_t, 32>> {
  static constexpr std::size_t kTiles = 2;
  static constexpr int kRoundBits = 3;
  using D = hn::FixedTag<std::uint8_t, 32>;
  using H = hn::FixedTag<std::uint8_t, 16>;

  using RegisterBlocks::Load;
  using RegisterBlocks::Store;
  static HWY_INLINE Line Load(const std::byte* low, const std::byte* high) {
    return hn::Combine(D(), hn::LoadU(H(), Bytes(high)), hn::LoadU(H(), Bytes(low)));
  }
  static HWY_INLINE void Store(Line line, std::byte* low, std::byte* high) {
    hn::StoreU(hn::LowerHalf(H(), line), H(), Bytes(low));
    hn::StoreU(hn::UpperHalf(H(), line), H(), Bytes(high));
  }
  static HWY_INLINE Line SetIndex(std::uint8_t low, std::uint8_t high) {
    return hn::Combine(D(), hn::Set(H(), high), hn::Set(H(), low));
  }
};
#else
#define FARO_HAVE_BLOCK_PAIRS 0
#endif

// AVX3_DL gains on AVX3 where single bytes are permuted, and nowhere else: all else is AVX3's there.
#undef FARO_SINGLE_BYTES_ALONE
#if HWY_TARGET == HWY_AVX3_DL && (HWY_TARGETS & HWY_AVX3)
#define FARO_SINGLE_BYTES_ALONE 1
#else
#define FARO_SINGLE_BYTES_ALONE 0
#endif

#undef FARO_HAVE_WIDE_LINES  // of the target before
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define FARO_HAVE_WIDE_LINES 1

// What depends on the width of a lane: 1, 2, 4 or 8 bytes. 16-byte units are pairs of 8-byte lanes.
template <std::size_t kLaneBytes>
struct WideLanes;

#if HWY_TARGET == HWY_AVX3_DL
template <>
struct WideLanes<1> {
  static constexpr int kMaxBits = 6;
  using Choice = __mmask64;
  static HWY_INLINE __m512i SetIndex(std::uint8_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
  static HWY_INLINE __m512i Permute(__m512i v, __m512i index) { return _mm512_permutexvar_epi8(index, v); }
  static HWY_INLINE __m512i Choose(Choice c, __m512i chosen, __m512i other) {
    return _mm512_mask_blend_epi8(c, other, chosen);
  }
};
#endif

template <>
struct WideLanes<2> {
  static constexpr int kMaxBits = 5;
  using Choice = __mmask32;
  static HWY_INLINE __m512i SetIndex(std::uint8_t v) { return _mm512_set1_epi16(v); }
  static HWY_INLINE __m512i Permute(__m512i v, __m512i index) { return _mm512_permutexvar_epi16(index, v); }
  static HWY_INLINE __m512i Choose(Choice c, __m512i chosen, __m512i other) {
    return _mm512_mask_blend_epi16(c, other, chosen);
  }
};

template <>
struct WideLanes<4> {
  static constexpr int kMaxBits = 4;
  using Choice = __mmask16;
  static HWY_INLINE __m512i SetIndex(std::uint8_t v) { return _mm512_set1_epi32(v); }
  static HWY_INLINE __m512i Permute(__m512i v, __m512i index) { return _mm512_permutexvar_epi32(index, v); }
  static HWY_INLINE __m512i Choose(Choice c, __m512i chosen, __m512i other) {
    return _mm512_mask_blend_epi32(c, other, chosen);
  }
};

template <>
struct WideLanes<8> {
  static constexpr int kMaxBits = 3;
  using Choice = __mmask8;
  static HWY_INLINE __m512i SetIndex(std::uint8_t v) { return _mm512_set1_epi64(v); }
  static HWY_INLINE __m512i Permute(__m512i v, __m512i index) { return _mm512_permutexvar_epi64(index, v); }
  static HWY_INLINE __m512i Choose(Choice c, __m512i chosen, __m512i other) {
    return _mm512_mask_blend_epi64(c, other, chosen);
  }
};

template <std::size_t kLaneBytes>
struct WideLine : WideLanes<kLaneBytes> {
  static constexpr std::size_t kTiles = 1;
  static constexpr std::size_t kBytes = 64;
  static constexpr int kRoundBits = 4;
  using Line = __m512i;
  using Choice = typename WideLanes<kLaneBytes>::Choice;

  static HWY_INLINE Line Load(const std::byte* from) { return _mm512_loadu_si512(from); }
  static HWY_INLINE void Store(Line line, std::byte* to) { _mm512_storeu_si512(to, line); }
  static HWY_INLINE void Stream(Line line, std::byte* to) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  }
  static HWY_INLINE Line LoadIndex(const RegisterImage& image) { return _mm512_load_si512(image.bytes); }
  static HWY_INLINE Line Xor(Line a, Line b) { return _mm512_xor_si512(a, b); }
  static HWY_INLINE Choice LoadChoice(const ExchangeLanes& lanes) { return static_cast<Choice>(lanes.mask); }
};
#else
#define FARO_HAVE_WIDE_LINES 0
#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_REGISTER_LINE_INL_HPP
