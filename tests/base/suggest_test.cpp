// The nearest name: near enough to help, never a guess from nothing.
// Sanitized: never, the same few lines, tables or texts.
#include "faro/suggest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace faro {
namespace suggest_test {

TEST(Suggest, Distance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("gray", "grya"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // restricted: no letter is edited twice
}

TEST(Suggest, Nearest) {
  const std::vector<std::string_view> names{
      "x", "cx", "swap", "bit_reversal", "reverse", "--element-bytes", "--engine"};
  EXPECT_EQ(nearest("xc", names), "cx");
  EXPECT_EQ(nearest("CX", names), "cx");
  EXPECT_EQ(nearest("h", names), std::nullopt);
  EXPECT_EQ(nearest("cz", names), std::nullopt);
  EXPECT_EQ(nearest("wsap", names), "swap");
  EXPECT_EQ(nearest("reversal", names), "reverse");
  EXPECT_EQ(nearest("--elem", names), "--element-bytes");
  EXPECT_EQ(nearest("--element_byte", names), "--element-bytes");
  EXPECT_EQ(nearest("--engin", names), "--engine");
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'a'), names), std::nullopt);
  EXPECT_EQ(did_you_mean("revers", names), "did you mean `reverse`?");
  EXPECT_EQ(did_you_mean("unrelated", names), "");
}

}  // namespace suggest_test
}  // namespace faro
