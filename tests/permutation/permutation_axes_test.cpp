// Permutations of axes and cyclic shifts: hand-checked values, nested loops as the oracle, and the laws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation_support.hpp"
#include "view_oracle.hpp"

namespace faro {
namespace permutation_axes_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The definition, coordinate by coordinate: out[c[order[0]], c[order[1]], …] = in[c[0], c[1], …].
std::vector<std::uint64_t> targets_by_loops(const std::vector<std::uint64_t>& shape,
                                            const std::vector<int>& order) {
  std::vector<std::uint64_t> targets;
  std::vector<std::uint64_t> at(shape.size(), 0);
  do {
    std::uint64_t target = 0;
    for (const int axis : order) {
      target = target * shape[static_cast<std::size_t>(axis)] + at[static_cast<std::size_t>(axis)];
    }
    targets.push_back(target);
  } while (test::step(at, shape));
  return targets;
}

TEST(Axes, WorkedExample) {
  const Axes map({2, 3, 4}, {2, 0, 1});
  // Axes 0 and 1 stay neighbours: (6, 4) transposed.
  EXPECT_THAT(map.shape(), ElementsAre(6, 4));
  EXPECT_THAT(map.order(), ElementsAre(1, 0));
  EXPECT_THAT(map.target_strides(), ElementsAre(1, 6));
  EXPECT_EQ(map.count(), 24U);
  EXPECT_EQ(map(1), 6U);
  EXPECT_EQ(map(4), 1U);
  EXPECT_EQ(map(23), 23U);
  EXPECT_EQ(map, maps::transpose_any(6, 4));
}

TEST(Axes, NormalForm) {
  const auto text = [](const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
    return to_text(Axes(shape, order));
  };
  EXPECT_EQ(text({2, 3, 4}, {1, 2, 0}), "transpose(2, 12)");
  EXPECT_EQ(text({2, 3, 4}, {0, 1, 2}), "axes(24; 0)");
  EXPECT_EQ(text({2, 3, 4}, {2, 1, 0}), "axes(2 3 4; 2 1 0)");
  EXPECT_EQ(text({2, 1, 4}, {2, 1, 0}), "axes(2 4; 1 0)");
  EXPECT_EQ(text({1, 5, 1}, {2, 1, 0}), "axes(5; 0)");
  EXPECT_EQ(text({1, 1}, {1, 0}), "axes(1; 0)");
  EXPECT_EQ(text({}, {}), "axes(1; 0)");
  EXPECT_EQ(text({0}, {0}), "axes(0; 0)");
  EXPECT_EQ(text({3, 1, 2, 5}, {2, 0, 1, 3}), "axes(3 2 5; 1 0 2)");
  EXPECT_EQ(text({2, 3, 5, 7}, {2, 3, 0, 1}), "transpose(6, 35)");
  EXPECT_EQ(Axes({0}, {0}).count(), 0U);
  EXPECT_TRUE(Axes({0}, {0}).is_identity());
  EXPECT_EQ(Axes({}, {}).count(), 1U);
  EXPECT_EQ(Axes({}, {})(0), 0U);
}

TEST(Axes, EveryShapeAndOrder) {
  int cases = 0;
  for (std::uint64_t count = 1; count <= 64; ++count) {
    for (const auto& shape : shapes_of(count, 4)) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      do {
        const Axes map(shape, order);
        const auto targets = targets_by_loops(shape, order);
        ASSERT_EQ(map.count(), count) << to_text(map);
        const Axes back = map.inverse();
        for (std::uint64_t x = 0; x < count; ++x) {
          ASSERT_EQ(map(x), targets[x]) << to_text(map) << " at " << x;
          ASSERT_EQ(back(map(x)), x) << to_text(map) << " at " << x;
        }
        ASSERT_EQ(back.inverse(), map);
        ASSERT_EQ(parse_permutation(to_text(map)), Permutation(map)) << to_text(map);
        const auto affine = affine_form(map);
        ASSERT_EQ(affine.has_value(), f2::is_power_of_two(count)) << to_text(map);
        for (std::uint64_t x = 0; affine && x < count; ++x) ASSERT_EQ((*affine)(x), map(x)) << to_text(map);
        ++cases;
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  EXPECT_GT(cases, 2000);
}

TEST(Axes, NormalFormIsTheOnlyOne) {
  // Shapes and orders that move elements alike are equal values.
  std::vector<std::pair<std::vector<std::uint64_t>, Axes>> seen;
  for (const std::uint64_t count : {12U, 30U, 36U}) {
    for (const auto& shape : shapes_of(count, 4)) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      do {
        auto targets = targets_by_loops(shape, order);
        const Axes map(shape, order);
        for (const auto& [other_targets, other] : seen) {
          ASSERT_EQ(other == map, other_targets == targets) << to_text(map) << " and " << to_text(other);
        }
        seen.emplace_back(std::move(targets), map);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(Axes, Large) {
  const std::uint64_t million = 1'000'000;
  const Axes map({million, 1'000'003}, {1, 0});
  EXPECT_EQ(map.count(), million * 1'000'003);
  EXPECT_EQ(map(1'000'003), 1U);
  EXPECT_EQ(map(1), million);
  EXPECT_EQ(map(map.count() - 1), map.count() - 1);
  EXPECT_EQ(Axes({std::uint64_t{1} << 40}, {0}).count(), std::uint64_t{1} << 40);
}

TEST(Axes, Refusals) {
  EXPECT_THAT(refusal_of([] { Axes({2, 3}, {0}); }), HasSubstr("1 axes in the order of 2 extents"));
  EXPECT_THAT(refusal_of([] {
                Axes({2, 3}, {0, 2});
              }),
              HasSubstr("axis 2, wanted each of 0..1 exactly once"));
  EXPECT_THAT(refusal_of([] { Axes({2, 3}, {0, -1}); }), HasSubstr("axis -1"));
  EXPECT_THAT(refusal_of([] { Axes({2, 3}, {1, 1}); }), HasSubstr("axis 1 twice"));
  EXPECT_THAT(refusal_of([] { Axes({2, 0}, {1, 0}); }), HasSubstr("extent 0 of axis 1"));
  EXPECT_EQ(maps::transpose_any(0, 5), Axes({0}, {0}));  // nothing to move is no fault
  EXPECT_EQ(maps::transpose_any(5, 0).count(), 0U);
  const std::uint64_t big = std::uint64_t{1} << 32;
  EXPECT_THAT(refusal_of([&] { Axes({big, big}, {1, 0}); }), HasSubstr("2^40"));
  EXPECT_THAT(refusal_of([&] { maps::transpose_any((std::uint64_t{1} << 40) + 1, 1); }), HasSubstr("2^40"));
}

TEST(Axes, AreCountedFromZero) {
  for (const char* const text : {"axes(-1 0)", "axes(2 3; -1 0)", "axes(2 3; 1 -2)"}) {
    ParseOptions options;
    options.shape = {2, 3};
    EXPECT_THAT(refusal_of([&] { static_cast<void>(parse_permutation(text, options)); }),
                HasSubstr("an axis counted from 0"))
        << text;
  }
}

TEST(Cyclic, WorkedExamples) {
  EXPECT_THAT(targets(maps::roll(5, 2)), ElementsAre(2, 3, 4, 0, 1));
  EXPECT_THAT(targets(maps::roll(5, -1)), ElementsAre(4, 0, 1, 2, 3));
  EXPECT_THAT(targets(maps::flip(5)), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(targets(Cyclic{.count = 5, .shift = 1, .reversed = true}), ElementsAre(1, 0, 4, 3, 2));
  EXPECT_EQ(maps::roll(0, 7).count, 0U);
  EXPECT_EQ(maps::flip(0).shift, 0U);
  EXPECT_EQ(maps::roll(7, INT64_MIN)(0), 6U);  // 2^63 is 1 modulo 7
  const std::uint64_t most = std::uint64_t{1} << 40;
  EXPECT_EQ(maps::roll(most, -1)(0), most - 1);
  EXPECT_THAT(refusal_of([&] { maps::roll(most + 1, 0); }), HasSubstr("at most 2^40"));
  EXPECT_THAT(refusal_of([&] { maps::flip(most + 1); }), HasSubstr("at most 2^40"));
}

TEST(Cyclic, EverySmallOne) {
  for (std::uint64_t count = 1; count <= 33; ++count) {
    for (std::uint64_t shift = 0; shift < count; ++shift) {
      for (const bool reversed : {false, true}) {
        const Cyclic map{.count = count, .shift = shift, .reversed = reversed};
        SCOPED_TRACE(to_text(map));
        for (std::uint64_t x = 0; x < count; ++x) {
          ASSERT_EQ(map(x), (reversed ? shift + count - x : shift + x) % count);
          ASSERT_EQ(map.inverse()(map(x)), x);
        }
        ASSERT_EQ(parse_permutation(to_text(map)), Permutation(map));
        // affine_form says yes exactly where the definition of affine holds.
        bool is_affine = f2::is_power_of_two(count);
        for (std::uint64_t x = 0; is_affine && x < count; ++x) {
          for (std::uint64_t y = 0; y < count; ++y) {
            is_affine = is_affine && (map(x ^ y) ^ map(x) ^ map(y) ^ map(0)) == 0;
          }
        }
        const auto affine = affine_form(map);
        ASSERT_EQ(affine.has_value(), is_affine);
        for (std::uint64_t x = 0; affine && x < count; ++x) ASSERT_EQ((*affine)(x), map(x));
      }
    }
  }
}

TEST(CyclicAxes, CompositionsStayAxes) {
  const auto text = [](std::string_view f, std::string_view g) {
    const Permutation both = compose(parse_permutation(f), parse_permutation(g));
    const auto images = targets(both);
    for (std::uint64_t x = 0; x < images.size(); ++x) {
      EXPECT_EQ(images[x], apply(parse_permutation(f), apply(parse_permutation(g), x))) << f << " o " << g;
    }
    return to_text(both);
  };
  EXPECT_EQ(text("axes(3 2 5; 2 1 0)", "axes(2 3 5; 1 0 2)"), "transpose(6, 5)");
  EXPECT_EQ(text("transpose(6, 35)", "transpose(14, 15)"),  // an index array: 6 and 15 do not meet
            "compose(transpose(6, 35), transpose(14, 15))");
  EXPECT_EQ(text("transpose(7, 6)", "roll(42, 12)"), "axes(7 6; 1 0; 2 0)");
  EXPECT_EQ(text("flip(30)", "axes(2 3 5; 2 0 1)"), "axes(6 5; 1 0; 0 0; 0 1)");
  EXPECT_EQ(text("transpose(5, 6)", "transpose(6, 5)"), "roll(30, 0)");
  EXPECT_EQ(text("roll(30, 10)", "axes(6 5; 0 1; 0 0; 1)"), "axes(6 5; 0 1; 2 0; 1)");
  // Two halves that are flipped each are one flip that goes round.
  EXPECT_EQ(to_text(normal_form(parse_permutation("axes(2 9; 0 1; 0 0; 1)"))),
            "compose(roll(18, 9), flip(18))");
}

}  // namespace permutation_axes_test
}  // namespace faro
