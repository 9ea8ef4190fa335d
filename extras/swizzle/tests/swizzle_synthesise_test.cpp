// The search: published counts, proofs of none, and every combination of small families as the oracle.
// Sanitized: never, the same few lines, tables or texts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "refusal.hpp"
#include "swizzle/model.hpp"

namespace faro::swizzle {
namespace swizzle_synthesise_test {

using ::testing::HasSubstr;

Example example(const std::string& name, std::int64_t struct_words = 0, std::int64_t warp = 32) {
  ExampleOptions options;
  options.struct_words = struct_words;
  options.warp = warp;
  return make_example(name, options);
}

SynthesisResult solved(const Example& which, Space space = Space::full) {
  SynthesisOptions options;
  options.space = space;
  return synthesise(which.specification, which.sketch, options);
}

void expect_right(const Example& which, const SynthesisResult& result) {
  for (const Solution& solution : result.kept) {
    const auto mismatch = first_mismatch(which.specification, which.sketch, solution.valuation);
    EXPECT_FALSE(mismatch.has_value()) << which.name << ": " << mismatch->text;
    EXPECT_EQ(solution.cost, cost_of(which.sketch, solution.valuation));
  }
}

TEST(SwizzleSynthesise, CountsOfStructs) {
  using Counts = std::map<std::int64_t, std::uint64_t>;
  for (const auto& [name, counts] :
       {std::pair{"aos-crc", Counts{{2, 2}, {3, 2}, {4, 8}, {5, 2}, {6, 0}, {7, 2}, {8, 16}}},
        std::pair{"aos-rcr", Counts{{2, 4}, {3, 4}, {4, 20}, {5, 4}, {6, 0}, {7, 4}}}}) {
    for (const auto& [words, count] : counts) {
      const Example which = example(name, words);
      const SynthesisResult result = solved(which);
      EXPECT_EQ(result.solutions, count) << name << words;
      EXPECT_EQ(result.outcome, count == 0 ? Outcome::none : Outcome::found) << name << words;
      expect_right(which, result);
    }
  }
}

TEST(SwizzleSynthesise, ConvolutionNeedsTheConstant) {
  ExampleOptions seven;
  seven.struct_words = 7;
  const Example without = conv_2d_with_constants(seven, {});
  EXPECT_EQ(solved(without).outcome, Outcome::none);
  const Example with = conv_2d(seven);
  const SynthesisResult result = solved(with);
  EXPECT_EQ(result.solutions, 1U);
  expect_right(with, result);
  EXPECT_EQ(solved(example("conv-2d", 3)).solutions, 1U);
}

TEST(SwizzleSynthesise, StencilsAndSums) {
  for (const char* name : {"stencil-1d", "conv-1d", "aos-sum", "load-only", "transpose"}) {
    const Example which = example(name);
    const SynthesisResult result = solved(which);
    EXPECT_EQ(result.outcome, Outcome::found) << name;
    expect_right(which, result);
  }
}

// 6 of 16 accumulates are enough, and the search is finished: none has fewer.
TEST(SwizzleSynthesise, SixAccumulatesAreTheLeast) {
  const Example which = example("poly-64", 0, 4);
  const SynthesisResult result = solved(which);
  EXPECT_EQ(result.outcome, Outcome::found);
  EXPECT_EQ(result.solutions, 1944U);
  std::map<std::int64_t, int> by_live;
  for (const Solution& solution : result.kept) ++by_live[solution.cost.live_accumulates];
  EXPECT_EQ(by_live, (std::map<std::int64_t, int>{{6, 648}, {8, 648}, {10, 648}}));
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->cost.live_accumulates, 6);
  EXPECT_FALSE(first_mismatch(which.specification, which.sketch, result.best->valuation).has_value());
}

// Every combination of functions, asked one by one.
std::uint64_t by_brute_force(const Example& which, Space space) {
  std::vector<FunctionSet> families;
  for (const HoleDeclaration& hole : which.sketch.holes()) families.emplace_back(hole, space);
  const ConstraintModel model = build_model(which.specification, which.sketch, families, ModelLimits{});
  std::vector<std::vector<std::size_t>> distinct;
  for (std::size_t h = 0; h < families.size(); ++h)
    distinct.push_back(families[h].distinct_on(model.read_cells[h]));
  std::vector<std::size_t> digits(families.size(), 0), functions(families.size(), 0);
  std::uint64_t count = 0;
  for (;;) {
    for (std::size_t h = 0; h < digits.size(); ++h) functions[h] = distinct[h][digits[h]];
    if (satisfies(model, which.specification, families, functions)) ++count;
    std::size_t h = 0;
    while (h < digits.size() && ++digits[h] == distinct[h].size()) digits[h++] = 0;
    if (h == digits.size()) return count;
  }
}

TEST(SwizzleSynthesise, AgreesWithEveryCombination) {
  struct Case {
    std::string name;
    std::int64_t words = 0;
    std::int64_t warp = 4;
    Space space = Space::full;
  };
  const std::vector<Case> cases = {
      {"aos-crc", 2, 4, Space::full},    {"aos-crc", 2, 2, Space::extra},
      {"aos-rcr", 2, 2, Space::full},    {"aos-rcr", 2, 3, Space::full},
      {"aos-crc", 3, 3, Space::full},    {"aos-sum", 2, 4, Space::full},
      {"aos-sum", 4, 2, Space::full},    {"aos-sum", 3, 4, Space::easy},
      {"stencil-1d", 0, 3, Space::easy}, {"stencil-1d", 0, 4, Space::easy_conditions},
      {"poly-32", 0, 2, Space::full},    {"load-only", 0, 4, Space::full},
  };
  std::set<bool> reached;
  for (const Case& c : cases) {
    const Example which = example(c.name, c.words, c.warp);
    const SynthesisResult result = solved(which, c.space);
    const std::uint64_t expected = by_brute_force(which, c.space);
    EXPECT_EQ(result.solutions, expected) << c.name << ", S = " << c.words << ", W = " << c.warp;
    EXPECT_EQ(result.outcome, expected == 0 ? Outcome::none : Outcome::found);
    reached.insert(expected != 0);
    expect_right(which, result);
  }
  EXPECT_TRUE(reached.contains(true));
}

// Sums over (a[0] + a[1]) (b[0] + b[1]) with the registers' numbers open: four products of each lane that
// must all be different.
Example all_products(std::int64_t warp) {
  const Accumulation product{.outer = Operator::add, .inner = Operator::multiply};
  Specification spec;
  const Array A = spec.input("A", 2 * warp);
  const Array B = spec.input("B", 2 * warp);
  const Array C = spec.output("C", warp);
  for (std::int64_t t = 0; t < warp; ++t) {
    auto sum = spec.accumulator(product);
    for (std::int64_t a = 0; a < 2; ++a)
      for (std::int64_t b = 0; b < 2; ++b) sum.add({spec.at(A, a * warp + t), spec.at(B, b * warp + t)});
    spec.set(C, t, sum);
  }
  Program p(spec, {.warp = warp});
  const Index t = lane_index();
  const Registers a = p.registers("a", 2);
  const Registers b = p.registers("b", 2);
  const Registers x = p.registers("x", 2);
  const Registers y = p.registers("y", 2);
  p.global_to_registers(a, A, {.rounds = 2});
  p.global_to_registers(b, B, {.rounds = 2});
  for (std::int64_t k = 0; k < 2; ++k) {
    p.move(x[k], a[p.part("a" + std::to_string(k), 2, {{"t", warp}})(t)]);
    p.move(y[k], b[p.part("b" + std::to_string(k), 2, {{"t", warp}})(t)]);
  }
  const AccumulatorRef sum = p.accumulator("sum", product);
  for (std::int64_t k = 0; k < 4; ++k) p.accumulate(sum, {x[k / 2], y[k % 2]});
  p.store(C, t, sum);
  return {.name = "all-products",
          .summary = "",
          .struct_words = {},
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = {}};
}

// What one factor is says what the other is not, before anything is known of what they are multiplied by.
TEST(SwizzleSynthesise, ProductsOfTheSameFactorsAreDifferent) {
  for (const std::int64_t warp : {2, 3, 4}) {
    const Example which = all_products(warp);
    const SynthesisResult result = solved(which);
    EXPECT_EQ(result.solutions, by_brute_force(which, Space::full)) << warp;
    EXPECT_GT(result.solutions, 0U);
    EXPECT_EQ(result.order.size(), 2U);
    expect_right(which, result);
  }
}

TEST(SwizzleSynthesise, TheSameEachTime) {
  const Example which = example("aos-rcr", 4, 8);
  const SynthesisResult a = solved(which), b = solved(which);
  EXPECT_EQ(a.candidates, b.candidates);
  EXPECT_EQ(a.order, b.order);
  ASSERT_EQ(a.kept.size(), b.kept.size());
  for (std::size_t k = 0; k < a.kept.size(); ++k) {
    EXPECT_EQ(a.kept[k].cost, b.kept[k].cost);
    if (k > 0) {
      EXPECT_LE(a.kept[k - 1].cost, a.kept[k].cost);
    }
    for (int h = 0; h < 3; ++h) {
      const HoleDeclaration& hole = which.sketch.holes()[static_cast<std::size_t>(h)];
      EXPECT_EQ(to_text(a.kept[k].valuation.parameters(h), hole),
                to_text(b.kept[k].valuation.parameters(h), hole));
    }
  }
}

TEST(SwizzleSynthesise, KeepsTheBestHoweverFew) {
  const Example which = example("aos-rcr", 4, 8);
  const SynthesisResult all = solved(which);
  SynthesisOptions options;
  options.keep = 1;
  const SynthesisResult few = synthesise(which.specification, which.sketch, options);
  EXPECT_GT(all.solutions, 2U);
  EXPECT_EQ(few.solutions, all.solutions);
  EXPECT_LE(few.kept.size(), 2U);
  ASSERT_TRUE(few.best.has_value());
  EXPECT_EQ(few.best->cost, all.best->cost);
}

// Wherever the time runs out: among the functions, the nodes, the samples or the candidates.
TEST(SwizzleSynthesise, TooLittleTimeIsNotNone) {
  struct Case {
    std::string name;
    std::int64_t words = 0;
    std::int64_t warp = 32;
    double limit = 0;
  };
  const std::vector<Case> cases = {{"aos-rcr", 6, 32, 1e-6}, {"aos-rcr", 6, 32, 0.1},
                                   {"aos-rcr", 30, 64, 0.2}, {"poly-64", 0, 64, 0.1},
                                   {"poly-64", 0, 64, 0.3},  {"poly-64", 0, 32, 0.2}};
  for (const Case& c : cases) {
    const Example which = example(c.name, c.words, c.warp);
    SynthesisOptions options;
    options.time_limit_seconds = c.limit;
    std::set<std::string> stages;
    options.progress = [&](const Progress& progress) { stages.insert(progress.stage); };
    const SynthesisResult result = synthesise(which.specification, which.sketch, options);
    EXPECT_LT(result.seconds, c.limit + 3) << c.name << " " << c.limit;  // 3: of a busy machine
    EXPECT_EQ(result.outcome, Outcome::not_finished) << c.name << " " << c.limit;
    // What was not finished, and the limit as it was given, not what was left of it.
    EXPECT_THAT(
        result.unfinished,
        ::testing::MatchesRegex("(the functions of `[a-z0-9_]+` were not all listed|"
                                "the choices of the sketch were not all listed|the search did not end) "
                                "within the time limit of " +
                                fmt::format("{}", c.limit) + " s"));
    EXPECT_EQ(result.remedy, "a longer time limit or an easier space");
    EXPECT_FALSE(stages.empty());
  }
  EXPECT_STREQ(name(Outcome::not_finished), "not finished");
  EXPECT_STREQ(name(Outcome::none), "none");
  EXPECT_STREQ(name(Outcome::found), "found");
}

TEST(SwizzleSynthesise, TheTimeLimitOfAllSpacesIsToldAsGiven) {
  const Example which = example("poly-64", 0, 32);
  SynthesisOptions options;
  options.time_limit_seconds = 0.25;
  const auto all = synthesise_in_order(which.specification, which.sketch, options, SearchUntil::optimum);
  EXPECT_EQ(all.back().outcome, Outcome::not_finished);
  EXPECT_THAT(all.back().unfinished, ::testing::EndsWith("within the time limit of 0.25 s"));
}

// A hole decides which of two stores is the last to an element: that is no matter of time.
// A hole that decides which of two stores is the last: tried, if the combinations are few enough.
TEST(SwizzleSynthesise, WhatNoSearchDoesIsAnError) {
  for (const std::int64_t warp : {4, 32}) {
    Specification specification;
    const Array input = specification.input("I", warp);
    const Array output = specification.output("O", warp);
    for (std::int64_t i = 0; i < warp; ++i) specification.set(output, i, specification.at(input, i));
    Program program(specification, {.warp = warp});
    const Index t = lane_index();
    const Hole when = program.condition("when", {{"t", warp}});
    const Registers x = program.registers("x", 1);
    program.load(x[0], input, t);
    program.store(output, t, x[0], when(t));
    program.store(output, t, x[0]);
    if (warp == 4) {
      const SynthesisResult found = synthesise(specification, program, {});
      EXPECT_TRUE(found.by_trials);
      EXPECT_EQ(found.solutions, found.families[0].functions);
      continue;
    }
    for (const char* name : {"one", "other"})
      program.shuffle(x[0], x[0], program.xform(name, {.n = warp, .m = 6})(t, 0));
    EXPECT_THAT(test::message_of(ErrorCode::unsupported, [&] { synthesise(specification, program, {}); }),
                ::testing::AllOf(HasSubstr("which two statements may store and a hole decides where"),
                                 HasSubstr("more time does not help")));
  }
}

TEST(SwizzleSynthesise, SpacesInOrder) {
  const Example which = example("aos-crc", 2, 8);
  const auto first = synthesise_in_order(which.specification, which.sketch, {}, SearchUntil::first);
  const auto all = synthesise_in_order(which.specification, which.sketch, {}, SearchUntil::optimum);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_LE(first.size(), all.size());
  EXPECT_GT(first.back().solutions, 0U);
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(all[k].space, static_cast<Space>(k));
    if (k > 0) {
      EXPECT_GE(all[k].solutions, all[k - 1].solutions);
    }
  }
}

TEST(SwizzleSynthesise, WantingNothingIsAnError) {
  Specification specification;
  const Array input = specification.input("I", 4);
  const Array output = specification.output("O", 4);
  Launch launch;
  launch.warp = 4;
  Program program(specification, launch);
  const Registers x = program.registers("x", 1);
  program.load(x[0], input, lane_index());
  program.store(output, lane_index(), x[0]);
  EXPECT_THAT(test::message_of(ErrorCode::spec, [&] { synthesise(specification, program, {}); }),
              HasSubstr("wants nothing"));
}

}  // namespace swizzle_synthesise_test
}  // namespace faro::swizzle
