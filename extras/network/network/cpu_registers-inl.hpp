// A chunk's groups on vector registers, for the target being compiled and any operator.
//
//     group    2^q registers of the tile's buffer: loaded, recoded, taken through every step, stored
//     step     straight   register i and i ^ c, whole, the second's lanes exchanged before and after
//              within     register i and itself with lanes exchanged; a mask says which lanes are second
//              mixed      anything else, through memory
//
// An operator K has lanes of type K::T, and two forms of one function:
//
//     K::Meet(first, second, turn, i)      both become what the operator makes of them
//     K::Within(is_second, x, y, turn, i)  what becomes of x, lane by lane the first or second, y its partner
//
// where `turn` is what K::TurnOf(step, …) made once for the group, and i the register whose lanes the pair is
// in.
#if defined(FARO_NETWORK_CPU_REGISTERS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_NETWORK_CPU_REGISTERS_INL_HPP
#undef FARO_NETWORK_CPU_REGISTERS_INL_HPP
#else
#define FARO_NETWORK_CPU_REGISTERS_INL_HPP
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "network/cpu_chunks.hpp"

// Without vectors of at least four floats and lookups across them a tile is run pair by pair.
#undef FARO_HAVE_NETWORK_VECTORS  // of the target before
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3
#define FARO_HAVE_NETWORK_VECTORS 0
#else
#define FARO_HAVE_NETWORK_VECTORS 1
#endif

#undef FARO_INSTRUMENTED_BUILD
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FARO_INSTRUMENTED_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FARO_INSTRUMENTED_BUILD 1
#endif
#endif
#ifndef FARO_INSTRUMENTED_BUILD
#define FARO_INSTRUMENTED_BUILD 0
#endif

HWY_BEFORE_NAMESPACE();
namespace faro::network::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if FARO_HAVE_NETWORK_VECTORS

// 32 registers hold 16 vectors and what is worked with, 16 hold 8. Instrumented builds hold 4: the same code,
// which the sanitizers' compilers take minutes over otherwise.
#if FARO_INSTRUMENTED_BUILD
inline constexpr int kRegisterBits = 2;
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
inline constexpr int kRegisterBits = 4;
#else
inline constexpr int kRegisterBits = 3;
#endif
inline constexpr std::size_t kRegisters = std::size_t{1} << kRegisterBits;
using EachRegister = std::make_index_sequence<kRegisters>;
using EachPair = std::make_index_sequence<kRegisters / 2>;

template <class K>
using TagOf = hn::CappedTag<typename K::T, kMaxVectorBytes / sizeof(typename K::T)>;
template <class K>
using VectorOf = hn::Vec<TagOf<K>>;
template <class K>
using MaskOf = hn::Mask<TagOf<K>>;

template <class K>
struct Exchanged {
  using D = TagOf<K>;
  using Index = decltype(hn::IndicesFromVec(D(), hn::Zero(hn::RebindToSigned<D>())));
  Index index;

  explicit HWY_INLINE Exchanged(const Step& step)
      : index(hn::IndicesFromVec(
            D(), hn::Load(hn::RebindToSigned<D>(),
                          reinterpret_cast<const hwy::MakeSigned<typename K::T>*>(step.lane_index)))) {}
  HWY_INLINE VectorOf<K> operator()(VectorOf<K> v) const { return hn::TableLookupLanes(v, index); }
};

template <class K>
HWY_INLINE MaskOf<K> MaskFrom(std::uint64_t bits) {
  return hn::LoadMaskBits(TagOf<K>(), reinterpret_cast<const std::uint8_t*>(&bits));
}

// --- straight steps: everything about the registers is known to the compiler

// The pair-th register whose bit leading(c) is 0.
constexpr std::size_t Speaker(std::size_t pair, unsigned c) {
  const int at = std::bit_width(c) - 1;
  const std::size_t below = pair & ((std::size_t{1} << at) - 1);
  return (pair ^ below) << 1 | below;
}

template <class K, unsigned kC, bool kSwapped, bool kLanes, std::size_t kPair>
HWY_INLINE void StraightPair(VectorOf<K>* r, const Exchanged<K>& exchanged, const typename K::Turn& turn) {
  constexpr std::size_t kLow = Speaker(kPair, kC);
  constexpr std::size_t kFirst = kSwapped ? kLow ^ kC : kLow;
  constexpr std::size_t kSecond = kFirst ^ kC;
  if constexpr (kLanes) {
    auto second = exchanged(r[kSecond]);
    K::Meet(r[kFirst], second, turn, kFirst);
    r[kSecond] = exchanged(second);
  } else {
    K::Meet(r[kFirst], r[kSecond], turn, kFirst);
  }
}

template <class K, unsigned kC, bool kSwapped, bool kLanes, std::size_t... kPair>
HWY_INLINE void StraightPairs(VectorOf<K>* r, const Step& step, const typename K::Turn& turn,
                              std::index_sequence<kPair...> /*pairs*/) {
  const Exchanged<K> exchanged(step);
  (StraightPair<K, kC, kSwapped, kLanes, kPair>(r, exchanged, turn), ...);
}

template <class K, unsigned kC>
HWY_INLINE void Straight(VectorOf<K>* r, const Step& step, bool swapped, const typename K::Turn& turn) {
  if (swapped) {
    if (step.lanes == 0) {
      StraightPairs<K, kC, true, false>(r, step, turn, EachPair());
    } else {
      StraightPairs<K, kC, true, true>(r, step, turn, EachPair());
    }
  } else {
    if (step.lanes == 0) {
      StraightPairs<K, kC, false, false>(r, step, turn, EachPair());
    } else {
      StraightPairs<K, kC, false, true>(r, step, turn, EachPair());
    }
  }
}

// --- steps where a mask says which lanes are second

// All lanes, or none.
template <class K>
HWY_INLINE MaskOf<K> MaskOfAll(bool all) {
  const hn::RebindToSigned<TagOf<K>> d;
  return hn::RebindMask(TagOf<K>(), hn::MaskFromVec(hn::Set(d, all ? -1 : 0)));
}

template <class K, std::size_t... kI>
HWY_INLINE void Within(VectorOf<K>* r, const Step& step, MaskOf<K> is_second, const typename K::Turn& turn,
                       std::index_sequence<kI...> /*registers*/) {
  const Exchanged<K> exchanged(step);
  if (step.register_signs == 0) {
    ((r[kI] = K::Within(is_second, r[kI], exchanged(r[kI]), turn, kI)), ...);
  } else {
    ((r[kI] = K::Within(hn::Xor(is_second, MaskOfAll<K>((step.register_signs >> kI & 1) != 0)), r[kI],
                        exchanged(r[kI]), turn, kI)),
     ...);
  }
}

template <class K, unsigned kC, std::size_t kPair>
HWY_INLINE void MaskedPair(VectorOf<K>* r, std::uint32_t signs, MaskOf<K> is_second,
                           const Exchanged<K>& exchanged, const typename K::Turn& turn) {
  constexpr std::size_t kI = Speaker(kPair, kC);
  const auto mask = hn::Xor(is_second, MaskOfAll<K>((signs >> kI & 1) != 0));
  auto partner = exchanged(r[kI ^ kC]);
  K::MeetMasked(mask, r[kI], partner, turn, kI);
  r[kI ^ kC] = exchanged(partner);
}

template <class K, unsigned kC, std::size_t... kPair>
HWY_INLINE void Masked(VectorOf<K>* r, const Step& step, MaskOf<K> is_second, const typename K::Turn& turn,
                       std::index_sequence<kPair...> /*pairs*/) {
  const Exchanged<K> exchanged(step);
  (MaskedPair<K, kC, kPair>(r, step.register_signs, is_second, exchanged, turn), ...);
}

// --- groups

template <class K, unsigned kC>
HWY_INLINE void Across(VectorOf<K>* r, const Step& step, bool sign, MaskOf<K> is_second,
                       const typename K::Turn& turn) {
  if constexpr (kC < kRegisters) {
    if (step.straight) {
      Straight<K, kC>(r, step, sign, turn);
    } else {
      Masked<K, kC>(r, step, is_second, turn, EachPair());
    }
  }
}

template <class K>
HWY_INLINE void RunStep(VectorOf<K>* r, const Step& step, bool sign, const typename K::Turn& turn) {
  static_assert(kRegisters <= 16);
  const auto is_second = MaskFrom<K>(sign ? ~step.lane_signs : step.lane_signs);
  switch (step.partner) {
    case 0:
      return Within<K>(r, step, is_second, turn, EachRegister());
    case 1:
      return Across<K, 1>(r, step, sign, is_second, turn);
    case 2:
      return Across<K, 2>(r, step, sign, is_second, turn);
    case 3:
      return Across<K, 3>(r, step, sign, is_second, turn);
    case 4:
      return Across<K, 4>(r, step, sign, is_second, turn);
    case 5:
      return Across<K, 5>(r, step, sign, is_second, turn);
    case 6:
      return Across<K, 6>(r, step, sign, is_second, turn);
    case 7:
      return Across<K, 7>(r, step, sign, is_second, turn);
    case 8:
      return Across<K, 8>(r, step, sign, is_second, turn);
    case 9:
      return Across<K, 9>(r, step, sign, is_second, turn);
    case 10:
      return Across<K, 10>(r, step, sign, is_second, turn);
    case 11:
      return Across<K, 11>(r, step, sign, is_second, turn);
    case 12:
      return Across<K, 12>(r, step, sign, is_second, turn);
    case 13:
      return Across<K, 13>(r, step, sign, is_second, turn);
    case 14:
      return Across<K, 14>(r, step, sign, is_second, turn);
    case 15:
      return Across<K, 15>(r, step, sign, is_second, turn);
    default:
      return;  // no register is so far away
  }
}

template <class K, std::size_t... kI>
HWY_INLINE void LoadGroup(const std::byte* buffer, std::uint64_t base, const std::uint64_t* offsets,
                          VectorOf<K>* r, std::index_sequence<kI...> /*registers*/) {
  ((r[kI] = hn::Load(TagOf<K>(), reinterpret_cast<const typename K::T*>(buffer + (base ^ offsets[kI])))),
   ...);
}
template <class K, std::size_t... kI>
HWY_INLINE void StoreGroup(std::byte* buffer, std::uint64_t base, const std::uint64_t* offsets,
                           const VectorOf<K>* r, std::index_sequence<kI...> /*registers*/) {
  (hn::Store(r[kI], TagOf<K>(), reinterpret_cast<typename K::T*>(buffer + (base ^ offsets[kI]))), ...);
}

template <class K>
void RunGroups(const Chunk& chunk, TileState& tile, std::byte* buffer) {
  const Step* const steps = chunk.steps.data();
  const std::size_t count = chunk.steps.size();
  const std::uint64_t* const offsets = chunk.registers.data();
  f2::Word* const frames = tile.frames;
  std::uint64_t base = 0;
  for (std::uint64_t group = 0; group < chunk.groups; ++group) {
    if (group != 0) {
      const auto bit = static_cast<std::size_t>(f2::trailing_bit(group));
      const f2::Word* const changes = chunk.step_walk.data() + bit * count;
      base ^= chunk.walk[bit];
      for (std::size_t s = 0; s < count; ++s) frames[s] ^= changes[s];
    }
    VectorOf<K> r[kRegisters];
    LoadGroup<K>(buffer, base, offsets, r, EachRegister());
    K::Recode(chunk.on_load, true, r, EachRegister());
    for (std::size_t s = 0; s < count; ++s) {
      RunStep<K>(r, steps[s], (frames[s] & 1) != 0, K::TurnOf(steps[s], group, tile.twiddles[s]));
    }
    K::Recode(chunk.on_store, false, r, EachRegister());
    StoreGroup<K>(buffer, base, offsets, r, EachRegister());
  }
}

/// What operators without twiddles and recodings share.
struct PlainKernel {
  struct Turn {};
  static HWY_INLINE Turn TurnOf(const Step& /*step*/, std::uint64_t /*group*/,
                                std::complex<double> /*tile*/) {
    return {};
  }
  template <class V, std::size_t... kI>
  static HWY_INLINE void Recode(Recoding /*recoding*/, bool /*loading*/, V* /*r*/,
                                std::index_sequence<kI...> /*registers*/) {}
};

#endif  // FARO_HAVE_NETWORK_VECTORS

}  // namespace HWY_NAMESPACE
}  // namespace faro::network::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_NETWORK_CPU_REGISTERS_INL_HPP
