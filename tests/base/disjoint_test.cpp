// Whether arrays share a byte, against the sets of their bytes; and what is refused of a run's arrays.
#include "disjoint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"

namespace faro::disjoint_test {

using detail::LaidArray;
using detail::RunArray;

constexpr std::uintptr_t kMiddle = std::uintptr_t{1} << 20;

struct SmallArray {
  std::uintptr_t address = kMiddle;
  std::uint64_t element_bytes = 1;
  std::vector<std::uint64_t> extents;
  std::vector<std::int64_t> strides;

  LaidArray laid() const { return {reinterpret_cast<const void*>(address), element_bytes, extents, strides}; }

  // All its bytes, an element's as often as an index has them.
  std::vector<std::uintptr_t> bytes() const {
    std::vector<std::uintptr_t> firsts{address};
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      std::vector<std::uintptr_t> more;
      for (const std::uintptr_t first : firsts) {
        for (std::uint64_t i = 0; i < extents[axis]; ++i)
          more.push_back(first + static_cast<std::uintptr_t>(strides[axis] * static_cast<std::int64_t>(i)));
      }
      firsts = more;
    }
    std::vector<std::uintptr_t> all;
    for (const std::uintptr_t first : firsts) {
      for (std::uint64_t u = 0; u < element_bytes; ++u) all.push_back(first + u);
    }
    return all;
  }

  std::string text() const {
    std::string shown = std::to_string(static_cast<std::int64_t>(address - kMiddle)) + " width " +
                        std::to_string(element_bytes);
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      shown += " (" + std::to_string(extents[axis]) + " by " + std::to_string(strides[axis]) + ")";
    return shown;
  }
};

SmallArray random_array(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t most) { return random() % most; };
  SmallArray made;
  made.address = kMiddle + below(60);
  made.element_bytes = below(8) == 0 ? 0 : 1 + below(5);
  for (std::uint64_t axis = below(4); axis-- > 0;) {
    made.extents.push_back(below(12) == 0 ? 0 : 1 + below(5));
    made.strides.push_back(static_cast<std::int64_t>(below(49)) - 24);
  }
  return made;
}

TEST(Disjoint, AgreesWithTheSetsOfBytes) {
  std::mt19937_64 random(39);
  int sharing = 0;
  int interleaved = 0;
  for (int trial = 0; trial < 40000; ++trial) {
    const SmallArray a = random_array(random);
    const SmallArray b = random_array(random);
    const auto of_a = a.bytes();
    const auto of_b = b.bytes();
    const std::set<std::uintptr_t> set_a(of_a.begin(), of_a.end());
    const bool share =
        std::any_of(of_b.begin(), of_b.end(), [&](std::uintptr_t x) { return set_a.contains(x); });
    ASSERT_EQ(detail::share_bytes(a.laid(), b.laid()), share) << a.text() << " and " << b.text();
    ASSERT_EQ(detail::share_bytes(b.laid(), a.laid()), share) << a.text() << " and " << b.text();
    ASSERT_EQ(detail::shares_own_bytes(a.laid()), set_a.size() < of_a.size()) << a.text();
    sharing += share ? 1 : 0;
    const bool meet = !of_a.empty() && !of_b.empty() &&
                      *set_a.begin() <= *std::max_element(of_b.begin(), of_b.end()) &&
                      *std::min_element(of_b.begin(), of_b.end()) <= *set_a.rbegin();
    interleaved += meet && !share ? 1 : 0;
  }
  EXPECT_GT(sharing, 4000);
  EXPECT_GT(interleaved, 1000);
}

TEST(Disjoint, LargeArraysTakeFewSteps) {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 30;
  const SmallArray even{
      .address = kMiddle, .element_bytes = 8, .extents = {kRows, 500}, .strides = {8000, 16}};
  const SmallArray odd{
      .address = kMiddle + 8, .element_bytes = 8, .extents = {kRows, 500}, .strides = {8000, 16}};
  const SmallArray late{
      .address = kMiddle + 12, .element_bytes = 8, .extents = {kRows, 500}, .strides = {8000, 16}};
  EXPECT_FALSE(detail::share_bytes(even.laid(), odd.laid()));
  EXPECT_TRUE(detail::share_bytes(even.laid(), late.laid()));
  EXPECT_FALSE(detail::shares_own_bytes(even.laid()));
  const SmallArray windows{.address = kMiddle, .element_bytes = 8, .extents = {kRows, 3}, .strides = {8, 8}};
  EXPECT_TRUE(detail::shares_own_bytes(windows.laid()));
  const SmallArray backwards{.address = kMiddle + 8000 * (kRows - 1),
                             .element_bytes = 8,
                             .extents = {kRows, 500},
                             .strides = {-8000, 16}};
  EXPECT_TRUE(detail::share_bytes(even.laid(), backwards.laid()));
  EXPECT_FALSE(detail::share_bytes(odd.laid(), backwards.laid()));
}

std::string refused(const std::vector<RunArray>& outputs, const std::vector<RunArray>& inputs) {
  try {
    detail::check_disjoint("run", outputs, inputs, "");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Disjoint, RefusesOutputsAlone) {
  const std::vector<std::byte> memory(64);
  const auto at = [&memory](std::size_t first, std::size_t bytes) {
    return LaidArray{memory.data() + first, bytes};
  };
  EXPECT_EQ(refused({{"output", at(0, 8)}}, {{"input", at(8, 8)}, {"indices", at(8, 8)}}), "")
      << "inputs may share bytes";
  EXPECT_EQ(refused({{"output", at(0, 9)}}, {{"input", at(8, 8)}}),
            "run: got overlapping arrays, output and input, wanted two disjoint arrays");
  EXPECT_EQ(refused({{"output", at(8, 8)}}, {{"input", at(8, 8)}}),
            "run: got one array as input and output, wanted two disjoint arrays");
  EXPECT_EQ(refused({{"a", at(0, 8)}, {"b", at(30, 8)}, {"c", at(7, 1)}}, {}),
            "run: got overlapping arrays, c and a, wanted two disjoint arrays");
  EXPECT_EQ(refused({{"a", at(0, 0)}}, {{"b", at(0, 8)}}), "") << "an array without elements";
  const std::uint64_t four[] = {4};
  const std::int64_t none[] = {0};
  const LaidArray repeated{memory.data(), 8, four, none};
  EXPECT_EQ(refused({}, {{"input", repeated}}), "") << "what is read may repeat itself";
  EXPECT_EQ(refused({{"output", repeated}}, {}),
            "run: got output whose own elements overlap, wanted an array whose elements are disjoint");
}

}  // namespace faro::disjoint_test
