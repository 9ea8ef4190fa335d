// Searches that take seconds, one of them a minute: the product of degree 2 W with its proof, and structures
// of more than 7 words.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"

namespace faro::swizzle {
namespace swizzle_mult64_large_test {

SynthesisResult solved(const std::string& name, std::int64_t words, std::int64_t warp, Space space) {
  ExampleOptions options;
  options.struct_words = words;
  options.warp = warp;
  const Example which = make_example(name, options);
  SynthesisOptions how;
  how.space = space;
  SynthesisResult result = synthesise(which.specification, which.sketch, how);
  if (result.best) {
    EXPECT_FALSE(first_mismatch(which.specification, which.sketch, result.best->valuation).has_value());
  }
  return result;
}

void expect_six(std::int64_t warp) {
  const SynthesisResult result = solved("poly-64", 0, warp, Space::full);
  EXPECT_EQ(result.outcome, Outcome::found);
  EXPECT_EQ(result.solutions, 1944U) << warp;
  std::map<std::int64_t, int> by_live;
  for (const Solution& solution : result.kept) ++by_live[solution.cost.live_accumulates];
  EXPECT_EQ(by_live, (std::map<std::int64_t, int>{{6, 648}, {8, 648}, {10, 648}})) << warp;
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->cost.live_accumulates, 6);
}

TEST(SwizzleMult64, SixAccumulatesAreTheLeast) {
  for (const std::int64_t warp : {8, 16}) expect_six(warp);
}

// Half a minute to a minute of one core in a release build; `faro synth poly-64` is the same search.
TEST(SwizzleMult64, SixAccumulatesAreTheLeastOf32Lanes) { expect_six(32); }

TEST(SwizzleMult64, StructuresOfManyWords) {
  const std::map<std::int64_t, std::pair<std::uint64_t, std::uint64_t>> counts = {
      {8, {16, 136}}, {9, {2, 4}}, {10, {0, 0}}, {11, {2, 4}}, {12, {0, 0}}};
  for (const auto& [words, count] : counts) {
    EXPECT_EQ(solved("aos-crc", words, 32, Space::full).solutions, count.first) << words;
    EXPECT_EQ(solved("aos-rcr", words, 32, Space::full).solutions, count.second) << words;
  }
}

TEST(SwizzleMult64, SixWordsWithTheExtraTemplate) {
  EXPECT_EQ(solved("aos-crc", 6, 32, Space::extra).solutions, 6U);
  EXPECT_EQ(solved("aos-rcr", 6, 32, Space::extra).outcome, Outcome::none);
}

}  // namespace swizzle_mult64_large_test
}  // namespace faro::swizzle
