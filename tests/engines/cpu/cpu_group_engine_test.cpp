// Groups on the CPU: drawn lists held against the obvious loop, large arrays beside small ones, overlaps and
// other refusals by the member's number.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "drawn_group.hpp"
#include "engines/cpu/small_move.hpp"
#include "faro/faro.hpp"
#include "faro/group.hpp"
#include "number_oracle.hpp"
#include "processor_time.hpp"
#include "refusal.hpp"

namespace faro {
namespace cpu_group_test {

using test::below;
using test::MemberArrays;
using testing::SplitMix64;

std::vector<GroupMember> members_of(std::vector<MemberArrays>& arrays) {
  std::vector<GroupMember> members;
  for (MemberArrays& each : arrays)
    members.push_back({.problem = each.problem, .in = each.in(), .out = each.out()});
  return members;
}

std::vector<MemberArrays> draw_arrays(SplitMix64& random, std::size_t count, std::uint64_t most) {
  std::vector<MemberArrays> arrays;
  for (const Problem& problem : test::draw_problems(random, count, most))
    arrays.emplace_back(problem, random, 1);
  return arrays;
}

struct Pointers {
  std::vector<const void*> ins;
  std::vector<void*> outs;

  explicit Pointers(std::vector<MemberArrays>& arrays) {
    for (MemberArrays& each : arrays) {
      ins.push_back(each.in());
      outs.push_back(each.out());
    }
  }
};

TEST(CpuGroup, MovesDrawnLists) {
  const int rounds = testing::kInstrumented ? 10 : 60;
  for (int round = 0; round < rounds; ++round) {
    SplitMix64 random{static_cast<std::uint64_t>(round)};
    SCOPED_TRACE("seed " + std::to_string(round));
    auto arrays = draw_arrays(random, below(random, 40), below(random, 4) == 0 ? 60000 : 3000);
    const auto members = members_of(arrays);
    const Group group = plan_group(members, {.threads = static_cast<int>(1 + below(random, 4))});
    ASSERT_EQ(group.size(), arrays.size());
    EXPECT_EQ(group.engine(), Engine::cpu);
    group.run();
    for (MemberArrays& each : arrays) {
      each.expect_moved();
      each.poison();
    }
    // The same by pointers of a run, to arrays elsewhere.
    std::vector<MemberArrays> others;
    for (const MemberArrays& each : arrays) others.emplace_back(each.problem, random, 1);
    const Pointers at(others);
    if (!others.empty()) group.run(at.ins, at.outs);
    for (const MemberArrays& each : others) each.expect_moved();
    for (const MemberArrays& each : arrays) each.expect_untouched();
  }
}

TEST(CpuGroup, MovesSmallArraysByAsLittleAsSaysHow) {
  std::size_t moved = 0;
  std::size_t others = 0;
  for (int round = 0; round < 40; ++round) {
    SplitMix64 random{static_cast<std::uint64_t>(1000 + round)};
    SCOPED_TRACE("seed " + std::to_string(1000 + round));
    for (MemberArrays& each : draw_arrays(random, 20, below(random, 2) == 0 ? 200 : 20000)) {
      const auto move = cpu::small_move(each.problem);
      ++(move ? moved : others);
      if (!move) continue;
      const cpu::ReadyMove ready(*move);
      ready.run(static_cast<const std::byte*>(each.in()), static_cast<std::byte*>(each.out()));
      each.expect_moved();
    }
  }
  EXPECT_GT(moved, 50U);
  EXPECT_GT(others, 100U);  // maps of bits, rows backwards, in place
  // Tables of places have room for so many, and strides for 31 bits.
  cpu::SmallMove full(4);
  EXPECT_TRUE(full.add(cpu::SmallMove::Kind::rows, 16, 64, 4));
  EXPECT_TRUE(full.add(cpu::SmallMove::Kind::rows, 16, 4096, 64));
  EXPECT_FALSE(full.add(cpu::SmallMove::Kind::rows, 2, 1 << 20, 1024));
  EXPECT_FALSE(full.add(cpu::SmallMove::Kind::nest, 2, std::int64_t{1} << 31, 8));
  EXPECT_TRUE(full.add(cpu::SmallMove::Kind::nest, 1, std::int64_t{1} << 40, 8));
}

// One side of a drawn view: strides of its axes in any order, some further apart than they need be, on the
// input's side some repeated. Gives the elements that it reaches over.
std::uint64_t draw_strides(SplitMix64& random, bool may_repeat, std::vector<detail::StridedAxis>& axes,
                           std::int64_t detail::StridedAxis::*side) {
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  const bool has_gaps = below(random, 3) == 0;
  std::uint64_t stride = 1;
  std::uint64_t reach = 1;
  for (const std::size_t a : order) {
    if (may_repeat && below(random, 12) == 0) continue;
    if (has_gaps && below(random, 3) == 0) stride += below(random, 5);
    axes[a].*side = static_cast<std::int64_t>(stride);
    reach += (axes[a].extent - 1) * stride;
    stride *= axes[a].extent;
  }
  return reach;
}

TEST(CpuGroup, MovesSmallViewsWithGapsAndRepeats) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random{seed};
    const std::uint64_t width = below(random, 5) == 0 ? 1 + below(random, 40) : 1ULL << below(random, 5);
    detail::AxisMap map;
    std::uint64_t count = 1;
    for (std::uint64_t left = 1 + below(random, 6); left > 0; --left) {
      const std::uint64_t most = below(random, 3) == 0 ? 3 : std::min<std::uint64_t>(90, 2000 / count);
      map.axes.push_back({.extent = 1 + below(random, std::max<std::uint64_t>(1, most))});
      count *= map.axes.back().extent;
    }
    const std::uint64_t in_elements = draw_strides(random, true, map.axes, &detail::StridedAxis::in);
    const std::uint64_t out_elements = draw_strides(random, false, map.axes, &detail::StridedAxis::out);
    const auto move = cpu::small_move(detail::normal_form(map).axes, width);
    if (!move) continue;
    ++moved;
    std::vector<std::byte> in(in_elements * width);
    for (std::byte& byte : in) byte = static_cast<std::byte>(random());
    std::vector<std::byte> out(out_elements * width, std::byte{0x5a});
    std::vector<std::byte> wanted = out;
    for (std::uint64_t unit = 0; unit < count; ++unit) {
      std::uint64_t rest = unit;
      std::int64_t from = 0;
      std::int64_t to = 0;
      for (const detail::StridedAxis& axis : map.axes) {
        const auto digit = static_cast<std::int64_t>(rest % axis.extent);
        from += digit * axis.in;
        to += digit * axis.out;
        rest /= axis.extent;
      }
      std::copy_n(in.begin() + from * static_cast<std::int64_t>(width), width,
                  wanted.begin() + to * static_cast<std::int64_t>(width));
    }
    cpu::ReadyMove(*move).run(in.data(), out.data());
    ASSERT_EQ(out, wanted);
  }
  EXPECT_GT(moved, 1500U);
}

TEST(CpuGroup, MovesLargeArraysByAllThreadsBesideSmallOnes) {
  SplitMix64 random{7};
  std::vector<MemberArrays> arrays;
  const Problem large{.permutation = Axes({300, 7, 501}, {2, 0, 1}), .element_bytes = 4};
  const Problem small{.permutation = Axes({9, 10}, {1, 0}), .element_bytes = 4};
  for (int i = 0; i < 50; ++i) arrays.emplace_back(i % 25 == 3 ? large : small, random, 4);
  const Group group = plan_group(members_of(arrays), {.threads = 3});
  group.run();
  for (const MemberArrays& each : arrays) each.expect_moved();
  EXPECT_EQ(group.launches(), 3);  // two by all, one for the others
  const std::string text = group.explain();
  EXPECT_NE(text.find("50 arrays, 2 problems"), std::string::npos) << text;
  EXPECT_NE(text.find("2 arrays by all 3 threads"), std::string::npos) << text;
  EXPECT_GT(group.predicted_us().value_or(0), 0);
}

TEST(CpuGroup, ChangesNumbersOnTheWay) {
  SplitMix64 random{3};
  const auto arithmetic = std::make_shared<const Arithmetic>(
      Arithmetic{.from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}});
  const Problem transposed{.permutation = Axes({30, 50}, {1, 0})};
  std::vector<float> in(1500);
  for (float& number : in) number = static_cast<float>(static_cast<std::int64_t>(random() % 1000)) / 7;
  std::vector<std::uint16_t> out(1500);
  std::vector<std::uint16_t> of_view(1500);
  const Strided view{.extents = {50, 30}, .in_strides = {-1, 50}, .out_strides = {30, 1}, .in_offset = 49};
  const std::vector<GroupMember> members{
      {.problem = transposed, .arithmetic = arithmetic, .in = in.data(), .out = out.data()},
      {.problem = {.view = view}, .arithmetic = arithmetic, .in = in.data(), .out = of_view.data()}};
  const Group group = plan_group(members);
  EXPECT_EQ(group.moved_bytes(), 2 * (1500 * 4 + 1500 * 2));
  group.run();
  const NumberOracle oracle(*arithmetic);
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t c = 0; c < 50; ++c) {
      std::uint16_t wanted = 0;
      oracle.change(reinterpret_cast<const std::byte*>(&in[r * 50 + c]), nullptr, 0, 0,
                    reinterpret_cast<std::byte*>(&wanted));
      ASSERT_EQ(out[c * 30 + r], wanted);
      ASSERT_EQ(of_view[(49 - c) * 30 + r], wanted);
    }
  }
}

TEST(CpuGroup, TakesKeptPlansRowsAndArraysInPlace) {
  std::vector<std::uint32_t> data(1000);
  std::iota(data.begin(), data.end(), 0U);
  std::vector<std::uint32_t> by_index(1000);
  const auto index = Indexed::random(1000, 5);
  const ExecutablePlan kept = plan(Problem{.permutation = index, .element_bytes = 4});
  std::vector<std::int32_t> entries{7, 0, -1, 7};
  std::vector<std::uint32_t> taken(16, 9);
  const ExecutableRows rows = plan_rows(
      Take{.from = RowNumbers(std::span(entries)), .rows = 250, .fill = Fill::zero()}, {.row_bytes = 16});
  std::vector<std::uint32_t> own(12);
  std::iota(own.begin(), own.end(), 0U);
  const std::vector<GroupMember> members{
      {.plan = &kept, .in = data.data(), .out = by_index.data()},
      {.rows = &rows, .in = data.data(), .out = taken.data()},
      {.problem = {.permutation = Axes({3, 4}, {1, 0}), .element_bytes = 4, .placement = Placement::in_place},
       .out = own.data()}};
  const Group group = plan_group(members);
  group.run();
  for (std::uint64_t x = 0; x < 1000; ++x) ASSERT_EQ(by_index[apply(index, x)], x);
  const std::vector<std::uint32_t> wanted{28, 29, 30, 31, 0, 1, 2, 3, 0, 0, 0, 0, 28, 29, 30, 31};
  EXPECT_EQ(taken, wanted);
  for (std::uint32_t i = 0; i < 12; ++i) EXPECT_EQ(own[i], i % 3 * 4 + i / 3);
}

TEST(CpuGroup, CountsFromOffsets) {
  std::vector<std::uint16_t> data(64);
  std::iota(data.begin(), data.end(), std::uint16_t{0});
  std::vector<std::uint16_t> out(64, 0xffff);
  std::vector<GroupMember> members;
  for (std::int64_t layer = 0; layer < 4; ++layer) {
    members.push_back({.problem = {.permutation = Axes({2, 8}, {1, 0}), .element_bytes = 2},
                       .in = data.data() + 32,
                       .out = out.data(),
                       .in_offset_bytes = 32 * (layer - 2),
                       .out_offset_bytes = 32 * (3 - layer)});
  }
  plan_group(members).run();
  for (std::size_t layer = 0; layer < 4; ++layer) {
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(out[16 * (3 - layer) + i % 8 * 2 + i / 8], 16 * layer + i);
    }
  }
}

// --- refusals

const Problem kTransposed{.permutation = Axes({8, 8}, {1, 0}), .element_bytes = 4};

void expect_refusal(const std::function<void()>& call, ErrorCode code, const std::string& words) {
  const std::string message = test::message_of(code, call);
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

void expect_refused(const std::vector<GroupMember>& members, ErrorCode code, const std::string& words,
                    const GroupOptions& options = {}) {
  expect_refusal([&] { static_cast<void>(plan_group(members, options)); }, code, words);
}

TEST(CpuGroup, RefusesOutputsThatOverlapByTheirNumbers) {
  std::vector<std::uint32_t> in(64);
  std::vector<std::uint32_t> out(300, 5);
  const auto member = [&](std::size_t at) {
    return GroupMember{.problem = kTransposed, .in = in.data(), .out = out.data() + at};
  };
  expect_refused({member(0), member(64), member(127)}, ErrorCode::value, "member 2");
  EXPECT_NO_THROW(static_cast<void>(plan_group(std::vector{member(0), member(64), member(128)})));
  // An input of another member.
  expect_refused({member(0), {.problem = kTransposed, .in = out.data() + 10, .out = out.data() + 100}},
                 ErrorCode::value, "the input of member 1");
  // Its own input is the output.
  expect_refused({{.problem = kTransposed, .in = out.data(), .out = out.data()}}, ErrorCode::value,
                 "one array");
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::uint32_t x) { return x == 5; }));
}

TEST(CpuGroup, TellsInterleavedOutputsApart) {
  std::vector<std::uint32_t> in(64);
  std::iota(in.begin(), in.end(), 0U);
  std::vector<std::uint32_t> out(256);
  const auto every = [&](std::size_t step, std::size_t first) {
    return GroupMember{.problem = {.element_bytes = 4,
                                   .view = Strided{.extents = {64},
                                                   .in_strides = {1},
                                                   .out_strides = {static_cast<std::int64_t>(step)}}},
                       .in = in.data(),
                       .out = out.data() + first};
  };
  const std::vector<GroupMember> apart{every(4, 0), every(4, 1), every(4, 2), every(4, 3)};
  plan_group(apart).run();
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], i / 4);
  expect_refused({every(4, 0), every(4, 1), every(2, 1)}, ErrorCode::value, "member 2");
}

TEST(CpuGroup, RefusesWhatIsWrongWithAMember) {
  std::vector<std::uint32_t> in(64);
  std::vector<std::uint32_t> out(64);
  const GroupMember right{.problem = kTransposed, .in = in.data(), .out = out.data()};
  expect_refused({right, {.in = in.data(), .out = out.data()}}, ErrorCode::value, "member 1: nothing");
  const ExecutablePlan kept = plan(kTransposed);
  expect_refused({right, {.problem = kTransposed, .plan = &kept, .in = in.data(), .out = out.data()}},
                 ErrorCode::value, "member 1: more than one");
  expect_refused({right, {.problem = kTransposed, .out = out.data() + 64}}, ErrorCode::value,
                 "member 1: a null input");
  Problem no_width = kTransposed;
  no_width.element_bytes = 0;
  expect_refused({right, {.problem = no_width}}, ErrorCode::value, "member 1: elements of 0 bytes");
  Arithmetic adds;
  adds.addend.emplace();
  expect_refused({{.problem = kTransposed, .arithmetic = std::make_shared<const Arithmetic>(adds)}},
                 ErrorCode::unsupported, "member 0: an addend");
  Problem in_place = kTransposed;
  in_place.placement = Placement::in_place;
  expect_refused({{.problem = in_place, .arithmetic = std::make_shared<const Arithmetic>()}},
                 ErrorCode::unsupported, "in place");
  expect_refused({{.problem = in_place, .in = in.data(), .out = out.data()}}, ErrorCode::value, "two arrays");
}

TEST(CpuGroup, RefusesPointersOfARunBeforeAnythingIsWritten) {
  std::vector<std::uint32_t> in(64, 1);
  std::vector<std::uint32_t> out(128, 5);
  const Group group = plan_group(std::vector<GroupMember>(2, GroupMember{.problem = kTransposed}));
  expect_refusal([&] { group.run(); }, ErrorCode::value, "without pointers");
  const void* const ins[] = {in.data(), in.data()};
  void* const overlapping[] = {out.data(), out.data() + 63};
  expect_refusal([&] { group.run(ins, overlapping); }, ErrorCode::value, "member 1");
  void* const with_null[] = {out.data(), nullptr};
  expect_refusal([&] { group.run(ins, with_null); }, ErrorCode::value, "member 1: a null output");
  expect_refusal([&] { group.run(std::span(ins).first(1), std::span(overlapping).first(1)); },
                 ErrorCode::value, "2 of each");
  expect_refusal([&] { group.run_table(ins); }, ErrorCode::unsupported, "engine cpu");
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::uint32_t x) { return x == 5; }));
  void* const apart[] = {out.data(), out.data() + 64};
  group.run(ins, apart);
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::uint32_t x) { return x == 1; }));
}

TEST(CpuGroup, PlansAHundredThousandArraysOfFewShapesInTime) {
  const std::size_t count = testing::kInstrumented ? 2000 : 100'000;
  std::vector<std::uint16_t> in(16 * count);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i * 7);
  std::vector<std::uint16_t> out(16 * count);
  std::vector<GroupMember> members(count);
  for (std::size_t i = 0; i < count; ++i) {
    members[i] = {.problem = {.permutation = i % 3 == 0   ? Permutation(Axes({2, 8}, {1, 0}))
                                             : i % 3 == 1 ? Permutation(maps::roll(16, 5))
                                                          : Permutation(Axes({4, 4}, {1, 0})),
                              .element_bytes = 2},
                  .in = in.data() + 16 * i,
                  .out = out.data() + 16 * i};
  }
  const double begin = testing::processor_ms();
  const Group group = plan_group(members);
  EXPECT_LT(testing::processor_ms() - begin, testing::kInstrumented ? 10'000 : 1000);
  group.run();
  for (std::size_t i = 0; i < count; i += 997) {
    for (std::uint64_t x = 0; x < 16; ++x)
      ASSERT_EQ(out[16 * i + apply(members[i].problem.permutation, x)], in[16 * i + x]) << i;
  }
  EXPECT_NE(group.explain().find("3 problems"), std::string::npos);
}

TEST(CpuGroup, OfNoMembersDoesNothing) {
  const Group group = plan_group(std::span<const GroupMember>());
  group.run();
  EXPECT_EQ(group.size(), 0);
  EXPECT_EQ(group.launches(), 0);
  EXPECT_EQ(group.moved_bytes(), 0);
}

}  // namespace cpu_group_test
}  // namespace faro
