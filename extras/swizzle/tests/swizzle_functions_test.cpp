// The families of holes: counts, the grids of the primitives, laws between formula, table and expression.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle {
namespace swizzle_functions_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Table = std::vector<std::int32_t>;

struct Shape {
  std::int64_t n = 0, m = 0;
  std::int64_t asked = 0;
  bool one_to_one = true;
  Freedom most = Freedom::full;
  Freedom in_extra = Freedom::gcd;
};

HoleDeclaration xform(const Shape& shape) {
  HoleDeclaration hole;
  hole.name = "h";
  hole.kind = HoleKind::xform;
  hole.n = shape.n;
  hole.m = shape.m;
  hole.arguments = {{"i", shape.n}, {"k", shape.asked == 0 ? shape.m : shape.asked}};
  hole.one_to_one = shape.one_to_one;
  hole.most = shape.most;
  hole.in_extra = shape.in_extra;
  return hole;
}

HoleDeclaration condition(std::vector<Argument> arguments, std::vector<std::int64_t> constants = {}) {
  HoleDeclaration hole;
  hole.name = "when";
  hole.kind = HoleKind::condition;
  hole.arguments = std::move(arguments);
  hole.constants = std::move(constants);
  return hole;
}

HoleDeclaration part(std::int64_t choices, std::vector<Argument> arguments,
                     std::vector<std::int64_t> constants = {}) {
  HoleDeclaration hole = condition(std::move(arguments), std::move(constants));
  hole.kind = HoleKind::part;
  hole.choices = choices;
  return hole;
}

Table row_of(const XformParameters& p, std::int64_t k) {
  Table row;
  for (std::int64_t i = 0; i < p.n; ++i) {
    const std::vector<std::int64_t> arguments = {i, k};
    row.push_back(static_cast<std::int32_t>(value_of(p, arguments)));
  }
  return row;
}

Table table_of(const Parameters& p, const HoleDeclaration& hole) {
  Table table;
  std::vector<std::int64_t> x(hole.arguments.size(), 0);
  for (std::int64_t c = 0; c < cells(hole); ++c) {
    std::int64_t rest = c;
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = rest % hole.arguments[j].asked;
      rest /= hole.arguments[j].asked;
    }
    EXPECT_EQ(cell(hole, x), c);
    table.push_back(static_cast<std::int32_t>(value_of(p, x)));
  }
  return table;
}

Table table_of(const FunctionSet& set, std::size_t f) {
  Table table(static_cast<std::size_t>(set.cells()));
  set.table(f, table);
  return table;
}

IndexNames argument_names() {
  IndexNames names;
  names.arguments = {"i", "k"};
  return names;
}

TEST(SwizzleFunctions, PrimitivesOfTheDigest) {
  // y = x rotated by 2, a fan of 3, a fan of 3 in groups of 4; n = 9 with df = 3, then the rotation in
  // threes.
  EXPECT_THAT(row_of({.n = 8, .cf = 1, .df = 8, .gs = 8, .g = 1, .wrap = false, .cr = 0, .dr = 1, .c = 6}, 0),
              ElementsAre(6, 7, 0, 1, 2, 3, 4, 5));
  EXPECT_THAT(row_of({.n = 8, .cf = 3, .df = 8, .gs = 8, .g = 1, .wrap = false, .cr = 0, .dr = 1}, 0),
              ElementsAre(0, 3, 6, 1, 4, 7, 2, 5));
  EXPECT_THAT(row_of({.n = 8, .cf = 3, .df = 4, .gs = 4, .g = 1, .wrap = false, .cr = 0, .dr = 1}, 0),
              ElementsAre(0, 3, 2, 1, 4, 7, 6, 5));
  EXPECT_THAT(row_of({.n = 9, .cf = 3, .df = 3, .gs = 9, .g = 3, .wrap = false, .cr = 0, .dr = 1}, 0),
              ElementsAre(0, 3, 6, 1, 4, 7, 2, 5, 8));
}

TEST(SwizzleFunctions, RotationByIteration) {
  const XformParameters p{.n = 8, .cf = 1, .df = 8, .gs = 8, .g = 1, .wrap = false, .cr = 1, .dr = 4};
  EXPECT_THAT(row_of(p, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(row_of(p, 1), ElementsAre(1, 2, 3, 4, 5, 6, 7, 0));
  EXPECT_THAT(row_of(p, 3), ElementsAre(3, 4, 5, 6, 7, 0, 1, 2));
  EXPECT_EQ(to_text(as_index(p, xform({.n = 8, .m = 4})), argument_names()), "(i + k) mod 8");
}

TEST(SwizzleFunctions, QuotientsOfNegativeDivisorsAreTruncated) {
  const XformParameters p{.n = 6, .cf = 1, .df = 6, .gs = 6, .g = 1, .wrap = false, .cr = 0, .dr = -16};
  EXPECT_THAT(row_of(p, 15), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(row_of(p, 16), ElementsAre(5, 0, 1, 2, 3, 4));
}

// The group's base is of the whole index: the published listings of 2- and 4-word structs need it.
TEST(SwizzleFunctions, GroupsKeepTheirBase) {
  const XformParameters p{.n = 32, .cf = 4, .df = 4, .gs = 8, .g = 2, .wrap = false, .cr = 0, .dr = 1};
  const Table row = row_of(p, 0);
  for (std::int32_t i = 0; i < 32; ++i) EXPECT_EQ(row[static_cast<std::size_t>(i)] / 8, i / 8);
}

TEST(SwizzleFunctions, CountsOfRegistersAndLanes) {
  const std::map<std::int64_t, std::pair<std::size_t, std::size_t>> counts = {
      {2, {20, 36670}},     {3, {162, 36670}},    {4, {469, 110014}},   {5, {900, 36670}},
      {6, {1917, 183358}},  {7, {2646, 36670}},   {8, {4680, 183358}},  {9, {6153, 110014}},
      {10, {9317, 183358}}, {11, {10890, 36670}}, {12, {17427, 330046}}};
  for (const auto& [s, count] : counts) {
    EXPECT_EQ(FunctionSet(xform({.n = s, .m = 32}), Space::full).size(), count.first) << s;
    EXPECT_EQ(FunctionSet(xform({.n = 32, .m = s}), Space::full).size(), count.second) << s;
  }
}

TEST(SwizzleFunctions, CountsOfTheExtraTemplate) {
  EXPECT_EQ(FunctionSet(xform({.n = 6, .m = 32, .in_extra = Freedom::extra}), Space::extra).size(), 49157U);
  EXPECT_EQ(FunctionSet(xform({.n = 32, .m = 6}), Space::extra).size(), 232186U);
  EXPECT_EQ(FunctionSet(xform({.n = 6, .m = 32, .most = Freedom::easy}), Space::extra).size(),
            FunctionSet(xform({.n = 6, .m = 32}), Space::easy).size());
}

TEST(SwizzleFunctions, CountsOfConditions) {
  const std::vector<Argument> two = {{"t", 32}, {"i", 32}};
  EXPECT_EQ(parameter_count(condition(two), Space::full), 194U);
  EXPECT_EQ(FunctionSet(condition(two), Space::full).size(), 44U);
  EXPECT_EQ(parameter_count(condition(two, {4}), Space::full), 242U);
  EXPECT_EQ(FunctionSet(condition(two, {4}), Space::full).size(), 74U);
  EXPECT_EQ(parameter_count(condition(two), Space::easy), 26U);
  EXPECT_EQ(FunctionSet(condition(two), Space::easy).size(), 8U);
  EXPECT_EQ(FunctionSet(condition(two), Space::easy_conditions).size(), 44U);
  EXPECT_EQ(FunctionSet(part(2, two), Space::full).size(), 44U);
  EXPECT_EQ(parameter_count(part(3, two), Space::full), 194U * 194U);
  EXPECT_EQ(FunctionSet(xform({.n = 32, .m = 32, .one_to_one = false}), Space::easy).size(), 32768U);
}

// The paper's conditions have "not equal", which the released ones lack; a part of two chooses by its
// opposite.
TEST(SwizzleFunctions, ConditionsHaveNotEqual) {
  const std::vector<Argument> two = {{"t", 8}, {"i", 8}};
  const FunctionSet conditions(condition(two), Space::full);
  const FunctionSet parts(part(2, two), Space::full);
  Table unequal;
  for (int i = 0; i < 8; ++i) {
    for (int t = 0; t < 8; ++t) unequal.push_back(t != i ? 1 : 0);
  }
  ASSERT_TRUE(conditions.find(unequal).has_value());
  EXPECT_EQ(to_text(conditions.parameters(*conditions.find(unequal)), conditions.hole()), "t != i");
  const Index as_formula = as_index(conditions.parameters(*conditions.find(unequal)), conditions.hole());
  EXPECT_EQ(to_text(as_formula, {.loops = {}, .arguments = {"t", "i"}, .holes = {}}), "t != i");
  ASSERT_TRUE(parts.find(unequal).has_value());
  EXPECT_EQ(to_text(parts.parameters(*parts.find(unequal)), parts.hole()), "t == i ? 0 : 1");
}

// Every parameter tuple written out, by the formula alone.
std::set<Table> by_brute_force(const HoleDeclaration& hole, Freedom freedom) {
  std::set<Table> result;
  XformParameters p;
  p.n = hole.n;
  const auto divides = [](std::int64_t d, std::int64_t n) { return n % d == 0; };
  for (p.gs = 1; p.gs <= p.n; ++p.gs) {
    for (p.df = 1; p.df <= p.gs; ++p.df) {
      if (!divides(p.gs, p.n) || !divides(p.df, p.gs)) continue;
      for (p.g = 1; p.g <= p.gs; ++p.g) {
        if (freedom < Freedom::gcd && p.g * p.df != p.gs) continue;
        for (p.cf = 0; p.cf < p.gs; p.cf += p.g) {
          for (const bool wrap : {false, true}) {
            p.wrap = wrap;
            const std::int64_t last = freedom == Freedom::extra ? p.gs - 1 : 0;
            for (p.ecr = 0; p.ecr <= last; ++p.ecr) {
              for (p.ec = 0; p.ec <= last; ++p.ec) {
                for (p.cr = 0; p.cr < p.gs; ++p.cr) {
                  for (p.c = 0; p.c < p.gs; ++p.c) {
                    for (std::int64_t dr = -hole.m; dr <= hole.m; ++dr) {
                      if (dr == 0 || hole.m % dr != 0) continue;
                      p.dr = dr;
                      Table table = table_of(p, hole);
                      bool fits = true;
                      for (std::int64_t k = 0; k < hole.arguments[1].asked && hole.one_to_one && fits; ++k) {
                        Table row(table.begin() + k * p.n, table.begin() + (k + 1) * p.n);
                        std::ranges::sort(row);
                        fits = std::ranges::adjacent_find(row) == row.end();
                      }
                      if (fits) result.insert(std::move(table));
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return result;
}

TEST(SwizzleFunctions, SetsAreThoseOfBruteForce) {
  struct Case {
    Shape shape;
    Space space;
    Freedom freedom;
  };
  const std::vector<Case> cases = {
      {{.n = 6, .m = 4}, Space::full, Freedom::full},
      {{.n = 8, .m = 3, .one_to_one = false}, Space::full, Freedom::full},
      {{.n = 4, .m = 6, .asked = 5, .one_to_one = false}, Space::full, Freedom::full},
      {{.n = 6, .m = 4}, Space::extra, Freedom::gcd},
      {{.n = 4, .m = 4, .in_extra = Freedom::extra}, Space::extra, Freedom::extra},
      {{.n = 4, .m = 3, .one_to_one = false, .in_extra = Freedom::extra}, Space::extra, Freedom::extra},
  };
  for (const Case& c : cases) {
    const HoleDeclaration hole = xform(c.shape);
    const FunctionSet set(hole, c.space);
    std::set<Table> found;
    for (std::size_t f = 0; f < set.size(); ++f) found.insert(table_of(set, f));
    EXPECT_EQ(found.size(), set.size());
    EXPECT_EQ(found, by_brute_force(hole, c.freedom)) << "n = " << c.shape.n << ", m = " << c.shape.m;
  }
}

std::vector<FunctionSet> some_sets() {
  std::vector<FunctionSet> sets;
  sets.emplace_back(xform({.n = 6, .m = 8}), Space::full);
  sets.emplace_back(xform({.n = 4, .m = 8, .one_to_one = false, .in_extra = Freedom::extra}), Space::extra);
  sets.emplace_back(xform({.n = 8, .m = 6, .in_extra = Freedom::gcd}), Space::extra);
  sets.emplace_back(xform({.n = 8, .m = 8, .asked = 3, .one_to_one = false}), Space::easy);
  sets.emplace_back(condition({{"t", 8}, {"i", 5}, {"j", 3}}, {4}), Space::full);
  sets.emplace_back(part(3, {{"t", 4}, {"i", 7}}, {4}), Space::full);
  HoleDeclaration offset;
  offset.name = "offset";
  offset.kind = HoleKind::warp_offset;
  offset.arguments = {{"block", 3}, {"warp", 2}};
  offset.units = {64, 32};
  sets.emplace_back(offset, Space::full);
  HoleDeclaration size;
  size.name = "size";
  size.kind = HoleKind::warp_size;
  sets.emplace_back(size, Space::full);
  return sets;
}

TEST(SwizzleFunctions, FormulaTableAndExpressionAgree) {
  for (const FunctionSet& set : some_sets()) {
    std::set<Table> seen;
    for (std::size_t f = 0; f < set.size(); ++f) {
      const Table table = table_of(set, f);
      EXPECT_TRUE(seen.insert(table).second);
      const Parameters p = set.parameters(f);
      ASSERT_EQ(table_of(p, set.hole()), table) << to_text(p, set.hole());
      const FormulaParameters formula{as_index(p, set.hole())};
      ASSERT_EQ(table_of(formula, set.hole()), table) << to_text(p, set.hole());
      ASSERT_EQ(set.find(table), f);
      for (std::int64_t c = 0; c < set.cells(); ++c) {
        ASSERT_EQ(set.at(f, c), table[static_cast<std::size_t>(c)]);
      }
    }
  }
}

TEST(SwizzleFunctions, RandomFunctionsOfLargeFamilies) {
  std::mt19937_64 random(8);
  for (const FunctionSet& set :
       {FunctionSet(xform({.n = 32, .m = 12}), Space::full),
        FunctionSet(xform({.n = 6, .m = 32, .in_extra = Freedom::extra}), Space::extra)}) {
    for (int k = 0; k < 2000; ++k) {
      const std::size_t f = random() % set.size();
      const Parameters p = set.parameters(f);
      const Table table = table_of(set, f);
      ASSERT_EQ(table_of(p, set.hole()), table) << to_text(p, set.hole());
      ASSERT_EQ(table_of(FormulaParameters{as_index(p, set.hole())}, set.hole()), table)
          << to_text(p, set.hole());
      ASSERT_EQ(set.find(table), f);
      Table other = table;
      std::swap(other[random() % other.size()], other[random() % other.size()]);
      const std::optional<std::size_t> found = set.find(other);
      if (found) {
        ASSERT_EQ(table_of(set, *found), other);
      }
    }
  }
}

TEST(SwizzleFunctions, MatchingValuesAndDistinct) {
  std::mt19937_64 random(5);
  for (const FunctionSet& set : some_sets()) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::size_t model = random() % set.size();
      std::vector<std::pair<std::int64_t, std::int32_t>> known;
      std::vector<std::int64_t> some;
      for (std::size_t k = 0; k < random() % 5; ++k) {
        const auto c = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(set.cells()));
        known.emplace_back(c, set.at(model, c));
        some.push_back(c);
      }
      std::vector<std::size_t> expected, first;
      std::set<Table> classes;
      for (std::size_t f = 0; f < set.size(); ++f) {
        Table values;
        for (const std::int64_t c : some) values.push_back(set.at(f, c));
        if (classes.insert(values).second) first.push_back(f);
        if (std::ranges::all_of(known, [&](const auto& x) { return set.at(f, x.first) == x.second; })) {
          expected.push_back(f);
        }
      }
      EXPECT_EQ(set.matching(known), expected);
      EXPECT_EQ(set.distinct_on(some), first);
    }
    for (std::int64_t c = 0; c < set.cells(); ++c) {
      std::set<std::int32_t> values;
      for (std::size_t f = 0; f < set.size(); ++f) values.insert(set.at(f, c));
      EXPECT_THAT(set.values_at(c), ::testing::ElementsAreArray(values));
    }
  }
}

TEST(SwizzleFunctions, SimplestFirst) {
  const FunctionSet set(xform({.n = 32, .m = 4}), Space::full);
  EXPECT_EQ(to_text(as_index(set.parameters(0), set.hole()), argument_names()), "i");
  const FunctionSet conditions(condition({{"t", 32}, {"i", 3}}), Space::full);
  EXPECT_EQ(to_text(conditions.parameters(0), conditions.hole()), "true");
  EXPECT_EQ(to_text(conditions.parameters(1), conditions.hole()), "false");
}

TEST(SwizzleFunctions, Text) {
  const HoleDeclaration lanes = xform({.n = 32, .m = 2});
  EXPECT_EQ(to_text(
                XformParameters{
                    .n = 32, .cf = 2, .df = 16, .gs = 32, .g = 2, .wrap = true, .cr = 0, .dr = 1, .c = 17},
                lanes),
            "xform(cf=2, df=16, gs=32, wrap, cr=0, dr=1, c=17)");
  EXPECT_EQ(to_text(XformParameters{.n = 6,
                                    .cf = 3,
                                    .df = 2,
                                    .gs = 6,
                                    .g = 3,
                                    .wrap = false,
                                    .cr = 0,
                                    .dr = 32,
                                    .c = 3,
                                    .ecr = 5,
                                    .ec = 1},
                    xform({.n = 6, .m = 32})),
            "xform(cf=3, df=2, gs=6, cr=0, dr=32, c=3, ecr=5, ec=1)");
  const HoleDeclaration when = condition({{"t", 32}, {"i", 3}});
  EXPECT_EQ(to_text(ConditionParameters{std::nullopt, 1, 0, Comparison::less_equal, 0, 1}, when), "i <= t");
  EXPECT_EQ(to_text(ConditionParameters{std::nullopt, 0, 1, Comparison::greater_equal, 32, -1}, when),
            "t >= 32 - i");
  EXPECT_EQ(to_text(ConditionParameters{std::nullopt, 0, 1, Comparison::equal, -1, 1}, when), "t == i - 1");
  const FunctionSet offsets = some_sets()[6];
  Table wanted;
  for (int warp = 0; warp < 2; ++warp) {
    for (int block = 0; block < 3; ++block) wanted.push_back(64 * block + 32 * warp);
  }
  const std::optional<std::size_t> found = offsets.find(wanted);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(to_text(offsets.parameters(*found), offsets.hole()), "64 * block + 32 * warp");
}

using test::message_of;

TEST(SwizzleFunctions, DeclarationsAreChecked) {
  const auto declared = [](HoleDeclaration hole) {
    return message_of(ErrorCode::spec, [&] { check(hole); });
  };
  HoleDeclaration hole = xform({.n = 8, .m = 4});
  hole.name = "";
  EXPECT_THAT(declared(hole), HasSubstr("no name"));
  EXPECT_THAT(declared(xform({.n = 0, .m = 4})), HasSubstr("n = 0"));
  EXPECT_THAT(declared(xform({.n = 8, .m = 4, .asked = 5})), HasSubstr("at most m = 4"));
  hole = xform({.n = 8, .m = 4});
  hole.arguments.pop_back();
  EXPECT_THAT(declared(hole), HasSubstr("1 argument"));
  EXPECT_THAT(declared(condition({})), HasSubstr("0 arguments"));
  EXPECT_THAT(declared(condition({{"t", 0}})), HasSubstr("`t` of range 0"));
  EXPECT_THAT(declared(part(65, {{"t", 4}})), HasSubstr("65 choices"));
  HoleDeclaration offset = some_sets()[6].hole();
  offset.units.pop_back();
  EXPECT_THAT(declared(offset), HasSubstr("1 units"));
  EXPECT_THAT(message_of(ErrorCode::spec, [] { cell(condition({{"t", 4}}), {4}); }), HasSubstr("t = 4"));
  EXPECT_THAT(message_of(ErrorCode::spec,
                         [] {
                           cell(condition({{"t", 4}}), {1, 1});
                         }),
              HasSubstr("2 arguments"));
}

TEST(SwizzleFunctions, LimitsAreNotFinishedAndNeverNone) {
  const HoleDeclaration lanes = xform({.n = 32, .m = 12});
  EXPECT_THAT(
      message_of(ErrorCode::unsupported, [&] { FunctionSet(lanes, Space::full, {.most_functions = 1000}); }),
      HasSubstr("not finished"));
  EXPECT_THAT(
      message_of(ErrorCode::unsupported,
                 [&] { FunctionSet(lanes, Space::full, {.most_functions = 20'000'000, .seconds = 1e-3}); }),
      HasSubstr("not finished"));
  EXPECT_THAT(
      message_of(ErrorCode::unsupported, [&] { FunctionSet(xform({.n = 4096, .m = 32}), Space::full); }),
      HasSubstr("not finished"));
}

}  // namespace swizzle_functions_test
}  // namespace faro::swizzle
