// Axes by name: what einops' words mean, where lengths come from, and every refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/pattern.hpp"
#include "permutation_support.hpp"

namespace faro {
namespace permutation_pattern_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Shape = std::vector<std::uint64_t>;

ParsedPermutation parsed(const std::string& text, const Shape& shape) {
  ParseOptions options;
  options.shape = shape;
  return parse_with_axes(text, options);
}

std::string refused(const std::string& text, const Shape& shape) {
  return refusal_of([&] { parsed(text, shape); });
}

TEST(Pattern, AxesChangePlaces) {
  const ParsedPermutation heads = parsed("b s h d -> b h s d", {2, 3, 4, 5});
  EXPECT_EQ(heads.permutation, Permutation(Axes({2, 3, 4, 5}, {0, 2, 1, 3})));
  ASSERT_TRUE(heads.regrouped.has_value());
  EXPECT_THAT(heads.regrouped->before, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(heads.regrouped->after, ElementsAre(2, 4, 3, 5));
  EXPECT_EQ(parsed("a b->b a", {3, 5}).permutation, Permutation(Axes({3, 5}, {1, 0})));
  EXPECT_EQ(parsed("... h w c -> ... c h w", {2, 3, 4, 5, 6}).permutation,
            Permutation(Axes({2, 3, 4, 5, 6}, {0, 1, 4, 2, 3})));
  EXPECT_EQ(parsed("... a -> a ...", {7}).permutation, Permutation(Axes({7}, {0})));
}

TEST(Pattern, AxesAreTakenApartAndJoined) {
  const ParsedPermutation apart = parsed("b (h d) s -> b h s d, h=8", {2, 24, 5});
  EXPECT_EQ(apart.permutation, Permutation(Axes({2, 8, 3, 5}, {0, 1, 3, 2})));
  EXPECT_THAT(apart.regrouped->after, ElementsAre(2, 8, 5, 3));
  const ParsedPermutation joined = parsed("b h s d -> b s (h d)", {2, 8, 5, 3});
  EXPECT_EQ(joined.permutation, Permutation(Axes({2, 8, 5, 3}, {0, 2, 1, 3})));
  EXPECT_THAT(joined.regrouped->after, ElementsAre(2, 5, 24));
  EXPECT_THAT(parsed("a 1 b -> 1 b () a", {3, 1, 4}).regrouped->after, ElementsAre(1, 4, 1, 3));
  // Space to depth.
  EXPECT_EQ(parsed("b (h p) (w q) c -> b h w (p q c), p=2, q=2", {1, 4, 6, 3}).permutation,
            Permutation(Axes({2, 2, 3, 2, 3}, {0, 2, 1, 3, 4})));
  // Without an array.
  EXPECT_EQ(parse_permutation("a b -> b a, a=3, b=5"), Permutation(Axes({3, 5}, {1, 0})));
  EXPECT_EQ(element_count(parsed("a b -> b a", {0, 5}).permutation), 0U);
  EXPECT_THAT(parsed("(a b) c -> b c a, a=0, b=3", {0, 5}).regrouped->after, ElementsAre(3, 5, 0));
  EXPECT_EQ(element_count(parse_permutation("a b -> b a, a=0, b=5")), 0U);
}

TEST(Pattern, AnEllipsisInBracketsJoinsWhateverIsThere) {
  const ParsedPermutation rows = parsed("... h w -> (...) h w", {2, 3, 4, 5});
  EXPECT_EQ(rows.permutation, Permutation(Axes({2, 3, 4, 5}, {0, 1, 2, 3})));
  EXPECT_THAT(rows.regrouped->after, ElementsAre(6, 4, 5));
  const ParsedPermutation last = parsed("b ... c -> c (b ...)", {2, 3, 4, 5});
  EXPECT_EQ(last.permutation, Permutation(Axes({2, 3, 4, 5}, {3, 0, 1, 2})));
  EXPECT_THAT(last.regrouped->after, ElementsAre(5, 24));
  // With other axes in the bracket, before and behind; with nothing there, which is an axis of 1.
  const ParsedPermutation amid = parsed("(a b) ... c -> (c ... b) a, a=2", {6, 4, 5, 7});
  EXPECT_EQ(amid.permutation, Permutation(Axes({2, 3, 4, 5, 7}, {4, 2, 3, 1, 0})));
  EXPECT_THAT(amid.regrouped->after, ElementsAre(7 * 4 * 5 * 3, 2));
  EXPECT_THAT(parsed("... h w -> (...) w h", {4, 5}).regrouped->after, ElementsAre(1, 5, 4));
  EXPECT_THAT(parsed("... h -> (h ...)", {4}).regrouped->after, ElementsAre(4));
  EXPECT_THAT(parsed("... -> (...)", {}).regrouped->after, ElementsAre(1));
  EXPECT_THAT(parsed("... -> () (1 ...) 1", {3, 4}).regrouped->after, ElementsAre(1, 12, 1));
  EXPECT_THAT(parsed("... h -> (...) h", {3, 0, 4}).regrouped->after, ElementsAre(0, 4));
}

TEST(Pattern, TheWayBack) {
  const std::string pattern = "b (h d) s -> b h s d, h=8";
  const ParsedPermutation there = parsed(pattern, {2, 24, 5});
  const ParsedPermutation back = parsed(detail::inverse_pattern(pattern), there.regrouped->after);
  EXPECT_EQ(back.permutation, inverse(there.permutation));
  EXPECT_THAT(back.regrouped->after, ElementsAre(2, 24, 5));
}

TEST(Pattern, Refusals) {
  EXPECT_THAT(refused("a b -> b c", {3, 5}), HasSubstr("on one side only"));
  EXPECT_THAT(refused("a b -> a", {3, 5}), HasSubstr("on one side only"));
  EXPECT_THAT(refused("a a -> a a", {3, 5}), HasSubstr("twice on one side"));
  EXPECT_THAT(refused("a b -> b a", {3, 5, 7}), HasSubstr("an array of 3 axes"));
  EXPECT_THAT(refused("a ... -> ... a", {}), HasSubstr("an array of 0 axes"));
  EXPECT_THAT(refused("(a b) -> a b", {15}), HasSubstr("neither the length of `a` nor that of `b`"));
  EXPECT_THAT(refused("(a b) -> b a, a=4", {15}), HasSubstr("a multiple of 4"));
  EXPECT_THAT(refused("a b -> b a, a=4", {3, 5}), HasSubstr("a length of 4"));
  EXPECT_THAT(refused("1 b -> b", {3, 5}), HasSubstr("a length of 1"));
  EXPECT_THAT(refused("a b -> b a, c=4", {3, 5}), HasSubstr("which is no axis"));
  EXPECT_THAT(refused("a b -> b a, a", {3, 5}), HasSubstr("lengths such as"));
  EXPECT_THAT(refused("a b -> b a, a=x", {3, 5}), HasSubstr("lengths such as"));
  EXPECT_THAT(refused("a b -> b a, a=0", {3, 5}), HasSubstr("from 1 to 2^40"));
  EXPECT_THAT(refused("(a b) c -> a b c, a=0", {0, 5}), HasSubstr("all lengths of an axis of 0"));
  EXPECT_THAT(refused("a b -> b a, a=3, a=3", {3, 5}), HasSubstr("a second length"));
  EXPECT_THAT(refused("(a (b c)) -> a b c", {30}), HasSubstr("brackets"));
  EXPECT_THAT(refused("(a b -> a b", {15}), HasSubstr("not closed"));
  EXPECT_THAT(refused("a) b -> a b", {3, 5}), HasSubstr("brackets"));
  EXPECT_THAT(refused("(a ...) -> a ...", {15}), HasSubstr("`...` within brackets on the side of"));
  EXPECT_THAT(refused("(...) a -> a (...)", {15, 2}), HasSubstr("names and their lengths"));
  EXPECT_THAT(refused("a -> a (...)", {15}), HasSubstr("on one side only"));
  EXPECT_THAT(refused("... a -> a (... ...)", {15}), HasSubstr("twice on one side"));
  EXPECT_THAT(refusal_of([] { parse_permutation("... a -> a (...), a=3"); }), HasSubstr("without an array"));
  EXPECT_THAT(refused("a + b -> b a", {3, 5}), HasSubstr("names of axes"));
  EXPECT_THAT(refusal_of([] { parse_permutation("a b -> b a, a=3"); }), HasSubstr("no length of `b`"));
  EXPECT_THAT(refusal_of([] { parse_permutation("a b -> b a, a=2^30, b=2^30"); }), HasSubstr("2^40"));
}

}  // namespace permutation_pattern_test
}  // namespace faro
