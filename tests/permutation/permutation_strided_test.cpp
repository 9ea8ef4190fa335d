// Strided views: worked values, the normal form's law on random views, elements that meet, and every refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/strided.hpp"
#include "permutation/rows.hpp"
#include "view_oracle.hpp"

namespace faro {
namespace permutation_strided_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The definition: pairs of output and input element, by odometer; of colliding elements the last.
struct Moves {
  std::map<std::uint64_t, std::uint64_t> of;  // input element by output element
  bool meets = false;
};
Moves moves_of(const Strided& view) {
  Moves moves;
  test::for_places(view, [&](std::int64_t in, std::int64_t out) {
    moves.meets |= !moves.of.emplace(static_cast<std::uint64_t>(out), static_cast<std::uint64_t>(in)).second;
  });
  return moves;
}

std::string refusal(const std::string& text) {
  try {
    parse_strided(text);
  } catch (const Error& error) {
    return error.report().got + "; wanted " + error.report().wanted;
  }
  return "none";
}

TEST(Strided, WorkedExample) {
  const Strided rows{.extents = {3, 4}, .in_strides = {-4, 1}, .out_strides = {4, 1}, .in_offset = 8};
  EXPECT_EQ(element_count(rows), 12U);
  EXPECT_EQ(in_elements(rows), 12U);
  EXPECT_EQ(out_elements(rows), 12U);
  EXPECT_EQ(moves_of(rows).of.at(0), 8U);
  EXPECT_EQ(moves_of(rows).of.at(11), 3U);
  EXPECT_EQ(to_text(rows), "strided(3 4; -4 1; 4 1; 8 0)");
  EXPECT_EQ(parse_strided(" strided ( 3 4 ; -4 1; 4 1; 8 0 ) "), rows);
  EXPECT_TRUE(is_strided_text("strided(3; 1; 1)"));
  EXPECT_FALSE(is_strided_text("stride(3; 1; 1)"));
  EXPECT_EQ(as_permutation(rows),
            std::optional<Permutation>(CyclicAxes({3, 4}, {0, 1}, {maps::flip(3), maps::roll(4, 0)})));
}

TEST(Strided, NormalForm) {
  const auto text = [](const char* view) { return to_text(normal_form(parse_strided(view))); };
  EXPECT_EQ(text("strided(2 3 4; 12 4 1; 12 4 1)"), "strided(24; 1; 1)");
  EXPECT_EQ(text("strided(3 1 4; 1 7 3; 4 9 1)"), "strided(3 4; 1 3; 4 1)");
  EXPECT_EQ(text("strided(4 3; 3 1; 1 4)"), "strided(3 4; 1 3; 4 1)");  // written in another order
  // A flip of the output is one of the input.
  EXPECT_EQ(text("strided(3 4; 4 1; -4 1; 0 8)"), "strided(3 4; -4 1; 4 1; 8 0)");
  EXPECT_EQ(text("strided(5; -1; -1; 4 4)"), "strided(5; 1; 1)");
  EXPECT_EQ(text("strided(3 4; 0 0; 4 1)"), "strided(12; 0; 1)");  // one element, everywhere
  EXPECT_EQ(text("strided(1 1; 5 5; 5 5; 3 2)"), "strided(; ; ; 3 2)");
  EXPECT_EQ(text("strided(3 0; 1 1; 1 1; 3 2)"), "strided(0; 1; 1)");
  EXPECT_EQ(element_count(parse_strided("strided(; ; )")), 1U);
}

TEST(Strided, WhatIsAPermutation) {
  const auto text = [](const char* view) {
    const auto permutation = as_permutation(parse_strided(view));
    return permutation ? to_text(*permutation) : "none";
  };
  EXPECT_EQ(text("strided(3 4; 4 1; 1 3)"), "transpose(3, 4)");
  EXPECT_EQ(text("strided(8 4; 4 1; 1 8)"), to_text(Permutation(maps::transpose(8, 4))));
  EXPECT_EQ(text("strided(5; -1; 1; 4 0)"), "flip(5)");
  EXPECT_EQ(text("strided(4 2; -2 1; 2 1; 6 0)"), "xor(3, 0x6)");
  EXPECT_EQ(text("strided(4 3; 3 -1; 3 1; 2 0)"), "axes(4 3; 0 1; 0 0; 1)");
  EXPECT_EQ(text("strided(4 3; -3 -1; 3 1; 11 0)"), "flip(12)");
  EXPECT_EQ(text("strided(4 5 3; 3 -12 1; 15 3 1; 48 0)"), "axes(5 4 3; 1 0 2; 0 0 0; 0)");
  EXPECT_EQ(text("strided(4 2; 2 1; 2 1; 1 0)"), "none");  // a slice
  EXPECT_EQ(text("strided(4 2; 3 1; 2 1)"), "none");
  EXPECT_EQ(text("strided(4 2; 0 1; 2 1)"), "none");
  EXPECT_EQ(text("strided(4 2; 2 1; 3 1)"), "none");
  EXPECT_EQ(text("strided(2 2; 1 1; 2 1)"), "none");
  const Axes axes({5, 6, 7}, {2, 0, 1});
  EXPECT_EQ(as_permutation(as_strided(axes)), std::optional<Permutation>(axes));
}

TEST(Strided, Refusals) {
  EXPECT_THAT(refusal("strided(3 4; 1; 4 1)"), HasSubstr("1 strides of the input for 2 extents"));
  EXPECT_THAT(refusal("strided(3 4; 1 1; 4 1 1)"), HasSubstr("3 strides of the output for 2 extents"));
  EXPECT_THAT(refusal("strided(3 4; -4 1; 4 1)"), HasSubstr("leave the input, to element -8"));
  EXPECT_THAT(refusal("strided(3 4; 4 1; 4 -1)"), HasSubstr("leave the output, to element -3"));
  EXPECT_THAT(refusal("strided(3; 72057594037927936; 1)"), HasSubstr("leave the input, past"));
  EXPECT_THAT(refusal("strided(1048577 1048576; 1 1; 1 1)"), HasSubstr("past 2^40"));
  EXPECT_THAT(refusal("strided(3 4; 4 1; 2 1)"), HasSubstr("indices (1, 0) and (0, 2), which meet"));
  EXPECT_THAT(refusal("strided(3 4; 4 1; 0 1)"), HasSubstr("indices (1, 0) and (0, 0), which meet"));
  EXPECT_THAT(refusal("strided(3 4; 4 1; 4 -1; 0 3)"), HasSubstr("none"));
  EXPECT_THAT(refusal("strided(3 4; 4 1)"), HasSubstr("strided(extents; in_strides; out_strides"));
  EXPECT_THAT(refusal("strided(3 4; 4 1; 4 1; 1)"), HasSubstr("offset of the output"));
  EXPECT_THAT(refusal("strided(3; 1; 1) x"), HasSubstr("end of the text"));
  EXPECT_THAT(refusal("strided(3; 1, 1)"), HasSubstr("strided("));
  const Strided many{.extents = std::vector<std::uint64_t>(65, 1),
                     .in_strides = std::vector<std::int64_t>(65, 0),
                     .out_strides = std::vector<std::int64_t>(65, 0)};
  EXPECT_THROW(check(many), Error);
}

TEST(Strided, LongestRank) {
  Strided view;
  for (int axis = 0; axis < 64; ++axis) {
    view.extents.push_back(axis < 40 ? 2 : 1);
    view.in_strides.push_back(std::int64_t{1} << (axis < 40 ? axis : 0));
    view.out_strides.push_back(std::int64_t{1} << (axis < 40 ? 39 - axis : 0));
  }
  EXPECT_EQ(element_count(view), std::uint64_t{1} << 40);
  EXPECT_EQ(as_permutation(view),
            std::optional<Permutation>(normal_form(Permutation(maps::bit_reversal(40)))));
}

// Thousands of random views: elements meet where a map of all elements says so, the normal form moves the
// same elements, the text comes back, and a permutation is the same moves.
TEST(Strided, RandomViews) {
  std::mt19937_64 random(19);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  int met = 0;
  int apart = 0;
  int permutations = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    Strided view;
    const std::size_t rank = below(5);
    const bool dense = below(2) == 0;
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t a = 0; a < rank; ++a) view.extents.push_back(1 + below(5));
    view.in_strides.resize(rank);
    view.out_strides.resize(rank);
    for (auto* const strides : {&view.in_strides, &view.out_strides}) {
      std::shuffle(order.begin(), order.end(), random);
      std::int64_t stride = 1;
      for (const std::size_t a : order) {
        (*strides)[a] = dense ? stride : static_cast<std::int64_t>(below(13));
        stride *= static_cast<std::int64_t>(view.extents[a]);
        if (below(4) == 0) (*strides)[a] = -(*strides)[a];
      }
      std::uint64_t offset = below(3) * below(2);
      for (std::size_t a = 0; a < rank; ++a) {
        if ((*strides)[a] < 0) offset += static_cast<std::uint64_t>(-(*strides)[a]) * (view.extents[a] - 1);
      }
      (strides == &view.in_strides ? view.in_offset : view.out_offset) = offset;
    }
    SCOPED_TRACE(to_text(view));
    const Moves moves = moves_of(view);
    const auto meeting = meeting_indices(view);
    ASSERT_EQ(meeting.has_value(), moves.meets);
    if (meeting) {
      ++met;
      std::int64_t first = 0;
      std::int64_t second = 0;
      for (std::size_t a = 0; a < rank; ++a) {
        ASSERT_LT(meeting->first[a], view.extents[a]);
        ASSERT_LT(meeting->second[a], view.extents[a]);
        first += static_cast<std::int64_t>(meeting->first[a]) * view.out_strides[a];
        second += static_cast<std::int64_t>(meeting->second[a]) * view.out_strides[a];
      }
      ASSERT_EQ(first, second);
      ASSERT_NE(meeting->first, meeting->second);
      EXPECT_THROW(check(view), Error);
      continue;
    }
    ++apart;
    EXPECT_EQ(parse_strided(to_text(view)), view);
    const Strided normal = normal_form(view);
    EXPECT_EQ(moves_of(normal).of, moves.of);
    EXPECT_EQ(normal_form(normal), normal);
    EXPECT_EQ(out_elements(view), moves.of.rbegin()->first + 1);
    if (const auto permutation = as_permutation(view)) {
      ++permutations;
      for (const auto& [out, in] : moves.of) ASSERT_EQ(faro::apply(*permutation, in), out);
      ASSERT_EQ(faro::element_count(*permutation), moves.of.size());
    }
  }
  EXPECT_GT(met, 1000);
  EXPECT_GT(apart, 1000);
  EXPECT_GT(permutations, 1000);
}

// Wide elements are moved as units. Strides of axes of extent 1, and of views of no elements, may be any
// number.
TEST(Strided, OfWideElements) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  const Strided view{.extents = {3, 1, 2},
                     .in_strides = {-4, kFar, 1},
                     .out_strides = {1, -kFar, 5},
                     .in_offset = 8,
                     .out_offset = 2};
  constexpr std::uint64_t kUnits = 3;
  std::map<std::uint64_t, std::uint64_t> wanted;
  for (const auto& [out, in] : moves_of(view).of) {
    for (std::uint64_t unit = 0; unit < kUnits; ++unit) wanted[out * kUnits + unit] = in * kUnits + unit;
  }
  EXPECT_EQ(moves_of(widened(view, kUnits)).of, wanted);
  EXPECT_EQ(widened(view, 1), view);

  Strided ones{.extents = std::vector<std::uint64_t>(64, 1),
               .in_strides = std::vector<std::int64_t>(64, kFar),
               .out_strides = std::vector<std::int64_t>(64, kFar)};
  EXPECT_EQ(moves_of(widened(ones, 2)).of, (std::map<std::uint64_t, std::uint64_t>{{0, 0}, {1, 1}}));
  ones.extents.back() = 0;
  const Strided empty = widened(ones, 2);
  EXPECT_EQ(element_count(empty), 0U);
  EXPECT_NO_THROW(check(empty));

  const Strided far{.extents = {2}, .in_strides = {1}, .out_strides = {std::int64_t{1} << 55}};
  EXPECT_NO_THROW(check(far));
  EXPECT_THROW(static_cast<void>(widened(far, 256)), Error);
}

}  // namespace permutation_strided_test
}  // namespace faro
