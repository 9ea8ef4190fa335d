// Index expressions: against the compiler's own arithmetic, and against layouts.
#include <gtest/gtest.h>

#include <limits>

#include "faro/error.hpp"
#include "faro/exchange/index_check.hpp"
#include "refusal.hpp"
#include "swizzle_exchange_support.hpp"

namespace faro::testing {
namespace swizzle_exchange_index_test {

using namespace exchange;

#define FARO_BOTH(expression)                                                                                                       \
  {                                                                                                                                 \
#expression, [](int i, int lane, int warp, int thread) -> int { (void)i, (void)lane, (void)warp, (void)thread; return expression; } \
  }

TEST(ExchangeIndex, ExpressionsAreAsCComputesThem) {
  struct Both {
    const char* text;
    int (*value)(int i, int lane, int warp, int thread);
  };
  // clang-format off
  const Both all[] = {
      FARO_BOTH((lane >> 2) + 8 * (i >> 1)), FARO_BOTH(2 * (lane & 3) + (i & 1)), FARO_BOTH(lane ^ i ^ 5),
      FARO_BOTH(lane % 4 * 2 + i % 2), FARO_BOTH(-lane / 4 - 3), FARO_BOTH(-lane % 4), FARO_BOTH((lane - 7) / 3),
      FARO_BOTH((lane - 9) >> 1), FARO_BOTH(~lane & 0x1f), FARO_BOTH(lane < 16 ? lane : i < 2 ? lane - 16 : 3),
      FARO_BOTH((lane == 3) + (lane != i) + (lane <= i) + (lane >= i) + (lane > i)), FARO_BOTH(1 << (lane & 7)),
      FARO_BOTH((lane & 1) == 0 && (i | lane) > 4), FARO_BOTH((i && lane) || !warp), FARO_BOTH(thread / 4 + warp * 16),
      FARO_BOTH((lane | 1) & (i ^ 3)), FARO_BOTH(+lane - -i), FARO_BOTH(0x10 * lane),
      FARO_BOTH(lane && 7 / lane > 1), FARO_BOTH(((((lane))))),
  };
  // clang-format on
  for (const Both& both : all) {
    const IndexExpression expression(both.text);
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i)
          ASSERT_EQ(expression({.i = i, .lane = lane, .warp = warp}),
                    both.value(i, lane, warp, 32 * warp + lane))
              << both.text << " " << i << " " << lane;
  }
  EXPECT_EQ(IndexExpression("2147483647 * 2 + 3u")({}), 1);
  // Precedence that compilers warn of.
  EXPECT_EQ(IndexExpression("1 + 2 << 1")({}), 6);
  EXPECT_EQ(IndexExpression("lane & 6 ^ 3 | 8")({.i = 0, .lane = 5, .warp = 0}), ((5 & 6) ^ 3) | 8);
  EXPECT_EQ(IndexExpression("1 | 2 == 2")({}), 1);
  EXPECT_EQ(IndexExpression("1 / i")({}), std::nullopt);
  EXPECT_EQ(IndexExpression("lane ? 1 % i : 4")({}), 4);
  EXPECT_EQ(IndexExpression("1 << 32")({}), std::nullopt);
  EXPECT_EQ(IndexExpression("1 >> (0 - 1)")({}), std::nullopt);
  EXPECT_EQ(IndexExpression("(0 - 2147483647 - 1) / (0 - 1)")({}), std::numeric_limits<std::int32_t>::min());
}

std::vector<IndexExpression> expressions(std::initializer_list<const char*> texts) {
  std::vector<IndexExpression> all;
  for (const char* text : texts) all.emplace_back(text);
  return all;
}

TEST(ExchangeIndex, HeldToLayouts) {
  const Layout c = parse_layout("mma.m16n8.C", 32);
  EXPECT_FALSE(check_indices(c, expressions({"(lane >> 2) + 8 * (i >> 1)", "2 * (lane & 3) + (i & 1)"})));
  EXPECT_FALSE(check_indices(c, expressions({"(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2"})));
  const auto wrong = check_indices(c, expressions({"lane / 4 + 8 * (i / 2)", "2 * (lane % 4) + i"}));
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->place.lane, 0);
  EXPECT_EQ(wrong->place.i, 2);
  EXPECT_EQ(wrong->wanted, (std::vector<std::int64_t>{8, 0}));
  EXPECT_EQ(wrong->got[1], 2);
  EXPECT_FALSE(check_indices(parse_layout("wgmma.m64n16.C", 32),
                             expressions({"thread / 32 * 16 + thread % 32 / 4 + (i >> 1 & 1) * 8",
                                          "8 * (i / 4) + 2 * (thread % 4) + i % 2"})));
  // A layout's own columns, as XORs of shifted bits, and each with one of them changed.
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const Layout layout = random_layout(3, 5, random);
    std::string text = "0";
    for (std::size_t j = 0; j < 8; ++j)
      text += " ^ (" + std::string(j < 3 ? "i" : "lane") + " >> " + std::to_string(j < 3 ? j : j - 3) +
              " & 1) * " + std::to_string(j < 3 ? layout.registers[j] : layout.lanes[j - 3]);
    EXPECT_FALSE(check_indices(layout, {IndexExpression(text)})) << text;
    const int lane = static_cast<int>(random() % 32);
    const auto found =
        check_indices(layout, {IndexExpression("(" + text + ") ^ (lane == " + std::to_string(lane) + ")")});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->place.lane, lane);
  }
}

TEST(ExchangeIndex, Refusals) {
  for (const char* text : {"", "lane +", "(lane", "lane)", "lane lane", "threadIdx", "lane = 3", "lane <<= 1",
                           "4294967296", "lane ? 1", "1 2", "lane && ", "@"})
    EXPECT_EQ(test::code_of([&] { IndexExpression{text}; }), ErrorCode::spec) << text;
  EXPECT_EQ(test::code_of([] { IndexExpression(std::string(100000, '(')); }), ErrorCode::spec);
  EXPECT_EQ(test::code_of([] { IndexExpression(std::string(100000, '-')); }), ErrorCode::spec);
  const Layout c = parse_layout("mma.m16n8.C", 32);
  EXPECT_EQ(test::code_of([&] { check_indices(c, expressions({"1", "2", "3"})); }), ErrorCode::value);
}

}  // namespace swizzle_exchange_index_test
}  // namespace faro::testing
