// Running programs: the published grids and solutions, and numbers against symbols.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "refusal.hpp"
#include "swizzle_sketches.hpp"

namespace faro::swizzle {
namespace swizzle_interpret_test {

using ::testing::HasSubstr;

// ---------------------------------------------------------------------------------------------- grids

/// The element numbers of the registers after each step.
std::map<int, std::vector<std::int64_t>> grids(const Sketch& sketch, const Valuation& valuation) {
  std::map<int, std::vector<std::int64_t>> seen;
  ValueTable& values = sketch.specification.values();
  run_symbolic(sketch.program, valuation, values, [&](int step, const Statement&, const WarpState& state) {
    for (const ValueId value : state.values)
      seen[step].push_back(value == kUndefined ? -1 : values.index_of(value));
  });
  return seen;
}

using Grid = std::vector<std::int64_t>;
const Grid kLoaded{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
const Grid kTarget{0, 4, 8,  12, 16, 20, 24, 28, 1, 5, 9,  13, 17, 21, 25, 29,
                   2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31};

TEST(Grids, ColumnRowColumn) {
  const Sketch sketch = crc_sketch(4, 8);
  Valuation v(sketch.program);
  v.set("first", xform(4, 3, 4, 4, false, 0, 1));
  v.set("row", xform(8, 4, 2, 8, true, 0, 2));
  v.set("last", xform(4, 0, 1, 4, false, 0, -2));
  // The published row is 4t + (t div 2 + r) mod 8, whose r comes with dr = 1.
  v.set("row", xform(8, 4, 2, 8, true, 0, 1));
  const auto seen = grids(sketch, v);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen.at(0), kLoaded);
  EXPECT_EQ(seen.at(1), (Grid{0,  9,  18, 27, 4,  13, 22, 31, 24, 1,  10, 19, 28, 5,  14, 23,
                              16, 25, 2,  11, 20, 29, 6,  15, 8,  17, 26, 3,  12, 21, 30, 7}));
  EXPECT_EQ(seen.at(2), (Grid{0, 4, 9,  13, 18, 22, 27, 31, 1, 5, 10, 14, 19, 23, 24, 28,
                              2, 6, 11, 15, 16, 20, 25, 29, 3, 7, 8,  12, 17, 21, 26, 30}));
  EXPECT_EQ(seen.at(3), kTarget);
  EXPECT_EQ(first_mismatch(sketch.specification, sketch.program, v), std::nullopt);
}

TEST(Grids, RowColumnRowWithShuffles) {
  // The three steps one after another, so that each is seen; the program folds them into the addresses.
  Sketch sketch = crc_sketch(4, 8);
  Program p(sketch.specification, {.warp = 8});
  const Index t = lane_index();
  const auto x = p.registers("x", 4);
  const auto y = p.registers("y", 4);
  p.global_to_registers(x, {.number = 0}, {.rounds = 4});
  p.loop("r", 4, [&](const Index& r) { p.shuffle(x[r], x[r], 4 * (t / 4) + (t - r) % 4); });
  p.permute(y, x, [&](const Index& i) { return (t - i) % 4; });
  p.loop("r", 4, [&](const Index& r) { p.shuffle(y[r], y[r], (4 * t + (t / 2 + r) % 4) % 8); });
  p.registers_to_global({.number = 1}, y, {.rounds = 4});
  sketch.program = p;
  const Valuation none(p);
  const auto seen = grids(sketch, none);
  EXPECT_EQ(seen.at(1), (Grid{0,  1,  2,  3,  4,  5,  6,  7,  11, 8,  9,  10, 15, 12, 13, 14,
                              18, 19, 16, 17, 22, 23, 20, 21, 25, 26, 27, 24, 29, 30, 31, 28}));
  EXPECT_EQ(seen.at(2), (Grid{0,  8,  16, 24, 4,  12, 20, 28, 25, 1,  9,  17, 29, 5,  13, 21,
                              18, 26, 2,  10, 22, 30, 6,  14, 11, 19, 27, 3,  15, 23, 31, 7}));
  EXPECT_EQ(seen.at(3), kTarget);
  EXPECT_EQ(first_mismatch(sketch.specification, p, none), std::nullopt);
}

TEST(Grids, RowColumnRowInTheAddresses) {
  const Sketch sketch = rcr_sketch(4, 8);
  Valuation v(sketch.program);
  const Index u = argument_index(0);
  const Index r = argument_index(1);
  v.set("load", xform(8, 0, 1, 4, false, 3, 4));  // 4 (t div 4) + (t - r) mod 4: groups of 4
  v.set("column", xform(4, 3, 4, 4, false, 0, 1));
  v.set("store", FormulaParameters{.formula = u / 4 + 2 * ((u - r) % 4)});
  EXPECT_EQ(first_mismatch(sketch.specification, sketch.program, v), std::nullopt);
  // The released interpreter takes the group's base from i mod gs: 0 for every group.
  v.set("load", FormulaParameters{.formula = 4 * ((u % 4) / 4) + (u % 4 - r) % 4});
  EXPECT_NE(first_mismatch(sketch.specification, sketch.program, v), std::nullopt);
}

// ------------------------------------------------------------------------------------ published solutions

TEST(Published, StencilWhereTheSenderChoosesTheRegister) {
  for (const std::int64_t warp : {4, 8, 32}) {
    const Sketch sketch = stencil_sketch(warp);
    Valuation v = stencil_solution(warp);
    EXPECT_EQ(first_mismatch(sketch.specification, sketch.program, v), std::nullopt);
    // The receiver's view: s = t + i mod W holds what t wants in register 1 where t + i >= W. Right at the
    // receiver, wrong at the sender.
    const Index t = argument_index(0);
    const Index i = argument_index(1);
    v.set("index", FormulaParameters{.formula = select(t + i < warp, 0, 1)});
    EXPECT_NE(first_mismatch(sketch.specification, sketch.program, v), std::nullopt);
  }
}

TEST(Published, PolynomialProductWithSixAccumulates) {
  for (const std::int64_t warp : {4, 8, 32}) {
    const Sketch sketch = polynomial_sketch(warp, 2);
    const Valuation v = six_accumulates(warp);
    const auto mismatch = first_mismatch(sketch.specification, sketch.program, v);
    EXPECT_EQ(mismatch, std::nullopt) << "W = " << warp << ": " << mismatch->text;
    const Cost cost = cost_of(sketch.program, v);
    EXPECT_EQ(cost.live_accumulates, 6);
    EXPECT_EQ(cost.shuffles, 4 * warp);
  }
}

// --------------------------------------------------------------------------------------- numbers and symbols

template <typename T>
void expect_numbers_as_symbols(const Sketch& sketch, const Valuation& valuation) {
  const auto arrays = sketch.program.arrays();
  std::vector<std::vector<T>> in(arrays.size());
  std::vector<std::vector<T>> out(arrays.size());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const auto size = static_cast<std::size_t>(arrays[a].size);
    if (arrays[a].kind == ArrayKind::input)
      for (std::size_t i = 0; i < size; ++i) in[a].push_back(static_cast<T>(i * i % 251 + 7 * a));
    if (arrays[a].kind == ArrayKind::output) out[a].assign(size, T{});
  }
  const std::vector<std::span<const T>> inputs(in.begin(), in.end());
  const std::vector<std::span<T>> outputs(out.begin(), out.end());
  run<T>(sketch.program, valuation, inputs, outputs);
  for (std::size_t a = 0; a < arrays.size(); ++a)
    for (std::size_t i = 0; i < out[a].size(); ++i) {
      const ValueId wanted =
          sketch.specification.wanted({.number = static_cast<int>(a)}, static_cast<std::int64_t>(i));
      ASSERT_EQ(out[a][i], sketch.specification.values().template number<T>(wanted, inputs))
          << arrays[a].name << "[" << i << "]";
    }
}

TEST(Numbers, AreThoseOfTheSpecification) {
  const Sketch stencil = stencil_sketch(8);
  expect_numbers_as_symbols<std::uint32_t>(stencil, stencil_solution(8));
  expect_numbers_as_symbols<float>(stencil, stencil_solution(8));
  const Sketch product = polynomial_sketch(8, 2);
  expect_numbers_as_symbols<std::uint32_t>(product, six_accumulates(8));
  expect_numbers_as_symbols<std::uint64_t>(product, six_accumulates(8));
}

std::string error_of(const std::function<void()>& call, ErrorCode code = ErrorCode::spec) {
  return test::message_of(code, call);
}

TEST(Numbers, RefuseSpansOfTheWrongSizeAndBitsOfFloats) {
  const Sketch sketch = stencil_sketch(8);
  const Valuation v = stencil_solution(8);
  const std::vector<float> in(31);
  std::vector<float> out(30, -1.0F);
  const std::vector<std::span<const float>> inputs{in, {}};
  const std::vector<std::span<float>> outputs{{}, out};
  EXPECT_THAT(error_of([&] { run<float>(sketch.program, v, inputs, outputs); }, ErrorCode::value),
              HasSubstr("31 elements for input span of `I`"));
  EXPECT_EQ(out, std::vector<float>(30, -1.0F));
  const Sketch product = polynomial_sketch(4, 2);
  const std::vector<float> a(8);
  std::vector<float> c(16);
  const std::vector<std::span<const float>> factors{a, a, {}};
  const std::vector<std::span<float>> results{{}, {}, c};
  EXPECT_THAT(
      error_of([&] { run<float>(product.program, six_accumulates(4), factors, results); }, ErrorCode::value),
      HasSubstr("bit operation"));
}

}  // namespace swizzle_interpret_test
}  // namespace faro::swizzle
