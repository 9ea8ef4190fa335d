// The solver as an oracle: what it finds, refutes and counts is what the search does, and what brute force
// does.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "swizzle/function_set.hpp"
#include "swizzle_solver/sat.hpp"
#include "swizzle_solver/solve.hpp"

namespace faro::swizzle {
namespace swizzle_solver_test {

class SwizzleSolver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (detail::solver_name().empty())
      GTEST_SKIP() << "built without CaDiCaL: install libcadical-dev and configure again";
  }
};

Example example(const std::string& name, std::int64_t words = 0, std::int64_t warp = 32) {
  ExampleOptions options;
  options.struct_words = words;
  options.warp = warp;
  return make_example(name, options);
}

using detail::Solved;
using detail::SolveUntil;

template <typename Sketched>
Solved solved(const Sketched& which, Space space = Space::full, SolveUntil until = SolveUntil::all) {
  return detail::solve_sketch(which.specification, which.sketch, space, until, 0);
}

/// Each solution as the text of its functions.
template <typename Result>
std::set<std::string> texts(const Result& result, const Program& sketch) {
  std::set<std::string> all;
  for (const Solution& solution : result.kept) {
    std::string text;
    for (int h = 0; h < static_cast<int>(sketch.holes().size()); ++h)
      text += to_text(solution.valuation.parameters(h), sketch.holes()[static_cast<std::size_t>(h)]) + "; ";
    all.insert(text);
  }
  return all;
}

Outcome expect_agreement(const Example& which, Space space = Space::full) {
  SynthesisOptions options;
  options.space = space;
  const SynthesisResult a = synthesise(which.specification, which.sketch, options);
  const Solved b = solved(which, space);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.solutions, b.solutions);
  EXPECT_EQ(texts(a, which.sketch), texts(b, which.sketch));
  EXPECT_EQ(texts(b, which.sketch).size(), b.solutions) << "each once";
  for (const Solution& solution : b.kept)
    EXPECT_FALSE(first_mismatch(which.specification, which.sketch, solution.valuation).has_value());
  EXPECT_EQ(a.best.has_value(), b.best.has_value());
  EXPECT_EQ(b.solver.least_live_accumulates.has_value(), b.best.has_value());
  if (!a.best || !b.best) return b.outcome;
  EXPECT_EQ(a.best->cost, b.best->cost);
  EXPECT_EQ(*b.solver.least_live_accumulates, static_cast<std::uint64_t>(a.best->cost.live_accumulates));
  return b.outcome;
}

TEST_F(SwizzleSolver, AgreesOnStructs) {
  std::set<bool> reached;
  // Where there are a hundred solutions and more, excluding one after another takes seconds.
  const auto most_words = [](std::int64_t warp) { return warp == 4 ? 8 : warp == 6 ? 5 : 4; };
  for (const char* const name : {"aos-crc", "aos-rcr", "aos-sum"}) {
    for (const std::int64_t warp : {4, 6, 8}) {
      for (std::int64_t words = 2; words <= most_words(warp); ++words) {
        SCOPED_TRACE(std::string(name) + ", S = " + std::to_string(words) + ", W = " + std::to_string(warp));
        reached.insert(expect_agreement(example(name, words, warp)) == Outcome::found);
      }
    }
  }
  reached.insert(expect_agreement(example("aos-crc", 6, 8)) == Outcome::found);
  EXPECT_EQ(reached.size(), 2U) << "some with solutions, some without";
}

TEST_F(SwizzleSolver, AgreesOnTheOtherExamples) {
  for (const char* const name : {"stencil-1d", "conv-1d", "load-only", "poly-32", "transpose"}) {
    SCOPED_TRACE(name);
    expect_agreement(example(name, 0, 6));
  }
  expect_agreement(example("aos-crc", 6, 3), Space::extra);
}

// As published: 2 for two and for three words, none for six. (Of 32 lanes six take the solver six seconds.)
TEST_F(SwizzleSolver, StructsOfLargeWarps) {
  struct Case {
    std::int64_t words, warp;
    std::uint64_t count;
  };
  for (const auto& [words, warp, count] : {Case{2, 32, 2}, Case{3, 32, 2}, Case{6, 16, 0}}) {
    const Example which = example("aos-crc", words, warp);
    const Solved result = solved(which);
    EXPECT_EQ(result.solutions, count) << words;
    EXPECT_EQ(result.outcome, count == 0 ? Outcome::none : Outcome::found) << words;
    EXPECT_EQ(result.solver.name, "CaDiCaL");
    EXPECT_LE(result.solver.constraints, result.solver.all_constraints);
  }
}

TEST_F(SwizzleSolver, ConvolutionNeedsTheConstant) {
  ExampleOptions seven;
  seven.struct_words = 7;
  const Example without = conv_2d_with_constants(seven, {});
  EXPECT_EQ(solved(without).outcome, Outcome::none);
  const Example with = conv_2d(seven);
  const Solved result = solved(with);
  EXPECT_EQ(result.outcome, Outcome::found);
  EXPECT_EQ(result.solutions, 1U);
}

// 1944 solutions with four lanes, a third of them with six; five are refuted, with eight lanes, too.
TEST_F(SwizzleSolver, SixAccumulatesAreTheLeast) {
  const Example four = example("poly-64", 0, 4);
  EXPECT_EQ(expect_agreement(four), Outcome::found);
  for (const std::int64_t warp : {4, 8}) {
    const Example which = example("poly-64", 0, warp);
    const Solved result = solved(which, Space::full, SolveUntil::least);
    EXPECT_EQ(result.outcome, Outcome::found);
    EXPECT_TRUE(result.solver.is_least_only);
    EXPECT_EQ(result.solver.least_live_accumulates, 6U);
    ASSERT_TRUE(result.best.has_value());
    EXPECT_EQ(result.best->cost.live_accumulates, 6);
    EXPECT_FALSE(first_mismatch(which.specification, which.sketch, result.best->valuation).has_value());
    EXPECT_LT(result.solutions, 648U) << "one is enough";
  }
}

TEST_F(SwizzleSolver, TheSameEachTime) {
  const Example which = example("aos-rcr", 4, 4);
  const Solved a = solved(which);
  const Solved b = solved(which);
  EXPECT_EQ(a.candidates, b.candidates);
  EXPECT_EQ(a.solver.variables, b.solver.variables);
  EXPECT_EQ(a.solver.clauses, b.solver.clauses);
  EXPECT_EQ(texts(a, which.sketch), texts(b, which.sketch));
}

// --------------------------------------------------------------------- sums with terms to spare, and mutants

// Lane t may add, in each of `turns` turns, the element of some lane; it wants those that `offsets` name.
struct Ring {
  Specification specification;
  Program sketch;
};

Ring ring(std::int64_t warp, std::int64_t turns, const std::vector<std::int64_t>& offsets,
          std::int64_t wrong_lane = -1) {
  Specification spec;
  const auto I = spec.input("I", warp);
  const auto O = spec.output("O", warp);
  const Accumulation add{.outer = Operator::add, .inner = Operator::none, .divisor = 1};
  for (std::int64_t t = 0; t < warp; ++t) {
    auto sum = spec.accumulator(add);
    for (const std::int64_t offset : offsets) sum.add({spec.at(I, (t + offset + (t == wrong_lane)) % warp)});
    spec.set(O, t, sum);
  }
  Program p(spec, {.warp = warp});
  const Index t = lane_index();
  const std::vector<Argument> asked{{"t", warp}, {"i", turns}};
  const auto lane = p.xform("lane", {.n = warp, .m = warp, .asked = turns, .most = Freedom::easy});
  const auto use1 = p.condition("use1", asked);
  const auto use2 = p.condition("use2", asked);
  const auto own = p.registers("own", 1);
  const auto x = p.registers("x", 1);
  const auto sum = p.accumulator("sum", add);
  p.load(own[0], I, t);
  p.loop("i", turns, [&](const Index& i) {
    p.shuffle(x[0], own[0], lane(t, i));
    p.accumulate(sum, {x[0]}, use1(t, i));
    p.accumulate(sum, {x[0]}, use2(t, i));
  });
  p.store(O, t, sum);
  return {.specification = std::move(spec), .sketch = std::move(p)};
}

struct Counts {
  std::uint64_t solutions = 0;
  std::int64_t least = 1'000'000;
};

// Every combination of functions, run.
Counts by_brute_force(const Ring& which) {
  std::vector<FunctionSet> families;
  for (const HoleDeclaration& hole : which.sketch.holes()) families.emplace_back(hole, Space::full);
  Counts counts;
  for (std::size_t a = 0; a < families[0].size(); ++a)
    for (std::size_t b = 0; b < families[1].size(); ++b)
      for (std::size_t c = 0; c < families[2].size(); ++c) {
        Valuation valuation(which.sketch);
        valuation.set(0, families[0].parameters(a));
        valuation.set(1, families[1].parameters(b));
        valuation.set(2, families[2].parameters(c));
        if (first_mismatch(which.specification, which.sketch, valuation)) continue;
        ++counts.solutions;
        counts.least = std::min(counts.least, cost_of(which.sketch, valuation).live_accumulates);
      }
  return counts;
}

TEST_F(SwizzleSolver, SumsWithTermsToSpare) {
  struct Case {
    std::int64_t turns;
    std::vector<std::int64_t> offsets;
    std::int64_t wrong_lane;
  };
  const std::vector<Case> cases{
      {2, {0, 1}, -1},        // as many slots as twice the terms
      {2, {0, 0, 1, 1}, -1},  // each twice: both statements live
      {2, {0, 0, 1}, -1},     // one twice
      {3, {1}, -1},           // two turns to spare
      {2, {0, 1, 2}, -1},     // more different ones than turns: none
      {2, {0, 1}, 2},         // a mutant: one lane wants another element
  };
  std::set<std::int64_t> least;
  std::set<bool> has_solution;
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.offsets) + " in " + std::to_string(c.turns) + ", wrong " +
                 std::to_string(c.wrong_lane));
    const Ring which = ring(3, c.turns, c.offsets, c.wrong_lane);
    const Counts expected = by_brute_force(which);
    const Solved result = solved(which);
    EXPECT_EQ(result.solutions, expected.solutions);
    EXPECT_EQ(result.outcome, expected.solutions == 0 ? Outcome::none : Outcome::found);
    has_solution.insert(expected.solutions != 0);
    if (expected.solutions == 0) continue;
    EXPECT_EQ(static_cast<std::int64_t>(result.solver.least_live_accumulates.value()), expected.least);
    EXPECT_EQ(result.best->cost.live_accumulates, expected.least);
    least.insert(expected.least);
  }
  EXPECT_EQ(least, (std::set<std::int64_t>{1, 2}));
  EXPECT_EQ(has_solution.size(), 2U);
}

// A structure's specification with two elements exchanged: refuted, and no more is.
TEST_F(SwizzleSolver, AWrongSpecificationIsRefuted) {
  const Example right = example("aos-crc", 3, 8);
  ASSERT_EQ(solved(right).outcome, Outcome::found);
  for (const std::int64_t other : {1, 5, 23}) {
    Example wrong = example("aos-crc", 3, 8);
    const Array output{.number = 1};
    const ValueId a = wrong.specification.wanted(output, 0), b = wrong.specification.wanted(output, other);
    wrong.specification.set(output, 0, b);
    wrong.specification.set(output, other, a);
    const Solved result = solved(wrong);
    EXPECT_EQ(result.outcome, Outcome::none) << other;
    EXPECT_EQ(result.solutions, 0U);
    EXPECT_FALSE(result.solver.least_live_accumulates.has_value());
  }
}

TEST_F(SwizzleSolver, TooLittleTimeIsNotNone) {
  const Example which = example("poly-64", 0, 8);
  for (const double seconds : {1e-6, 0.3}) {
    const Solved result =
        detail::solve_sketch(which.specification, which.sketch, Space::full, SolveUntil::all, seconds);
    EXPECT_NE(result.outcome, Outcome::none);
    EXPECT_EQ(result.solutions > 0, result.best.has_value());
    if (seconds > 0.1) continue;
    EXPECT_EQ(result.outcome, Outcome::not_finished);
  }
}

// ------------------------------------------------------------------------------------ counting in clauses

// Every assignment of up to eight literals, as assumptions: right counts are satisfiable, wrong ones are not.
TEST_F(SwizzleSolver, CountsLiterals) {
  const auto goes_on = [] { return true; };
  for (std::size_t n = 1; n <= 8; ++n) {
    for (std::size_t most = 1; most <= n; ++most) {
      detail::Sat sat;
      std::vector<detail::Literal> literals;
      for (std::size_t k = 0; k < n; ++k) literals.push_back(sat.variable());
      const std::vector<detail::Literal> at_least = detail::counted(sat, literals, most);
      ASSERT_EQ(at_least.size(), most);
      for (std::uint32_t bits = 0; bits < 1U << n; bits += 1 + (n > 6 ? 2 : 0)) {
        std::vector<detail::Literal> assumed;
        for (std::size_t k = 0; k < n; ++k)
          assumed.push_back((bits >> k & 1) != 0 ? literals[k] : -literals[k]);
        ASSERT_EQ(sat.solve(assumed, goes_on), detail::Answer::satisfiable);
        for (std::size_t k = 0; k < most; ++k)
          EXPECT_EQ(sat.holds(at_least[k]), static_cast<std::size_t>(std::popcount(bits)) > k)
              << n << most << bits;
      }
    }
    for (std::size_t count = 0; count <= n + 1; ++count) {
      detail::Sat sat;
      std::vector<detail::Literal> literals;
      for (std::size_t k = 0; k < n; ++k) literals.push_back(sat.variable());
      detail::exactly(sat, literals, count);
      for (std::uint32_t bits = 0; bits < 1U << n; bits += 1 + (n > 6 ? 2 : 0)) {
        std::vector<detail::Literal> assumed;
        for (std::size_t k = 0; k < n; ++k)
          assumed.push_back((bits >> k & 1) != 0 ? literals[k] : -literals[k]);
        const bool is_right = static_cast<std::size_t>(std::popcount(bits)) == count;
        EXPECT_EQ(sat.solve(assumed, goes_on),
                  is_right ? detail::Answer::satisfiable : detail::Answer::unsatisfiable)
            << n << ' ' << count << ' ' << bits;
      }
    }
  }
}

}  // namespace swizzle_solver_test
}  // namespace faro::swizzle
