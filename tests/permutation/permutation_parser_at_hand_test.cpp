// The text grammar where the shape of the array at hand is known, which need not be typed then.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "parsed_text_support.hpp"
#include "permutation/text.hpp"

namespace faro {
namespace permutation_parser_at_hand_test {

using parsed_text::refusal;

using Shape = std::vector<std::uint64_t>;

// Each element where a text that is spelled out puts it, and the shape that is told of the result.
void expect_same(const std::string& text, const Shape& at_hand, const std::string& spelled_out,
                 const Shape& after, bool is_result = false) {
  SCOPED_TRACE(text);
  ParseOptions options;
  options.shape = at_hand;
  const detail::NotedPermutation read =
      detail::parse_with_notes(text, options, is_result ? detail::AtHand::result : detail::AtHand::input);
  const ParsedPermutation& parsed = read.parsed;
  const Permutation wanted = parse_permutation(spelled_out);
  ASSERT_EQ(element_count(parsed.permutation), element_count(wanted));
  for (std::uint64_t x = 0; x < element_count(wanted); ++x)
    ASSERT_EQ(faro::apply(parsed.permutation, x), faro::apply(wanted, x)) << x;
  Shape told;
  if (read.shapes) told = read.shapes->after;
  if (parsed.axes) told = parsed.axes->target_shape();
  EXPECT_EQ(told, after);
}

TEST(ArrayAtHand, OfTheOuterMapIsWhatTheInnerOneGives) {
  expect_same("compose(transpose, transpose)", {3, 5}, "axes(15; 0)", {3, 5});
  expect_same("compose(axes(1 0 2), axes(0 2 1))", {3, 5, 2}, "axes(3 5 2; 2 0 1)", {2, 3, 5});
  expect_same("compose(axes(1 0 2), compose(roll(7), axes(0 2 1)))", {3, 5, 2},
              "compose(axes(3 2 5; 1 0 2), compose(roll(30, 7), axes(3 5 2; 0 2 1)))", {2, 3, 5});
  expect_same("compose(transpose, transpose(3, 5))", {15}, "axes(15; 0)", {3, 5});
  expect_same("compose(flip, transpose)", {3, 5}, "compose(flip(15), transpose(3, 5))", {5, 3});
  expect_same("compose(transpose, flip)", {3, 5}, "compose(transpose(3, 5), flip(15))", {5, 3});
  expect_same("compose(transpose, compose(flip, transpose))", {3, 5}, "flip(15)", {3, 5});
  expect_same("compose(transpose(5, 3), roll(15, 1))", {5, 3}, "compose(transpose(5, 3), roll(15, 1))",
              {3, 5});
  // Shapes that do not meet tell nothing of the result's.
  expect_same("compose(transpose(3, 5), transpose(3, 5))", {3, 5},
              "compose(transpose(3, 5), transpose(3, 5))", {});
}

// The array of an inverse is the result of what is undone.
TEST(ArrayAtHand, OfAnInverseIsTheResult) {
  expect_same("inverse(transpose)", {3, 5}, "transpose(3, 5)", {5, 3});
  expect_same("inverse(axes(1 2 0))", {3, 5, 2}, "axes(3 5 2; 2 0 1)", {2, 3, 5});
  expect_same("inverse(inverse(axes(1 2 0)))", {3, 5, 2}, "axes(3 5 2; 1 2 0)", {5, 2, 3});
  expect_same("inverse(compose(flip, transpose))", {5, 3}, "compose(transpose(5, 3), flip(15))", {3, 5});
  expect_same("inverse(compose(axes(1 0 2), axes(0 2 1)))", {2, 3, 5},
              "inverse(compose(axes(3 2 5; 1 0 2), axes(3 5 2; 0 2 1)))", {3, 5, 2});
  expect_same("compose(transpose, inverse(axes(1 2 0)))", {3, 5, 2},
              "compose(axes(2 3 5; 2 1 0), axes(3 5 2; 2 0 1))", {5, 3, 2});
  expect_same("transpose", {3, 5}, "transpose(5, 3)", {3, 5}, true);
  expect_same("axes(1 2 0)", {3, 5, 2}, "inverse(axes(3 5 2; 2 0 1))", {3, 5, 2}, true);
  expect_same("roll(2)", {3, 5}, "roll(15, 2)", {}, true);
}

TEST(ArrayAtHand, OfAPowerIsThatOfEachTime) {
  expect_same("power(transpose, 2)", {3, 5}, "axes(15; 0)", {3, 5});
  expect_same("power(transpose, 3)", {3, 5}, "transpose(3, 5)", {5, 3});
  expect_same("power(transpose, 0)", {3, 5}, "axes(15; 0)", {3, 5});
  expect_same("power(axes(1 2 0), 2)", {3, 5, 2}, "axes(3 5 2; 2 0 1)", {2, 3, 5});
  expect_same("power(axes(1 2 0), -1)", {3, 5, 2}, "axes(3 5 2; 2 0 1)", {2, 3, 5});
  expect_same("power(axes(1 2 0), -2)", {3, 5, 2}, "axes(3 5 2; 1 2 0)", {5, 2, 3});
  expect_same("power(axes(1 2 0), 9223372036854775807)", {3, 5, 2}, "axes(3 5 2; 1 2 0)", {5, 2, 3});
  expect_same("power(transpose(3, 5), 2)", {3, 5}, "power(transpose(3, 5), 2)", {});
  expect_same("power(compose(flip, transpose), 1)", {3, 5}, "compose(flip(15), transpose(3, 5))", {5, 3});
  ParseOptions options;
  options.shape = Shape{3, 5};
  const ErrorReport report = refusal("power(compose(flip, transpose), 2)", options);
  EXPECT_EQ(report.code, ErrorCode::value);
  EXPECT_NE(report.got.find("changes the shape"), std::string::npos) << report.got;
}

// Maps of axes that do more than their order says name shapes, but no order.
TEST(ArrayAtHand, AxesThatAlsoMoveAreNoOrderOfAxes) {
  for (const std::string text : {"axes(4 6; 1 0; 1 2)", "axes(4 6; 0 1; 0 0; 1)"}) {
    const detail::NotedPermutation read = detail::parse_with_notes(text);
    EXPECT_FALSE(read.parsed.axes) << text;
    ASSERT_TRUE(read.shapes) << text;
    EXPECT_EQ(read.shapes->before, (Shape{4, 6}));
  }
  EXPECT_EQ(detail::parse_with_notes("axes(4 6; 1 0; 1 2)").shapes->after, (Shape{6, 4}));
  EXPECT_TRUE(parse_with_axes("axes(4 6; 1 0)").axes);
  // An order that is none is refused before anybody asks for the shape that it gives.
  for (const std::string text :
       {"axes(11; 34; 0)", "axes(4 6; 0 0; 1 0)", "axes(4 6; 1 2; 1 0)", "axes(4 6; 1; 1 0)"})
    EXPECT_EQ(refusal(text).code, ErrorCode::value) << text;
}

// Extents of 0 hold nothing, and are axes all the same.
TEST(ArrayAtHand, MayBeEmpty) {
  for (const std::string text : {"axes(0 3 2; 2 0 1)", "axes(2 0 3; 0 2 1)"}) {
    const ParsedPermutation parsed = parse_with_axes(text);
    EXPECT_EQ(element_count(parsed.permutation), 0U) << text;
    EXPECT_TRUE(parsed.axes) << text;
  }
  EXPECT_EQ(refusal("axes(0 3; 0 0)").code, ErrorCode::value);
  ParseOptions options;
  options.shape = Shape{0, 3};
  EXPECT_EQ(parse_with_axes("transpose", options).axes->target_shape(), (Shape{3, 0}));
  options.shape = Shape{2, 2, 2};
  EXPECT_EQ(parse_permutation("morton", options), parse_permutation("morton(3, 1)"));
  options.shape = Shape{2, 4};
  EXPECT_NE(refusal("morton", options).remedy.find("morton(d, b)"), std::string::npos);
  options.shape = Shape{7};
  EXPECT_EQ(parse_permutation("rader", options), parse_permutation("rader(7)"));
  EXPECT_NE(refusal("aos_to_soa", options).remedy.find("aos_to_soa(count, words)"), std::string::npos);
}

}  // namespace permutation_parser_at_hand_test
}  // namespace faro
