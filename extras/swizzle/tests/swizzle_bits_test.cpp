// Holes that are XORs of words, formulas that a sketch lists, and parts of many choices: against brute force,
// and in sketches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "refusal.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle {
namespace swizzle_bits_test {

using ::testing::HasSubstr;
using Table = std::vector<std::int32_t>;

HoleDeclaration bits_hole(std::int64_t n, std::vector<Argument> arguments, bool one_to_one = false,
                          Freedom most = Freedom::full) {
  HoleDeclaration hole;
  hole.name = "h";
  hole.kind = HoleKind::bits;
  hole.n = n;
  hole.arguments = std::move(arguments);
  hole.one_to_one = one_to_one;
  hole.most = most;
  return hole;
}

std::vector<std::int64_t> arguments_of(const HoleDeclaration& hole, std::int64_t cell) {
  std::vector<std::int64_t> arguments;
  for (const Argument& argument : hole.arguments) {
    arguments.push_back(cell % argument.asked);
    cell /= argument.asked;
  }
  return arguments;
}

// The tables of a set, each held to its parameters and their expression.
std::set<Table> tables_of(const FunctionSet& set) {
  std::set<Table> tables;
  for (std::size_t f = 0; f < set.size(); ++f) {
    Table table(static_cast<std::size_t>(set.cells()));
    set.table(f, table);
    const Parameters p = set.parameters(f);
    const Index index = as_index(p, set.hole());
    for (std::int64_t cell = 0; cell < set.cells(); ++cell) {
      const std::vector<std::int64_t> arguments = arguments_of(set.hole(), cell);
      EXPECT_EQ(value_of(p, arguments), table[static_cast<std::size_t>(cell)]);
      EXPECT_EQ(evaluate(index, arguments), table[static_cast<std::size_t>(cell)]) << to_text(p, set.hole());
    }
    EXPECT_EQ(set.find(table), f);
    tables.insert(std::move(table));
  }
  EXPECT_EQ(tables.size(), set.size());
  return tables;
}

// All matrices over F2 of values below n, and a constant.
std::set<Table> affine_tables(const HoleDeclaration& hole) {
  std::vector<int> widths;
  int all = 0;
  for (const Argument& argument : hole.arguments) {
    widths.push_back(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(argument.asked - 1))));
    all += widths.back();
  }
  std::uint64_t ways = static_cast<std::uint64_t>(hole.n);
  for (int b = 0; b < all; ++b) ways *= static_cast<std::uint64_t>(hole.n);
  std::set<Table> tables;
  for (std::uint64_t way = 0; way < ways; ++way) {
    Table table;
    bool is_one_to_one = true;
    for (std::int64_t cell = 0; cell < cells(hole); ++cell) {
      std::uint64_t left = way;
      auto value = static_cast<std::int64_t>(left % static_cast<std::uint64_t>(hole.n));
      const std::vector<std::int64_t> arguments = arguments_of(hole, cell);
      for (std::size_t j = 0; j < arguments.size(); ++j)
        for (int b = 0; b < widths[j]; ++b) {
          left /= static_cast<std::uint64_t>(hole.n);
          if ((arguments[j] >> b & 1) != 0)
            value ^= static_cast<std::int64_t>(left % static_cast<std::uint64_t>(hole.n));
        }
      table.push_back(static_cast<std::int32_t>(value));
    }
    const std::set<std::int32_t> row(table.begin(), table.begin() + hole.arguments[0].asked);
    is_one_to_one = static_cast<std::int64_t>(row.size()) == hole.arguments[0].asked;
    if (is_one_to_one || !hole.one_to_one) tables.insert(std::move(table));
  }
  return tables;
}

TEST(SwizzleBits, EveryMatrixAndNoOther) {
  for (const bool one_to_one : {false, true}) {
    for (const auto& arguments : std::vector<std::vector<Argument>>{{{"i", 4}},
                                                                    {{"i", 4}, {"k", 2}},
                                                                    {{"i", 3}, {"k", 3}},
                                                                    {{"i", 2}, {"k", 2}, {"j", 2}},
                                                                    {{"i", 1}}}) {
      const HoleDeclaration hole = bits_hole(4, arguments, one_to_one);
      const std::set<Table> all = affine_tables(hole);
      EXPECT_EQ(tables_of(FunctionSet(hole, Space::extra)), all);
      const std::set<Table> full = tables_of(FunctionSet(hole, Space::full));
      const std::set<Table> easy = tables_of(FunctionSet(hole, Space::easy));
      EXPECT_TRUE(std::includes(all.begin(), all.end(), full.begin(), full.end()));
      EXPECT_TRUE(std::includes(full.begin(), full.end(), easy.begin(), easy.end()));
    }
  }
  // 6 orders of three bits and 8 constants; the four shifts of k and none.
  EXPECT_EQ(FunctionSet(bits_hole(8, {{"i", 8}}), Space::full).size(), 48U);
  EXPECT_EQ(FunctionSet(bits_hole(8, {{"i", 8}, {"k", 2}}), Space::easy).size(), 32U);
  EXPECT_EQ(FunctionSet(bits_hole(32, {{"i", 32}}, true), Space::full).size(), 120U * 32U);
}

TEST(SwizzleBits, FamiliesThatAreListed) {
  const Index i = argument_index(0);
  HoleDeclaration hole = bits_hole(8, {{"i", 8}});
  hole.kind = HoleKind::formulas;
  hole.formulas = {Index(7) - i, (i * 3 + 1) % 8, i ^ Index(7), i};
  const FunctionSet set(hole, Space::full);
  EXPECT_EQ(tables_of(set).size(), 3U);  // 7 - i is i ^ 7
  EXPECT_EQ(to_text(set.parameters(0), hole), "i");
  hole.formulas = {lane_index()};
  EXPECT_EQ(test::code_of([&] { check(hole); }), ErrorCode::spec);
  hole.formulas = {argument_index(1)};
  EXPECT_EQ(test::code_of([&] { check(hole); }), ErrorCode::spec);
  hole.formulas = {};
  EXPECT_EQ(test::code_of([&] { check(hole); }), ErrorCode::spec);
  EXPECT_EQ(test::code_of([&] { check(bits_hole(6, {{"i", 6}})); }), ErrorCode::spec);
}

// Chains of conditions, one after the other.
void add_chains(const FunctionSet& conditions, const Table& so_far, std::int32_t depth, std::int32_t length,
                std::set<Table>& all) {
  if (depth == length) {
    Table table = so_far;
    for (std::int32_t& value : table) value = value < 0 ? length : value;
    all.insert(std::move(table));
    return;
  }
  for (std::size_t f = 0; f < conditions.size(); ++f) {
    Table next = so_far;
    for (std::size_t cell = 0; cell < next.size(); ++cell)
      if (next[cell] < 0 && conditions.at(f, static_cast<std::int64_t>(cell)) != 0) next[cell] = depth;
    add_chains(conditions, next, depth + 1, length, all);
  }
}

TEST(SwizzleParts, OfManyChoices) {
  HoleDeclaration hole;
  hole.name = "part";
  hole.kind = HoleKind::condition;
  hole.arguments = {{"t", 5}};
  hole.constants = {4};
  const FunctionSet conditions(hole, Space::full);
  hole.kind = HoleKind::part;
  for (const std::int64_t choices : {2, 3, 4, 5}) {
    hole.choices = choices;
    std::set<Table> all;
    add_chains(conditions, Table(5, -1), 0, static_cast<std::int32_t>(choices - 1), all);
    EXPECT_EQ(tables_of(FunctionSet(hole, Space::full)), all) << choices;
  }
  hole.choices = 12;
  EXPECT_GT(FunctionSet(hole, Space::full).size(), 0U);
  hole.choices = 65;
  EXPECT_EQ(test::code_of([&] { check(hole); }), ErrorCode::spec);
}

TEST(SwizzleBits, ExclusiveOrOfIndices) {
  const Index t = lane_index();
  const IndexRanges ranges{
      .lane = {0, 31}, .warp = {0, 0}, .block = {0, 0}, .loops = {}, .arguments = {}, .holes = {}};
  EXPECT_EQ(to_text((t + 1) ^ t ^ Index(3), {}), "(t + 1) ^ t ^ 3");
  EXPECT_EQ(to_cpp((t ^ Index(4)) == Index(3), {}, ranges), "(t ^ 4) == 3");
  EXPECT_EQ(bounds(t ^ Index(40), ranges), (Interval{0, 63}));
  EXPECT_EQ(bounds(Index(5) ^ Index(6), ranges), (Interval{3, 3}));
  EXPECT_TRUE(same(simplify(t ^ (t - t), ranges), t));
  for (std::int64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(evaluate(simplify((t * 2 + t) ^ (t / 2 + 0), ranges),
                       {.lane = lane, .warp = 0, .block = 0, .loops = {}}, {}),
              (3 * lane) ^ (lane / 2));
}

// Lanes that take from lane ^ 5: one way, which is told as that; and from a rotation, which is no XOR.
TEST(SwizzleBits, FillSketches) {
  for (const bool is_exclusive : {true, false}) {
    Specification specification;
    const Array in = specification.input("I", 8);
    const Array out = specification.output("O", 8);
    for (std::int64_t t = 0; t < 8; ++t)
      specification.set(out, t, specification.at(in, is_exclusive ? t ^ 5 : (t + 1) % 8));
    Program p(specification, {.warp = 8});
    const Hole lane = p.bits("lane", 8, {{"t", 8}}, {.one_to_one = true});
    const Registers x = p.registers("x", 2);
    p.load(x[0], in, lane_index());
    p.shuffle(x[1], x[0], lane(lane_index()));
    p.store(out, lane_index(), x[1]);
    const SynthesisResult result = synthesise(specification, p, {.space = Space::extra});
    EXPECT_EQ(result.outcome, is_exclusive ? Outcome::found : Outcome::none);
    if (!is_exclusive) continue;
    EXPECT_EQ(result.solutions, 1U);
    EXPECT_EQ(to_text(result.best->valuation.parameters(lane.number()), p.holes()[0]), "5 ^ t");
    EXPECT_THAT(emit(p, result.best->valuation, {.name = "turn"}).text, HasSubstr("5 ^ t"));
  }
}

}  // namespace swizzle_bits_test
}  // namespace faro::swizzle
