// Elements of a view that meet in the output: against all of them where they are few, against theorems where
// no loop ends.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <unordered_set>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/strided.hpp"
#include "processor_time.hpp"
#include "view_oracle.hpp"

namespace faro {
namespace permutation_meeting_test {

Strided view_into(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& strides) {
  Strided view{
      .extents = extents, .in_strides = std::vector<std::int64_t>(extents.size(), 0), .out_strides = strides};
  for (std::size_t a = 0; a < extents.size(); ++a) {
    if (strides[a] < 0 && extents[a] > 0)
      view.out_offset += static_cast<std::uint64_t>(-strides[a]) * (extents[a] - 1);
  }
  return view;
}

// By all elements.
bool any_meet(const Strided& view) {
  std::unordered_set<std::int64_t> met;
  bool meets = false;
  test::for_places(view, [&](std::int64_t, std::int64_t out) { meets |= !met.insert(out).second; });
  return meets;
}

// Two different indices of the view that are one element.
void expect_meeting(const Strided& view, const MeetingIndices& meeting) {
  ASSERT_EQ(meeting.first.size(), view.extents.size());
  ASSERT_EQ(meeting.second.size(), view.extents.size());
  std::int64_t apart = 0;
  for (std::size_t a = 0; a < view.extents.size(); ++a) {
    ASSERT_LT(meeting.first[a], view.extents[a]);
    ASSERT_LT(meeting.second[a], view.extents[a]);
    apart += (static_cast<std::int64_t>(meeting.first[a]) - static_cast<std::int64_t>(meeting.second[a])) *
             view.out_strides[a];
  }
  EXPECT_EQ(apart, 0);
  EXPECT_NE(meeting.first, meeting.second);
}

// Strides that are no products of extents: the shorter ones reach beyond the longer.
TEST(MeetingIndices, EntangledStridesAgainstAllElements) {
  std::mt19937_64 random(11);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  int met = 0;
  int apart = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const std::size_t rank = 2 + below(5);
    const std::uint64_t most = rank < 4 ? 25 : rank < 6 ? 7 : 4;
    std::vector<std::uint64_t> extents;
    std::vector<std::int64_t> strides;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < rank; ++a) {
      extents.push_back(1 + below(most));
      count *= extents.back();
    }
    // As many places as a few times the elements: about as many views meet as do not.
    for (std::size_t a = 0; a < rank; ++a) {
      strides.push_back(1 + static_cast<std::int64_t>(below(3 * count)));
      if (below(4) == 0) strides.back() = -strides.back();
    }
    const Strided view = view_into(extents, strides);
    SCOPED_TRACE(to_text(view));
    const auto meeting = meeting_indices(view);
    ASSERT_EQ(meeting.has_value(), any_meet(view));
    if (meeting) expect_meeting(view, *meeting);
    ++(meeting ? met : apart);
  }
  EXPECT_GT(met, 500);
  EXPECT_GT(apart, 1000);
}

// d a + e b = 0 has the solutions (b, -a) k / gcd(a, b): two axes meet where the first of them fits both.
TEST(MeetingIndices, TwoAxesOfAnyExtentsByTheTheorem) {
  std::mt19937_64 random(12);
  const double begin = testing::processor_ms();
  int met = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int bits = static_cast<int>(1 + random() % 39);
    const std::uint64_t m = 2 + random() % (std::uint64_t{1} << bits);
    const std::uint64_t n = 2 + random() % ((std::uint64_t{1} << (40 - bits)) / 2 + 1);
    if (m * n > std::uint64_t{1} << 40) continue;
    const std::int64_t g = static_cast<std::int64_t>(1 + random() % 3);
    const std::int64_t a = g * static_cast<std::int64_t>(1 + random() % (2 * n));
    const std::int64_t b = g * static_cast<std::int64_t>(1 + random() % (2 * m));
    const Strided view = view_into({m, n}, {random() % 2 == 0 ? a : -a, b});
    SCOPED_TRACE(to_text(view));
    const std::int64_t common = std::gcd(a, b);
    const bool expected =
        static_cast<std::uint64_t>(b / common) < m && static_cast<std::uint64_t>(a / common) < n;
    const auto meeting = meeting_indices(view);
    ASSERT_EQ(meeting.has_value(), expected);
    if (meeting) expect_meeting(view, *meeting);
    met += expected ? 1 : 0;
  }
  EXPECT_GT(met, 500);
  EXPECT_LT(testing::processor_ms() - begin, 2000);
}

// With three and four axes a planted meeting is found, and mixed radices of any digits have none.
TEST(MeetingIndices, LargeExtents) {
  std::mt19937_64 random(13);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rank = 3 + static_cast<std::size_t>(trial % 2);
    const std::int64_t most = rank == 3 ? 8000 : 200;
    std::vector<std::uint64_t> extents(rank, static_cast<std::uint64_t>(most));
    std::vector<std::int64_t> strides(rank);
    // d s[0] = the sum of the others' digits with their strides.
    const std::int64_t d = 1 + below(most - 1);
    std::int64_t sum = 0;
    for (std::size_t a = 1; a < rank; ++a) {
      strides[a] = d * (1 + below(most * most));
      sum += strides[a] * (1 + below(most - 1));
    }
    strides[0] = sum / d;
    const Strided view = view_into(extents, strides);
    SCOPED_TRACE(to_text(view));
    const auto meeting = meeting_indices(view);
    ASSERT_TRUE(meeting);
    expect_meeting(view, *meeting);
  }
  // Each stride is longer than what the others reach, in any order, one backwards.
  EXPECT_FALSE(meeting_indices(view_into({8192, 1 << 14, 8192}, {1 << 14, 1, -(1 << 27)})));
  EXPECT_FALSE(meeting_indices(view_into({1 << 20, 1 << 20}, {(1 << 20) + 1, 1 << 20})));
  EXPECT_TRUE(meeting_indices(view_into({(1 << 20) + 1, 1 << 19}, {(1 << 18) + 1, 1 << 20})));
  // Places of a Golomb ruler's kind: sums of few digits that never meet, though reaches overlap.
  EXPECT_FALSE(meeting_indices(view_into({2, 2, 2, 2}, {13, 11, 7, 3})));
  EXPECT_TRUE(meeting_indices(view_into({2, 2, 2, 2}, {13, 10, 7, 4})));
}

TEST(MeetingIndices, NothingToMeet) {
  EXPECT_FALSE(meeting_indices(view_into({}, {})));
  EXPECT_FALSE(meeting_indices(view_into({1, 1}, {0, 0})));
  EXPECT_FALSE(meeting_indices(view_into({0, 5}, {0, 0})));
  EXPECT_FALSE(meeting_indices(view_into({7}, {-3})));
  EXPECT_TRUE(meeting_indices(view_into({7}, {0})));
  EXPECT_TRUE(meeting_indices(view_into({3, 2}, {1, 0})));
}

}  // namespace permutation_meeting_test
}  // namespace faro
