// Index expressions: values by hand, laws on random trees, the text as mathematics and as C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/hole.hpp"
#include "refusal.hpp"

namespace faro::swizzle {
namespace swizzle_index_test {

using ::testing::ElementsAre;

const HoleReader kNoHoles = [](int, std::span<const std::int64_t>) -> std::int64_t {
  throw Error({ErrorCode::internal, "test", "a hole", "none", ""});
};

std::int64_t at(const Index& index, std::int64_t lane, std::vector<std::int64_t> loops = {}) {
  return evaluate(index, Place{lane, 0, 0, std::move(loops)}, kNoHoles);
}

IndexRanges ranges() { return {{0, 31}, {0, 1}, {0, 3}, {{0, 6}, {0, 4}}, {{0, 7}, {0, 2}}, {{0, 31}}}; }
IndexNames names() { return {"t", "warp", "block", {"i", "j"}, {"x", "y"}, {"lane"}}; }

Index loop(int number) { return Index::node(IndexKind::loop, number, {}); }
Index hole(int number, std::vector<Index> arguments) {
  return Index::node(IndexKind::hole, number, std::move(arguments));
}

TEST(SwizzleIndex, DivisionIsThatOfMathematics) {
  EXPECT_EQ(at((Index(0) - 1) % 4, 0), 3);
  EXPECT_EQ(at((Index(0) - 1) / 4, 0), -1);
  EXPECT_EQ(at(Index(7) / -2, 0), -4);
  EXPECT_EQ(at(Index(7) % -2, 0), -1);
  for (std::int64_t a = -20; a <= 20; ++a) {
    for (std::int64_t d : {-7, -3, -1, 1, 2, 5, 8}) {
      const std::int64_t q = at(Index(a) / Index(d), 0), r = at(Index(a) % Index(d), 0);
      EXPECT_EQ(q * d + r, a);
      EXPECT_TRUE(d > 0 ? r >= 0 && r < d : r <= 0 && r > d) << a << " mod " << d;
    }
  }
}

TEST(SwizzleIndex, Operators) {
  const Index t = lane_index();
  EXPECT_EQ(at((t + 3) % 32, 30), 1);
  EXPECT_EQ(at(select(t <= 3, 10, 20), 3), 10);
  EXPECT_EQ(at(select(t < 3, 10, 20), 3), 20);
  EXPECT_EQ(at(t > 2, 3) + at(t >= 3, 3) + at(t == 3, 3) + at(t != 3, 3), 3);
  EXPECT_EQ(at((t == 3) && (t == 4), 3), 0);
  EXPECT_EQ(at((t == 3) || (t == 4), 3), 1);
  EXPECT_EQ(at(!(t == 3), 3), 0);
  EXPECT_EQ(at(Index(5) && Index(-1), 0), 1);
  EXPECT_EQ(evaluate(warp_index() * 10 + block_index(), Place{0, 4, 7, {}}, kNoHoles), 47);
  EXPECT_EQ(at(loop(1) - loop(0), 0, {2, 9}), 7);
  const std::vector<std::int64_t> arguments = {6, 5};
  EXPECT_EQ(evaluate(argument_index(0) * 10 + argument_index(1), arguments), 65);
}

TEST(SwizzleIndex, DivisionByZeroIsAnError) {
  const Index t = lane_index();
  for (const Index& index : {Index(1) / t, Index(1) % t}) {
    EXPECT_EQ(at(index, 1), index.kind() == IndexKind::divide ? 1 : 0);
    test::expect_refused(ErrorCode::spec, "division by 0", [&] { at(index, 0); });
    // Simplifying does not lose the fault.
    EXPECT_THROW(at(simplify(index * 0, ranges()), 0), Error);
  }
}

TEST(SwizzleIndex, HolesAreReadThroughTheReader) {
  const Index t = lane_index();
  const Index index = hole(0, {t + 1, 2}) * 10 + hole(1, {t});
  const auto reader = [](int number, std::span<const std::int64_t> x) {
    return number == 0 ? x[0] * x[1] : -x[0];
  };
  EXPECT_EQ(evaluate(index, Place{4, 0, 0, {}}, reader), 96);
}

TEST(SwizzleIndex, CallsOfHolesAreFoundOnce) {
  const Index t = lane_index();
  const Index index = hole(1, {t}) + hole(0, {t, loop(0)}) * hole(1, {loop(0) + 1}) + hole(1, {t + 1});
  const std::vector<HoleCall> calls = hole_calls(index, Place{3, 0, 0, {2}});
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].hole, 1);
  EXPECT_THAT(calls[0].arguments, ElementsAre(3));
  EXPECT_EQ(calls[1].hole, 0);
  EXPECT_THAT(calls[1].arguments, ElementsAre(3, 2));
  EXPECT_THAT(calls[2].arguments, ElementsAre(4));
  test::expect_refused(ErrorCode::spec, "a hole inside a hole's argument",
                       [&] { hole_calls(hole(0, {hole(1, {t})}), Place{}); });
}

TEST(SwizzleIndex, SameComparesTrees) {
  const Index t = lane_index();
  EXPECT_TRUE(same(t + 1, lane_index() + 1));
  EXPECT_FALSE(same(t + 1, t + 2));
  EXPECT_FALSE(same(t + 1, Index(1) + t));
  EXPECT_FALSE(same(argument_index(0), argument_index(1)));
  EXPECT_FALSE(same(argument_index(0), loop(0)));
  EXPECT_FALSE(same(hole(0, {t}), hole(0, {t, t})));
}

TEST(SwizzleIndex, WrongNumberOfOperandsIsCaught) {
  EXPECT_THROW(Index::node(IndexKind::add, 0, {Index(1)}), Error);
  EXPECT_THROW(Index::node(IndexKind::lane, 0, {Index(1)}), Error);
}

TEST(SwizzleIndex, Bounds) {
  const Index t = lane_index();
  const Index i = loop(0);
  EXPECT_EQ(bounds(t + i, ranges()), (Interval{0, 37}));
  EXPECT_EQ(bounds(t - i, ranges()), (Interval{-6, 31}));
  EXPECT_EQ(bounds((t - i) % 32, ranges()), (Interval{0, 31}));
  EXPECT_EQ(bounds((i + 40) % 32, ranges()), (Interval{8, 14}));
  EXPECT_EQ(bounds((t - 31) * (i - 2), ranges()), (Interval{-124, 62}));
  EXPECT_EQ(bounds((t - 6) / 4, ranges()), (Interval{-2, 6}));
  EXPECT_EQ(bounds(i <= t + 6, ranges()), (Interval{1, 1}));
  EXPECT_EQ(bounds(i < t, ranges()), (Interval{0, 1}));
  EXPECT_EQ(bounds(select(i <= t, 3, 9), ranges()), (Interval{3, 9}));
  EXPECT_EQ(bounds(hole(0, {t}) + 1, ranges()), (Interval{1, 32}));
}

std::string simple(const Index& index) { return to_text(simplify(index, ranges()), names()); }

TEST(SwizzleIndex, Simplify) {
  const Index t = lane_index();
  const Index i = loop(0);
  EXPECT_EQ(simple(t + 0), "t");
  EXPECT_EQ(simple(Index(1) * t + i * 0), "t");
  EXPECT_EQ(simple(t % 32), "t");
  EXPECT_EQ(simple((t + i) % 32), "(t + i) mod 32");
  EXPECT_EQ(simple(((t + i) % 32 + 5) % 32), "(t + i + 5) mod 32");
  EXPECT_EQ(simple((t + 1) + (i + 2) - 4), "t + i - 1");
  EXPECT_EQ(simple(t + i - t), "i");
  EXPECT_EQ(simple((t * 4 + 3) / 4), "t");
  EXPECT_EQ(simple((t * 4 + i) / 4), "t + i div 4");
  EXPECT_EQ(simple((t / 4) / 2), "t div 8");
  EXPECT_EQ(simple((t * 32 + i) % 32), "i");
  EXPECT_EQ(simple((t + 32) % 32), "t");
  EXPECT_EQ(simple(t < 32), "1");
  EXPECT_EQ(simple(i > t + 6), "0");
  EXPECT_EQ(simple(t + i < t), "0");
  EXPECT_EQ(simple(!(!(i <= t))), "i <= t");
  EXPECT_EQ(simple(!(i <= t)), "t < i");
  EXPECT_EQ(simple(select(Index(2) > 1, t, i)), "t");
  EXPECT_EQ(simple(select(i <= t, 1, 0)), "i <= t");
  EXPECT_EQ(simple(select(i <= t, t, t)), "t");
  EXPECT_EQ(simple(Index(4) * (t + i)), "4 * (t + i)");
  EXPECT_EQ(simple((i <= t) && (t < 99)), "i <= t");
}

TEST(SwizzleIndex, TextHasTheFewestBrackets) {
  const Index t = lane_index();
  const Index i = loop(0);
  const IndexNames n = names();
  EXPECT_EQ(to_text((t + i) % 32, n), "(t + i) mod 32");
  EXPECT_EQ(to_text(select(i <= t, 0, 1), n), "i <= t ? 0 : 1");
  EXPECT_EQ(to_text(t - (i - 1), n), "t - (i - 1)");
  EXPECT_EQ(to_text(t - i - 1, n), "t - i - 1");
  EXPECT_EQ(to_text(select(i <= t, 0, select(i < t, 1, 2)) + 1, n), "(i <= t ? 0 : i < t ? 1 : 2) + 1");
  EXPECT_EQ(to_text(t != i, n), "t != i");
  EXPECT_EQ(to_text(!(t < i), n), "!(t < i)");
  EXPECT_EQ(to_text(hole(0, {t, i + 1}) / 4, n), "lane(t, i + 1) div 4");
  EXPECT_EQ(to_text(argument_index(1) * loop(7), n), "y * i7");
  EXPECT_EQ(to_text(Index(-3) * t, n), "-3 * t");
  EXPECT_EQ(to_text(((t < i) && (i < 3)) || (t == 0), n), "t < i && i < 3 || t == 0");
}

TEST(SwizzleIndex, CodeDividesSafely) {
  const Index t = lane_index();
  const Index i = loop(0);
  const auto code = [&](const Index& index) { return to_cpp(index, names(), ranges()); };
  EXPECT_EQ(code((t + i) % 32), "((t + i) & 31)");
  EXPECT_EQ(code((t - i) % 32), "((t - i) & 31)");
  EXPECT_EQ(code((t - i) / 8), "((t - i) >> 3)");
  EXPECT_EQ(code(t % 6), "t % 6");
  EXPECT_EQ(code((t - i) % 6), "(t - i + 6) % 6");
  EXPECT_EQ(code((i - t) % 6), "(i - t + 36) % 6");
  EXPECT_EQ(code((t - i) / 6), "(t - i + 6) / 6 - 1");
  EXPECT_EQ(code(((t < i) && (i < 3)) || (t == 0)), "(t < i && i < 3) || t == 0");
  test::expect_refused(ErrorCode::spec, [&] { code(t / i); });
}

TEST(SwizzleIndex, SubstitutePutsArgumentsIn) {
  const std::vector<Index> arguments = {lane_index(), loop(0) + 1};
  const Index function = (argument_index(0) - argument_index(1)) % 4;
  EXPECT_EQ(to_text(substitute(function, arguments), names()), "(t - (i + 1)) mod 4");
}

// Random trees over everything that a place has.
class Trees {
 public:
  explicit Trees(std::uint64_t seed) : random_(seed) {}
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  Index tree(int depth) {
    if (depth == 0 || number(0, 9) == 0) return leaf();
    const auto x = [&] { return tree(depth - 1); };
    static constexpr std::int64_t kDivisors[] = {1, 2, 3, 4, 6, 7, 8, 12, 32};
    const Index divisor = kDivisors[number(0, 8)];
    switch (number(0, 12)) {
      case 0:
      case 1:
        return x() + x();
      case 2:
        return x() - x();
      case 3:
        return x() * Index(number(-4, 5));
      case 4:
        return x() / divisor;
      case 5:
      case 6:
      case 7:
        return x() % divisor;
      case 8:
        return x() < x();
      case 9:
        return x() <= x();
      case 10:
        return (x() == x()) && !x();
      case 11:
        return (x() || x()) + x();
      default:
        return select(x(), x(), x());
    }
  }
  Place place() { return {number(0, 31), number(0, 1), number(0, 3), {number(0, 6), number(0, 4)}}; }

 private:
  Index leaf() {
    switch (number(0, 5)) {
      case 0:
        return lane_index();
      case 1:
        return warp_index();
      case 2:
        return loop(0);
      case 3:
        return loop(1);
      case 4:
        return hole(0, {lane_index(), loop(0)});
      default:
        return number(-5, 33);
    }
  }
  std::mt19937_64 random_;
};

std::int64_t some_hole(int, std::span<const std::int64_t> x) { return (x[0] * 5 + x[1] * 11) % 32; }

TEST(SwizzleIndex, RandomTreesKeepTheirLaws) {
  int smaller = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Trees trees(seed);
    const Index index = trees.tree(static_cast<int>(seed % 6));
    const Index simpler = simplify(index, ranges());
    const Interval range = bounds(index, ranges());
    if (operations(simpler) < operations(index)) ++smaller;
    for (int k = 0; k < 12; ++k) {
      const Place place = trees.place();
      const std::int64_t value = evaluate(index, place, some_hole);
      ASSERT_EQ(evaluate(simpler, place, some_hole), value)
          << "seed " << seed << ": " << to_text(index, names()) << "  as  " << to_text(simpler, names());
      ASSERT_TRUE(range.least <= value && value <= range.most)
          << "seed " << seed << ": " << to_text(index, names());
    }
  }
  EXPECT_GT(smaller, 1000);
}

TEST(SwizzleIndex, OperationsCountInstructions) {
  const Index t = lane_index();
  EXPECT_EQ(operations(t), 0);
  EXPECT_EQ(operations((t + 1) % 32), 2);
  EXPECT_EQ(operations((t + 1) % 6), 4);
  EXPECT_EQ(operations(select(t < 3, 0, 1)), 2);
}

TEST(SwizzleIndex, FarNumbersAreNotBounded) {
  const Index t = lane_index();
  const std::int64_t far = std::int64_t{1} << 61;
  EXPECT_EQ(at(simplify(t + Index(far) - Index(far), ranges()), 7), 7);
  const Index huge = t * Index(far) + Index(far);
  EXPECT_EQ(at(simplify(huge / 2, ranges()), 1), at(huge / 2, 1));
}

}  // namespace swizzle_index_test
}  // namespace faro::swizzle
