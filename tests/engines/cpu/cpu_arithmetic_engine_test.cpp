// Views with arithmetic on the CPU engine against one loop over all indices: drawn types, functions, factors,
// added arrays, byte orders, strides, alignments, threads and instruction sets, between guard zones.
#define HWY_WANT_AVX3_DL  // as the kernels do, so that this file knows the same instruction sets

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <numeric>

#include "cpu_strided_support.hpp"
#include "drawn_views.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/values/value_sweep.hpp"
#include "faro/faro.hpp"
#include "hwy/targets.h"
#include "number_support.hpp"
#include "permutation/axis_map.hpp"
#include "refusal.hpp"

namespace faro::cpu_arithmetic_test {

using cpu_strided_test::Guarded;
using testing::SplitMix64;

using test::below;
using test::draw_number;
using test::fill_numbers;
using test::read;
using test::Wide;
using test::WideComplex;
using test::with_type;

WideComplex rounded_in(Number computed, const WideComplex& z) {
  switch (computed) {
    case Number::f32:
    case Number::c64:
      return {static_cast<float>(z.real()), static_cast<float>(z.imag())};
    case Number::f64:
    case Number::c128:
      return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
    default:
      return z;
  }
}

// Whether two numbers of a type are the same; those that functions of the C library gave, nearly.
bool agree(Number number, WideComplex got, WideComplex wanted, bool nearly) {
  const auto same = [&](Wide a, Wide b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b) return true;
    if (!nearly) return false;
    const Wide unit = number == Number::f64 || number == Number::c128 || number == Number::i64 ? 1e-12L
                      : number == Number::f32 || number == Number::c64 || is_integer(number)   ? 4e-6L
                      : number == Number::f16                                                  ? 2e-3L
                                                                                               : 0.3L;
    return std::abs(a - b) <= unit * std::max({std::abs(a), std::abs(b), std::abs(wanted)}) ||
           (is_integer(number) && std::abs(a - b) <= 1 + 4e-6L * std::abs(b)) ||
           std::abs(a - b) < (bytes_of(number) == 1 ? 5e-3L : 1e-6L);
  };
  return same(got.real(), wanted.real()) && same(got.imag(), wanted.imag());
}

WideComplex applied(Function function, WideComplex z, bool complex) {
  const Wide x = z.real();
  switch (function) {
    case Function::identity:
      return z;
    case Function::conjugate:
      return complex ? std::conj(z) : z;
    case Function::negate:
      return -z;
    case Function::absolute:
      return complex ? std::abs(z) : std::abs(x);
    case Function::reciprocal:
      return complex ? Wide{1} / z : WideComplex(1 / static_cast<double>(x));
    case Function::square_root:
      return complex ? std::sqrt(z) : WideComplex(std::sqrt(static_cast<double>(x)));
    case Function::exp:
      return complex ? std::exp(z) : WideComplex(std::exp(x));
    case Function::log:
      return complex ? std::log(z) : WideComplex(std::log(x));
    case Function::tanh:
      return complex ? std::tanh(z) : WideComplex(std::tanh(x));
    case Function::sigmoid:
      return complex ? Wide{1} / (Wide{1} + std::exp(-z)) : WideComplex(1 / (1 + std::exp(-x)));
    case Function::relu:
      return x < 0 ? 0 : z;
    case Function::gelu:
      return x * std::erfc(-x / std::sqrt(Wide{2})) / 2;
  }
  return z;
}

// As stored, by comparing with all limits instead of converting.
WideComplex stored(const Arithmetic& of, WideComplex z) {
  return with_type(of.to, [&](auto type) -> WideComplex {
    using T = decltype(type);
    const Wide x = z.real();
    if constexpr (kernels::kIsComplex<T>) {
      using Real = decltype(T::re);
      return {static_cast<Real>(x), static_cast<Real>(z.imag())};
    } else if constexpr (std::is_same_v<T, kernels::Boolean>) {
      return x != 0 || z.imag() != 0 ? 1 : 0;
    } else if constexpr (kernels::kIsSmallFloat<T>) {
      // By way of the odd binary64, as 64-bit integers need it too.
      const auto nearest = static_cast<double>(x);
      double odd = nearest;
      if (!std::isnan(x) && static_cast<Wide>(nearest) != x) {
        odd = std::abs(static_cast<Wide>(nearest)) > std::abs(x) ? std::nextafter(nearest, 0.0) : nearest;
        std::uint64_t bits = std::bit_cast<std::uint64_t>(odd) | 1;
        odd = std::bit_cast<double>(bits);
      }
      return kernels::to_float(kernels::rounded_to<T>(
          odd, of.saturated ? kernels::Overflow::saturate : kernels::Overflow::as_type));
    } else if constexpr (std::is_integral_v<T>) {
      if (std::isnan(x)) return 0;
      const Wide whole = of.to_integer == ToInteger::nearest ? std::nearbyint(x) : std::trunc(x);
      return std::clamp<Wide>(whole, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    } else {
      return static_cast<Wide>(static_cast<T>(x));
    }
  });
}

struct Drawn {
  Strided view;
  Arithmetic arithmetic = {};
  std::size_t in_past_line = 0;
  std::size_t out_past_line = 0;
  int threads = 1;
  bool accumulates = false;
  bool past_caches = false;  // as if the caches held nothing
};

std::string text_of(const Drawn& drawn) {
  return to_text(drawn.view) + ": " + to_text(drawn.arithmetic) + ", " + std::to_string(drawn.in_past_line) +
         " and " + std::to_string(drawn.out_past_line) + " bytes past a line, " +
         std::to_string(drawn.threads) + " threads" + (drawn.accumulates ? ", accumulated" : "");
}

void expect_arithmetic(const Drawn& drawn, std::uint64_t seed) {
  SCOPED_TRACE(text_of(drawn));
  const Arithmetic& of = drawn.arithmetic;
  const auto plan = faro::plan(drawn.view, of, {.engine = Engine::cpu, .threads = drawn.threads});
  Target machine = cpu::target(drawn.threads);
  machine.streaming_bytes = 0;
  Guarded in(plan.in_count() * bytes_of(of.from), drawn.in_past_line);
  Guarded out(plan.out_count() * bytes_of(of.to), drawn.out_past_line);
  const Number added = of.addend ? of.addend->number : of.to;
  Guarded addend(plan.addend_count() * bytes_of(added), drawn.in_past_line);
  SplitMix64 random{seed};
  fill_numbers(in, of.from, random);
  fill_numbers(addend, added, random);
  if (drawn.accumulates) fill_numbers(out, of.to, random);
  const Guarded before = out;
  const std::byte* const other = drawn.accumulates ? out.data() : of.addend ? addend.data() : nullptr;
  if (drawn.past_caches) {
    const detail::ValuePlan made = detail::on_cpu(detail::make_value_plan(drawn.view, of, machine), machine);
    cpu::ValueSweep(made, cpu::target(1)).run(in.data(), other, out.data());
  } else {
    plan.run({in.data(), plan.in_count()}, out.data(), plan.out_count(), {other, plan.addend_count()});
  }

  const Number computed = computed_in(of);
  const bool complex = is_complex(computed);
  const bool nearly = (of.function > Function::square_root && of.function != Function::relu) ||
                      (is_complex(of.from) && of.function >= Function::absolute);
  Guarded wanted = before;
  const std::byte* const other_before = drawn.accumulates ? wanted.data() : addend.data();
  std::vector<std::uint64_t> at(drawn.view.extents.size());
  for (std::uint64_t i = 0; i < element_count(drawn.view); ++i) {
    std::uint64_t rest = i;
    std::int64_t from = static_cast<std::int64_t>(drawn.view.in_offset);
    std::int64_t to = static_cast<std::int64_t>(drawn.view.out_offset);
    std::int64_t third = of.addend && of.addend->strides.empty() ? to : 0;
    for (std::size_t axis = at.size(); axis-- > 0;) {
      at[axis] = rest % drawn.view.extents[axis];
      rest /= drawn.view.extents[axis];
      const auto index = static_cast<std::int64_t>(at[axis]);
      from += index * drawn.view.in_strides[axis];
      to += index * drawn.view.out_strides[axis];
      if (of.addend)
        third += index * (of.addend->strides.empty() ? drawn.view.out_strides : of.addend->strides)[axis];
    }
    const auto value = [&](const Coefficient& c) { return WideComplex(c.values[c.axis ? at[*c.axis] : 0]); };
    const auto round = [&](WideComplex z) { return rounded_in(computed, z); };
    const bool whole = computed == Number::i64 || computed == Number::u64;
    WideComplex z = round(read(of.from, in.data(), from, of.in_swapped));
    z = round(applied(of.function, z, is_complex(of.from)));
    // By binary64, whose results round to binary32 as if they were exact.
    const auto r = [&](double x) { return static_cast<double>(round(x).real()); };
    const auto times = [&](Wide a, Wide b) { return r(static_cast<double>(a) * static_cast<double>(b)); };
    const auto sum = [&](WideComplex a, WideComplex b) -> WideComplex {
      return {r(static_cast<double>(a.real()) + static_cast<double>(b.real())),
              r(static_cast<double>(a.imag()) + static_cast<double>(b.imag()))};
    };
    const auto product = [&](WideComplex a, WideComplex b) -> WideComplex {
      if (!complex) return times(a.real(), b.real());
      return {r(times(a.real(), b.real()) - times(a.imag(), b.imag())),
              r(times(a.real(), b.imag()) + times(a.imag(), b.real()))};
    };
    if (!whole && (of.scale.axis || of.scale.values[0] != 1.0)) z = product(z, round(value(of.scale)));
    if (!whole && (of.offset.axis || of.offset.values[0] != 0.0)) z = sum(z, round(value(of.offset)));
    if (of.addend) {
      const WideComplex y = round(read(of.addend->number, other_before, third, of.addend->swapped));
      z = sum(z, product(y, round(WideComplex(of.addend->beta))));
    }
    const WideComplex expected = stored(of, z);
    const WideComplex got = read(of.to, out.data(), to, of.out_swapped);
    ASSERT_TRUE(agree(of.to, got, expected, nearly))
        << "index " << i << ": got " << got << ", wanted " << expected << " of " << z;
    std::memcpy(wanted.data() + to * static_cast<std::int64_t>(bytes_of(of.to)),
                out.data() + to * static_cast<std::int64_t>(bytes_of(of.to)), bytes_of(of.to));
  }
  // Whatever the view does not reach is as it was.
  ASSERT_EQ(std::memcmp(wanted.memory().data(), out.memory().data(), out.memory().size()), 0);
}

Coefficient draw_coefficient(SplitMix64& random, const Strided& view, double usual) {
  const bool is_exact = below(random, 2) == 0;  // products are, too
  const bool is_complex_number = below(random, 6) == 0;
  const auto value = [&] {
    const double re = static_cast<double>(below(random, 65)) / (is_exact ? 16 : 17) - 2;
    return std::complex<double>(re, is_complex_number ? (is_exact ? 0.75 : 0.7) : 0.0);
  };
  if (below(random, 2) == 0) return {{usual}, {}};
  if (view.extents.empty() || below(random, 2) == 0) return {{value()}, {}};
  Coefficient made{.values = {}, .axis = below(random, view.extents.size())};
  for (std::uint64_t i = 0; i < view.extents[*made.axis]; ++i) made.values.push_back(value());
  return made;
}

Drawn draw(SplitMix64& random) {
  Drawn drawn{.view = test::draw_view(random, 6000)};
  Arithmetic& of = drawn.arithmetic;
  of.from = draw_number(random);
  of.to = draw_number(random);
  if (below(random, 2) == 0) of.function = static_cast<Function>(below(random, kFunctions));
  if (is_complex(of.from) && (of.function == Function::relu || of.function == Function::gelu))
    of.function = Function::conjugate;
  // The parts of complex functions are nearly right as far as the whole is large.
  if (is_complex(of.from) && of.function >= Function::absolute && !is_complex(of.to)) of.to = Number::c128;
  // Whether a function that is nearly right is 0.
  if (of.to == Number::boolean && of.function > Function::absolute) of.function = Function::negate;
  of.scale = draw_coefficient(random, drawn.view, 1.0);
  of.offset = draw_coefficient(random, drawn.view, 0.0);
  if (below(random, 4) == 0) {
    of.addend = Addend{.number = draw_number(random), .beta = 0.5, .swapped = below(random, 4) == 0};
    if (below(random, 3) == 0) {
      of.addend->strides = drawn.view.in_strides;
      for (std::int64_t& stride : of.addend->strides) stride = std::abs(stride);
    } else if (below(random, 2) == 0) {
      of.addend->number = of.to;
      of.addend->swapped = of.out_swapped;
      drawn.accumulates = true;
    }
  }
  of.to_integer = below(random, 2) == 0 ? ToInteger::nearest : ToInteger::truncate;
  of.saturated = below(random, 4) == 0;
  of.in_swapped = below(random, 6) == 0;
  of.out_swapped = !drawn.accumulates && below(random, 6) == 0;
  drawn.in_past_line = below(random, 64);
  drawn.out_past_line = below(random, 2) == 0 ? 0 : below(random, 64);
  drawn.threads = 1 + static_cast<int>(below(random, 2));
  return drawn;
}

TEST(CpuArithmetic, DrawnViewsTypesAndFunctions) {
  const int rounds = testing::kInstrumented ? 200 : 3000;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 7919 + 1};
    SCOPED_TRACE("seed " + std::to_string(i));
    expect_arithmetic(draw(random), random());
  }
}

// Boxes of every kind, cut off at the ends, and streamed rows: more elements than a cache's share.
TEST(CpuArithmetic, LargerThanABox) {
  const Strided transposed{.extents = {517, 1031}, .in_strides = {1031, 1}, .out_strides = {1, 517}};
  const Strided pixels{
      .extents = {3, 211, 303, 3}, .in_strides = {191799, 909, 3, 1}, .out_strides = {191799, 303, 1, 63933}};
  for (const auto& [from, to] : {std::pair(Number::f32, Number::bf16), std::pair(Number::u8, Number::f32),
                                 std::pair(Number::i64, Number::f16), std::pair(Number::c128, Number::c64)}) {
    for (const Strided& view : {transposed, pixels}) {
      const std::size_t axis = view.extents.size() - 1;
      Drawn drawn{.view = view, .arithmetic = {.from = from, .to = to}, .threads = 2};
      expect_arithmetic(drawn, 3);
      drawn.arithmetic.offset = {std::vector<std::complex<double>>(view.extents[axis], 0.5), axis};
      drawn.arithmetic.scale = {{0.25}, {}};
      expect_arithmetic(drawn, 4);
    }
  }
}

// Boxes that are converted as they are read, and leave past the caches: extents that no line divides, outputs
// that begin anywhere, and what lies before and behind them.
TEST(CpuArithmetic, NarrowedAsRead) {
  Target machine = cpu::target(2);
  machine.streaming_bytes = 0;
  constexpr std::uint64_t kGuard = 64;
  for (const auto& [rows, columns] :
       {std::pair(64ULL, 64ULL), std::pair(257ULL, 131ULL), std::pair(1031ULL, 517ULL)}) {
    const auto signed_rows = static_cast<std::int64_t>(rows);
    const auto signed_columns = static_cast<std::int64_t>(columns);
    const Strided view{
        .extents = {rows, columns}, .in_strides = {signed_columns, 1}, .out_strides = {1, signed_rows}};
    const detail::ValuePlan made = detail::on_cpu(
        detail::make_value_plan(view, {.from = Number::f32, .to = Number::f8_e4m3fn}, machine), machine);
    EXPECT_TRUE(made.in_direct && !made.out_direct && made.streamed) << made.explain();
    SplitMix64 random{rows};
    std::vector<float> in(rows * columns);
    for (float& x : in) x = static_cast<float>(random() % 4096) / 4 - 512;
    for (const std::uint64_t shift : {0ULL, 1ULL, 63ULL}) {
      std::vector<std::uint8_t> out(in.size() + 2 * kGuard, 0xa5);
      std::vector<std::uint8_t> wanted = out;
      for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < columns; ++j)
          wanted[shift + j * rows + i] = kernels::rounded_to<kernels::Float8E4M3>(in[i * columns + j]).bits;
      }
      cpu::ValueSweep(made, cpu::target(1))
          .run(reinterpret_cast<const std::byte*>(in.data()), nullptr,
               reinterpret_cast<std::byte*>(out.data() + shift));
      ASSERT_TRUE(out == wanted) << rows << " x " << columns << ", " << shift << " bytes behind a line";
    }
  }
  // What becomes wider, or is added to, waits in a box as it was read.
  const Strided square{.extents = {512, 512}, .in_strides = {512, 1}, .out_strides = {1, 512}};
  for (const Arithmetic& of : {Arithmetic{.from = Number::f16, .to = Number::f32},
                               Arithmetic{.from = Number::f32, .to = Number::f16, .addend = Addend{}}}) {
    const auto made = detail::on_cpu(detail::make_value_plan(square, of, machine), machine);
    EXPECT_TRUE(!made.in_direct && made.out_direct) << made.explain();
  }
}

// Axes in any order of a padded or flipped input, to an output that begins anywhere.
Strided draw_turned_view(SplitMix64& random) {
  Strided view;
  const std::uint64_t rank = 2 + below(random, 3);
  for (std::uint64_t i = 0; i < rank; ++i)
    view.extents.push_back(rank == 2 ? 20 + below(random, 200) : 4 + below(random, rank == 3 ? 50 : 16));
  std::vector<std::size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (rank > 2 && below(random, 2) == 0) std::swap(order[0], order[1 + below(random, rank - 1)]);
  const auto gap = static_cast<std::int64_t>(below(random, 3) == 0 ? below(random, 5) : 0);
  view.in_strides.resize(rank);
  view.out_strides.resize(rank);
  std::int64_t next = 1;
  for (std::size_t i = rank; i-- > 0; next = (next + gap) * static_cast<std::int64_t>(view.extents[i]))
    view.in_strides[i] = next;
  next = 1;
  for (std::size_t i = rank; i-- > 0; next = (next + gap) * static_cast<std::int64_t>(view.extents[order[i]]))
    view.out_strides[order[i]] = next;
  if (below(random, 3) == 0) {
    const std::size_t axis = below(random, rank);
    view.in_offset = (view.extents[axis] - 1) * static_cast<std::uint64_t>(view.in_strides[axis]);
    view.in_strides[axis] *= -1;
  }
  view.out_offset = below(random, 2) == 0 ? 0 : below(random, 100);
  return view;
}

// Turned and changed on the way past the caches, in registers of every instruction set.
TEST(CpuArithmetic, TurnedWhileChanged) {
  constexpr Number kFrom[] = {Number::f32, Number::f64,  Number::c64, Number::c128,
                              Number::f16, Number::bf16, Number::u8};
  constexpr Number kTo[] = {Number::f32, Number::f16, Number::bf16};
  Target machine = cpu::target(1);
  machine.streaming_bytes = 0;
  int turned = 0;
  const std::uint64_t rounds = testing::kInstrumented ? 20 : 150;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    for (std::uint64_t seed = 0; seed < rounds && !::testing::Test::HasFailure(); ++seed) {
      SplitMix64 random{seed};
      Drawn drawn{.view = draw_turned_view(random), .past_caches = true};
      Arithmetic& of = drawn.arithmetic;
      of.from = kFrom[seed % std::size(kFrom)];
      const bool is_wide = of.from == Number::f64 || is_complex(of.from);
      of.to = is_wide ? of.from : kTo[below(random, std::size(kTo))];
      if (is_complex(of.from)) {
        of.function = below(random, 2) == 0 ? Function::conjugate : Function::negate;
      } else {
        if (below(random, 2) == 0) of.scale = {{1.0 / 3}, {}};
        if (below(random, 2) == 0) of.offset = {{0.1}, {}};
        if (below(random, 2) == 0) of.addend = Addend{.number = of.to, .beta = 0.7};
        drawn.accumulates = of.addend && below(random, 2) == 0;
      }
      drawn.in_past_line = below(random, 64);
      drawn.out_past_line = below(random, 3) * 13 * below(random, 2);
      drawn.threads = 1 + static_cast<int>(below(random, 2));
      const auto made = detail::on_cpu(detail::make_value_plan(drawn.view, of, machine), machine);
      turned += made.turned != nullptr ? 1 : 0;
      SCOPED_TRACE(std::string(hwy::TargetName(target)) + ", seed " + std::to_string(seed) + "\n" +
                   made.explain());
      expect_arithmetic(drawn, seed);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GT(turned, static_cast<int>(rounds));
}

// Pixels of a few channels to planes and back, past the caches: factors along any axis, types of any width.
TEST(CpuArithmetic, ChannelsWhileChanged) {
  constexpr Number kTypes[] = {Number::u8,  Number::i16, Number::f16, Number::bf16,
                               Number::f32, Number::f64, Number::c64, Number::f8_e4m3fn};
  Target machine = cpu::target(1);
  machine.streaming_bytes = 0;
  int turned = 0;
  const std::uint64_t rounds = testing::kInstrumented ? 20 : 150;
  for (std::uint64_t seed = 0; seed < rounds && !::testing::Test::HasFailure(); ++seed) {
    SplitMix64 random{seed};
    const std::vector<std::uint64_t> pixels{1 + below(random, 3), 1 + below(random, 90),
                                            1 + below(random, 90), 2 + below(random, 7)};
    const std::vector<std::uint64_t> planes{pixels[0], pixels[3], pixels[1], pixels[2]};
    const bool parts = below(random, 2) == 0;
    const detail::AxisMap map = parts ? detail::permuted(pixels, detail::dense_strides(pixels), {0, 3, 1, 2})
                                      : detail::permuted(planes, detail::dense_strides(planes), {0, 2, 3, 1});
    Drawn drawn{.view = detail::as_strided(map), .past_caches = true};
    Arithmetic& of = drawn.arithmetic;
    of.from = kTypes[below(random, std::size(kTypes))];
    do of.to = kTypes[below(random, std::size(kTypes))];
    while (is_complex(of.from) && !is_complex(of.to));
    for (Coefficient* const factor : {&of.scale, &of.offset}) {
      if (below(random, 3) == 0) continue;
      const std::size_t axis = below(random, 4);
      factor->axis = axis;
      factor->values.clear();
      for (std::uint64_t i = 0; i < drawn.view.extents[axis]; ++i)
        factor->values.push_back(static_cast<double>(below(random, 64)) / 16);
    }
    if (below(random, 3) == 0) of.addend = Addend{.number = of.to, .beta = 0.5};
    drawn.accumulates = of.addend && below(random, 2) == 0;
    drawn.in_past_line = below(random, 64);
    drawn.out_past_line = below(random, 2) * bytes_of(of.to) * below(random, 9);
    const auto made = detail::on_cpu(detail::make_value_plan(drawn.view, of, machine), machine);
    turned += made.turned != nullptr ? 1 : 0;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + made.explain());
    expect_arithmetic(drawn, seed);
  }
  EXPECT_GT(turned, static_cast<int>(rounds / 2));
}

TEST(CpuArithmetic, RefusesWhatCannotBe) {
  const Strided view{.extents = {2, 3}, .in_strides = {3, 1}, .out_strides = {1, 2}};
  EXPECT_EQ(refusal_of([&] {
              plan(view, Arithmetic{.offset = {{1.0, 2.0}, 1}});
            }),
            "plan: got an offset of 2 values along axis 1, wanted 3, the axis's extent");
  EXPECT_EQ(refusal_of([&] {
              plan(view, Arithmetic{.scale = {{1.0, 2.0}, {}}});
            }),
            "plan: got a scale of 2 values, wanted one value; an axis says what several belong to");
  EXPECT_EQ(refusal_of([&] {
              plan(view, Arithmetic{.scale = {{1.0}, 7}});
            }),
            "plan: got a scale along axis 7, wanted an axis below 2");
  EXPECT_EQ(refusal_of([&] { plan(view, Arithmetic{.from = Number::c64, .function = Function::relu}); }),
            "plan: got relu of complex numbers, wanted real numbers, or a function of complex ones");
  std::vector<float> array(12);
  const auto adds = plan(view, Arithmetic{.addend = Addend{}});
  const std::vector<float> before = array;
  // The output may be what is added, but not a number further on, and not the input.
  for (const auto& places : {std::pair(6, 5), std::pair(3, 3)}) {
    EXPECT_NE(
        refusal_of([&] {
          adds.run({array.data(), 6}, array.data() + places.first, 6, {array.data() + places.second, 6});
        }).find("disjoint"),
        std::string::npos);
  }
  EXPECT_EQ(array, before);
  EXPECT_EQ(refusal_of([&] {
              adds.run({array.data(), 6}, array.data() + 6, 6);
            }),
            "run: got an added array of 0 numbers, wanted at least 6, which the strides reach");
}

}  // namespace faro::cpu_arithmetic_test
