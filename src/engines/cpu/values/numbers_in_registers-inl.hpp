// Numbers changed in registers, between a load and a store, for the target being compiled: those of which
// detail::stays_in_registers() says so.
//
//     stored --widened--> parts: signs, scale, offset, + beta addend --rounded--> stored
//
// A part is a float or a double, or one of the two of a complex number. One loop, without buffers between
// steps.
#if defined(FARO_NUMBERS_IN_REGISTERS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_NUMBERS_IN_REGISTERS_INL_HPP
#undef FARO_NUMBERS_IN_REGISTERS_INL_HPP
#else
#define FARO_NUMBERS_IN_REGISTERS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engines/cpu/values/value_arguments.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/small_floats.hpp"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE auto LoadParts(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <bool kPastCaches, class D>
HWY_INLINE void StoreParts(hn::Vec<D> x, D d, hn::TFromD<D>* to) {
  // Less than 16 bytes are not stored past the caches.
  if constexpr (kPastCaches && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 16) {
    hn::Stream(x, d, to);
  } else {
    hn::StoreU(x, d, to);
  }
}

template <class D>
HWY_INLINE auto LoadParts(D d, const std::uint8_t* from) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const hn::Rebind<std::int32_t, D> whole;
  return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(bytes, from)));
}
template <class D>
HWY_INLINE auto LoadParts(D d, const kernels::BrainHalf* from) {
  const hn::Rebind<std::uint16_t, D> halves;
  const hn::RebindToUnsigned<D> bits;
  const auto upper = hn::PromoteTo(bits, hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(upper));
}

// As kernels::rounded_to(): to nearest even, every NaN the same but for its sign.
template <bool kPastCaches, class D>
HWY_INLINE void StoreParts(hn::Vec<D> x, D /*d*/, kernels::BrainHalf* to) {
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<std::uint16_t, D> halves;
  const auto all = hn::BitCast(bits, x);
  const auto upper = hn::ShiftRight<16>(all);
  const auto odd = hn::And(upper, hn::Set(bits, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(all, hn::Add(odd, hn::Set(bits, 0x7fffU))));
  const auto nan =
      hn::Or(hn::And(upper, hn::Set(bits, 0x8000U)), hn::Set(bits, std::uint32_t{kernels::BrainHalf::kNan}));
  const auto stored = hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(x)), nan, rounded);
  StoreParts<kPastCaches>(hn::DemoteTo(halves, hn::BitCast(whole, stored)), halves,
                          reinterpret_cast<std::uint16_t*>(to));
}

// By the processor's own conversions of binary16 alone.
#if HWY_TARGET <= HWY_AVX2 || (HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)
#define FARO_HALVES 1
template <class D>
HWY_INLINE auto LoadParts(D d, const kernels::Half* from) {
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
}
template <bool kPastCaches, class D>
HWY_INLINE void StoreParts(hn::Vec<D> x, D /*d*/, kernels::Half* to) {
  const hn::Rebind<hwy::float16_t, D> halves;
  const hn::Rebind<std::uint16_t, D> bits;
  StoreParts<kPastCaches>(hn::BitCast(bits, hn::DemoteTo(halves, x)), bits,
                          reinterpret_cast<std::uint16_t*>(to));
}
#else
#define FARO_HALVES 0
#endif

// What there is to be done. Without factors bits stay as they are, those of signalling NaNs too.
enum class PartsKind { signs, factors, factors_and_addend, varying };

// A program's changes of numbers whose parts are stored as From, and then as To. What is added is stored as
// To.
template <typename Real, typename From, typename To>
class ChangedNumbers {
  static constexpr std::size_t kLine = 64;

 public:
  // The factors of `of`; where they vary it is the run that is changed.
  ChangedNumbers(const ValueProgram& program, const ValueRun& of)
      : varying_scale_(program.has_scale && of.scale.varies ? at_of<Real>(of.scale.data) : nullptr),
        varying_offset_(program.has_offset && of.offset.varies ? at_of<Real>(of.offset.data) : nullptr),
        beta_(value_of(program.beta.data())),
        negates_(program.function == Function::negate),
        conjugates_(program.function == Function::conjugate),
        adds_(program.has_addend),
        streamed_(program.streamed),
        parts_(is_complex(program.to) ? 2 : 1) {
    if (program.has_scale && !of.scale.varies) scale_ = value_of(of.scale.data);
    if (program.has_offset && !of.offset.varies) offset_ = value_of(of.offset.data);
    if (varying_scale_ != nullptr || varying_offset_ != nullptr) {
      kind_ = PartsKind::varying;
    } else if (adds_) {
      kind_ = PartsKind::factors_and_addend;
    } else if (program.has_scale || program.has_offset) {
      kind_ = PartsKind::factors;
    }
  }

  HWY_INLINE void run(const std::byte* from, const std::byte* addend, std::byte* to,
                      std::uint64_t numbers) const {
    const Run of{at_of<From>(from), at_of<To>(addend), reinterpret_cast<To*>(to), numbers * parts_};
    switch (kind_) {
      case PartsKind::signs:
        return run_of<PartsKind::signs>(of);
      case PartsKind::factors:
        return run_of<PartsKind::factors>(of);
      case PartsKind::factors_and_addend:
        return run_of<PartsKind::factors_and_addend>(of);
      default:
        return run_of<PartsKind::varying>(of);
    }
  }

 private:
  struct Run {
    const From* from;
    const To* addend;
    To* to;
    std::size_t count;
  };
  template <typename T>
  static const T* at_of(const std::byte* data) {
    return reinterpret_cast<const T*>(data);
  }
  static Real value_of(const std::byte* data) {
    Real value;
    std::memcpy(&value, data, sizeof(Real));
    return value;
  }

  template <PartsKind kKind>
  HWY_INLINE void run_of(const Run run) const {
    const hn::ScalableTag<Real> d;
    const auto zero = hn::Zero(d);
    const auto minus = hn::SignBit(d);
    // A register of one part has it odd or even by its place.
    constexpr bool is_single = hn::MaxLanes(d) == 1;
    const bool conjugates = conjugates_;
    const auto signs = negates_ || (conjugates && is_single) ? minus
                       : conjugates                          ? hn::OddEven(minus, zero)
                                                             : zero;
    const auto scale = hn::Set(d, scale_);
    const auto offset = hn::Set(d, offset_);
    const auto beta = hn::Set(d, beta_);
    const Real* const scales = varying_scale_;
    const Real* const offsets = varying_offset_;
    const bool adds = kKind == PartsKind::varying ? adds_ : kKind == PartsKind::factors_and_addend;
    const auto changed = [&](std::size_t i, const auto& load) HWY_ATTR {
      auto x = load(run.from + i);
      if (!is_single || i % 2 == 1 || !conjugates) x = hn::Xor(x, signs);
      if constexpr (kKind == PartsKind::varying) {
        x = hn::Mul(x, scales != nullptr ? load(scales + i) : scale);
        x = hn::Add(x, offsets != nullptr ? load(offsets + i) : offset);
      } else if constexpr (kKind != PartsKind::signs) {
        x = hn::Add(hn::Mul(x, scale), offset);
      }
      return adds ? hn::Add(x, hn::Mul(load(run.addend + i), beta)) : x;
    };
    const std::size_t lanes = hn::Lanes(d);
    // Fewer than a vector.
    const auto store_some = [&](std::size_t i, std::size_t end) HWY_ATTR {
      for (; i < end; i += lanes) {
        const std::size_t count = std::min(lanes, end - i);
        const auto load_some = [&](const auto* at) HWY_ATTR {
          std::remove_cvref_t<decltype(*at)> some[hn::MaxLanes(d)] = {};
          std::memcpy(some, at, count * sizeof(*at));
          return LoadParts(d, some);
        };
        To some[hn::MaxLanes(d)];
        StoreParts<false>(changed(i, load_some), d, some);
        std::memcpy(run.to + i, some, count * sizeof(To));
      }
    };
    const auto load_all = [&](const auto* at) HWY_ATTR { return LoadParts(d, at); };
    const std::size_t past = reinterpret_cast<std::uintptr_t>(run.to) % kLine;
    std::size_t i = 0;
    if (streamed_ && past % (sizeof(To) * parts_) == 0) {
      if (past != 0) {
        i = std::min((kLine - past) / sizeof(To), run.count);
        store_some(0, i);
      }
      constexpr std::size_t kOfLine = kLine / sizeof(To);
      for (const std::size_t end = i + (run.count - i) / kOfLine * kOfLine; i < end; i += lanes)
        StoreParts<true>(changed(i, load_all), d, run.to + i);
    }
    for (; i + lanes <= run.count; i += lanes) StoreParts<false>(changed(i, load_all), d, run.to + i);
    if (i < run.count) store_some(i, run.count);
  }

  const Real* varying_scale_;
  const Real* varying_offset_;
  // Those that change nothing, not even the sign of 0, where there are no others.
  Real scale_ = 1;
  Real offset_ = Real{-0.0};
  Real beta_;
  bool negates_;
  bool conjugates_;
  bool adds_;
  bool streamed_;
  std::size_t parts_;  // of a number
  PartsKind kind_ = PartsKind::signs;
};

// Calls call(type) with what parts are stored as in memory; false where this target has no such registers.
template <typename Call>
HWY_INLINE bool WithStoredParts(Number number, const Call& call) {
  switch (number) {
    case Number::u8:
      call(std::uint8_t{});
      return true;
    case Number::bf16:
      call(kernels::BrainHalf{});
      return true;
    case Number::f16:
#if FARO_HALVES
      call(kernels::Half{});
#endif
      return FARO_HALVES == 1;
    default:
      call(float{});
      return true;
  }
}

// Calls call(numbers) with the changes of a program whose numbers stay in registers; false where this target
// has none for them.
template <typename Call>
HWY_INLINE bool WithChangedNumbers(const ValueProgram& program, const ValueRun& of, const Call& call) {
  if (program.to == Number::f64 || program.to == Number::c128) {
    call(ChangedNumbers<double, double, double>(program, of));
    return true;
  }
  bool done = false;
  static_cast<void>(WithStoredParts(program.from, [&](auto from) HWY_ATTR {
    using From = std::remove_cvref_t<decltype(from)>;
    done = WithStoredParts(program.to, [&](auto to) HWY_ATTR {
      using To = std::remove_cvref_t<decltype(to)>;
      if constexpr (!std::is_same_v<To, std::uint8_t>) call(ChangedNumbers<float, From, To>(program, of));
    });
  }));
  return done;
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#undef FARO_HALVES
#endif  // include guard, once a target
