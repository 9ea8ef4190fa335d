// What running refuses, where a program differs from its specification, its accesses and its costs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "refusal.hpp"
#include "swizzle_accesses.hpp"
#include "swizzle_sketches.hpp"

namespace faro::swizzle {
namespace swizzle_execution_test {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& call, ErrorCode code = ErrorCode::spec) {
  return test::message_of(code, call);
}

// ------------------------------------------------------------------------------------------------ errors

/// Runs statements over I[8] -> O[8] with W = 4, and gives the error.
std::string error_of_program(const std::function<void(Program&)>& statements, Launch launch = {.warp = 4}) {
  Specification spec;
  spec.input("I", 8);
  spec.output("O", 8);
  Program p(spec, launch);
  statements(p);
  return error_of([&] { run_symbolic(p, Valuation(p), spec.values()); });
}
constexpr Array kI{.number = 0};
constexpr Array kO{.number = 1};

TEST(Errors, UndefinedTravelsUntilItIsUsed) {
  EXPECT_EQ(error_of_program([](Program& p) {
              const auto x = p.registers("x", 2);
              p.move(x[1], x[0]);
              p.shuffle(x[0], x[1], 0);
            }),
            "no error");
  EXPECT_THAT(error_of_program([](Program& p) {
                const auto x = p.registers("x", 2);
                p.load(x[0], kI, lane_index(), lane_index() < 3);
                p.store(kO, lane_index(), x[0]);
              }),
              ::testing::AllOf(HasSubstr("an undefined value for element 3"),
                               HasSubstr("block 0, warp 0, lane 3"), HasSubstr("O[t] = x[0]")));
  EXPECT_THAT(error_of_program([](Program& p) {
                const auto x = p.registers("x", 1);
                const auto sum = p.accumulator("sum", {.outer = Operator::add});
                p.accumulate(sum, {x[0]}, lane_index() == 2);
                p.evaluate(x[0], sum);
                p.store(kO, lane_index(), x[0], lane_index() > 1);
              }),
              HasSubstr("lane 2"));
  EXPECT_EQ(error_of_program([](Program& p) {
              const auto x = p.registers("x", 1);
              const auto sum = p.accumulator("sum", {.outer = Operator::add});
              p.accumulate(sum, {x[0]}, lane_index() == 2);
              p.store(kO, lane_index(), sum, lane_index() != 2);
            }),
            "no error");
}

TEST(Errors, AddressesRegistersAndTwoValues) {
  EXPECT_THAT(error_of_program([](Program& p) {
                const auto x = p.registers("x", 1);
                p.loop("i", 3, [&](const Index& i) { p.load(x[0], kI, lane_index() + 3 * i); });
              }),
              ::testing::AllOf(HasSubstr("I[8]"), HasSubstr("lane 2, i = 2"), HasSubstr("0 .. 7")));
  EXPECT_THAT(error_of_program([](Program& p) {
                const auto x = p.registers("x", 3);
                p.load(x[lane_index()], kI, 0);
              }),
              HasSubstr("x[3]"));
  EXPECT_THAT(error_of_program([](Program& p) {
                const auto x = p.registers("x", 1);
                p.load(x[0], kI, lane_index());
                p.store(kO, 5, x[0]);
              }),
              HasSubstr("two values for element 5 from two lanes"));
  EXPECT_THAT(error_of_program(
                  [](Program& p) {
                    const auto x = p.registers("x", 1);
                    p.load(x[0], kI, block_index());
                    p.store(kO, 5, x[0]);
                  },
                  {.warp = 4, .warps = 1, .blocks = 2}),
              HasSubstr("two values for element 5 from two blocks"));
  EXPECT_EQ(error_of_program([](Program& p) {
              const auto x = p.registers("x", 1);
              p.load(x[0], kI, 3);
              p.store(kO, 5, x[0]);  // the same value by all lanes
              p.load(x[0], kI, 4);
              p.store(kO, 5, x[0]);  // and another one later
            }),
            "no error");
}

TEST(Errors, SharedMemoryIsSeenAfterABarrier) {
  const auto program = [](bool first_barrier, bool second_barrier, const Index& read) {
    return [=](Program& p) {
      const auto x = p.registers("x", 1);
      const auto s = p.shared("s", 8);
      const Index thread = 4 * warp_index() + lane_index();
      p.load(x[0], kI, thread);
      p.store(s, thread, x[0]);
      if (first_barrier) p.barrier();
      p.load(x[0], s, read);
      if (second_barrier) p.barrier();
      p.store(s, thread, x[0]);
      p.store(kO, thread, x[0]);
    };
  };
  const Launch two{.warp = 4, .warps = 2};
  const Index thread = 4 * warp_index() + lane_index();
  EXPECT_EQ(error_of_program(program(true, true, 7 - thread), two), "no error");
  EXPECT_EQ(error_of_program(program(false, false, thread), two), "no error") << "its own lane's";
  EXPECT_THAT(error_of_program(program(false, true, 7 - thread), two),
              HasSubstr("stored by another lane since the last barrier"));
  EXPECT_THAT(error_of_program(program(true, false, 7 - thread), two),
              HasSubstr("read by another lane since the last barrier"));
}

TEST(Errors, ValuationsNameTheHole) {
  const Sketch sketch = stencil_sketch(8);
  Valuation v(sketch.program);
  EXPECT_FALSE(v.complete());
  EXPECT_THAT(error_of([&] { v.set("lanes", literal(true)); }), HasSubstr("one of index, lane, use"));
  EXPECT_THAT(
      error_of([&] { v.set("lane", FormulaParameters{.formula = argument_index(0) + 1}); }),
      ::testing::AllOf(HasSubstr("hole `lane`"), HasSubstr("8 at i = 7, k = 0"), HasSubstr("0 .. 7")));
  EXPECT_THAT(error_of([&] { first_mismatch(sketch.specification, sketch.program, v); }),
              HasSubstr("hole `index`: got no function"));
  v.set("use", literal(true));
  EXPECT_THAT(error_of([&] { v(2, std::vector<std::int64_t>{8, 0}); }), HasSubstr("use"));
  EXPECT_EQ(v(2, std::vector<std::int64_t>{7, 2}), 1);
  EXPECT_EQ(v.table(2).size(), 24U);
}

TEST(Mismatches, SayWhereAndWhat) {
  const Sketch sketch = stencil_sketch(4);
  Valuation v = stencil_solution(4);
  v.set("use", i_at_most_t());
  const auto mismatch = first_mismatch(sketch.specification, sketch.program, v);
  ASSERT_TRUE(mismatch.has_value());
  EXPECT_EQ(mismatch->index, 0);
  EXPECT_EQ(mismatch->text, "O[0]: got +{I[0]} / 3, wanted (I[0] + I[1] + I[2]) / 3");
  v = stencil_solution(4);
  v.set("index", PartParameters{.conditions = {literal(false)}});
  EXPECT_THAT(first_mismatch(sketch.specification, sketch.program, v)->text, HasSubstr("an undefined value"));
  Specification other;
  other.input("J", 14);
  EXPECT_THAT(error_of([&] { first_mismatch(other, sketch.program, v); }),
              HasSubstr("another specification"));
}

TEST(Mismatches, PresentWantsAllThatOutputsNeed) {
  const std::int64_t warp = 4;
  const Sketch stencil = stencil_sketch(warp);
  for (const std::int64_t size : {4, 5, 6, 8}) {
    Program p(stencil.specification, {.warp = warp, .warps = 2, .blocks = 2});
    const Index offset = 2 * warp * block_index() + warp * warp_index();
    const auto rc = p.registers("rc", 2);
    p.global_to_registers(rc, kI, {.rounds = 2, .offset = offset, .size = Index(size)});
    p.present(rc, kO, offset + lane_index(), offset + lane_index() < 14);
    const Specification& spec = stencil.specification;
    // Nothing is stored: only what is present counts.
    const auto mismatch = first_mismatch(spec, p, Valuation(p));
    EXPECT_EQ(mismatch.has_value(), size < 6);
    if (mismatch) {
      EXPECT_EQ(mismatch->array.number, -1);
      EXPECT_EQ(mismatch->text, "no register of the warp holds I[" + std::to_string(size) + "], which O[" +
                                    std::to_string(size - 2) + "] needs");
    }
    EXPECT_EQ(cost_of(p, Valuation(p)).instructions, size);
  }
}

// --------------------------------------------------------------------------------- accesses and costs

TEST(Accesses, OfAStencilsSecondBlock) {
  const Sketch sketch = stencil_sketch(4);
  const auto trace = accesses(sketch.program, stencil_solution(4), 1, 4);
  ASSERT_EQ(trace.rounds.size(), 3U) << "two loads, one store";
  ASSERT_EQ(trace.accesses.size(), 6U);
  const auto lanes = [&](std::size_t access) {
    const auto span = trace.lanes_of(trace.accesses[access]);
    return std::vector<std::uint64_t>(span.begin(), span.end());
  };
  constexpr std::uint64_t kIdle = machine::kIdleLane;
  EXPECT_EQ(lanes(0), (std::vector<std::uint64_t>{32, 36, 40, 44}));
  EXPECT_EQ(lanes(2), (std::vector<std::uint64_t>{48, 52, kIdle, kIdle}));
  EXPECT_EQ(lanes(3), (std::vector<std::uint64_t>{kIdle, kIdle, kIdle, kIdle})) << "past the input";
  EXPECT_EQ(lanes(5), (std::vector<std::uint64_t>{256 + 48, 256 + 52, kIdle, kIdle}));
  EXPECT_EQ(trace.accesses[5].operation, machine::TraceOperation::store);
  EXPECT_EQ(trace.accesses[2].line, 4U) << "a blank line between rounds";
  EXPECT_THAT(error_of([&] { accesses(sketch.program, stencil_solution(4), 2, 4); }, ErrorCode::value),
              HasSubstr("block 2"));
}

TEST(Accesses, OfARoundAreOneSegment) {
  const Sketch sketch = rcr_sketch(3, 32);
  Valuation v(sketch.program);
  v.set("load", xform(32, 0, 1, 32, false, 31, 1));
  v.set("column", xform(3, 2, 3, 3, false, 0, 1));
  v.set("store", xform(32, 11, 32, 32, false, 20, 1));
  const auto trace = accesses(sketch.program, v, 0, 4);
  ASSERT_EQ(trace.rounds.size(), 6U);
  for (const auto& access : trace.accesses) {
    // Whatever the order of its lanes, a round touches one aligned segment of 128 bytes.
    std::vector<std::uint64_t> lanes(trace.lanes_of(access).begin(), trace.lanes_of(access).end());
    std::sort(lanes.begin(), lanes.end());
    for (std::size_t t = 0; t < lanes.size(); ++t) ASSERT_EQ(lanes[t], lanes[0] + 4 * t);
    EXPECT_EQ(lanes[0] % 128, 0U);
  }
}

TEST(Accesses, SharedArraysHaveASpaceOfTheirOwn) {
  Specification spec;
  spec.input("I", 25);
  spec.output("O", 25);
  Program p(spec, {.warp = 4, .warps = 2});
  const auto s = p.shared("s", 30);
  p.global_to_shared(s, kI, {.extents = {5, 5}, .global_strides = {5, 1}, .shared_strides = {1, 6}});
  p.barrier();
  p.shared_to_global(kO, s, {.extents = {5, 5}, .global_strides = {5, 1}, .shared_strides = {6, 1}});
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 5; ++j) spec.set(kO, i * 5 + j, spec.at(kI, j * 5 + i));
  EXPECT_EQ(first_mismatch(spec, p, Valuation(p)), std::nullopt);
  const auto trace = accesses(p, Valuation(p), 0, 4);
  ASSERT_EQ(trace.rounds.size(), 16U) << "ceil(25 / 8) iterations of load and store, twice";
  EXPECT_EQ(trace.accesses[2].space, machine::TraceSpace::shared);
  EXPECT_EQ(trace.lanes_of(trace.accesses[2])[1], 24U) << "element (0, 1) is at 6";
  EXPECT_EQ(trace.lanes_of(trace.accesses.back())[0], machine::kIdleLane);
}

TEST(Costs, OfTheStencil) {
  const Sketch sketch = stencil_sketch(8);
  Valuation v = stencil_solution(8);
  const Cost cost = cost_of(sketch.program, v);
  EXPECT_EQ(cost.live_accumulates, 1);
  EXPECT_EQ(cost.shuffles, 3);
  // 10 elements loaded; for i = 1 and 2 the lanes choose from two registers; (t + i) mod 8 and i <= t ? 0 : 1
  // are two operations each, three times.
  EXPECT_EQ(cost.instructions, 10 + 2 + 3 * (2 + 2));
  v.set("use", literal(false));
  v.set("lane", xform(8, 1, 8, 8, false, 0, 8));
  EXPECT_EQ(cost_of(sketch.program, v).live_accumulates, 0);
  EXPECT_EQ(cost_of(sketch.program, v).shuffles, 0) << "each lane asks itself";
}

}  // namespace swizzle_execution_test
}  // namespace faro::swizzle
