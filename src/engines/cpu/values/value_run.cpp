#include "engines/cpu/values/value_run.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "kernels/number_types.hpp"
#include "kernels/value_functions.hpp"
#include "permutation/coefficients.hpp"
#include "plan/value_plan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/values/value_run.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/values/numbers_in_registers-inl.hpp"
#include "hwy/highway.h"

#ifndef FARO_VALUE_RUN
#define FARO_VALUE_RUN
namespace faro::cpu {

// Elements of a chunk, by what they are computed in: buffers of 2 KiB, and of what they are stored as.
constexpr std::size_t kComputedBytes = 2048;
constexpr std::size_t kWidestStored = 16;
constexpr std::size_t kLineBytes = 64;
template <typename Computed>
constexpr std::size_t kChunkValues = kComputedBytes / sizeof(Computed);

using kernels::Boolean;
using kernels::Complex;

template <typename Stored>
Stored load_value(const std::byte* from, std::size_t i) {
  Stored x;
  std::memcpy(&x, from + i * sizeof(Stored), sizeof(Stored));
  return x;
}
template <typename Stored>
void store_value(Stored x, std::byte* to, std::size_t i) {
  std::memcpy(to + i * sizeof(Stored), &x, sizeof(Stored));
}

using kernels::with_number;

// Which types computed_in() puts together; no loops are made for others.
template <typename Stored>
constexpr bool kIsExactInFloat = std::is_same_v<Stored, float> || std::is_same_v<Stored, Boolean> ||
                                 kernels::kIsSmallFloat<Stored> ||
                                 (std::is_integral_v<Stored> && sizeof(Stored) <= 2);
template <typename Computed, typename Stored>
constexpr bool widens() {
  if constexpr (std::is_integral_v<Computed>) {
    return std::is_same_v<Computed, std::uint64_t> == std::is_same_v<Stored, std::uint64_t> &&
           (std::is_integral_v<Stored> || std::is_same_v<Stored, Boolean>);
  } else if constexpr (std::is_same_v<Computed, float>) {
    return kIsExactInFloat<Stored>;
  } else if constexpr (std::is_same_v<Computed, Complex<float>>) {
    return kIsExactInFloat<Stored> || std::is_same_v<Stored, Complex<float>>;
  } else {
    return kernels::kIsComplex<Computed> || !kernels::kIsComplex<Stored>;
  }
}
template <typename Computed, typename Stored>
constexpr bool narrows() {
  if constexpr (std::is_same_v<Computed, float> || std::is_same_v<Computed, Complex<float>>) {
    return kIsExactInFloat<Stored> || std::is_same_v<Stored, Complex<float>>;
  } else {
    return true;
  }
}

}  // namespace faro::cpu
#endif  // FARO_VALUE_RUN

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

template <typename Word>
void SwapWords(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto word = load_value<Word>(from, i);
    if constexpr (sizeof(Word) == 2) word = static_cast<Word>(__builtin_bswap16(word));
    if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
    store_value(word, to, i);
  }
}

// Of `count` numbers; each half of a complex one by itself.
void SwapBytes(Number number, const std::byte* from, std::byte* to, std::size_t count) {
  const std::size_t parts = is_complex(number) ? 2 : 1;
  switch (bytes_of(number) / parts) {
    case 2:
      return SwapWords<std::uint16_t>(from, to, count * parts);
    case 4:
      return SwapWords<std::uint32_t>(from, to, count * parts);
    case 8:
      return SwapWords<std::uint64_t>(from, to, count * parts);
    default:
      return SwapWords<std::uint8_t>(from, to, count * parts);
  }
}

#if HWY_TARGET <= HWY_AVX2
namespace hn = hwy::HWY_NAMESPACE;
// The processor's own conversions of binary16: how many it did, whole registers alone.
HWY_INLINE std::size_t WidenHalves(const std::byte* from, float* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from) + i)), d,
               to + i);
  return i;
}
HWY_INLINE std::size_t NarrowToHalves(const std::byte* from, std::byte* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, reinterpret_cast<const float*>(from) + i)), half,
               reinterpret_cast<hwy::float16_t*>(to) + i);
  return i;
}
#else
HWY_INLINE std::size_t WidenHalves(const std::byte*, float*, std::size_t) { return 0; }
HWY_INLINE std::size_t NarrowToHalves(const std::byte*, std::byte*, std::size_t) { return 0; }
#endif

template <typename Computed, typename Stored>
void WidenAll(const std::byte* from, Computed* to, std::size_t count) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<Stored, kernels::Half> && std::is_same_v<Computed, float>)
    i = WidenHalves(from, to, count);
  for (; i < count; ++i) to[i] = kernels::computed<Computed>(load_value<Stored>(from, i));
}

template <typename Computed, typename Stored, bool kToNearest, kernels::Overflow kOverflow>
void NarrowAll(const std::byte* from, std::byte* to, std::size_t count) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<Stored, kernels::Half> && std::is_same_v<Computed, float> &&
                kOverflow == kernels::Overflow::as_type) {
    i = NarrowToHalves(from, to, count);
  }
  for (; i < count; ++i) {
    store_value(kernels::stored<Stored>(load_value<Computed>(from, i),
                                        {.to_nearest = kToNearest, .overflow = kOverflow}),
                to, i);
  }
}

template <typename Computed, typename Stored>
void WidenFrom(const std::byte* from, Computed* to, std::size_t count) {
  if constexpr (!widens<Computed, Stored>()) {
    return;
  } else if constexpr (kernels::kIsComplex<Stored>) {
    WidenAll<decltype(Computed::re), decltype(Stored::re)>(from, &to->re, 2 * count);
  } else {
    WidenAll<Computed, Stored>(from, to, count);
  }
}

template <typename Computed>
void Widen(Number number, const std::byte* from, Computed* to, std::size_t count) {
  with_number(number, [&]<typename Stored>() HWY_ATTR { WidenFrom<Computed, Stored>(from, to, count); });
}

template <typename Computed, typename Stored>
void NarrowTo(const ValueProgram& program, const std::byte* from, std::byte* to, std::size_t count) {
  using kernels::Overflow;
  if constexpr (!narrows<Computed, Stored>()) {
    return;
  } else if constexpr (kernels::kIsComplex<Stored> && kernels::kIsComplex<Computed>) {
    NarrowAll<decltype(Computed::re), decltype(Stored::re), false, Overflow::as_type>(from, to, 2 * count);
  } else if constexpr (kernels::kIsSmallFloat<Stored>) {
    if (program.saturated) return NarrowAll<Computed, Stored, false, Overflow::saturate>(from, to, count);
    NarrowAll<Computed, Stored, false, Overflow::as_type>(from, to, count);
  } else if constexpr (std::is_integral_v<Stored> && !std::is_integral_v<Computed>) {
    if (program.to_nearest) return NarrowAll<Computed, Stored, true, Overflow::as_type>(from, to, count);
    NarrowAll<Computed, Stored, false, Overflow::as_type>(from, to, count);
  } else {
    NarrowAll<Computed, Stored, false, Overflow::as_type>(from, to, count);
  }
}

template <typename Computed>
void Narrow(const ValueProgram& program, const std::byte* from, std::byte* to, std::size_t count) {
  with_number(program.to,
              [&]<typename Stored>() HWY_ATTR { NarrowTo<Computed, Stored>(program, from, to, count); });
}

template <typename Computed, typename Step>
HWY_INLINE void ForEach(Computed* values, std::size_t count, const Step& step) {
  for (std::size_t i = 0; i < count; ++i) values[i] = step(values[i]);
}

template <typename Real>
void ApplyReal(Function function, Real* values, std::size_t count) {
  const auto each = [&](const auto& of)
                        HWY_ATTR { ForEach(values, count, [of](Real x) HWY_ATTR { return of(x); }); };
  switch (function) {
    case Function::identity:
    case Function::conjugate:
      return;
    case Function::negate:
      return each(kernels::Negate{});
    case Function::absolute:
      return each(kernels::Absolute{});
    case Function::relu:
      return each(kernels::Relu{});
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<Real>) {
    switch (function) {
      case Function::reciprocal:
        return each(kernels::Reciprocal{});
      case Function::square_root:
        return each(kernels::SquareRoot{});
      case Function::exp:
        return each(kernels::Exp{});
      case Function::log:
        return each(kernels::Log{});
      case Function::tanh:
        return each(kernels::Tanh{});
      case Function::sigmoid:
        return each(kernels::Sigmoid{});
      case Function::gelu:
        return each(kernels::Gelu{});
      default:
        return;
    }
  }
}

template <typename Real>
void ApplyComplex(Function function, Complex<Real>* values, std::size_t count) {
  const auto each = [&](const auto& of) HWY_ATTR {
    for (std::size_t i = 0; i < count; ++i) {
      const std::complex<Real> z = of(std::complex<Real>(values[i].re, values[i].im));
      values[i] = {z.real(), z.imag()};
    }
  };
  using Z = std::complex<Real>;
  switch (function) {
    case Function::conjugate:
      return each([](const Z& z) HWY_ATTR { return std::conj(z); });
    case Function::negate:
      return each([](const Z& z) HWY_ATTR { return -z; });
    case Function::absolute:
      return each([](const Z& z) HWY_ATTR { return Z(std::abs(z)); });
    case Function::reciprocal:
      return each([](const Z& z) HWY_ATTR { return Real{1} / z; });
    case Function::square_root:
      return each([](const Z& z) HWY_ATTR { return std::sqrt(z); });
    case Function::exp:
      return each([](const Z& z) HWY_ATTR { return std::exp(z); });
    case Function::log:
      return each([](const Z& z) HWY_ATTR { return std::log(z); });
    case Function::tanh:
      return each([](const Z& z) HWY_ATTR { return std::tanh(z); });
    case Function::sigmoid:
      return each([](const Z& z) HWY_ATTR { return Real{1} / (Real{1} + std::exp(-z)); });
    default:
      return;
  }
}

// Factors of elements `first` and on.
template <typename Computed, typename Step>
void Combine(const Factors& factors, std::size_t first, Computed* values, std::size_t count,
             const Step& step) {
  if (factors.varies) {
    const std::byte* const from = factors.data + first * sizeof(Computed);
    for (std::size_t i = 0; i < count; ++i) values[i] = step(values[i], load_value<Computed>(from, i));
  } else {
    const auto one = load_value<Computed>(factors.data, 0);
    for (std::size_t i = 0; i < count; ++i) values[i] = step(values[i], one);
  }
}

template <typename Real>
void Scale(const Factors& factors, std::size_t first, Real* values, std::size_t count) {
  Combine(factors, first, values, count, [](Real a, Real b) HWY_ATTR { return kernels::product(a, b); });
}

// As many of (a + bi)(c + di) as fill vectors, from number `at` on. Returns where it stopped.
template <class D, typename Real>
std::size_t MultiplyVectors(D d, const Factors& factors, Real* parts, std::size_t at, std::size_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto* const others = reinterpret_cast<const Real*>(factors.data);
  const auto one = load_value<Complex<Real>>(factors.data, 0);
  auto c = hn::Set(d, one.re);
  auto s = hn::Set(d, one.im);
  const std::size_t step = hn::Lanes(d);
  for (; at + step <= count; at += step) {
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    hn::LoadInterleaved2(d, parts + 2 * at, a, b);
    if (factors.varies) hn::LoadInterleaved2(d, others + 2 * at, c, s);
    const auto re = hn::Sub(hn::Mul(a, c), hn::Mul(b, s));
    const auto im = hn::Add(hn::Mul(a, s), hn::Mul(b, c));
    hn::StoreInterleaved2(re, im, d, parts + 2 * at);
  }
  return at;
}

// GCC 12 makes of both parts, written for one number, a fused operation, with -ffp-contract=off, too.
template <typename Real>
void Scale(const Factors& factors, std::size_t first, Complex<Real>* values, std::size_t count) {
  if (count == 0) return;
  Factors from_first = factors;
  if (factors.varies) from_first.data += first * sizeof(Complex<Real>);
  auto* const parts = reinterpret_cast<Real*>(values);
  const hwy::HWY_NAMESPACE::ScalableTag<Real> whole;
  const hwy::HWY_NAMESPACE::CappedTag<Real, 1> single;
  const std::size_t done = MultiplyVectors(whole, from_first, parts, 0, count);
  MultiplyVectors(single, from_first, parts, done, count);
}

// The numbers of one side as they are in this machine's order: where they are, or swapped in `buffer`.
HWY_INLINE const std::byte* InOrder(bool swapped, Number number, const std::byte* from, std::byte* buffer,
                                    std::size_t count) {
  if (!swapped) return from;
  SwapBytes(number, from, buffer, count);
  return buffer;
}

template <typename Computed>
struct ChunkBuffers {
  alignas(64) Computed values[kChunkValues<Computed>];
  alignas(64) Computed others[kChunkValues<Computed>];
  alignas(64) std::byte stored[kChunkValues<Computed> * kWidestStored];
};

template <typename Computed>
void Apply(const ValueProgram& program, ChunkBuffers<Computed>& buffers, std::size_t count) {
  if (program.function == Function::identity) return;
  if constexpr (!kernels::kIsComplex<Computed>) {
    ApplyReal(program.function, buffers.values, count);
  } else if (is_complex(program.from)) {
    ApplyComplex(program.function, buffers.values, count);
  } else {
    // Functions are those of real numbers, which are complex only afterwards: log(-1) is none.
    auto* const reals = reinterpret_cast<decltype(Computed::re)*>(buffers.others);
    for (std::size_t i = 0; i < count; ++i) reals[i] = buffers.values[i].re;
    ApplyReal(program.function, reals, count);
    for (std::size_t i = 0; i < count; ++i) buffers.values[i].re = reals[i];
  }
}

// Whole lines past the caches. finish_streams() comes after the last run.
void StreamBytes(const std::byte* from, std::byte* to, std::size_t bytes) {
  const hwy::HWY_NAMESPACE::ScalableTag<std::uint8_t> d;
  const std::size_t step = hwy::HWY_NAMESPACE::Lanes(d);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::size_t before = std::min(past == 0 ? 0 : kLineBytes - past, bytes);
  const std::size_t end = before + (bytes - before) / kLineBytes * kLineBytes;
  std::memcpy(to, from, before);
  const auto* const source = reinterpret_cast<const std::uint8_t*>(from);
  auto* const target = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t i = before; i < end; i += step)
    hwy::HWY_NAMESPACE::Stream(hwy::HWY_NAMESPACE::LoadU(d, source + i), d, target + i);
  std::memcpy(to + end, from + end, bytes - end);
}

template <typename Computed>
void ConvertChunk(const ValueProgram& program, const ValueRun& run, std::size_t first, std::size_t count,
                  ChunkBuffers<Computed>& buffers) {
  Computed* const values = buffers.values;
  const std::uint64_t from_bytes = bytes_of(program.from);
  const std::uint64_t to_bytes = bytes_of(program.to);
  const std::byte* const from =
      InOrder(program.in_swapped, program.from, run.from + first * from_bytes, buffers.stored, count);
  // Numbers that are stored as they are computed with, and only narrowed, are read where they are.
  const std::byte* const narrowed =
      program.narrows_alone() ? from : reinterpret_cast<const std::byte*>(values);
  if (narrowed != from) {
    Widen(program.from, from, values, count);
    Apply(program, buffers, count);
  }
  if constexpr (!std::is_integral_v<Computed>) {
    const auto sum = [](Computed a, Computed b) HWY_ATTR { return kernels::sum(a, b); };
    if (program.has_scale) Scale(run.scale, first, values, count);
    if (program.has_offset) Combine(run.offset, first, values, count, sum);
    if (program.has_addend) {
      const std::byte* const addend = run.addend + first * bytes_of(program.addend);
      Widen(program.addend, InOrder(program.addend_swapped, program.addend, addend, buffers.stored, count),
            buffers.others, count);
      Scale(Factors{.data = program.beta.data()}, 0, buffers.others, count);
      Combine(Factors{.data = reinterpret_cast<const std::byte*>(buffers.others), .varies = true}, 0, values,
              count, sum);
    }
  }
  std::byte* const to = run.to + first * to_bytes;
  const bool staged = program.out_swapped || program.streamed;
  Narrow<Computed>(program, narrowed, staged ? buffers.stored : to, count);
  if (program.out_swapped)
    SwapBytes(program.to, buffers.stored, program.streamed ? buffers.stored : to, count);
  if (program.streamed) StreamBytes(buffers.stored, to, count * to_bytes);
}

template <typename Computed>
void ConvertIn(const ValueProgram& program, const ValueRun& run) {
  ChunkBuffers<Computed> buffers;
  std::uint64_t first = 0;
  if (program.streamed) {
    // Chunks after the first write whole lines.
    const std::uint64_t past = reinterpret_cast<std::uintptr_t>(run.to) % kLineBytes;
    if (past != 0 && past % bytes_of(program.to) == 0) {
      first = std::min((kLineBytes - past) / bytes_of(program.to), run.count);
      ConvertChunk<Computed>(program, run, 0, first, buffers);
    }
  }
  while (first < run.count) {
    const std::uint64_t count = std::min<std::uint64_t>(kChunkValues<Computed>, run.count - first);
    ConvertChunk<Computed>(program, run, first, count, buffers);
    first += count;
  }
}

void ConvertValues(const ValueProgram& program, const ValueRun& run) {
  if (program.in_registers && WithChangedNumbers(program, run, [&](const auto& numbers) HWY_ATTR {
        numbers.run(run.from, run.addend, run.to, run.count);
      }))
    return;
  switch (program.computed) {
    case Number::i64:
      return ConvertIn<std::int64_t>(program, run);
    case Number::u64:
      return ConvertIn<std::uint64_t>(program, run);
    case Number::f32:
      return ConvertIn<float>(program, run);
    case Number::f64:
      return ConvertIn<double>(program, run);
    case Number::c64:
      return ConvertIn<Complex<float>>(program, run);
    default:
      return ConvertIn<Complex<double>>(program, run);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {
HWY_EXPORT(ConvertValues);

ValueProgram::ValueProgram(const Arithmetic& of)
    : from(of.from),
      to(of.to),
      computed(computed_in(of)),
      function(of.function),
      in_registers(detail::stays_in_registers(of)),
      has_scale(!detail::is_only(of.scale, 1)),
      has_offset(!detail::is_only(of.offset, 0)),
      has_addend(of.addend.has_value()),
      to_nearest(of.to_integer == ToInteger::nearest),
      saturated(of.saturated),
      in_swapped(of.in_swapped),
      out_swapped(of.out_swapped) {
  if (!of.addend) return;
  addend = of.addend->number;
  addend_swapped = of.addend->swapped;
  store_factor(computed, of.addend->beta, beta.data());
}

void convert_run(const ValueProgram& program, const ValueRun& run) {
  if (run.count > 0) HWY_DYNAMIC_DISPATCH(ConvertValues)(program, run);
}

void store_factor(Number computed, std::complex<double> value, std::byte* to) {
  with_number(computed, [&]<typename Computed>() {
    if constexpr (kernels::kIsComplex<Computed>) {
      using Real = decltype(Computed::re);
      store_value(Computed{static_cast<Real>(value.real()), static_cast<Real>(value.imag())}, to, 0);
    } else if constexpr (std::is_floating_point_v<Computed>) {
      store_value(static_cast<Computed>(value.real()), to, 0);
    }
  });
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
