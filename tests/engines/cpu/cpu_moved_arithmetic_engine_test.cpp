// Permutations and rows with arithmetic on the CPU engine: drawn maps of every kind, types, factors along
// axes of the output, added arrays, batches, alignments and threads, between guard zones. What is wanted is
// moved by one loop over all indices, and then changed as a view that moves nothing, which has an oracle of
// its own (cpu_arithmetic_engine_test.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "cpu_strided_support.hpp"
#include "drawn.hpp"
#include "faro/faro.hpp"
#include "layout/tile_box.hpp"
#include "number_support.hpp"
#include "refusal.hpp"

namespace faro::cpu_moved_arithmetic_test {

using cpu_strided_test::Guarded;
using test::draw_number;
using test::fill_numbers;
using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t end) { return random() % end; }

// Dense numbers of a shape changed where they are: the other test's subject.
void change(const Arithmetic& of, const std::vector<std::byte>& in, const std::byte* addend, std::byte* out,
            std::uint64_t count) {
  Strided view{
      .extents = of.shape.empty() ? std::vector{count} : of.shape, .in_strides = {}, .out_strides = {}};
  std::int64_t next = static_cast<std::int64_t>(count);
  for (const std::uint64_t extent : view.extents) {
    next /= static_cast<std::int64_t>(extent);
    view.in_strides.push_back(next);
  }
  view.out_strides = view.in_strides;
  plan(view, of, {.engine = Engine::cpu, .threads = 1})
      .run({in.data(), count}, out, count, {addend, addend == nullptr ? 0 : count});
}

bool same_number(Number number, bool swapped, const std::byte* got, const std::byte* wanted,
                 std::int64_t at) {
  const auto width = static_cast<std::int64_t>(bytes_of(number));
  if (std::memcmp(got + at * width, wanted + at * width, static_cast<std::size_t>(width)) == 0) return true;
  const test::WideComplex a = test::read(number, got, at, swapped);
  const test::WideComplex b = test::read(number, wanted, at, swapped);
  const auto same = [](test::Wide x, test::Wide y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return same(a.real(), b.real()) && same(a.imag(), b.imag());
}

struct Drawn {
  Problem problem;
  Arithmetic arithmetic = {};
  IndexChoice choice = {};
  std::size_t in_past_line = 0;
  std::size_t out_past_line = 0;
  int threads = 1;
  bool accumulates = false;
};

std::string text_of(const Drawn& drawn) {
  return to_text(drawn.problem.permutation) + " x " + std::to_string(drawn.problem.batch) +
         (drawn.problem.placement == Placement::in_place ? " in place: " : ": ") + to_text(drawn.arithmetic) +
         ", " + std::to_string(drawn.threads) + " threads" + (drawn.accumulates ? ", accumulated" : "");
}

// Returns how it went, in words.
std::string expect_moved(const Drawn& drawn, std::uint64_t seed) {
  SCOPED_TRACE(text_of(drawn));
  const Arithmetic& of = drawn.arithmetic;
  const std::uint64_t count = element_count(drawn.problem.permutation);
  const std::uint64_t numbers = count * drawn.problem.batch;
  const auto plan = faro::plan(
      drawn.problem, of, {.engine = Engine::cpu, .threads = drawn.threads, .index_choice = drawn.choice});
  const bool in_place = drawn.problem.placement == Placement::in_place;
  EXPECT_EQ(plan.in_count(), numbers);
  EXPECT_EQ(plan.out_count(), numbers);
  Random random{seed};
  Guarded in(numbers * bytes_of(of.from), drawn.in_past_line);
  Guarded out(numbers * bytes_of(of.to), drawn.out_past_line);
  const Number added = of.addend ? of.addend->number : of.to;
  Guarded addend(of.addend ? numbers * bytes_of(added) : 0, drawn.in_past_line);
  fill_numbers(in, of.from, random);
  fill_numbers(addend, added, random);
  if (drawn.accumulates) fill_numbers(out, of.to, random);

  std::vector<std::byte> moved(numbers * bytes_of(of.from));
  const std::uint64_t width = bytes_of(of.from);
  // The image of a gather's index is a sweep, that of a scatter's an entry.
  Permutation map = drawn.problem.permutation;
  if (const auto* const indexed = std::get_if<Indexed>(&map)) map = indexed->redirected(Direction::scatter);
  for (std::uint64_t b = 0; b < drawn.problem.batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x) {
      const std::uint64_t y = faro::apply(map, x);
      std::memcpy(moved.data() + (b * count + y) * width, in.data() + (b * count + x) * width, width);
    }
  }
  Guarded wanted = out;
  if (numbers > 0) {
    change(of, moved,
           drawn.accumulates ? wanted.data()
           : of.addend       ? addend.data()
                             : nullptr,
           wanted.data(), numbers);
  }
  if (in_place) std::memcpy(out.data(), in.data(), in.bytes());
  const std::byte* const other = drawn.accumulates ? out.data() : of.addend ? addend.data() : nullptr;
  plan.run({in_place ? out.data() : in.data(), numbers}, out.data(), numbers,
           {other, other == nullptr ? 0 : numbers});
  for (std::uint64_t i = 0; i < numbers; ++i) {
    const bool same =
        same_number(of.to, of.out_swapped, out.data(), wanted.data(), static_cast<std::int64_t>(i));
    if (!same) ADD_FAILURE() << "number " << i << " of\n" << plan.explain();
    if (!same) return {};
    std::memcpy(wanted.data() + i * bytes_of(of.to), out.data() + i * bytes_of(of.to), bytes_of(of.to));
  }
  EXPECT_EQ(std::memcmp(wanted.memory().data(), out.memory().data(), out.memory().size()), 0)
      << "outside the array";
  return plan.explain();
}

Permutation draw_axes(Random& random) {
  std::vector<std::uint64_t> shape;
  std::vector<Cyclic> moves;
  const bool cyclic = below(random, 2) == 0;
  for (std::size_t rank = 1 + below(random, 3); rank > 0; --rank) {
    const std::uint64_t extent = 1 + below(random, 40);
    shape.push_back(extent);
    moves.push_back(
        below(random, 3) == 0
            ? Cyclic{.count = extent, .shift = below(random, extent), .reversed = below(random, 2) == 0}
            : Cyclic{.count = extent});
  }
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  if (cyclic) return CyclicAxes(shape, order, moves);
  return Axes(shape, order);
}

Permutation draw_permutation(Random& random) {
  const int bits = static_cast<int>(below(random, 8) == 0 ? 17 + below(random, 2) : below(random, 16));
  const std::uint64_t large = below(random, 4) == 0 ? 150000 : 3000;
  switch (below(random, 8)) {
    case 0:
      return test::random_affine(bits, random);
    case 1:
      return test::random_bpc(bits, random);
    case 2:
      return below(random, 2) == 0 ? maps::gray(bits) : maps::bit_reversal(bits);
    case 3:
      return draw_axes(random);
    case 4:
      return below(random, 2) == 0
                 ? maps::roll(1 + below(random, large), static_cast<std::int64_t>(random() % 9999))
                 : maps::flip(1 + below(random, large));
    case 5: {
      const std::uint64_t count = 2 + below(random, large);
      std::int64_t factor = static_cast<std::int64_t>(1 + below(random, count));
      while (std::gcd(static_cast<std::uint64_t>(factor), count) != 1) ++factor;
      return maps::affine_mod(count, factor, static_cast<std::int64_t>(below(random, count)));
    }
    case 6: {
      const Permutation map = below(random, 2) == 0 ? maps::hilbert(2, static_cast<int>(below(random, 10)))
                                                    : maps::healpix(static_cast<int>(below(random, 8)));
      return below(random, 2) == 0 ? map : inverse(map);
    }
    default: {
      const Indexed map = Indexed::random(below(random, large), random());
      return below(random, 2) == 0 ? map : map.redirected(Direction::scatter);
    }
  }
}

Coefficient draw_coefficient(Random& random, const std::vector<std::uint64_t>& shape, double usual) {
  const auto value = [&] { return std::complex<double>(static_cast<double>(below(random, 65)) / 16 - 2); };
  if (below(random, 2) == 0) return {{usual}, {}};
  if (shape.empty() || below(random, 3) != 0) return {{value()}, {}};
  Coefficient made{.values = {}, .axis = below(random, shape.size())};
  for (std::uint64_t i = 0; i < shape[*made.axis]; ++i) made.values.push_back(value());
  return made;
}

// Factors of the count, or the axes of the output themselves.
std::vector<std::uint64_t> draw_shape(Random& random, const Problem& problem) {
  if (const auto* const axes = std::get_if<Axes>(&problem.permutation)) {
    std::vector<std::uint64_t> shape{problem.batch};
    for (const int axis : axes->order()) shape.push_back(axes->shape()[static_cast<std::size_t>(axis)]);
    return shape;
  }
  std::uint64_t left = element_count(problem.permutation) * problem.batch;
  std::vector<std::uint64_t> shape;
  for (std::uint64_t factor = 2 + below(random, 9); factor < 60 && shape.size() < 4; ++factor) {
    if (left % factor != 0) continue;
    shape.push_back(factor);
    left /= factor;
  }
  shape.push_back(left);
  std::shuffle(shape.begin(), shape.end(), random);
  return shape;
}

Drawn draw(Random& random) {
  Drawn drawn{.problem = {.permutation = draw_permutation(random), .batch = below(random, 3) == 0 ? 3U : 1U}};
  Arithmetic& of = drawn.arithmetic;
  of.from = draw_number(random);
  of.to = draw_number(random);
  if (below(random, 4) == 0) of.function = Function::absolute;
  of.shape = draw_shape(random, drawn.problem);
  of.scale = draw_coefficient(random, of.shape, 1.0);
  of.offset = draw_coefficient(random, of.shape, 0.0);
  if (below(random, 5) == 0) {
    of.addend = Addend{.number = draw_number(random), .beta = 0.5};
    if (below(random, 2) == 0) {
      of.addend->number = of.to;
      drawn.accumulates = true;
    }
  }
  of.in_swapped = below(random, 8) == 0;
  of.out_swapped = !drawn.accumulates && below(random, 8) == 0;
  drawn.in_past_line = below(random, 64);
  drawn.out_past_line = below(random, 2) == 0 ? 0 : below(random, 64);
  drawn.threads = 1 + static_cast<int>(below(random, 2));
  return drawn;
}

TEST(CpuMovedArithmetic, DrawnPermutationsTypesAndFactors) {
  const int rounds = testing::kInstrumented ? 60 : 800;
  int tiled = 0;
  int crossed = 0;
  int passed = 0;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(i));
    Random random{static_cast<std::uint64_t>(i) * 7919 + 1};
    const Drawn drawn = draw(random);
    const std::string how = expect_moved(drawn, random());
    crossed += how.find("across the axes") != std::string::npos ? 1 : 0;
    tiled += how.find("by tiles") != std::string::npos ? 1 : 0;
    passed += how.find("pass  ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(tiled, 0);
  EXPECT_GT(crossed, 0);
  EXPECT_GT(passed, 0);
}

// Every method of an index array, with conversions on either side, and between passes.
TEST(CpuMovedArithmetic, IndexArraysByEveryMethod) {
  const std::vector<IndexChoice> choices{
      {.method = IndexMethod::direct},
      {.method = IndexMethod::partition, .chunk_bits = 15, .level_bits = {}},
      {.method = IndexMethod::partition, .chunk_bits = 10, .level_bits = {6}},
      {.method = IndexMethod::partition, .chunk_bits = 8, .level_bits = {5, 4}}};
  Random random{5};
  for (const IndexChoice& choice : choices) {
    for (const auto& [from, to] : {std::pair(Number::f32, Number::bf16), std::pair(Number::u8, Number::f32),
                                   std::pair(Number::f64, Number::f64), std::pair(Number::c64, Number::u8)}) {
      for (const bool gathers : {false, true}) {
        for (const bool accumulates : {false, true}) {
          const bool alone = choice.level_bits.empty();
          const Indexed map = Indexed::random(alone ? 30011 : 60013, random());
          Drawn drawn{
              .problem = {.permutation = map.redirected(gathers ? Direction::gather : Direction::scatter),
                          .batch = 2},
              .arithmetic = {.from = from, .to = to, .scale = {{0.5}, {}}},
              .choice = choice,
              .out_past_line = gathers ? 0U : 3U,
              .threads = 2,
              .accumulates = accumulates};
          if (accumulates) drawn.arithmetic.addend = Addend{.number = to, .beta = 2};
          expect_moved(drawn, random());
        }
      }
    }
  }
}

TEST(CpuMovedArithmetic, InPlace) {
  Random random{6};
  for (int i = 0; i < 60; ++i) {
    const int bits = static_cast<int>(below(random, 16));
    const std::vector<Permutation> maps{test::random_affine(bits, random), maps::transpose_any(300, 70),
                                        maps::flip(999), maps::roll(1000, 77)};
    constexpr std::pair<Number, Number> kTypes[] = {{Number::f32, Number::i32},
                                                    {Number::i64, Number::f64},
                                                    {Number::bf16, Number::f16},
                                                    {Number::c128, Number::c128}};
    Drawn drawn{.problem = {.permutation = maps[below(random, maps.size())],
                            .batch = 1 + below(random, 3),
                            .placement = Placement::in_place},
                .out_past_line = below(random, 2) * 8,
                .threads = 2};
    const auto& [from, to] = kTypes[below(random, 4)];
    drawn.arithmetic = {.from = from, .to = to, .scale = {{0.5}, {}}};
    drawn.arithmetic.out_swapped = below(random, 4) == 0;
    if (below(random, 3) == 0) drawn.arithmetic.addend = Addend{.number = Number::f32, .beta = 2};
    expect_moved(drawn, random());
  }
}

// Larger than caches: boxes of every shape, streamed.
TEST(CpuMovedArithmetic, LargeMaps) {
  const int bits = testing::kInstrumented ? 18 : 20;
  Random random{7};
  const std::vector<Permutation> maps{maps::bit_reversal(bits),   test::random_affine(bits, random),
                                      maps::gray(bits),           maps::multiply(1 << bits, 12345),
                                      maps::hilbert(2, bits / 2), Indexed::random((1 << bits) + 5, 9)};
  for (const Permutation& map : maps) {
    for (const auto& [from, to] : {std::pair(Number::f32, Number::bf16), std::pair(Number::u8, Number::f32),
                                   std::pair(Number::c128, Number::c128)}) {
      expect_moved({.problem = {.permutation = map},
                    .arithmetic = {.from = from, .to = to, .offset = {{0.25}, {}}},
                    .threads = 2},
                   random());
    }
  }
}

// Every place of the side that a box stands in for, of all boxes, and every tile within its box.
TEST(CpuMovedArithmetic, BoxesOfTilesHoldWholeRows) {
  Random random{8};
  for (int i = 0; i < 200; ++i) {
    const int n = 1 + static_cast<int>(below(random, 9));
    const Affine map = below(random, 3) == 0 ? maps::gray(n) : test::random_affine(n, random);
    const int p = static_cast<int>(below(random, static_cast<std::uint64_t>(n) + 1));
    const int s = static_cast<int>(below(random, static_cast<std::uint64_t>(p) + 1));
    for (const auto side : {layout::BoxSide::source, layout::BoxSide::target}) {
      const layout::TileBox box =
          layout::make_tile_box(map, {.segment_bits = s, .row_bits = p, .side = side});
      const layout::Tile& tile = box.tile;
      ASSERT_EQ(box.box_bits(), layout::tile_box_bits(map, p));
      std::vector<bool> met(f2::unit(n));
      for (f2::Word block = 0; block < f2::unit(tile.block_bits()); ++block) {
        for (f2::Word place = 0; place < f2::unit(tile.tile_bits()); ++place) {
          const f2::Word low = f2::low_mask(s);
          const f2::Word to = tile.local * place;
          f2::Word x = tile.block_source(block) ^ tile.source_row(place >> s) ^ (place & low);
          f2::Word y = tile.block_target(block) ^ tile.target_row(to >> s) ^ (to & low);
          f2::Word& within = side == layout::BoxSide::source ? x : y;
          ASSERT_LT(within, f2::unit(box.box_bits()));
          // Both sides lie in the box's rows.
          const f2::Word number = block >> box.tile_bits;
          within = box.of(side).at(number, within >> p) ^ (within & f2::low_mask(p));
          for (const auto& [rows, at] : {std::pair(&box.source, x), std::pair(&box.target, y)}) {
            bool found = false;
            for (f2::Word j = 0; j < box.rows(); ++j) found |= (rows->at(number, j) ^ at) < f2::unit(p);
            ASSERT_TRUE(found);
          }
          ASSERT_EQ(map(x), y) << to_text(map) << " s " << s << " p " << p;
          met[y] = true;
        }
      }
      ASSERT_EQ(std::count(met.begin(), met.end(), false), 0);
    }
  }
}

// --- rows

struct DrawnRows {
  std::vector<std::int32_t> entries = {};
  std::uint64_t rows = 1;
  std::uint64_t outer = 1;
  std::uint64_t numbers = 1;
  Fill fill = {};
  Arithmetic arithmetic = {};
};

// The obvious loop, on numbers that are converted beforehand.
TEST(CpuMovedArithmetic, DrawnRows) {
  const int rounds = testing::kInstrumented ? 40 : 200;
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    Random random{static_cast<std::uint64_t>(round) * 31 + 7};
    SCOPED_TRACE("seed " + std::to_string(round));
    DrawnRows of{
        .rows = 1 + below(random, 500), .outer = 1 + below(random, 3), .numbers = 1 + below(random, 12)};
    if (below(random, 5) == 0) of.numbers = 300 + below(random, 900);
    if (below(random, 6) == 0) of.rows = 20000 / of.numbers + 1;
    const int kind = static_cast<int>(below(random, 3));
    of.arithmetic.from = draw_number(random);
    of.arithmetic.to = draw_number(random);
    if (kind == 2) of.arithmetic.to = below(random, 2) == 0 ? Number::i32 : Number::f64;
    of.arithmetic.scale = {{0.5}, {}};
    std::uint64_t moved = kind == 1 ? below(random, of.rows + 1) : below(random, 2 * of.rows);
    std::vector<std::int32_t> all(of.rows);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    const bool absent = below(random, 2) == 0;
    for (std::uint64_t i = 0; i < moved; ++i) {
      of.entries.push_back(kind == 1 ? all[i] : static_cast<std::int32_t>(below(random, of.rows)));
      if (absent && below(random, 5) == 0) of.entries.back() = -1;
    }
    const std::uint64_t in_rows = kind == 0 ? of.rows : moved;
    const std::uint64_t out_rows = kind == 0 ? moved : of.rows;
    const std::uint64_t out_count = of.outer * out_rows * of.numbers;
    of.arithmetic.shape = {of.outer, out_rows, of.numbers};
    if (below(random, 2) == 0) {
      of.arithmetic.offset = {std::vector<std::complex<double>>(of.numbers, 0.25), 2};
      for (std::uint64_t k = 0; k < of.numbers; ++k)
        of.arithmetic.offset.values[k] = static_cast<double>(k % 7);
    }
    if (kind == 0 && below(random, 3) == 0)
      of.arithmetic.addend = Addend{.number = draw_number(random), .beta = 2};
    const std::uint64_t to_width = bytes_of(of.arithmetic.to);
    if (absent) of.fill = below(random, 3) == 0 ? Fill::kept() : Fill::zero();
    if (absent && below(random, 3) == 0)
      of.fill = Fill::of(std::vector<std::byte>(to_width, static_cast<std::byte>(0x35)));

    const RowNumbers numbers{std::span<const std::int32_t>(of.entries)};
    RowMove move = Take{.from = numbers, .rows = of.rows, .fill = of.fill};
    if (kind == 1) move = Put{.to = numbers, .rows = of.rows};
    if (kind == 2) move = Add{.to = numbers, .rows = of.rows, .number = of.arithmetic.to};
    const auto plan =
        plan_rows(move, {.outer = of.outer, .row_bytes = of.numbers * bytes_of(of.arithmetic.from)},
                  of.arithmetic, {.threads = 1 + static_cast<int>(below(random, 2))});
    ASSERT_EQ(plan.in_count(), of.outer * in_rows * of.numbers);
    ASSERT_EQ(plan.out_count(), out_count);
    Guarded in(plan.in_count() * bytes_of(of.arithmetic.from), below(random, 64));
    Guarded out(out_count * to_width, below(random, 64));
    const Number added = of.arithmetic.addend ? of.arithmetic.addend->number : Number::u8;
    Guarded addend(of.arithmetic.addend ? out_count * bytes_of(added) : 0, 5);
    fill_numbers(in, of.arithmetic.from, random);
    fill_numbers(addend, added, random);
    if (kind == 2) std::memset(out.data(), 0, out.bytes());
    Guarded wanted = out;
    const std::uint64_t from_row = of.numbers * bytes_of(of.arithmetic.from);
    const std::uint64_t to_row = of.numbers * to_width;
    Arithmetic one_row = of.arithmetic;
    one_row.shape = {1, 1, of.numbers};
    for (std::uint64_t outer = 0; outer < of.outer; ++outer) {
      for (std::uint64_t i = 0; i < moved; ++i) {
        const bool names = of.entries[i] >= 0;
        const std::uint64_t row = names ? static_cast<std::uint64_t>(of.entries[i]) : 0;
        const std::uint64_t source = outer * in_rows + (kind == 0 ? row : i);
        std::byte* const target = wanted.data() + (outer * out_rows + (kind == 0 ? i : row)) * to_row;
        if (!names && kind == 0) {
          if (of.fill.with == Fill::With::zero) std::memset(target, 0, to_row);
          if (of.fill.with == Fill::With::value) std::memset(target, 0x35, to_row);
        }
        if (!names) continue;
        const std::vector<std::byte> bytes(in.data() + source * from_row,
                                           in.data() + (source + 1) * from_row);
        std::vector<std::byte> changed(to_row);
        const std::byte* const other =
            of.arithmetic.addend ? addend.data() + (outer * out_rows + i) * of.numbers * bytes_of(added)
                                 : nullptr;
        change(one_row, bytes, other, changed.data(), of.numbers);
        for (std::uint64_t k = 0; kind == 2 && k < of.numbers; ++k) {
          const auto add_as = [&](auto zero) {
            auto a = zero;
            auto b = zero;
            std::memcpy(&a, target + k * sizeof(a), sizeof(a));
            std::memcpy(&b, changed.data() + k * sizeof(b), sizeof(b));
            const auto sum = [&] {
              if constexpr (std::is_floating_point_v<decltype(a)>)
                return a + b;
              else
                return static_cast<decltype(a)>(static_cast<std::uint32_t>(a) +
                                                static_cast<std::uint32_t>(b));
            }();
            std::memcpy(changed.data() + k * sizeof(sum), &sum, sizeof(sum));
          };
          if (of.arithmetic.to == Number::i32)
            add_as(std::int32_t{});
          else
            add_as(double{});
        }
        std::memcpy(target, changed.data(), to_row);
      }
    }
    const NumberArray other{of.arithmetic.addend ? addend.data() : nullptr, plan.addend_count()};
    if (below(random, 2) == 0) {
      plan.run({in.data(), plan.in_count()}, out.data(), out_count, other);
    } else {
      const std::vector<std::int32_t> elsewhere = of.entries;
      std::fill(of.entries.begin(), of.entries.end(), -2);
      plan.run_by(elsewhere.data(), {in.data(), plan.in_count()}, out.data(), out_count, other);
    }
    for (std::uint64_t i = 0; i < out_count; ++i) {
      ASSERT_TRUE(
          same_number(of.arithmetic.to, false, out.data(), wanted.data(), static_cast<std::int64_t>(i)))
          << "number " << i << ", kind " << kind << "\n"
          << plan.explain();
      std::memcpy(wanted.data() + i * to_width, out.data() + i * to_width, to_width);
    }
    ASSERT_EQ(std::memcmp(wanted.memory().data(), out.memory().data(), out.memory().size()), 0);
  }
}

TEST(CpuMovedArithmetic, RefusesWhatCannotBe) {
  const Permutation map = maps::bit_reversal(4);
  EXPECT_EQ(refusal_of([&] {
              plan(map, Arithmetic{.shape = {3, 5}});
            }),
            "plan: got an output of shape 3 x 5 for 16 numbers, wanted a shape of 16");
  EXPECT_EQ(refusal_of([&] {
              plan(map, Arithmetic{.scale = {{1.0, 2.0}, 1}, .shape = {2, 8}});
            }),
            "plan: got a scale of 2 values along axis 1, wanted 8, the axis's extent");
  EXPECT_EQ(refusal_of([&] {
              plan(Problem{.permutation = map, .placement = Placement::in_place},
                   Arithmetic{.to = Number::f16});
            }),
            "plan: got f32 to f16 in place, wanted types of one width, or a second array for the result");
  const std::vector<std::int32_t> entries{0, 1, 5};
  const RowNumbers numbers{std::span(entries)};
  EXPECT_NE(refusal_of([&] {
              plan_rows(Take{.from = numbers, .rows = 3}, {.row_bytes = 8}, Arithmetic{});
            }).find("row 5"),
            std::string::npos);
  EXPECT_EQ(refusal_of([&] { plan_rows(Take{.from = numbers, .rows = 6}, {.row_bytes = 6}, Arithmetic{}); }),
            "plan rows: got rows of 6 bytes, wanted a whole number of f32 of 4 bytes");
  EXPECT_NE(refusal_of([&] {
              plan_rows(Put{.to = numbers, .rows = 6}, {.row_bytes = 8},
                        Arithmetic{.scale = {std::vector<std::complex<double>>(6, 1.0), 0}, .shape = {6, 2}});
            }).find("a scale that differs from row to row, of rows that are put"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              plan_rows(Add{.to = numbers, .rows = 6}, {.row_bytes = 8}, Arithmetic{.to = Number::f64});
            }).find("sums of f32, wanted f64"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              plan_rows(Add{.to = numbers, .rows = 6}, {.row_bytes = 8}, Arithmetic{.out_swapped = true});
            }).find("sums of numbers in the other byte order"),
            std::string::npos);
  std::vector<float> array(32, 1.0F);
  const auto moves = plan(map, Arithmetic{});
  EXPECT_NE(refusal_of([&] {
              moves.run({array.data(), 16}, array.data() + 8, 16);
            }).find("disjoint"),
            std::string::npos);
  EXPECT_EQ(array, std::vector<float>(32, 1.0F));
}

}  // namespace faro::cpu_moved_arithmetic_test
