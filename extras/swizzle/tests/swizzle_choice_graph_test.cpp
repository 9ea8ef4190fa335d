// What the constraint model of known sketches holds, and what it refuses to hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle/model.hpp"
#include "swizzle_sketches.hpp"

namespace faro::swizzle {
namespace swizzle_choice_graph_test {

using ::testing::HasSubstr;

// ------------------------------------------------------------------------------------- what it holds

ConstraintModel graph_of(const Sketch& sketch, Space space) {
  return build_model(sketch.specification, sketch.program, families_of(sketch.program, space), {});
}

TEST(Graph, OfTransposedStructs) {
  const std::int64_t S = 4;
  const std::int64_t W = 8;
  const ConstraintModel model = graph_of(crc_sketch(S, W), Space::full);
  EXPECT_EQ(model.stores.size(), static_cast<std::size_t>(S * W));
  EXPECT_TRUE(model.sum_groups.empty());
  // Inputs, what each column, each row and each last column may hold.
  EXPECT_EQ(model.nodes.size(), static_cast<std::size_t>(4 * S * W));
  for (const auto& node : model.nodes) {
    if (node.kind == NodeKind::value) continue;
    ASSERT_EQ(node.scope.variables.size(), 1U);
    const int hole = node.scope.variables[0].hole;
    EXPECT_EQ(node.outcomes.size(), static_cast<std::size_t>(hole == 1 ? W : S));
  }
  for (int hole = 0; hole < 3; ++hole)
    EXPECT_EQ(model.read_cells[static_cast<std::size_t>(hole)].size(), static_cast<std::size_t>(S * W));
}

TEST(Graph, OfPolynomialProductsIsTight) {
  const std::int64_t W = 4;
  const ConstraintModel model = graph_of(polynomial_sketch(W, 2), Space::easy);
  ASSERT_EQ(model.sum_groups.size(), static_cast<std::size_t>(W)) << "one a lane";
  for (const SumGroup& sum_group : model.sum_groups) {
    EXPECT_TRUE(sum_group.is_exact);
    EXPECT_EQ(sum_group.sums.size(), 4U);
    EXPECT_EQ(sum_group.term_variables.size(), static_cast<std::size_t>(4 * W));
    std::vector<int> seen(16, 0);
    for (const SumConstraint& sum : sum_group.sums) {
      EXPECT_EQ(sum.slots.size(), static_cast<std::size_t>(4 * W));
      for (const Slot& slot : sum.slots) {
        EXPECT_EQ(slot.term, sum_group.term_variables[slot.term_variable]);
        EXPECT_EQ(slot.holds, (std::vector<bool>{false, true}));
        ++seen[static_cast<std::size_t>(slot.statement)];
      }
    }
    EXPECT_EQ(seen, std::vector<int>(16, static_cast<int>(W)));
  }
}

TEST(Graph, OfStencilsAndStructSumsIsTight) {
  const ConstraintModel stencil = graph_of(stencil_sketch(8), Space::full);
  EXPECT_EQ(stencil.sum_groups.size(), 30U) << "one for each output; the two lanes past the end have none";
  for (const SumGroup& sum_group : stencil.sum_groups) {
    EXPECT_TRUE(sum_group.is_exact);
    EXPECT_EQ(sum_group.term_variables.size(), 3U);
  }
  const ConstraintModel sums = graph_of(struct_sums(3, 8), Space::full);
  EXPECT_EQ(sums.sum_groups.size(), 8U);
  for (const SumGroup& sum_group : sums.sum_groups) {
    EXPECT_TRUE(sum_group.is_exact);
    EXPECT_EQ(sum_group.term_variables.size(), 3U);
    for (const Slot& slot : sum_group.sums.at(0).slots) EXPECT_TRUE(slot.guard.variables.empty());
  }
}

TEST(Graph, NodesAreShared) {
  // All lanes may ask each of 32 senders: lanes x iterations choices of the lane, as many of the register.
  const std::size_t cells = 32 * 3;
  const Sketch sketch = stencil_sketch(32);
  const ConstraintModel model = graph_of(sketch, Space::full);
  EXPECT_LE(model.nodes.size(), 128 + 4 * 2 * cells + 4) << "inputs; for each of 4 warps";
  EXPECT_EQ(model.domains[0][0].size(), 2U);
  EXPECT_EQ(model.domains[1][0].size(), 32U);
}

TEST(Graph, ThatNothingCanMeet) {
  Specification spec;
  spec.input("I", 4);
  spec.output("O", 4);
  spec.set({.number = 1}, 3, spec.at({.number = 0}, 3));
  Program p(spec, {.warp = 4});
  const auto x = p.registers("x", 1);
  p.load(x[0], {.number = 0}, lane_index());
  p.store({.number = 1}, lane_index(), x[0], lane_index() < 3);
  EXPECT_FALSE(satisfies(build_model(spec, p, {}, {}), spec, {}, {})) << "O[3] is wanted and never stored";
  p.store({.number = 1}, lane_index(), x[0]);
  EXPECT_TRUE(satisfies(build_model(spec, p, {}, {}), spec, {}, {}));
  p.store({.number = 1}, lane_index(), x[0], lane_index() == 3);
  EXPECT_TRUE(satisfies(build_model(spec, p, {}, {}), spec, {}, {})) << "the last one counts";
  p.shuffle(x[0], x[0], 0);
  p.store({.number = 1}, lane_index(), x[0], lane_index() == 3);
  EXPECT_FALSE(satisfies(build_model(spec, p, {}, {}), spec, {}, {})) << "the last one counts";
}

// ---------------------------------------------------------------------------------------------- errors

std::string error_of(const std::function<void()>& call, ErrorCode code) {
  return test::message_of(code, call);
}

TEST(Errors, Limits) {
  const Sketch sketch = crc_sketch(4, 8);
  const auto families = families_of(sketch.program, Space::full);
  EXPECT_THAT(
      error_of([&] { build_model(sketch.specification, sketch.program, families, {.most_nodes = 100}); },
               ErrorCode::unsupported),
      HasSubstr("not finished: the sketch has more than 100 nodes"));
  EXPECT_THAT(
      error_of([&] { build_model(sketch.specification, sketch.program, families, {.most_combinations = 7}); },
               ErrorCode::unsupported),
      HasSubstr("not finished: an index is decided by 1 cells of holes in more than 7 ways"));
}

std::string error_of_program(ErrorCode code, const std::function<void(Program&, const Hole&)>& statements) {
  Specification spec;
  const auto I = spec.input("I", 4);
  const auto O = spec.output("O", 4);
  for (int i = 0; i < 4; ++i) spec.set(O, i, spec.at(I, i));
  Program p(spec, {.warp = 4});
  const Hole hole = p.part("h", 2, {{"t", 4}});
  statements(p, hole);
  const auto families = families_of(p, Space::easy);
  return error_of([&] { build_model(spec, p, families, {}); }, code);
}

TEST(Errors, WhatTheSearchDoesNotDo) {
  const Index t = lane_index();
  constexpr Array kI{.number = 0};
  constexpr Array kO{.number = 1};
  EXPECT_THAT(error_of_program(ErrorCode::unsupported,
                               [&](Program& p, const Hole& hole) {
                                 const auto x = p.registers("x", 1);
                                 const auto s = p.shared("s", 4);
                                 p.load(x[0], kI, t);
                                 p.store(s, hole(t), x[0]);
                               }),
              ::testing::AllOf(HasSubstr("got a shared-memory address that a hole decides"),
                               HasSubstr("s[h(t)] = x[0]")));
  EXPECT_THAT(error_of_program(ErrorCode::unsupported,
                               [&](Program& p, const Hole& hole) {
                                 const auto x = p.registers("x", 1);
                                 const auto sum = p.accumulator("sum", {.outer = Operator::add});
                                 p.load(x[0], kI, t);
                                 p.accumulate(sum, {x[0]}, hole(t));
                                 p.evaluate(x[0], sum);
                                 p.accumulate(sum, {x[0]});
                               }),
              HasSubstr("a sum of sums"));
  EXPECT_THAT(error_of_program(ErrorCode::unsupported,
                               [&](Program& p, const Hole& hole) {
                                 const auto x = p.registers("x", 1);
                                 p.load(x[0], kI, t);
                                 p.store(kO, hole(t), x[0]);
                                 p.store(kO, t, x[0]);
                               }),
              HasSubstr("which two statements may store and a hole decides where"));
  const std::string outside = error_of_program(ErrorCode::spec, [&](Program& p, const Hole&) {
    const auto x = p.registers("x", 1);
    p.load(x[0], kI, t + 1);
  });
  EXPECT_THAT(outside, ::testing::AllOf(HasSubstr("lane 3"), HasSubstr("I[4]")));
  EXPECT_THAT(error_of_program(ErrorCode::spec,
                               [&](Program& p, const Hole&) {
                                 const auto x = p.registers("x", 1);
                                 p.store(kO, t, x[0]);
                               }),
              HasSubstr("an undefined value"));
}

}  // namespace swizzle_choice_graph_test
}  // namespace faro::swizzle
