// Recording programs: what their statements expand to, their text, and the sketches that are refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "refusal.hpp"
#include "swizzle_sketches.hpp"

namespace faro::swizzle {
namespace swizzle_program_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Array kI{.number = 0};
constexpr Array kO{.number = 1};

Specification copy_specification(std::int64_t size = 32) {
  Specification spec;
  const auto I = spec.input("I", size);
  const auto O = spec.output("O", size);
  for (std::int64_t i = 0; i < size; ++i) spec.set(O, i, spec.at(I, i));
  return spec;
}

std::string error_of(const std::function<void()>& call) { return test::message_of(ErrorCode::spec, call); }

TEST(Recording, TheStencilAsText) {
  EXPECT_EQ(to_text(stencil_sketch(8).program),
            "launch: blocks of 2 x 8 lanes, 2\n"
            "input I[32]\n"
            "output O[30]\n"
            "registers rc[2]\n"
            "registers x[1]\n"
            "registers sum_value[1]\n"
            "accumulator sum: +, / 3\n"
            "hole index(t < 8, i < 3): sw_part of 2\n"
            "hole lane(i < 8, k < 3): sw_xform, n = 8, m = 8\n"
            "hole use(t < 8, i < 3): sw_cond\n"
            "for round < 2:\n"
            "  rc[round] = I[16 * block + 8 * warp + 8 * round + t] if "
            "16 * block + 8 * warp + 8 * round + t < 32 && 8 * round + t < 10\n"
            "for i < 3:\n"
            "  x[0] = shfl(rc[index(t, i)], lane(t, i))\n"
            "  accumulate(sum, {x[0]}) if use(t, i)\n"
            "sum_value[0] = evaluate(sum)\n"
            "O[16 * block + 8 * warp + t] = sum_value[0] if 16 * block + 8 * warp + t < 30\n");
}

TEST(Recording, ALoopsBodyIsRecordedOnce) {
  const Specification spec = copy_specification();
  Program p(spec, {.warp = 4});
  const auto x = p.registers("x", 2);
  int calls = 0;
  p.loop("i", 8, [&](const Index& i) {
    ++calls;
    p.load(x[0], kI, 4 * i + lane_index());
    p.loop("j", 2, [&](const Index& j) { p.move(x[1], x[j]); });
    p.store(kO, 4 * i + lane_index(), x[1]);
  });
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(p.statements().size(), 1U);
  const auto& loop = std::get<LoopStatement>(p.statements()[0]);
  EXPECT_EQ(loop.count, 8);
  ASSERT_EQ(loop.body.size(), 3U);
  EXPECT_EQ(std::get<LoopStatement>(loop.body[1]).body.size(), 1U);
  EXPECT_EQ(first_mismatch(spec, p, Valuation(p)), std::nullopt);
}

TEST(Recording, ABodyThatThrowsLeavesTheProgramUsable) {
  const Specification spec = copy_specification(4);
  Program p(spec, {.warp = 4});
  const auto x = p.registers("x", 1);
  EXPECT_THROW(p.loop("i", 2,
                      [&](const Index&) {
                        p.load(x[0], kI, 0);
                        throw std::runtime_error("stop");
                      }),
               std::runtime_error);
  EXPECT_TRUE(p.statements().empty());
  p.loop("i", 1, [&](const Index&) { p.load(x[0], kI, lane_index()); });
  p.store(kO, lane_index(), x[0]);
  EXPECT_EQ(first_mismatch(spec, p, Valuation(p)), std::nullopt);
}

TEST(Transfers, WithSlicesRoundsAndALaneOfOnesOwn) {
  // 3 rounds of slices of 2 by 4 lanes, in and out alike: a copy, whichever way lanes are turned.
  const Specification spec = copy_specification(24);
  for (const bool turned : {false, true}) {
    Program p(spec, {.warp = 4});
    const auto x = p.registers("x", 6);
    Transfer transfer{.slice = 2, .rounds = 3};
    if (turned) transfer.lane = [](const Index& t, const Index& round) { return (t + round) % 4; };
    p.global_to_registers(x, kI, transfer);
    p.registers_to_global(kO, x, transfer);
    EXPECT_EQ(first_mismatch(spec, p, Valuation(p)), std::nullopt);
    const auto arrays =
        run_symbolic(p, Valuation(p), spec.values(), [&](int step, const Statement&, const WarpState& state) {
          EXPECT_EQ(step, 0);
          // Round 1, element 1 of lane 2: I[8 + 2 lane + 1].
          EXPECT_EQ(spec.values().index_of(state.values[3 * 4 + 2]), turned ? 8 + 2 * 3 + 1 : 8 + 2 * 2 + 1);
        });
    EXPECT_EQ(arrays[1], arrays[0]);
  }
}

TEST(Transfers, SkipWhatIsOutsideArrayAndSize) {
  const Specification spec = copy_specification(10);
  for (const auto& [offset, size, first, last] : std::vector<std::tuple<int, int, int, int>>{
           {0, 100, 0, 9}, {2, 5, 2, 6}, {-3, 6, 0, 2}, {8, 8, 8, 9}}) {
    Program p(spec, {.warp = 4});
    const auto x = p.registers("x", 3);
    const Transfer transfer{.slice = 1, .rounds = 3, .offset = offset, .size = Index(size)};
    p.global_to_registers(x, kI, transfer);
    p.registers_to_global(kO, x, transfer);
    const auto out = run_symbolic(p, Valuation(p), spec.values())[1];
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(out[static_cast<std::size_t>(i)] != kUndefined, first <= i && i <= last)
          << "offset " << offset << ", size " << size << ", element " << i;
  }
}

TEST(Transfers, NeedNoConditionWhereNothingCanBeOutside) {
  const Sketch sketch = rcr_sketch(4, 8);
  const auto& loop = std::get<LoopStatement>(sketch.program.statements()[0]);
  const auto& load = std::get<LoadStatement>(loop.body[0]);
  EXPECT_EQ(load.when.kind(), IndexKind::constant) << "the hole's values are lanes";
}

TEST(Copies, BoxesThroughSharedMemory) {
  // A box of 3 x 4 x 2 of an array of 5 x 6 x 2, cut off at 2 of the last axis but one, in and out.
  Specification spec;
  const auto I = spec.input("I", 60);
  const auto O = spec.output("O", 24);
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t c = 0; c < 2; ++c)
        spec.set(O, (c * 4 + b) * 3 + a, spec.at(I, 12 + a * 12 + b * 2 + c));
  for (const Launch& launch : {Launch{.warp = 4}, Launch{.warp = 8, .warps = 3}, Launch{.warp = 32}}) {
    Program p(spec, launch);
    const auto s = p.shared("s", 40);
    p.global_to_shared(s, I,
                       {.extents = {3, 4, 2},
                        .global_strides = {12, 2, 1},
                        .shared_strides = {1, 3, 12},
                        .offset = 12,
                        .limits = {3, 3, 2}});
    p.barrier();
    p.shared_to_global(O, s,
                       {.extents = {2, 4, 3},
                        .global_strides = {12, 3, 1},
                        .shared_strides = {12, 3, 1},
                        .offset = 0,
                        .limits = {2, 3, 3}});
    const auto mismatch = first_mismatch(spec, p, Valuation(p));
    EXPECT_EQ(mismatch, std::nullopt) << mismatch->text;
    EXPECT_EQ(run_symbolic(p, Valuation(p), spec.values())[1][9], kUndefined) << "past the limit";
  }
}

TEST(Ranges, OfVariablesAndHoles) {
  Specification spec = copy_specification();
  Program p(spec, {.warp = 8, .warps = 3, .blocks = 5});
  p.xform("x", {.n = 6, .m = 8});
  p.part("p", 3, {{"t", 8}});
  p.condition("c", {{"t", 8}});
  p.warp_offset("o", {{"block", 5}, {"warp", 3}}, {24, 8}, 2);
  p.warp_size("s", 2);
  p.loop("i", 7, [](const Index&) {});
  const auto ranges = p.ranges();
  EXPECT_EQ(ranges.lane, (Interval{.least = 0, .most = 7}));
  EXPECT_EQ(ranges.warp, (Interval{.least = 0, .most = 2}));
  EXPECT_EQ(ranges.block, (Interval{.least = 0, .most = 4}));
  EXPECT_EQ(ranges.loops.at(0), (Interval{.least = 0, .most = 6}));
  const std::vector<std::int64_t> most{5, 2, 1, 2 + 2 * 4 * 24 + 2 * 2 * 8, 2 + 2 * 8};
  for (std::size_t hole = 0; hole < most.size(); ++hole)
    EXPECT_EQ(ranges.holes[hole], (Interval{.least = 0, .most = most[hole]})) << hole;
}

TEST(Declarations, SayWhatTheyRefuse) {
  const Specification spec = copy_specification();
  EXPECT_THAT(error_of([&] { Program(spec, {.warp = 0}); }), HasSubstr("warp = 0"));
  EXPECT_THAT(error_of([&] { Program(spec, {.warp = 4, .warps = 1, .blocks = 0}); }),
              HasSubstr("blocks = 0"));
  Program p(spec, {.warp = 4});
  const auto x = p.registers("x", 2);
  EXPECT_THAT(error_of([&] { p.registers("x", 2); }), HasSubstr("a name that is taken"));
  EXPECT_THAT(error_of([&] { p.registers("I", 2); }), HasSubstr("a name that is taken"));
  EXPECT_THAT(error_of([&] { p.registers("", 2); }), HasSubstr("an empty name"));
  EXPECT_THAT(error_of([&] { p.registers("y", 0); }), HasSubstr("0 registers"));
  EXPECT_THAT(error_of([&] { p.shared("y", 0); }), HasSubstr("0 elements"));
  EXPECT_THAT(error_of([&] { p.accumulator("x", {}); }), HasSubstr("a name that is taken"));
  EXPECT_THAT(error_of([&] { p.accumulator("a", {.outer = Operator::none}); }),
              HasSubstr("no outer operator"));
  EXPECT_THAT(error_of([&] { p.condition("x", {{"t", 4}}); }), HasSubstr("a name that is taken"));
  EXPECT_THAT(error_of([&] { p.part("h", 1, {{"t", 4}}); }), HasSubstr("`h`"));
  EXPECT_THAT(error_of([&] { p.loop("i", 0, [](const Index&) {}); }), HasSubstr("0 iterations"));
  EXPECT_THAT(error_of([&] { p.loop("i", 2, [&](const Index&) { p.loop("i", 2, [](const Index&) {}); }); }),
              HasSubstr("the name of a loop around it"));
  EXPECT_THAT(error_of([&] { p.store(kO, 0, AccumulatorRef{.number = 3}); }),
              HasSubstr("accumulator number 3"));
  EXPECT_THAT(error_of([&] { p.global_to_registers(x, kI, {.slice = 2, .rounds = 2}); }),
              HasSubstr("slice x rounds = 4"));
  EXPECT_THAT(error_of([&] { p.global_to_registers(x, kI, {.slice = 0}); }), HasSubstr("at least 1 of both"));
  EXPECT_THAT(error_of([&] {
                p.global_to_shared(kO, kI, {.extents = {}, .global_strides = {}, .shared_strides = {}});
              }),
              HasSubstr("0 extents"));
  EXPECT_THAT(
      error_of([&] {
        p.global_to_shared(kO, kI, {.extents = {2, 2}, .global_strides = {1}, .shared_strides = {1, 2}});
      }),
      HasSubstr("1 global and 2 shared strides"));
  EXPECT_TRUE(p.holes().empty() && p.statements().empty()) << "nothing of what was refused is left";
}

/// What check() says of a program of these statements.
std::string check_of(const std::function<void(Program&, const Registers&, const Hole&)>& statements) {
  const Specification spec = copy_specification();
  Program p(spec, {.warp = 8});
  const auto x = p.registers("x", 4);
  const Hole hole = p.part("choose", 3, {{"t", 8}, {"i", 3}});
  statements(p, x, hole);
  return error_of([&] { check(p); });
}

TEST(Check, HolesThatAreAskedWrongly) {
  const Index t = lane_index();
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole& h) { p.move(x[0], x[h(t, t)]); }),
              AllOf(HasSubstr("`t` for `i` of hole `choose`, which may be 0 .. 7"),
                    HasSubstr("values in 0 .. 2"), HasSubstr("x[0] = x[choose(t, t)]")));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole& h) { p.move(x[0], x[h(t - 1, 0)]); }),
              HasSubstr("-1 .. 6"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole& h) { p.move(x[0], x[h(t)]); }),
              AllOf(HasSubstr("asked with 1 arguments"), HasSubstr("2 arguments")));
  EXPECT_THAT(
      check_of([&](Program& p, const Registers& x, const Hole& h) { p.move(x[0], x[h(t, h(t, 0))]); }),
      HasSubstr("a hole inside a hole's argument"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) {
                p.move(x[0], x[Index::node(IndexKind::hole, 7, {t})]);
              }),
              HasSubstr("hole #7"));
  EXPECT_EQ(check_of([&](Program& p, const Registers& x, const Hole& h) {
              p.loop("i", 3, [&](const Index& i) { p.shuffle(x[0], x[h((t + i) % 8, i)], 7 - t); });
            }),
            "no error");
}

TEST(Check, IndexesThatAreAlwaysOutside) {
  const Index t = lane_index();
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.move(x[0], x[t + 4]); }),
              AllOf(HasSubstr("register index `t + 4`, which is always 4 .. 11"), HasSubstr("0 .. 3")));
  EXPECT_EQ(check_of([&](Program& p, const Registers& x, const Hole&) { p.move(x[0], x[t]); }), "no error")
      << "that depends on the lane: an error when it runs";
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.shuffle(x[0], x[1], 8); }),
              HasSubstr("lane `8`"));
  EXPECT_EQ(check_of([&](Program& p, const Registers& x, const Hole&) { p.shuffle(x[0], x[1], t + 8); }),
            "no error")
      << "lanes are taken mod W";
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.load(x[0], kI, t + 32); }),
              HasSubstr("address `t + 32`"));
  EXPECT_EQ(check_of([&](Program& p, const Registers& x, const Hole&) { p.load(x[0], kI, t + 32, 0); }),
            "no error")
      << "never loaded";
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) {
                p.permute(x, x, [](const Index& i) { return i + 4; });
              }),
              HasSubstr("register index"));
}

TEST(Check, ConditionsArraysAndTerms) {
  const Index t = lane_index();
  EXPECT_THAT(
      check_of([&](Program& p, const Registers& x, const Hole& h) { p.load(x[0], kI, t, h(t, 0)); }),
      AllOf(HasSubstr("the condition `choose(t, 0)`, which may be 0 .. 2"), HasSubstr("a truth value")));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.load(x[0], kO, t); }),
              AllOf(HasSubstr("array `O`"), HasSubstr("an input or a shared array")));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.store(kI, t, x[0]); }),
              HasSubstr("an output or a shared array"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.load(x[0], {.number = 9}, t); }),
              HasSubstr("array #9"));
  EXPECT_THAT(check_of([&](Program& p, const Registers&, const Hole&) {
                p.move({.registers = 5, .index = 0}, {.registers = 5, .index = 0});
              }),
              HasSubstr("register array #5"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) {
                const auto y = p.registers("y", 3);
                p.permute(y, x, [](const Index& i) { return i; });
              }),
              HasSubstr("3 registers from 4"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) {
                p.accumulate(p.accumulator("a", {.outer = Operator::add}), {x[0], x[1]});
              }),
              HasSubstr("a term of 2 registers"));
  EXPECT_THAT(check_of([&](Program& p, const Registers&, const Hole&) {
                p.accumulate(p.accumulator("a", {.outer = Operator::add}), {});
              }),
              HasSubstr("a term of no registers"));
  EXPECT_THAT(
      check_of([&](Program& p, const Registers& x, const Hole&) { p.accumulate({.number = 2}, {x[0]}); }),
      HasSubstr("accumulator #2"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) { p.move(x[0], x[t / 0]); }),
              HasSubstr("divided by 0"));
  EXPECT_THAT(
      check_of([&](Program& p, const Registers& x, const Hole&) { p.move(x[0], x[argument_index(0)]); }),
      HasSubstr("an argument of a function"));
  EXPECT_THAT(check_of([&](Program& p, const Registers& x, const Hole&) {
                Index kept = 0;
                p.loop("i", 2, [&](const Index& i) { kept = i; });
                p.move(x[0], x[kept]);
              }),
              HasSubstr("the counter `i` outside its loop"));
}

TEST(Check, AllSketchesOfTheTests) {
  for (const auto& sketch : {crc_sketch(3, 8), rcr_sketch(4, 8), stencil_sketch(8), polynomial_sketch(8, 1),
                             polynomial_sketch(4, 2)})
    EXPECT_NO_THROW(check(sketch.program));
}

}  // namespace swizzle_program_test
}  // namespace faro::swizzle
