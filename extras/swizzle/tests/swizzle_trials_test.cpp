// Sketches that no model has: addresses in shared memory that holes decide, and sums in trees. What is found
// is all that running every combination finds; the search by models and by trials agrees where there are
// both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/exchange/index_check.hpp"
#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "refusal.hpp"
#include "swizzle/trials.hpp"
#include "swizzle_scan.hpp"

namespace faro::swizzle {
namespace swizzle_trials_test {

using ::testing::HasSubstr;

struct Sketch {
  Specification specification;
  Program program;
};

// An n x n tile transposed by one warp through shared memory, whose columns a hole of bits places.
Sketch transposition(std::int64_t n, Freedom most, std::int64_t banks = 0) {
  Specification spec;
  const Array I = spec.input("I", n * n);
  const Array O = spec.output("O", n * n);
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      spec.set(O, n * row + column, spec.at(I, n * column + row));
  Program p(spec, {.warp = n, .banks = banks});
  const Index t = lane_index();
  const Hole at = p.bits("at", n, {{"column", n}, {"row", n}}, {.most = most});
  const Array tile = p.shared("tile", n * n);
  const Registers x = p.registers("x", 1);
  p.loop("i", n, [&](const Index& i) {
    p.load(x[0], I, n * i + t);
    p.store(tile, n * i + at(t, i), x[0]);
  });
  p.barrier();
  p.loop("j", n, [&](const Index& j) {
    p.load(x[0], tile, n * t + at(j, t));
    p.store(O, n * j + t, x[0]);
  });
  return {std::move(spec), std::move(p)};
}

// Counted access by access: what is stored in row i, and what is loaded of column j.
std::int64_t conflicts_of(const Valuation& valuation, std::int64_t n, std::int64_t banks) {
  std::int64_t conflicts = 0;
  for (std::int64_t turn = 0; turn < n; ++turn) {
    for (const bool is_store : {true, false}) {
      std::map<std::int64_t, std::set<std::int64_t>> in_bank;
      std::size_t most = 0;
      for (std::int64_t lane = 0; lane < n; ++lane) {
        const std::int64_t row = is_store ? turn : lane;
        const std::int64_t arguments[] = {is_store ? lane : turn, row};
        const std::int64_t address = n * row + valuation(0, arguments);
        in_bank[address % banks].insert(address);
        most = std::max(most, in_bank[address % banks].size());
      }
      conflicts += static_cast<std::int64_t>(most) - 1;
    }
  }
  return conflicts;
}

// By brute force: all functions of the families that are right, as tables.
std::set<std::vector<std::vector<std::int32_t>>> all_right(const Sketch& sketch, Space space) {
  std::vector<FunctionSet> families;
  for (const HoleDeclaration& hole : sketch.program.holes()) families.emplace_back(hole, space);
  std::set<std::vector<std::vector<std::int32_t>>> right;
  std::vector<std::size_t> chosen(families.size(), 0);
  while (true) {
    Valuation valuation(sketch.program);
    std::vector<std::vector<std::int32_t>> tables;
    for (std::size_t h = 0; h < families.size(); ++h) {
      valuation.set(static_cast<int>(h), families[h].parameters(chosen[h]));
      const auto table = valuation.table(static_cast<int>(h));
      tables.emplace_back(table.begin(), table.end());
    }
    if (!first_mismatch(sketch.specification, sketch.program, valuation)) right.insert(tables);
    std::size_t h = 0;
    while (h < chosen.size() && ++chosen[h] == families[h].size()) chosen[h++] = 0;
    if (h == chosen.size()) return right;
  }
}

void expect_all_found(const Sketch& sketch, Space space, bool is_some) {
  const SynthesisResult found = synthesise(sketch.specification, sketch.program, {.space = space});
  EXPECT_TRUE(found.by_trials);
  EXPECT_EQ(found.outcome, is_some ? Outcome::found : Outcome::none);
  std::set<std::vector<std::vector<std::int32_t>>> tables;
  for (const Solution& solution : found.kept) {
    std::vector<std::vector<std::int32_t>> one;
    for (std::size_t h = 0; h < sketch.program.holes().size(); ++h) {
      const auto table = solution.valuation.table(static_cast<int>(h));
      one.emplace_back(table.begin(), table.end());
    }
    EXPECT_TRUE(tables.insert(one).second);
    EXPECT_FALSE(first_mismatch(sketch.specification, sketch.program, solution.valuation));
  }
  EXPECT_EQ(tables, all_right(sketch, space));
  EXPECT_EQ(found.solutions, tables.size());
}

TEST(SwizzleTrials, PlacesInSharedMemoryByTheirConflicts) {
  for (const std::int64_t banks : {0, 4, 2}) {
    const Sketch sketch = transposition(8, Freedom::easy, banks);
    const SynthesisResult found = synthesise(sketch.specification, sketch.program, {});
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.outcome, Outcome::found);
    EXPECT_TRUE(found.by_trials);
    std::set<std::int64_t> counts;
    for (const Solution& solution : found.kept) {
      EXPECT_EQ(solution.cost.conflicts, conflicts_of(solution.valuation, 8, banks == 0 ? 8 : banks));
      counts.insert(solution.cost.conflicts);
    }
    EXPECT_EQ(found.best->cost.conflicts, *counts.begin());
    EXPECT_GT(counts.size(), banks == 2 ? 0U : 1U);
    // 8 words in 4 or 2 banks: at least two or four a bank, in all 16 accesses.
    EXPECT_EQ(found.best->cost.conflicts, banks == 0 ? 0 : banks == 4 ? 16 : 48);
  }
}

TEST(SwizzleTrials, EveryPlacementOfASmallTile) {
  expect_all_found(transposition(4, Freedom::easy), Space::full, true);
  expect_all_found(transposition(4, Freedom::full), Space::full, true);
  expect_all_found(transposition(2, Freedom::gcd), Space::extra, true);
}

TEST(SwizzleTrials, AWholeWarp) {
  const Sketch sketch = transposition(32, Freedom::easy);
  const SynthesisResult found =
      synthesise(sketch.specification, sketch.program, {.time_limit_seconds = 60, .processor_time = true});
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.outcome, Outcome::found);
  EXPECT_EQ(found.best->cost.conflicts, 0);
  EXPECT_EQ(conflicts_of(found.best->valuation, 32, 32), 0);
}

// The sum of W elements in every lane: each of log W steps adds what a lane has that a hole names.
Sketch reduction(std::int64_t W, std::int64_t steps, Operator outer = Operator::add) {
  Specification spec;
  const Array I = spec.input("I", W);
  const Array O = spec.output("O", W);
  const Accumulation how{.outer = outer};
  auto sum = spec.accumulator(how);
  for (std::int64_t i = 0; i < W; ++i) sum.add({spec.at(I, i)});
  for (std::int64_t i = 0; i < W; ++i) spec.set(O, i, sum);
  Program p(spec, {.warp = W});
  const Index t = lane_index();
  const Hole lane = p.bits("lane", W, {{"t", W}, {"k", steps}}, {.most = Freedom::easy});
  const Registers x = p.registers("x", 2);
  const AccumulatorRef total = p.accumulator("total", how);
  p.load(x[0], I, t);
  p.loop("k", steps, [&](const Index& k) {
    p.shuffle(x[1], x[0], lane(t, k));
    p.start(total, {x[0]});
    p.accumulate(total, {x[1]});
    p.evaluate(x[0], total);
  });
  p.store(O, t, x[0]);
  return {std::move(spec), std::move(p)};
}

TEST(SwizzleTrials, ReductionsInTrees) {
  expect_all_found(reduction(4, 2), Space::full, true);
  expect_all_found(reduction(8, 3, Operator::greatest), Space::full, true);
  expect_all_found(reduction(8, 2), Space::full, false);  // 4 elements at most reach a lane
}

// Sums of all lanes up to one's own; which lane is asked, and whether what it has is added, are holes of each
// step.
Sketch scan(std::int64_t W) {
  Scan asked(W);
  Program p(asked.specification, {.warp = W});
  const Index t = lane_index();
  const Registers x = p.registers("x", 2);
  const AccumulatorRef total = p.accumulator("total", {});
  p.load(x[0], asked.in, t);
  p.start(total, {x[0]});
  p.evaluate(x[0], total);
  for (std::int64_t reach = 1; reach < W; reach *= 2) {
    const std::string name = std::to_string(reach);
    const Hole lane = p.family("lane" + name, {{"t", W}},
                               {(argument_index(0) + (W - reach)) % W, (argument_index(0) + reach) % W,
                                argument_index(0) ^ Index(reach)});
    const Hole use = p.condition("use" + name, {{"t", W}}, {2 * reach});
    p.shuffle(x[1], x[0], lane(t));
    p.start(total, {x[0]});
    p.accumulate(total, {x[1]}, use(t));
    p.evaluate(x[0], total);
  }
  p.store(asked.out, t, x[0]);
  return {std::move(asked.specification), std::move(p)};
}

TEST(SwizzleTrials, ScansInTrees) {
  expect_all_found(scan(4), Space::full, true);
  const Sketch eight = scan(8);
  const SynthesisResult found = synthesise(eight.specification, eight.program, {});
  ASSERT_TRUE(found.best);
  const auto& parameters = found.best->valuation;
  for (std::int64_t t = 0; t < 8; ++t) {
    const std::int64_t place[] = {t};
    EXPECT_EQ(parameters(5, place), t >= 4 ? 1 : 0) << t;
  }
}

// The search by models, which lists what follows from what, against one that only runs.
void expect_agreement(const Specification& specification, const Program& sketch, Space space) {
  const SynthesisResult modelled = synthesise(specification, sketch, {.space = space});
  EXPECT_FALSE(modelled.by_trials);
  std::vector<FunctionSet> families;
  for (const HoleDeclaration& hole : sketch.holes()) families.emplace_back(hole, space);
  std::uint64_t found = 0;
  std::optional<Cost> least;
  const auto take = [&](std::span<const std::size_t> functions) {
    ++found;
    Valuation valuation(sketch);
    for (std::size_t h = 0; h < functions.size(); ++h)
      valuation.set(static_cast<int>(h), families[h].parameters(functions[h]));
    const Cost cost = cost_of(sketch, valuation);
    if (!least || cost < *least) least = cost;
    return true;
  };
  const detail::SearchResult tried = detail::search_by_trials(
      specification, sketch, families, {.found = take, .goes_on = [](double) { return true; }});
  EXPECT_TRUE(tried.finished);
  EXPECT_EQ(found, modelled.solutions);
  EXPECT_EQ(modelled.outcome, found == 0 ? Outcome::none : Outcome::found);
  ASSERT_EQ(modelled.best.has_value(), least.has_value());
  if (least) {
    EXPECT_EQ(modelled.best->cost, *least);
  }
}

TEST(SwizzleTrials, AgreesWithTheModels) {
  struct Case {
    const char* name;
    std::int64_t words, warp;
    Space space;
  };
  for (const Case& c : {Case{"aos-crc", 2, 4, Space::full}, Case{"aos-crc", 3, 3, Space::full},
                        Case{"aos-rcr", 2, 4, Space::full}, Case{"aos-rcr", 3, 4, Space::easy_conditions},
                        Case{"aos-sum", 2, 4, Space::easy_conditions}, Case{"aos-crc", 2, 8, Space::easy},
                        Case{"stencil-1d", 0, 4, Space::easy}, Case{"load-only", 0, 4, Space::full}}) {
    SCOPED_TRACE(std::string(c.name) + ", S = " + std::to_string(c.words) +
                 ", W = " + std::to_string(c.warp));
    ExampleOptions options;
    options.warp = c.warp;
    options.struct_words = c.words;
    const Example which = make_example(c.name, options);
    expect_agreement(which.specification, which.sketch, c.space);
  }
}

// Two elements exchanged in what is wanted: refuted by both.
TEST(SwizzleTrials, AWrongSpecificationIsRefuted) {
  for (const std::int64_t other : {1, 5}) {
    ExampleOptions options;
    options.warp = 4;
    options.struct_words = 2;
    Example wrong = make_example("aos-crc", options);
    const Array output{.number = 1};
    const ValueId a = wrong.specification.wanted(output, 0);
    const ValueId b = wrong.specification.wanted(output, other);
    wrong.specification.set(output, 0, b);
    wrong.specification.set(output, other, a);
    expect_agreement(wrong.specification, wrong.sketch, Space::full);
    EXPECT_EQ(synthesise(wrong.specification, wrong.sketch, {}).outcome, Outcome::none);
  }
}

// Lane t may add, twice in each of `turns` turns, the element of some lane; it wants those that `offsets`
// name.
Sketch ring(std::int64_t warp, std::int64_t turns, const std::vector<std::int64_t>& offsets,
            std::int64_t wrong_lane) {
  Specification spec;
  const Array I = spec.input("I", warp);
  const Array O = spec.output("O", warp);
  for (std::int64_t t = 0; t < warp; ++t) {
    auto sum = spec.accumulator({});
    for (const std::int64_t offset : offsets)
      sum.add({spec.at(I, (t + offset + (t == wrong_lane ? 1 : 0)) % warp)});
    spec.set(O, t, sum);
  }
  Program p(spec, {.warp = warp});
  const Index t = lane_index();
  const std::vector<Argument> asked{{"t", warp}, {"i", turns}};
  const Hole lane = p.xform("lane", {.n = warp, .m = warp, .asked = turns, .most = Freedom::easy});
  const Hole use1 = p.condition("use1", asked);
  const Hole use2 = p.condition("use2", asked);
  const Registers x = p.registers("x", 2);
  const AccumulatorRef sum = p.accumulator("sum", {});
  p.load(x[0], I, t);
  p.loop("i", turns, [&](const Index& i) {
    p.shuffle(x[1], x[0], lane(t, i));
    p.accumulate(sum, {x[1]}, use1(t, i));
    p.accumulate(sum, {x[1]}, use2(t, i));
  });
  p.store(O, t, sum);
  return {std::move(spec), std::move(p)};
}

TEST(SwizzleTrials, SumsWithTermsToSpare) {
  struct Case {
    std::int64_t turns;
    std::vector<std::int64_t> offsets;
    std::int64_t wrong_lane;
  };
  for (const Case& c : {Case{2, {0, 1}, -1},        // as many slots as twice the terms
                        Case{2, {0, 0, 1, 1}, -1},  // each twice: both statements live
                        Case{2, {0, 0, 1}, -1},     // one twice
                        Case{3, {1}, -1},           // two turns to spare
                        Case{2, {0, 1, 2}, -1},     // more different ones than turns: none
                        Case{2, {0, 1}, 2}}) {      // a mutant: one lane wants another element
    SCOPED_TRACE(::testing::PrintToString(c.offsets) + " in " + std::to_string(c.turns));
    const Sketch which = ring(3, c.turns, c.offsets, c.wrong_lane);
    expect_agreement(which.specification, which.program, Space::full);
  }
}

TEST(SwizzleTrials, EndsInTime) {
  const Sketch sketch = transposition(32, Freedom::easy);
  const SynthesisResult found =
      synthesise(sketch.specification, sketch.program, {.time_limit_seconds = 0.1, .processor_time = true});
  EXPECT_EQ(found.outcome, Outcome::not_finished);
  EXPECT_THAT(found.unfinished, HasSubstr("within the time limit"));
}

// --- sums of sums are sums

TEST(SwizzleTrials, ValuesOfTrees) {
  ValueTable values;
  const Accumulation add{};
  const Accumulation products{.outer = Operator::add, .inner = Operator::multiply};
  const Accumulation mean{.outer = Operator::add, .inner = Operator::none, .divisor = 2};
  std::vector<ValueId> x;
  for (int i = 0; i < 4; ++i) x.push_back(values.input(0, i));
  const ValueId all = values.sum(add, {{x[0]}, {x[1]}, {x[2]}, {x[3]}});
  const ValueId left = values.sum(add, {{x[0]}, {x[1]}});
  const ValueId right = values.sum(add, {{x[2]}, {x[3]}});
  EXPECT_EQ(values.sum(add, {{left}, {right}}), all);
  EXPECT_EQ(values.sum(add, {{x[3]}, {values.sum(add, {{x[2]}, {left}})}}), all);
  EXPECT_EQ(values.sum(add, {{all}, {values.sum(add, {})}}), all);
  EXPECT_NE(values.sum(add, {{left}, {left}}), left);
  const ValueId product = values.sum(products, {{x[0], x[1]}});
  EXPECT_EQ(values.sum(add, {{product}, {x[2]}}), values.sum(products, {{x[0], x[1]}, {x[2]}}));
  // Another operator, or a division between, is another value.
  EXPECT_NE(values.sum(add, {{values.sum(mean, {{x[0]}, {x[1]}})}, {x[2]}}),
            values.sum(add, {{left}, {x[2]}}));
  EXPECT_NE(values.sum({.outer = Operator::multiply}, {{left}, {x[2]}}),
            values.sum({.outer = Operator::multiply}, {{x[0]}, {x[1]}, {x[2]}}));
  const std::vector<std::uint32_t> numbers{3, 5, 7, 11};
  const std::span<const std::uint32_t> inputs[] = {numbers};
  EXPECT_EQ(values.number<std::uint32_t>(values.sum(add, {{left}, {product}}), inputs), 3U + 5U + 15U);
}

// --- expressions of one's own

TEST(SwizzleTrials, ExpressionsForHoles) {
  const Sketch sketch = transposition(8, Freedom::easy);
  const auto check = [&](const char* text) {
    return exchange::check_holes(sketch.specification, sketch.program, {{"at", text}});
  };
  EXPECT_FALSE(check("column ^ row"));
  EXPECT_FALSE(check("(column + row) & 7"));
  const auto wrong = check("column & 6");
  ASSERT_TRUE(wrong);
  EXPECT_THAT(wrong->text, HasSubstr("stored otherwise by another lane"));
  const auto outside = check("column + row");
  ASSERT_TRUE(outside);
  EXPECT_THAT(outside->text, HasSubstr("8 at column = 7, row = 1"));
  const auto undefined = check("column / row");
  ASSERT_TRUE(undefined);
  EXPECT_THAT(undefined->text, HasSubstr("leaves undefined at column = 0, row = 0"));

  const Sketch tree = reduction(8, 3);
  const auto holes = [&](const char* text) {
    return exchange::check_holes(tree.specification, tree.program, {{"lane", text}});
  };
  EXPECT_FALSE(holes("t ^ 1 << k"));
  EXPECT_FALSE(holes("(t + (1 << k)) % 8"));
  const auto twice = holes("t ^ (k == 2 ? (t == 5 ? 1 : 4) : 1 << k)");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->index, 5);
  EXPECT_EQ(twice->lane, 5);
  EXPECT_EQ(twice->warp, 0);
  EXPECT_THAT(twice->text, HasSubstr("O[5]: got"));
  EXPECT_EQ(faro::test::code_of([&] {
              exchange::check_holes(tree.specification, tree.program, {{"line", "t"}});
            }),
            ErrorCode::value);
  EXPECT_EQ(faro::test::code_of([&] { exchange::check_holes(tree.specification, tree.program, {}); }),
            ErrorCode::spec);
  EXPECT_EQ(faro::test::code_of([&] {
              exchange::check_holes(tree.specification, tree.program, {{"lane", "u + 1"}});
            }),
            ErrorCode::spec);
}

}  // namespace swizzle_trials_test
}  // namespace faro::swizzle
