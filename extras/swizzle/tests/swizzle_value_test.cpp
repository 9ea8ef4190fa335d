// Symbolic values: equality up to the order of sums, texts, and the numbers that they stand for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/specification.hpp"
#include "refusal.hpp"

namespace faro::swizzle {
namespace swizzle_value_test {

using ::testing::ElementsAre;

constexpr Accumulation kSum{.outer = Operator::add};
constexpr Accumulation kDot{.outer = Operator::add, .inner = Operator::multiply};

struct Inputs {
  ValueTable table;
  ValueId u = table.input(0, 0), w = table.input(0, 1), x = table.input(0, 2), y = table.input(1, 0);
};

TEST(Values, InputsAreInternedAndRemembered) {
  Inputs in;
  EXPECT_EQ(in.table.input(0, 2), in.x);
  EXPECT_NE(in.table.input(1, 2), in.x);
  EXPECT_TRUE(in.table.is_input(in.y));
  EXPECT_FALSE(in.table.is_input(kUndefined));
  EXPECT_EQ(in.table.array_of(in.y), 1);
  EXPECT_EQ(in.table.index_of(in.x), 2);
}

TEST(Values, TheOrderOfTermsAndFactorsDoesNotMatter) {
  Inputs in;
  EXPECT_EQ(in.table.sum(kSum, {{in.x}, {in.y}, {in.x}}), in.table.sum(kSum, {{in.x}, {in.x}, {in.y}}));
  EXPECT_EQ(in.table.sum(kDot, {{in.w, in.x}, {in.u, in.y}}),
            in.table.sum(kDot, {{in.y, in.u}, {in.x, in.w}}));
}

TEST(Values, MultiplicityOperatorsAndTheDivisorDoMatter) {
  Inputs in;
  const ValueId base = in.table.sum(kDot, {{in.x, in.y}});
  const std::vector<ValueId> others{
      in.table.sum(kDot, {{in.x, in.y}, {in.x, in.y}}),
      in.table.sum(kDot, {{in.x, in.x}}),
      in.table.sum(kDot, {{in.x}, {in.y}}),
      in.table.sum(kDot, {}),
      in.table.sum({.outer = Operator::bit_xor, .inner = Operator::multiply}, {{in.x, in.y}}),
      in.table.sum({.outer = Operator::add, .inner = Operator::bit_and}, {{in.x, in.y}}),
      in.table.sum({.outer = Operator::add, .inner = Operator::multiply, .divisor = 3}, {{in.x, in.y}}),
      in.x,
      kUndefined};
  for (const ValueId other : others) EXPECT_NE(base, other);
  EXPECT_NE(in.table.sum(kSum, {{in.x}}), in.x) << "a sum of one term is not that term";
}

TEST(Values, SumsNest) {
  Inputs in;
  const ValueId inner = in.table.sum(kSum, {{in.x}, {in.u}});
  const ValueId outer = in.table.sum(kDot, {{inner, in.y}, {in.w, in.w}});
  EXPECT_EQ(in.table.sum(kDot, {{in.w, in.w}, {in.y, in.table.sum(kSum, {{in.u}, {in.x}})}}), outer);
  EXPECT_THAT(in.table.inputs_of(outer), ElementsAre(in.u, in.w, in.x, in.y));
  EXPECT_THAT(in.table.inputs_of(in.x), ElementsAre(in.x));
  EXPECT_THAT(in.table.inputs_of(kUndefined), ElementsAre());
  EXPECT_EQ(in.table.accumulation_of(outer), kDot);
  EXPECT_EQ(in.table.terms_of(outer).size(), 2U);
}

TEST(Values, ManyAreStillFoundAgain) {
  ValueTable table;
  std::vector<ValueId> ids;
  for (std::int64_t i = 0; i < 5000; ++i) ids.push_back(table.input(0, i));
  std::vector<ValueId> sums;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) sums.push_back(table.sum(kSum, {{ids[i]}, {ids[i + 1]}}));
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    ASSERT_EQ(table.input(0, static_cast<std::int64_t>(i)), ids[i]);
    ASSERT_EQ(table.sum(kSum, {{ids[i + 1]}, {ids[i]}}), sums[i]);
  }
  std::sort(sums.begin(), sums.end());
  EXPECT_EQ(std::adjacent_find(sums.begin(), sums.end()), sums.end());
}

TEST(Values, AsText) {
  Inputs in;
  const std::vector<std::string> names{"a", "b"};
  const auto text = [&](ValueId value) { return in.table.to_text(value, names); };
  EXPECT_EQ(text(in.x), "a[2]");
  EXPECT_EQ(text(kUndefined), "undefined");
  EXPECT_EQ(text(in.table.sum({.outer = Operator::add, .inner = Operator::none, .divisor = 3},
                              {{in.x}, {in.y}, {in.u}})),
            "(a[0] + a[2] + b[0]) / 3");
  EXPECT_EQ(text(in.table.sum({.outer = Operator::bit_xor, .inner = Operator::bit_and},
                              {{in.y, in.x}, {in.u, in.w}})),
            "a[0]&a[1] ^ a[2]&b[0]");
  EXPECT_EQ(text(in.table.sum(kSum, {{in.x}})), "+{a[2]}");
  EXPECT_EQ(text(in.table.sum(kSum, {})), "+{}");
  EXPECT_EQ(text(in.table.sum({.outer = Operator::least}, {{in.x}, {in.y}})), "min(a[2], b[0])");
  EXPECT_EQ(text(in.table.sum(kDot, {{in.y, in.table.sum(kSum, {{in.u}, {in.w}})}, {in.x, in.x}})),
            "a[2]*a[2] + b[0]*(a[0] + a[1])");
}

template <typename T>
T number(const ValueTable& table, ValueId value, const std::vector<std::vector<T>>& inputs) {
  std::vector<std::span<const T>> spans(inputs.begin(), inputs.end());
  return table.number<T>(value, spans);
}

TEST(Values, AsNumbers) {
  Inputs in;
  const std::vector<std::vector<std::uint32_t>> n{{5, 0xffffffffU, 12}, {10}};
  const auto u32 = [&](ValueId v) { return number<std::uint32_t>(in.table, v, n); };
  EXPECT_EQ(u32(in.x), 12U);
  EXPECT_EQ(u32(in.table.sum(kSum, {{in.w}, {in.u}})), 4U) << "wraps around";
  EXPECT_EQ(u32(in.table.sum(kDot, {{in.u, in.x}, {in.y}})), 70U);
  EXPECT_EQ(u32(in.table.sum({.outer = Operator::bit_xor, .inner = Operator::bit_and},
                             {{in.u, in.x}, {in.y, in.x}})),
            (5U & 12U) ^ (10U & 12U));
  EXPECT_EQ(u32(in.table.sum({.outer = Operator::bit_or}, {{in.u}, {in.y}})), 15U);
  EXPECT_EQ(u32(in.table.sum({.outer = Operator::bit_and}, {{in.x}, {in.y}})), 8U);
  EXPECT_EQ(u32(in.table.sum({.outer = Operator::least}, {{in.x}, {in.u}, {in.y}})), 5U);
  EXPECT_EQ(u32(in.table.sum({.outer = Operator::greatest}, {{in.x}, {in.u}, {in.y}})), 12U);
  EXPECT_EQ(u32(in.table.sum({.outer = Operator::add, .inner = Operator::none, .divisor = 4},
                             {{in.x}, {in.u}, {in.y}})),
            6U);
  EXPECT_EQ(number<float>(in.table,
                          in.table.sum({.outer = Operator::add, .inner = Operator::none, .divisor = 4},
                                       {{in.x}, {in.u}, {in.y}}),
                          {{5, 1, 12}, {10}}),
            6.75F);
  EXPECT_EQ(
      number<std::uint64_t>(in.table, in.table.sum(kSum, {{in.w}, {in.u}}), {{5, 0xffffffffU, 12}, {10}}),
      0x100000004U);
}

TEST(Values, EmptySumsAreIdentities) {
  ValueTable table;
  const auto empty = [&](Operator op) {
    return number<std::uint32_t>(table, table.sum({.outer = op}, {}), {});
  };
  EXPECT_EQ(empty(Operator::add), 0U);
  EXPECT_EQ(empty(Operator::multiply), 1U);
  EXPECT_EQ(empty(Operator::bit_and), 0xffffffffU);
  EXPECT_EQ(empty(Operator::least), 0xffffffffU);
  EXPECT_EQ(empty(Operator::greatest), 0U);
  EXPECT_EQ(number<float>(table, table.sum({.outer = Operator::least}, {}), {}),
            std::numeric_limits<float>::infinity());
}

using test::code_of;

TEST(Values, NumbersRefuseWhatHasNone) {
  Inputs in;
  const ValueId bits = in.table.sum({.outer = Operator::bit_xor}, {{in.x}});
  EXPECT_EQ(code_of([&] { number<float>(in.table, bits, {{1, 2, 3}, {4}}); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { number<float>(in.table, kUndefined, {{1, 2, 3}, {4}}); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { number<float>(in.table, in.x, {{1, 2}, {4}}); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { in.table.sum(kSum, {{in.x, in.y}}); }), ErrorCode::internal);
}

TEST(Specifications, TheEssaysStencil) {
  Specification spec;
  const auto I = spec.input("I", 6);
  const auto O = spec.output("O", 4);
  for (int i = 0; i < 4; ++i) {
    auto sum = spec.accumulator({.outer = Operator::add, .inner = Operator::none, .divisor = 3});
    for (int k = 2; k >= 0; --k) sum.add({spec.at(I, i + k)}, true);
    sum.add({spec.at(I, 0)}, false);
    spec.set(O, i, sum);
  }
  const std::vector<std::string> names{"I", "O"};
  EXPECT_EQ(spec.values().to_text(spec.wanted(O, 2), names), "(I[2] + I[3] + I[4]) / 3");
  spec.set(O, 2, spec.at(I, 5));
  EXPECT_EQ(spec.wanted(O, 2), spec.at(I, 5)) << "the last counts";
}

TEST(Specifications, SayWhatTheyRefuse) {
  Specification spec;
  const auto I = spec.input("I", 4);
  const auto O = spec.output("O", 4);
  EXPECT_EQ(spec.wanted(O, 3), kUndefined);
  const std::vector<std::function<void()>> calls{
      [&] { spec.input("", 4); },
      [&] { spec.output("I", 4); },
      [&] { spec.input("J", 0); },
      [&] { spec.at(I, 4); },
      [&] { spec.at(I, -1); },
      [&] { spec.at(O, 0); },
      [&] { spec.at({.number = 7}, 0); },
      [&] { spec.set(I, 0, spec.at(I, 0)); },
      [&] { spec.set(O, 4, spec.at(I, 0)); },
      [&] { spec.wanted(I, 0); },
      [&] { spec.accumulator({.outer = Operator::none}); },
      [&] { spec.accumulator({.outer = Operator::add, .inner = Operator::none, .divisor = 0}); },
      [&] { spec.accumulator(kSum).add({}); },
      [&] { spec.accumulator(kSum).add({kUndefined}); },
      [&] {
        spec.accumulator(kSum).add({spec.at(I, 0), spec.at(I, 1)});
      },
  };
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(code_of(calls[i]), ErrorCode::spec) << "call " << i;
}

TEST(Values, EqualMultisetsGiveEqualNumbers) {
  std::mt19937 random(7);
  Inputs in;
  const std::vector<ValueId> ids{in.u, in.w, in.x, in.y};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<ValueId>> terms(random() % 5);
    for (auto& term : terms)
      for (std::size_t i = 0; i <= random() % 3; ++i) term.push_back(ids[random() % 4]);
    auto shuffled = terms;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (auto& term : shuffled) std::shuffle(term.begin(), term.end(), random);
    const Accumulation both{.outer = Operator::bit_xor, .inner = Operator::multiply};
    const ValueId value = in.table.sum(both, terms);
    ASSERT_EQ(value, in.table.sum(both, shuffled)) << "round " << round;
    std::uint32_t expected = 0;
    const std::vector<std::vector<std::uint32_t>> n{{3, 70000, 99}, {0x80000001U}};
    const std::vector<std::uint32_t> flat{3, 70000, 99, 0x80000001U};
    for (const auto& term : terms) {
      std::uint32_t product = 1;
      for (const ValueId id : term)
        product *= flat[static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())];
      expected ^= product;
    }
    ASSERT_EQ(number<std::uint32_t>(in.table, value, n), expected) << "round " << round;
  }
}

}  // namespace swizzle_value_test
}  // namespace faro::swizzle
