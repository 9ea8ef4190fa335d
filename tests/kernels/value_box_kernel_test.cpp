// Boxes with arithmetic, planned as for a GPU and run by a block that is emulated, against the CPU engine's
// bits: drawn views, factors, added arrays and alignments, between guard zones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "block_emulator.hpp"
#include "cpu_strided_support.hpp"
#include "drawn_views.hpp"
#include "faro/faro.hpp"
#include "kernels/value_box.hpp"
#include "kernels/value_registers.hpp"
#include "kernels/value_turned.hpp"
#include "number_support.hpp"
#include "plan/gpu/value_boxes.hpp"
#include "plan/gpu/value_turn_price.hpp"
#include "plan/value_plan.hpp"

namespace faro::value_box_test {

using cpu_strided_test::Guarded;
using detail::ValueAxis;
using detail::ValueBoxes;
using kernels::NumberProgram;
using test::below;
using test::draw_factors;
using test::draw_view;
using testing::SplitMix64;

struct Arrays {
  const std::byte* in = nullptr;
  const std::byte* addend = nullptr;
  std::byte* out = nullptr;
};

template <typename Kernel>
struct Launch : Kernel {
  std::uint64_t number = 1;
  std::uint64_t blocks() const { return number; }
};

template <typename Program>
std::vector<typename Program::Computed> factors_of(const Coefficient& of) {
  std::vector<typename Program::Computed> values;
  for (const std::complex<double>& value : of.values) {
    if constexpr (kernels::kIsComplex<typename Program::Computed>) {
      using Real = decltype(Program::Computed::re);
      values.push_back({static_cast<Real>(value.real()), static_cast<Real>(value.imag())});
    } else {
      values.push_back(static_cast<typename Program::Computed>(value.real()));
    }
  }
  return values;
}

template <typename Program, typename Kernel>
void run_kernel(const ValueBoxes& boxes, const Arithmetic& of, const Arrays& arrays, testing::Order order) {
  const auto scales = factors_of<Program>(of.scale);
  const auto offsets = factors_of<Program>(of.offset);
  Launch<Kernel> kernel;
  kernel.number = boxes.boxes;
  kernel.p = boxes.params;
  kernel.in_rows = boxes.in_rows.data();
  kernel.out_rows = boxes.out_rows.data();
  kernel.row_factors = boxes.row_factors.data();
  kernel.places = boxes.places.data();
  kernel.scales_of_run = boxes.scales_of_run.data();
  kernel.offsets_of_run = boxes.offsets_of_run.data();
  kernel.scales = scales.data();
  kernel.offsets = offsets.data();
  kernel.in = arrays.in;
  kernel.addend = arrays.addend;
  kernel.out = arrays.out;
  if (of.addend) {
    const auto beta = factors_of<Program>({.values = {of.addend->beta}});
    std::memcpy(kernel.beta.bytes, beta.data(), sizeof(beta[0]));
  }
  // Places are read by vectors.
  std::vector<std::uint16_t> places(boxes.places);
  places.resize(places.size() + 16);
  void* aligned = places.data();
  std::size_t room = places.size() * sizeof(std::uint16_t);
  std::memmove(std::align(16, boxes.places.size() * sizeof(std::uint16_t), aligned, room),
               boxes.places.data(), boxes.places.size() * sizeof(std::uint16_t));
  kernel.places = static_cast<const std::uint16_t*>(aligned);
  testing::emulate(kernel, {.order = order});
}

// Calls run(constant) with the vector's numbers: any up to 16 bytes of T, or 1 and the most alone.
template <typename T, bool kAll, typename Run>
void with_vector(int numbers, const Run& run) {
  constexpr int kMost = 16 / static_cast<int>(sizeof(T));
  const auto one = [&](auto k) {
    if constexpr (k() <= kMost && (kAll || k() == 1 || k() == kMost)) {
      if (numbers == k()) run(k);
    }
  };
  one(std::integral_constant<int, 1>{});
  one(std::integral_constant<int, 2>{});
  one(std::integral_constant<int, 4>{});
  one(std::integral_constant<int, 8>{});
  one(std::integral_constant<int, 16>{});
}

// Tiles that a thread turns, of vectors of 8 bytes at least on both sides.
template <typename Program, bool kAll>
void run_turned(const ValueBoxes& boxes, const Arithmetic& of, const Arrays& arrays, testing::Order order) {
  using From = typename Program::From;
  using To = typename Program::To;
  with_vector<From, kAll>(boxes.in_vector, [&](auto in) {
    with_vector<To, kAll>(boxes.out_vector, [&](auto out) {
      if constexpr (in() * sizeof(From) < 8 || out() * sizeof(To) < 8) {
        FAIL();
      } else {
        run_kernel<Program, kernels::MoveTurnedValues<Program, in(), out()>>(boxes, of, arrays, order);
      }
    });
  });
}

template <typename Program, bool kRounds, kernels::ValueOrder kLoads, kernels::ValueOrder kStores, bool kAll>
void run_with_orders(const ValueBoxes& boxes, const Arithmetic& of, const Arrays& arrays,
                     testing::Order order) {
  if (boxes.copied) {
    if constexpr (kLoads != kernels::ValueOrder::along_runs) {
      with_vector<typename Program::From, kAll>(boxes.in_vector, [&](auto in) {
        with_vector<typename Program::To, kAll>(boxes.out_vector, [&](auto out) {
          constexpr auto kInBytes = in() * sizeof(typename Program::From);
          constexpr auto kOtherBytes =
              Program::kHasAddend ? out() * sizeof(typename Program::Addend) : sizeof(std::uint32_t);
          if constexpr (kInBytes < 4 || kOtherBytes < 4) {
            FAIL();
          } else if constexpr (kOtherBytes <= 16) {
            using kernels::ValueFactorsOf;
            const auto run = [&]<ValueFactorsOf kFactors>() {
              if (boxes.aligned) {
                using Kernel =
                    kernels::MoveCopiedValues<Program, in(), out(), kLoads, kStores, kFactors, true>;
                return run_kernel<Program, Kernel>(boxes, of, arrays, order);
              }
              using Kernel = kernels::MoveCopiedValues<Program, in(), out(), kLoads, kStores, kFactors>;
              run_kernel<Program, Kernel>(boxes, of, arrays, order);
            };
            if (boxes.factors == ValueFactorsOf::all) return run.template operator()<ValueFactorsOf::all>();
            if (boxes.factors == ValueFactorsOf::rows) return run.template operator()<ValueFactorsOf::rows>();
            run.template operator()<ValueFactorsOf::runs>();
          }
        });
      });
    }
    return;
  }
  with_vector<typename Program::From, kAll>(boxes.in_vector, [&](auto in) {
    with_vector<typename Program::To, kAll>(boxes.out_vector, [&](auto out) {
      using Shape = kernels::ValueShape<in(), out(), kLoads, kStores, kRounds>;
      run_kernel<Program, kernels::MoveValues<Program, Shape>>(boxes, of, arrays, order);
    });
  });
}

// Every order of the first program's loads and stores, with few vectors; every vector by tables, which any
// box has.
template <typename Program, bool kEverything = false>
void run_boxes(const ValueBoxes& boxes, const Arithmetic& of, const Arrays& arrays, testing::Order order) {
  using kernels::ValueOrder;
  constexpr bool kRounds =
      sizeof(typename Program::To) < sizeof(typename Program::From) && !Program::kHasAddend;
  const auto run = [&]<bool kFirst>() {
    if (boxes.columns > 0) {
      const auto with_columns = [&]<int kColumns>() {
        with_vector<typename Program::From, true>(boxes.in_vector, [&](auto in) {
          using kernels::Interleaved;
          if constexpr (sizeof(typename Program::To) * in() > 16) {
            FAIL();
          } else if (boxes.interleaved == Interleaved::input) {
            run_kernel<Program, kernels::MoveValueColumns<Program, kColumns, in(), Interleaved::input>>(
                boxes, of, arrays, order);
          } else {
            run_kernel<Program, kernels::MoveValueColumns<Program, kColumns, in(), Interleaved::output>>(
                boxes, of, arrays, order);
          }
        });
      };
      if (boxes.columns == 2) return with_columns.template operator()<2>();
      if (boxes.columns == 3) return with_columns.template operator()<3>();
      return with_columns.template operator()<4>();
    }
    if (boxes.turned) return run_turned<Program, kEverything>(boxes, of, arrays, order);
    if (boxes.direct) {
      with_vector<typename Program::From, kEverything>(boxes.in_vector, [&](auto in) {
        if constexpr (sizeof(typename Program::To) * in() <= 16)
          run_kernel<Program, kernels::MoveValueRuns<Program, in()>>(boxes, of, arrays, order);
      });
      return;
    }
    if constexpr (kEverything) {
      constexpr int kIn = 16 / static_cast<int>(sizeof(typename Program::From));
      constexpr int kOut = 16 / static_cast<int>(sizeof(typename Program::To));
      const bool few = (boxes.in_vector == 1 || boxes.in_vector == kIn) &&
                       (boxes.out_vector == 1 || boxes.out_vector == kOut);
      const bool steps = few && boxes.stores == ValueOrder::by_steps;
      if (steps && boxes.loads == ValueOrder::by_steps)
        return run_with_orders<Program, kFirst, ValueOrder::by_steps, ValueOrder::by_steps, false>(
            boxes, of, arrays, order);
      if (steps && boxes.loads == ValueOrder::along_runs)
        return run_with_orders<Program, kFirst, ValueOrder::along_runs, ValueOrder::by_steps, false>(
            boxes, of, arrays, order);
      if (few && boxes.loads == ValueOrder::along_runs)
        return run_with_orders<Program, kFirst, ValueOrder::along_runs, ValueOrder::by_table, false>(
            boxes, of, arrays, order);
    }
    run_with_orders<Program, kFirst, ValueOrder::by_table, ValueOrder::by_table, kEverything>(boxes, of,
                                                                                              arrays, order);
  };
  if constexpr (kRounds) {
    if (boxes.rounds_first) return run.template operator()<true>();
  }
  ASSERT_FALSE(boxes.rounds_first);
  run.template operator()<false>();
}

struct Case {
  Arithmetic arithmetic;
  void (*run)(const ValueBoxes&, const Arithmetic&, const Arrays&, testing::Order);
  bool every_vector = false;
};

using Float = float;
using kernels::ProgramStep;
using ComplexFloat = kernels::Complex<float>;

const Case kCases[] = {
    {{.from = Number::f32, .to = Number::bf16},
     &run_boxes<NumberProgram<Float, kernels::BrainHalf, Float>, true>,
     true},
    {{.from = Number::u8, .to = Number::f32, .scale = {{0.25}, {}}, .offset = {{-1.0}, {}}},
     &run_boxes<NumberProgram<std::uint8_t, Float, Float, kernels::Identity,
                              ProgramStep::scale | ProgramStep::offset>,
                true>},
    {{.from = Number::f32, .to = Number::f32, .scale = {{2.0}, {}}, .addend = Addend{.beta = 0.5}},
     &run_boxes<NumberProgram<Float, Float, Float, kernels::Identity, ProgramStep::scale, Float>>},
    {{.from = Number::c64, .to = Number::c64, .function = Function::conjugate},
     &run_boxes<NumberProgram<ComplexFloat, ComplexFloat, ComplexFloat, kernels::Conjugate>>},
    {{.from = Number::bf16, .to = Number::f8_e4m3fn, .scale = {{3.0}, {}}, .saturated = true},
     &run_boxes<NumberProgram<kernels::BrainHalf, kernels::Float8E4M3, Float, kernels::Identity,
                              ProgramStep::scale | kernels::ProgramStep::saturate>>},
    {{.from = Number::i16, .to = Number::f64, .offset = {{0.5}, {}}, .in_swapped = true},
     &run_boxes<NumberProgram<std::int16_t, double, double, kernels::Identity,
                              ProgramStep::offset | kernels::ProgramStep::swap_in>>},
    {{.from = Number::i64, .to = Number::u8, .function = Function::negate},
     &run_boxes<NumberProgram<std::int64_t, std::uint8_t, std::int64_t, kernels::Negate>>},
    {{.from = Number::f16,
      .to = Number::i8,
      .addend = Addend{.number = Number::bf16, .beta = -1.5},
      .to_integer = ToInteger::nearest},
     &run_boxes<NumberProgram<kernels::Half, std::int8_t, Float, kernels::Identity,
                              kernels::ProgramStep::to_nearest, kernels::BrainHalf>>},
};

// What drawn boxes have reached.
struct Reached {
  int copied = 0;
  int moved = 0;
  int grouped = 0;
  int shortened = 0;  // runs that go down an axis which is cut
  int copied_others = 0;
  int turned = 0;
  int ended = 0;    // runs of both sides that are no whole vectors
  int aligned = 0;  // copies of runs that begin anywhere
};

void expect_boxes(const Strided& view, const Case& of, const detail::ValueAlignment& alignment,
                  SplitMix64& random, Reached* reached = nullptr) {
  const Arithmetic& arithmetic = of.arithmetic;
  SCOPED_TRACE(to_text(view) + ": " + to_text(arithmetic));
  const auto cpu = faro::plan(view, arithmetic, {.engine = Engine::cpu, .threads = 1});
  if (element_count(view) == 0) return;
  Guarded in(cpu.in_count() * bytes_of(arithmetic.from), alignment.in % 64);
  Guarded wanted(cpu.out_count() * bytes_of(arithmetic.to), alignment.out % 64);
  const std::uint64_t added = arithmetic.addend ? bytes_of(arithmetic.addend->number) : 1;
  Guarded addend(cpu.addend_count() * added, alignment.addend % 64);
  cpu_strided_test::fill(in, random());
  cpu_strided_test::fill(addend, random());
  Guarded out = wanted;
  cpu.run({in.data(), cpu.in_count()}, wanted.data(), cpu.out_count(),
          {arithmetic.addend ? addend.data() : nullptr, cpu.addend_count()});

  Target target;
  const detail::ValuePlan plan = detail::make_value_plan(view, arithmetic, target);
  ValueBoxes boxes = detail::make_value_boxes(plan, alignment);
  const auto is_few = [](int vector, Number number) {
    return vector == 1 || vector * bytes_of(number) == 16;
  };
  if (!of.every_vector &&
      !(is_few(boxes.in_vector, arithmetic.from) && is_few(boxes.out_vector, arithmetic.to)))
    boxes = detail::make_value_boxes(plan, {.in = 1, .out = 1, .addend = 1});
  SCOPED_TRACE(boxes.explain());
  if (reached != nullptr) {
    reached->copied += boxes.copied ? 1 : 0;
    reached->moved += !boxes.copied && !boxes.direct && !boxes.turned ? 1 : 0;
    reached->turned += boxes.turned ? 1 : 0;
    reached->aligned += boxes.aligned ? 1 : 0;
    const auto vector = static_cast<std::uint32_t>(boxes.in_vector);
    reached->ended += boxes.direct && boxes.columns == 0 && boxes.params.out.run % vector != 0 ? 1 : 0;
    reached->grouped += boxes.copied && boxes.params.group_place > 0 ? 1 : 0;
    reached->shortened += boxes.copied && boxes.params.missing_place > 0 ? 1 : 0;
    reached->copied_others += boxes.copied && arithmetic.addend ? 1 : 0;
  }
  const auto order = static_cast<testing::Order>(below(random, 3));
  of.run(boxes, arithmetic, {.in = in.data(), .addend = addend.data(), .out = out.data()}, order);
  // A NaN has any bits.
  const std::uint64_t width = bytes_of(arithmetic.to);
  for (std::uint64_t i = 0; i < cpu.out_count(); ++i) {
    std::byte* const want = wanted.data() + i * width;
    const std::byte* const got = out.data() + i * width;
    if (std::memcmp(got, want, width) == 0) continue;
    const test::WideComplex a = test::read(arithmetic.to, got, 0, arithmetic.out_swapped);
    const test::WideComplex b = test::read(arithmetic.to, want, 0, arithmetic.out_swapped);
    const auto same = [](test::Wide x, test::Wide y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    ASSERT_TRUE(same(a.real(), b.real()) && same(a.imag(), b.imag()) &&
                (std::isnan(a.real()) || std::isnan(a.imag())))
        << "number " << i << ": " << a << ", wanted " << b;
    std::memcpy(want, got, width);
  }
  ASSERT_TRUE(wanted.memory() == out.memory()) << "beside the numbers";
}

TEST(ValueBoxes, DrawnViews) {
  const int rounds = testing::kInstrumented ? 60 : 600;
  Reached reached;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 104729 + 5};
    SCOPED_TRACE("seed " + std::to_string(i));
    Case of = kCases[below(random, std::size(kCases))];
    const Strided view = draw_view(random);
    for (Coefficient* const factors : {&of.arithmetic.scale, &of.arithmetic.offset}) {
      if (factors->values[0] == (factors == &of.arithmetic.scale ? 1.0 : 0.0) || view.extents.empty())
        continue;
      if (below(random, 2) == 0) continue;
      *factors = draw_factors(random, view);
    }
    if (of.arithmetic.addend && below(random, 3) == 0) {
      of.arithmetic.addend->strides = view.in_strides;
      for (std::int64_t& stride : of.arithmetic.addend->strides) stride = std::abs(stride);
    }
    const auto alignment = [&](Number number) {
      return std::max<std::uint64_t>(bytes_of(number), std::uint64_t{1} << below(random, 6));
    };
    expect_boxes(view, of,
                 {.in = alignment(of.arithmetic.from),
                  .out = alignment(of.arithmetic.to),
                  .addend = alignment(of.arithmetic.addend ? of.arithmetic.addend->number : Number::u8)},
                 random, &reached);
  }
  if (testing::kInstrumented || ::testing::Test::HasFailure()) return;
  EXPECT_GT(reached.moved, 20);
  EXPECT_GT(reached.copied, 20);
  EXPECT_GT(reached.grouped, 5);
  EXPECT_GT(reached.shortened, 5);
  EXPECT_GT(reached.copied_others, 5);
  EXPECT_GT(reached.aligned, 20);
}

TEST(ValueBoxes, DenseShapesTurnedInRegisters) {
  const int rounds = testing::kInstrumented ? 20 : 120;
  constexpr std::uint64_t kExtents[] = {8, 16, 32, 40, 64};
  Reached reached;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 7919 + 11};
    SCOPED_TRACE("seed " + std::to_string(i));
    const std::uint64_t rank = 2 + below(random, 3);
    Strided view;
    for (std::uint64_t a = 0; a < rank; ++a) view.extents.push_back(kExtents[below(random, a < 2 ? 5 : 2)]);
    view.in_strides = view.out_strides = std::vector<std::int64_t>(rank);
    std::int64_t in = 1;
    std::int64_t out = 1;
    for (std::size_t a = 0; a < rank; ++a) {
      // The input has the axes the other way round.
      const auto extent_of = [&](std::size_t axis) { return static_cast<std::int64_t>(view.extents[axis]); };
      view.in_strides[a] = in;
      in *= extent_of(a);
      view.out_strides[rank - 1 - a] = out;
      out *= extent_of(rank - 1 - a);
    }
    expect_boxes(view, kCases[below(random, std::size(kCases))], {}, random, &reached);
  }
  EXPECT_GT(reached.turned, testing::kInstrumented ? 3 : 20);
}

TEST(ValueBoxes, UsualShapes) {
  SplitMix64 random{3};
  Reached reached;
  const Strided transposed{.extents = {256, 192}, .in_strides = {1, 256}, .out_strides = {192, 1}};
  const Strided pixels{
      .extents = {2, 3, 40, 100}, .in_strides = {12000, 1, 300, 3}, .out_strides = {12000, 4000, 100, 1}};
  const Strided rows{
      .extents = {5, 6, 7, 128}, .in_strides = {5376, 128, 768, 1}, .out_strides = {5376, 896, 128, 1}};
  const Strided reversed{.extents = {12, 20, 56}, .in_strides = {1, 12, 240}, .out_strides = {1120, 56, 1}};
  const Strided odd{.extents = {5001}, .in_strides = {1}, .out_strides = {1}};
  const Strided pitched{.extents = {7, 1003}, .in_strides = {1008, 1}, .out_strides = {1024, 1}};
  const Strided ragged{.extents = {67, 61, 5}, .in_strides = {5, 335, 1}, .out_strides = {1, 67, 4087}};
  const Strided primes{.extents = {101, 131}, .in_strides = {1, 101}, .out_strides = {131, 1}};
  for (const Strided& view : {transposed, pixels, rows, reversed, odd, pitched, ragged, primes}) {
    for (const Case& of : kCases) expect_boxes(view, of, {}, random, &reached);
  }
  EXPECT_GT(reached.ended, 3);
  EXPECT_GT(reached.aligned, 3);
  for (const std::uint64_t channels : {2U, 3U, 4U}) {
    const auto c = static_cast<std::int64_t>(channels);
    const Strided to_planes{.extents = {2, channels, 36, 100},
                            .in_strides = {3600 * c, 1, 100 * c, c},
                            .out_strides = {3600 * c, 3600, 100, 1}};
    const Strided to_pixels{.extents = {2, 36, 99, channels},
                            .in_strides = {3600 * c, 100, 1, 3600},
                            .out_strides = {36 * 99 * c, 99 * c, c, 1}};
    for (const Strided& view : {to_planes, to_pixels}) {
      for (Case of : kCases) {
        expect_boxes(view, of, {}, random);
        if (of.arithmetic.scale.values[0] == 1.0) continue;
        of.arithmetic.scale = {.values = {1.5, -2, 0.25, 3}, .axis = view.extents[1] == channels ? 1 : 3};
        of.arithmetic.scale.values.resize(channels);
        expect_boxes(view, of, {.in = 1, .out = 8, .addend = 2}, random);
      }
    }
  }
  const Strided one{.extents = {}, .in_strides = {}, .out_strides = {}};
  for (const Case& of : kCases) expect_boxes(one, of, {}, random);
}

// Lanes of a warp meet in no bank where tiles are transposed. Factors that differ from row to row keep them
// out of registers.
TEST(ValueBoxes, TransposedTilesHaveNoConflicts) {
  for (const auto& [from, to] :
       {std::pair(Number::f32, Number::bf16), std::pair(Number::f32, Number::f32),
        std::pair(Number::bf16, Number::f8_e4m3fn), std::pair(Number::f64, Number::f32)}) {
    const Strided view{.extents = {4096, 8192}, .in_strides = {1, 4096}, .out_strides = {8192, 1}};
    const Coefficient scale{.values = std::vector<std::complex<double>>(4096, 2.0), .axis = 0};
    const auto boxes = detail::make_value_boxes(
        detail::make_value_plan(view, Arithmetic{.from = from, .to = to, .scale = scale}, Target{}));
    EXPECT_TRUE(boxes.copied);
    EXPECT_EQ(boxes.load_wavefronts, 1) << boxes.explain();
    EXPECT_EQ(boxes.store_wavefronts, 1) << boxes.explain();
  }
}

// Tiles are turned in registers where a block reads whole lines and writes whole granules, and numbers become
// no wider; what shares them with its neighbours, and factors that differ within a tile, take boxes.
TEST(ValueBoxes, TurnsWholeLinesInRegisters) {
  const auto boxes_of = [](std::uint64_t rows, std::uint64_t columns, const Arithmetic& arithmetic) {
    const Strided view{.extents = {columns, rows},
                       .in_strides = {1, static_cast<std::int64_t>(columns)},
                       .out_strides = {static_cast<std::int64_t>(rows), 1}};
    return detail::make_value_boxes(detail::make_value_plan(view, arithmetic, Target{}));
  };
  const Arithmetic narrows{.from = Number::f32, .to = Number::f16};
  const ValueBoxes turned = boxes_of(2048, 4096, narrows);
  ASSERT_TRUE(turned.turned) << turned.explain();
  EXPECT_EQ(turned.in_vector, 4);
  EXPECT_EQ(turned.out_vector, 8);
  EXPECT_EQ(turned.params.tiles, 2048 * 4096 / 32U);
  EXPECT_EQ(turned.boxes, 1024U);
  EXPECT_TRUE(boxes_of(2048, 4096, {.scale = {{2.0}, {}}, .addend = Addend{.beta = 0.5}}).turned);
  EXPECT_TRUE(boxes_of(2048, 4096, {.from = Number::bf16, .to = Number::f8_e4m3fn}).turned);
  EXPECT_TRUE(boxes_of(2008, 6124, narrows).copied)
      << "251 and 1531 vectors, primes: no part of a row is whole lines";
  EXPECT_TRUE(boxes_of(2048, 4098, narrows).copied) << "vectors of 8 bytes cross rows";
  EXPECT_TRUE(boxes_of(2048, 4096, {.from = Number::f16, .to = Number::f32}).copied);
}

TEST(ValueBoxes, TurnsInTheOrderWhoseBlocksShareFewerLines) {
  const auto boxes_of = [](const Strided& view, const Arithmetic& arithmetic) {
    return detail::make_value_boxes(detail::make_value_plan(view, arithmetic, Target{}));
  };
  // What the last digit, the slowest, steps by.
  const auto slowest = [](const ValueBoxes& boxes) {
    return boxes.params.grid[boxes.params.grid_axes - 1].step;
  };
  const Arithmetic narrows{.from = Number::f32, .to = Number::f16};
  // 28 x 28 x 48 x 28 x 48, (1 3 0 4 2): 28 does not divide what a block has, so runs of the input are cut.
  const Strided cut{.extents = {28, 28, 28, 48, 48},
                    .in_strides = {64512, 48, 1806336, 1, 1344},
                    .out_strides = {1806336, 64512, 2304, 48, 1}};
  const ValueBoxes by_input = boxes_of(cut, narrows);
  ASSERT_TRUE(by_input.turned) << by_input.explain();
  EXPECT_EQ(slowest(by_input).in, 1806336);
  const Strided whole{.extents = {4096, 2048}, .in_strides = {1, 4096}, .out_strides = {2048, 1}};
  const ValueBoxes by_output = boxes_of(whole, narrows);
  ASSERT_TRUE(by_output.turned) << by_output.explain();
  EXPECT_GT(slowest(by_output).out, slowest(by_output).in);
}

TEST(ValueBoxes, PriceOfTurnsIsOneWhereAllIsWhole) {
  const std::vector<ValueAxis> axes{{.extent = 4096, .strides = {.in = 1, .out = 2048}},
                                    {.extent = 2048, .strides = {.in = 4096, .out = 1}}};
  const std::vector<std::size_t> in_order{0, 1};
  const std::vector<std::size_t> out_order{1, 0};
  const detail::ValueBoxSides sides{
      .axes = axes, .in_order = in_order, .out_order = out_order, .in_bytes = 4, .out_bytes = 2};
  detail::TurnPrice price(sides, {.in_axis = 0, .out_axis = 1, .in_vector = 4, .out_vector = 8});
  // Eight vectors of the input are a line, four of the output a granule of 64 bytes.
  EXPECT_DOUBLE_EQ(price.of({{0, 8, 4}, {1, 4, 8}, {1, 64, 32}, {0, 128, 32}}, true, 9), 1);
  const double cut = price.of({{0, 8, 4}, {1, 2, 8}, {0, 128, 32}, {1, 128, 16}}, true, 9);
  EXPECT_GT(cut, 1.2) << "half a granule each";
  EXPECT_GE(price.of({{0, 8, 4}, {1, 2, 8}, {0, 128, 32}, {1, 128, 16}}, true, 1.1), 1.1)
      << "not all is counted";
  EXPECT_GT(price.of({{0, 8, 4}, {1, 4, 8}, {0, 128, 32}, {1, 64, 32}}, false, 9), 1.2) << "half a line each";
  EXPECT_DOUBLE_EQ(price.of({{0, 8, 4}, {1, 4, 8}, {0, 128, 32}, {1, 64, 32}}, true, 9), 1);
  EXPECT_GT(price.of({{0, 1024, 4}, {1, 256, 8}}, true, 9), cut) << "a vector of each row";
}

}  // namespace faro::value_box_test
