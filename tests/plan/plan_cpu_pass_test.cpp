// A CPU's passes: of every form there are some, they lead from the input to the output, and they say what the
// engine runs. That they move the right bytes is the engine's tests'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan_support.hpp"
#include "tell/counts/line_counts.hpp"
#include "view_oracle.hpp"

namespace faro {
namespace plan_cpu_pass_test {

using detail::CpuPass;
using detail::CpuSweep;
using detail::CpuSweepKind;
using testing::describe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Target machine(int threads = 2) {
  Target target;
  target.engine = Engine::cpu;
  target.threads = threads;
  target.streaming_bytes = std::uint64_t{1} << 20;
  return target;
}

Plan plan_of(const Permutation& permutation, const IndexChoice& choice = {}, std::uint64_t width = 4,
             std::uint64_t batch = 1) {
  const Recognition recognition{.family = Family::general,
                                .permutation = permutation,
                                .runs = 5000,
                                .displacement = 40,
                                .findings = {}};
  return {
      {.permutation = permutation, .element_bytes = width, .batch = batch}, machine(), recognition, choice};
}

Plan in_place(std::uint64_t rows, std::uint64_t columns, std::uint64_t batch = 1) {
  return {{.permutation = maps::transpose_any(rows, columns),
           .element_bytes = 4,
           .batch = batch,
           .placement = Placement::in_place},
          machine()};
}

std::vector<PassKind> kinds_of(const Plan& plan) {
  std::vector<PassKind> kinds;
  for (const Pass& pass : plan.passes()) kinds.push_back(pass.kind);
  return kinds;
}

IndexChoice by(IndexMethod method) { return {.method = method}; }
IndexChoice by_levels(int chunk_bits, std::vector<int> levels) {
  return {.method = IndexMethod::partition, .chunk_bits = chunk_bits, .level_bits = std::move(levels)};
}

std::vector<Plan> plans_of_every_form() {
  const Indexed forwards = Indexed::random(6000, 1).redirected(Direction::scatter);
  const Indexed backwards = forwards.inverse();
  std::vector<Plan> plans{plan_of(maps::transpose_any(300, 700)), plan_of(Axes({6, 5, 300}, {1, 0, 2})),
                          plan_of(maps::roll(1000, 3)), plan_of(maps::flip(1000))};
  for (const Indexed& indexed : {forwards, backwards}) {
    for (const IndexMethod method : {IndexMethod::direct, IndexMethod::window, IndexMethod::runs,
                                     IndexMethod::row_column, IndexMethod::row_column_5}) {
      plans.push_back(plan_of(indexed, by(method)));
    }
    for (const std::uint64_t batch : {1, 500}) {
      plans.push_back(plan_of(indexed, by_levels(13, {}), 4, batch));
      plans.push_back(plan_of(indexed, by_levels(10, {3}), 4, batch));
      plans.push_back(plan_of(indexed, by_levels(6, {4, 3}), 4, batch));
      plans.push_back(plan_of(indexed, by_levels(6, {3, 2, 2}), 4, batch));
    }
  }
  return plans;
}

TEST(PlanCpuPass, KindsOfEveryForm) {
  using enum PassKind;
  const Indexed forwards = Indexed::random(6000, 1).redirected(Direction::scatter);
  const Indexed backwards = forwards.inverse();
  EXPECT_THAT(kinds_of(plan_of(maps::transpose_any(300, 700))), ElementsAre(axes));
  EXPECT_THAT(kinds_of(plan_of(maps::roll(1000, 3))), ElementsAre(cyclic));
  EXPECT_THAT(kinds_of(plan_of(forwards, by(IndexMethod::direct))), ElementsAre(indexed));
  EXPECT_THAT(kinds_of(plan_of(forwards, by(IndexMethod::window))), ElementsAre(window));
  EXPECT_THAT(kinds_of(plan_of(forwards, by(IndexMethod::runs))), ElementsAre(runs));
  EXPECT_THAT(kinds_of(plan_of(forwards, by_levels(6, {4, 3}))), ElementsAre(spread, spread, place));
  EXPECT_THAT(kinds_of(plan_of(backwards, by_levels(6, {4, 3}))), ElementsAre(pick, collect, collect));
  EXPECT_THAT(kinds_of(plan_of(forwards, by(IndexMethod::row_column))), ElementsAre(place, columns, place));
  EXPECT_THAT(kinds_of(plan_of(backwards, by(IndexMethod::row_column_5))),
              ElementsAre(pick, axes, pick, axes, pick));
  // A chunk that no thread can hold is not put together: its elements move one by one.
  EXPECT_THAT(kinds_of(plan_of(forwards, by_levels(11, {2}), 4096)), ElementsAre(indexed));
  EXPECT_THAT(kinds_of(in_place(1000, 3001)), ElementsAre(sweep, sweep));
  EXPECT_TRUE(plan_of(forwards, by(IndexMethod::direct), 4, 0).passes().empty());
  EXPECT_TRUE(plan_of(maps::transpose_any(0, 3), by(IndexMethod::axes)).passes().empty());
}

// Law: a pass reads what the one before it wrote, the last one writes the output, and a workspace is asked
// for whenever one goes through it.
TEST(PlanCpuPass, LeadFromTheInputToTheOutput) {
  bool through_any = false;
  for (const Plan& plan : plans_of_every_form()) {
    SCOPED_TRACE(describe(plan.problem()));
    ASSERT_FALSE(plan.passes().empty());
    PassBuffer at = PassBuffer::input;
    bool through = false;
    for (const Pass& pass : plan.passes()) {
      EXPECT_EQ(pass.source, at);
      EXPECT_EQ(pass.bytes_read, plan.array_bytes());
      EXPECT_EQ(pass.bytes_written, plan.array_bytes());
      EXPECT_EQ(pass.arrays, plan.problem().batch);
      at = pass.target;
      through = through || at == PassBuffer::workspace;
    }
    EXPECT_EQ(at, PassBuffer::output);
    const detail::CpuWorkspace& lent = plan.passes().front().cpu->run.workspace;
    EXPECT_EQ(lent.between_bytes > 0, through);
    EXPECT_EQ(lent.lent_bytes(), plan.workspace_bytes());
    through_any = through_any || through;
  }
  EXPECT_TRUE(through_any);
}

// Law: the tables of all passes are the schedule, and each pass of an index array has its time by curves;
// what others take is counted where it is told.
TEST(PlanCpuPass, TablesAreTheScheduleAndTimesAddUp) {
  for (const Plan& plan : plans_of_every_form()) {
    SCOPED_TRACE(describe(plan.problem()));
    const IndexCandidate& chosen = *plan.way();
    std::uint64_t bytes = 0;
    double us = 0;
    for (const Pass& pass : plan.passes()) {
      for (const PassTable& table : pass.tables) bytes += table.bytes;
      ASSERT_EQ(pass.curve_us.has_value(), std::holds_alternative<Indexed>(plan.problem().permutation));
      us += pass.curve_us.value_or(0);
    }
    EXPECT_EQ(bytes, chosen.schedule_bytes);
    const bool by_curves_of_passes = chosen.method == IndexMethod::partition || plan.passes().size() == 1;
    if (by_curves_of_passes && chosen.curve_us) {
      EXPECT_NEAR(us, *chosen.curve_us, 1e-6 * us);
    }
  }
}

// explain() and its JSON tell every pass in the order in which it is run.
TEST(PlanCpuPass, AreExplained) {
  std::vector<Plan> plans = plans_of_every_form();
  plans.push_back(in_place(1000, 3000));
  plans.push_back(in_place(60, 60));
  plans.emplace_back(
      Problem{.permutation = maps::roll(1000, 3), .element_bytes = 4, .placement = Placement::in_place},
      machine());
  plans.emplace_back(Problem{.permutation = maps::bit_reversal(20), .element_bytes = 4}, machine());
  const Modular product{.count = 100003, .factor = 5077, .shift = 1};
  plans.emplace_back(Problem{.permutation = product, .element_bytes = 4}, machine());
  std::vector<std::uint32_t> entries(product.count);
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<std::uint32_t>(product(i));
  std::swap(entries[10], entries[77777]);
  plans.emplace_back(
      Problem{.permutation = Indexed(std::move(entries), Direction::scatter), .element_bytes = 4}, machine());
  plans.emplace_back(Problem{.permutation = parse_permutation("hilbert(2, 9)"), .element_bytes = 4},
                     machine());
  std::set<std::size_t> loops;
  for (const Plan& plan : plans) {
    const std::string text = plan.explain();
    const std::string json = plan.explain_json();
    std::size_t at = 0;
    for (std::size_t i = 0; i < plan.passes().size(); ++i) {
      const Pass& pass = plan.passes()[i];
      ASSERT_TRUE(pass.team.has_value());
      ASSERT_NE(pass.cpu, nullptr);
      EXPECT_FALSE(pass.launch.has_value());
      loops.insert(pass.cpu->kernel.index());
      at = text.find("pass " + std::to_string(i + 1) + "        " + name(pass.kind), at);
      ASSERT_NE(at, std::string::npos) << text;
      // Long lines are folded: what a kernel's words begin with is on one.
      at = text.find("  kernel      " + pass.team->kernel.substr(0, 30), at);
      ASSERT_NE(at, std::string::npos) << text << pass.team->kernel;
      EXPECT_THAT(json, HasSubstr("\"" + pass.team->kernel + "\""));
    }
  }
  EXPECT_EQ(loops.size(), std::variant_size_v<detail::CpuKernel>) << "a loop that no plan has taken";
}

// What the engine decided by itself once: how many threads, and whether lines are written past the caches.
TEST(PlanCpuPass, TeamsFollowTheBytes) {
  const auto team_of = [](std::uint64_t count, std::uint64_t batch) {
    return *plan_of(maps::roll(count, 3), {}, 4, batch).passes().front().team;
  };
  EXPECT_EQ(team_of(1000, 1).threads, 1);
  EXPECT_EQ(team_of(131'001, 1).threads, 1);
  EXPECT_EQ(team_of(131'073, 1).threads, 2);
  EXPECT_EQ(team_of(1000, 200).threads, 2);
  EXPECT_FALSE(team_of(262'144 - 1, 1).streamed);
  EXPECT_TRUE(team_of(262'144 + 1, 1).streamed);
  // In place lines have just been read, and are written through the caches.
  const Plan affine(
      {.permutation = maps::bit_reversal(20), .element_bytes = 4, .placement = Placement::in_place},
      machine());
  EXPECT_FALSE(affine.passes().front().team->streamed);
  EXPECT_TRUE(std::get<detail::CpuAffine>(affine.passes().front().cpu->kernel).fetches_ahead);
}

TEST(PlanCpuPass, SmallArraysShareAPartitionsPasses) {
  const Indexed indexed = Indexed::random(6000, 1).redirected(Direction::scatter);
  const Plan plan = plan_of(indexed, by_levels(6, {4, 3}), 4, 500);
  // 8 MiB hold 349 arrays of 24000 bytes.
  for (const Pass& pass : plan.passes()) EXPECT_EQ(pass.team->arrays_at_once, 349U);
  EXPECT_THAT(plan.explain(), HasSubstr("349 arrays at a time"));
  const Plan alone = plan_of(indexed, by_levels(10, {3}), 4, 500);
  EXPECT_EQ(alone.passes().front().team->arrays_at_once, 0U) << "nothing lies between passes";
}

// A cut axis is no longer than a run wants by more than half again, or than a whole line asks for: boxes of
// odd extents stay in the second level of a cache.
TEST(PlanCpuPass, BoxesOfOddExtentsAreSmall) {
  const struct {
    std::vector<std::uint64_t> shape;
    std::uint64_t width;
  } cases[] = {{{447, 223, 1342}, 2},     {{27, 27, 27, 27, 27}, 4},
               {{41, 155, 129, 70}, 2},   {{63, 65, 67, 69}, 4},
               {{29, 39, 78, 39, 78}, 2}, {{3, 5, 7, 11, 13, 17, 19, 23}, 4},
               {{53, 997, 1009}, 8},      {{101, 103, 107, 9}, 16},
               {{353, 19, 202, 82}, 1},   {{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 4}};
  for (const auto& one : cases) {
    std::vector<int> order;
    for (std::size_t a = one.shape.size(); a-- > 0;) order.push_back(static_cast<int>(a));
    const Axes axes(one.shape, order);
    const Plan plan({.permutation = axes, .element_bytes = one.width}, machine());
    SCOPED_TRACE(to_text(plan.problem().permutation));
    ASSERT_EQ(plan.passes().size(), 1U);
    const auto& made = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    EXPECT_LE(made.box.elements() * made.box.element_bytes, 800U << 10);
    EXPECT_GE(made.box.elements() * made.box.element_bytes, 8U << 10);
  }
}

// Elements of whole lines go one by one, unless they are so short that their neighbours matter.
TEST(PlanCpuPass, WholeLinesGoOneByOne) {
  const auto goes = [](const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
    const Plan plan({.permutation = Axes(shape, order), .element_bytes = 4}, machine());
    const auto& made = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    EXPECT_EQ(made.move, detail::AxesMove::lines);
    EXPECT_EQ(made.one_by_one, plan.explain().find("one by one") != std::string::npos);
    return made.one_by_one;
  };
  EXPECT_TRUE(goes({75, 96, 40, 48}, {2, 1, 0, 3}));          // 192 bytes
  EXPECT_FALSE(goes({75, 96, 40, 49}, {2, 1, 0, 3}));         // 196
  EXPECT_TRUE(goes({3, 5000, 97, 32}, {0, 2, 1, 3}));         // 128, its neighbours 12 KiB apart
  EXPECT_FALSE(goes({48, 28, 28, 48, 32}, {1, 3, 2, 0, 4}));  // 4.8 MB
  EXPECT_FALSE(goes({75, 96, 80, 16}, {2, 1, 0, 3}));         // 64
}

// Rows that are read backwards do, too, where registers turn them and they are whole lines.
TEST(PlanCpuPass, RowsReadBackwardsGoOneByOne) {
  const auto kernel_of = [](std::int64_t columns, std::uint64_t width) {
    const Strided view{.extents = {300, 400, static_cast<std::uint64_t>(columns)},
                       .in_strides = {400 * columns, columns, -1},
                       .out_strides = {columns, 300 * columns, 1},
                       .in_offset = static_cast<std::uint64_t>(columns - 1)};
    const Plan plan({.element_bytes = width, .view = view}, machine());
    return std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
  };
  EXPECT_TRUE(kernel_of(128, 4).one_by_one);
  EXPECT_TRUE(kernel_of(256, 2).one_by_one);
  EXPECT_FALSE(kernel_of(127, 4).one_by_one);   // no whole lines
  EXPECT_FALSE(kernel_of(64, 12).one_by_one);   // of no register's lanes
  EXPECT_FALSE(kernel_of(4096, 4).one_by_one);  // long enough for boxes
  EXPECT_EQ(kernel_of(128, 4).move, detail::AxesMove::lines);
}

// Lines between rows are fetched with them: a box of padded rows is smaller.
TEST(PlanCpuPass, BoxesOfPaddedRowsFitTheCache) {
  const auto bytes_of = [](std::int64_t pitch) {
    const Strided view{.extents = {60, 60, 96, 96},
                       .in_strides = {96 * pitch, 60 * 96 * pitch, pitch, 1},
                       .out_strides = {60 * 96 * 96, 96 * 96, 1, 96}};
    const Plan plan({.element_bytes = 4, .view = view}, machine());
    const auto kernel = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    EXPECT_EQ(kernel.move, detail::AxesMove::groups);
    return kernel.box.elements() * 4;
  };
  EXPECT_EQ(bytes_of(96), 96U * 96 * 4);
  EXPECT_EQ(bytes_of(128), 96U * 48 * 4);
  EXPECT_EQ(bytes_of(96 + 8), 96U * 96 * 4);  // 39 KiB with all that lies between
}

// One element again and again is written in rows, not turned.
TEST(PlanCpuPass, LongRowsOfOneElement) {
  const auto move_of = [](std::uint64_t columns) {
    const Strided view{.extents = {20000, columns},
                       .in_strides = {1, 0},
                       .out_strides = {static_cast<std::int64_t>(columns), 1}};
    const Plan plan({.element_bytes = 4, .view = view}, machine());
    return std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel).move;
  };
  EXPECT_EQ(move_of(1024), detail::AxesMove::lines);
  EXPECT_EQ(move_of(1023), detail::AxesMove::groups);
}

// Lines of views lie where their elements do, which flips and offsets move: each that is reached is counted,
// and none more often than elements reach it.
TEST(PlanCpuPass, CountsTheLinesOfViews) {
  const auto expect_lines = [](const Strided& view, std::uint64_t width) {
    SCOPED_TRACE(to_text(view) + ", elements of " + std::to_string(width));
    const Plan plan({.element_bytes = width, .view = view}, machine());
    if (!plan.problem().view) return;
    const auto counts = detail::count_lines(plan.passes().front(), nullptr);
    ASSERT_TRUE(counts);
    const Strided normal = normal_form(view);
    for (const bool input : {true, false}) {
      std::set<std::uint64_t> reached;
      std::uint64_t most = 0;
      test::for_places(normal, [&](std::int64_t in, std::int64_t out) {
        const std::int64_t place = input ? in : out;
        const std::uint64_t first = static_cast<std::uint64_t>(place) * width / 64;
        const std::uint64_t last = (static_cast<std::uint64_t>(place + 1) * width - 1) / 64;
        for (std::uint64_t line = first; line <= last; ++line) reached.insert(line);
        most += last - first + 1;
      });
      const detail::SideLines& side = input ? counts->read : counts->written;
      EXPECT_GE(side.lines, reached.size());
      EXPECT_LE(side.lines, most);
    }
  };
  expect_lines(parse_strided("strided(4 6 5; 30 -5 1; 30 5 1; 25 0)"), 4);
  expect_lines(parse_strided("strided(50 16; -16 1; 16 1; 784 3)"), 4);
  std::mt19937_64 random(23);
  for (int trial = 0; trial < 300; ++trial) {
    Strided view;
    std::int64_t in = 1;
    std::int64_t out = 1;
    for (std::size_t rank = 2 + random() % 3; rank > 0; --rank) {
      const std::uint64_t extent = 2 + random() % 9;
      view.extents.push_back(extent);
      view.in_strides.push_back(random() % 2 == 0 ? -in : in);
      if (view.in_strides.back() < 0) view.in_offset += static_cast<std::uint64_t>(in) * (extent - 1);
      view.out_strides.push_back(out);
      in *= static_cast<std::int64_t>(extent + random() % 2);
      out *= static_cast<std::int64_t>(extent + random() % 2);
    }
    view.in_offset += random() % 40;
    view.out_offset += random() % 40;
    expect_lines(view, std::vector<std::uint64_t>{1, 3, 4, 8, 24, 100}[random() % 6]);
  }
  // What it says of the first, whose rows of 20 bytes lie in the first eight lines.
  const Plan plan({.element_bytes = 4, .view = parse_strided("strided(4 6 5; 30 -5 1; 30 5 1; 25 0)")},
                  machine());
  EXPECT_THAT(plan.explain(), HasSubstr("lines       reads "));
  EXPECT_THAT(plan.explain(), Not(HasSubstr("e+")));
}

TEST(PlanCpuPass, SweepsOfEveryKind) {
  const auto kinds = [](const Plan& plan) {
    std::vector<CpuSweepKind> made;
    for (const Pass& pass : plan.passes()) made.push_back(std::get<CpuSweep>(pass.cpu->kernel).kind);
    return made;
  };
  using enum CpuSweepKind;
  EXPECT_THAT(kinds(in_place(30, 34)), ElementsAre(whole));
  EXPECT_THAT(kinds(in_place(500, 500)), ElementsAre(square));
  EXPECT_THAT(kinds(in_place(1000, 3001)), ElementsAre(rows, columns));
  EXPECT_THAT(kinds(in_place(3001, 1000)), ElementsAre(columns, rows));
  EXPECT_THAT(kinds(in_place(3, 1'000'000)), ElementsAre(shared_rows, columns));
  EXPECT_THAT(kinds(in_place(900, 1000)), ElementsAre(panels, rows, columns));
  EXPECT_THAT(kinds(in_place(1000, 900)), ElementsAre(columns, rows, panels));
  // Small arrays of a batch: each thread takes its share of them.
  const Plan batch = in_place(30, 34, 1000);
  EXPECT_EQ(batch.passes().front().team->threads, 2);
  EXPECT_EQ(batch.passes().front().cpu->run.turns_at_once, 2);
  EXPECT_EQ(batch.workspace_bytes(), 0U);
}

}  // namespace plan_cpu_pass_test
}  // namespace faro
