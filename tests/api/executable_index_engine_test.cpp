// faro::plan on index arrays, rolls and permutations of axes, as a user calls it: what is recognised is run
// as that, every method gives the oracle's result, schedules are saved and used again, and bad requests are
// refused before anything is written.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "engines/cpu.hpp"
#include "faro/faro.hpp"
#include "oracle.hpp"
#include "own_cache_support.hpp"
#include "refusal.hpp"

namespace executable_index_engine_test {

using namespace faro;
namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  std::uint64_t state = count + 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

// Runs the plan and holds every element against the problem as it was given.
void expect_right(const Problem& problem, const ExecutablePlan& plan) {
  const std::uint64_t bytes = total_bytes(problem);
  const std::vector<std::byte> in = bytes_of(bytes);
  std::vector<std::byte> out(bytes, std::byte{0xa5});
  plan.run(in.data(), out.data(), bytes);
  const auto mismatch = find_mismatch(problem, in.data(), out.data());
  EXPECT_FALSE(mismatch.has_value()) << to_text(problem.permutation) << " of " << problem.element_bytes
                                     << " bytes: " << to_text(*mismatch) << "\n"
                                     << plan.explain();
  EXPECT_EQ(plan.workspace_bytes(), plan.plan().workspace_bytes()) << plan.explain();
}

Indexed array_of(const Permutation& permutation, Direction direction) {
  std::vector<std::uint32_t> entries(element_count(permutation));
  for (std::uint64_t x = 0; x < entries.size(); ++x) {
    entries[x] = static_cast<std::uint32_t>(apply(permutation, x));
  }
  const Indexed scatter(std::move(entries), Direction::scatter);
  return direction == Direction::scatter ? scatter : scatter.redirected(Direction::gather);
}

Indexed with_two_swapped(const Indexed& indexed) {
  std::vector<std::uint32_t> entries(indexed.entries32().begin(), indexed.entries32().end());
  std::swap(entries[entries.size() / 3], entries[entries.size() / 2]);
  return {std::move(entries), indexed.direction()};
}

using test::report_of;

class ExecutableIndexPlan : public faro::testing::OwnCacheTest {};

TEST_F(ExecutableIndexPlan, ByHand) {
  const std::vector<char> in{'a', 'b', 'c', 'd'};
  std::vector<char> out(4);
  const std::vector<std::uint32_t> indices{2, 0, 3, 1};
  plan({.permutation = Indexed(indices, Direction::scatter), .element_bytes = 1}).run<char>(in, out);
  EXPECT_EQ(std::string(out.begin(), out.end()), "bdac");  // out[2] = a, out[0] = b, …
  plan({.permutation = Indexed(indices, Direction::gather), .element_bytes = 1}).run<char>(in, out);
  EXPECT_EQ(std::string(out.begin(), out.end()), "cadb");  // out[0] = in[2], …
}

TEST_F(ExecutableIndexPlan, WhatIsRecognisedIsRunAsThat) {
  struct Case {
    Permutation permutation;
    std::uint64_t element_bytes;
    Family family;
    std::string method;  // of the index plan; empty: an affine plan
  };
  const std::vector<Case> table{{maps::bit_reversal(10), 4, Family::affine, ""},
                                {maps::bit_reversal(10), 12, Family::affine, "direct"},
                                {maps::transpose(32, 32), 12, Family::affine, "axes"},
                                {maps::gray(10), 12, Family::affine, "direct"},
                                {Affine(10), 8, Family::identity, ""},
                                {Affine(10), 12, Family::identity, "cyclic"},
                                {Affine(10), 24, Family::identity, "cyclic"},
                                {maps::roll(1000, 0), 4, Family::identity, "cyclic"},
                                {maps::roll(1000, 3), 4, Family::cyclic, "cyclic"},
                                {maps::roll(1024, -5), 12, Family::cyclic, "cyclic"},
                                {maps::flip(1001), 2, Family::cyclic, "cyclic"},
                                {maps::transpose_any(30, 50), 4, Family::axes, "axes"},
                                {Axes({3, 5, 7, 2}, {2, 0, 3, 1}), 3, Family::axes, "axes"}};
  for (const Case& c : table) {
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      const Indexed indexed = array_of(c.permutation, direction);
      const Problem problem{.permutation = indexed, .element_bytes = c.element_bytes, .batch = 2};
      const ExecutablePlan made = plan(problem);
      SCOPED_TRACE(to_text(c.permutation) + ", " + name(direction));
      expect_right(problem, made);
      ASSERT_NE(made.plan().recognition(), nullptr);
      EXPECT_EQ(made.plan().recognition()->family, c.family);
      const IndexCandidate* const way = made.plan().way();
      ASSERT_EQ(way != nullptr, !c.method.empty());
      if (way != nullptr) {
        EXPECT_EQ(name(way->method), c.method);
      }
      EXPECT_NE(made.explain().find(std::string("recognised    ") + name(c.family)), std::string::npos)
          << made.explain();

      const Problem changed{.permutation = with_two_swapped(indexed), .element_bytes = c.element_bytes};
      const ExecutablePlan other = plan(changed);
      EXPECT_NE(other.plan().recognition()->family, c.family);
      expect_right(changed, other);
    }
  }
}

TEST_F(ExecutableIndexPlan, EveryMethodGivesTheOraclesResult) {
  std::vector<std::uint32_t> local(5000);
  std::iota(local.begin(), local.end(), 0U);
  for (std::size_t i = 0; i + 7 < local.size(); i += 7) std::swap(local[i], local[i + 6]);
  std::vector<std::uint32_t> blocks(4800);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) blocks[i] = (i / 48 * 37 % 100) * 48 + i % 48;
  struct Case {
    Indexed indexed;
    IndexChoice choice;
  };
  const std::vector<Case> table{{Indexed::random(5000, 1), {.method = IndexMethod::direct}},
                                {Indexed::random(5000, 2), {.method = IndexMethod::partition}},
                                {Indexed::random(5000, 3), {.chunk_bits = 9}},
                                {Indexed::random(5000, 4), {.chunk_bits = 5, .level_bits = {3, 3, 2}}},
                                {Indexed::random(4800, 5), {.method = IndexMethod::row_column}},
                                {Indexed::random(4800, 6), {.method = IndexMethod::row_column_5}},
                                {Indexed(local, Direction::scatter), {.method = IndexMethod::window}},
                                {Indexed(blocks, Direction::scatter), {.method = IndexMethod::runs}}};
  for (const Case& c : table) {
    for (const Indexed& indexed : {c.indexed, c.indexed.inverse()}) {
      for (const std::uint64_t width : {1, 3, 4, 12, 16, 64}) {
        const Problem problem{.permutation = indexed, .element_bytes = width, .batch = 2};
        const ExecutablePlan made = plan(problem, {.index_choice = c.choice});
        ASSERT_NE(made.plan().index_plan(), nullptr);
        const IndexCandidate& chosen = made.plan().index_plan()->chosen();
        EXPECT_EQ(chosen.method, c.choice.method.value_or(IndexMethod::partition));
        if (!c.choice.level_bits.empty()) {
          EXPECT_EQ(chosen.shape->level_bits, c.choice.level_bits);
        }
        expect_right(problem, made);
      }
    }
  }
}

TEST_F(ExecutableIndexPlan, AnyCountWidthAndBatch) {
  for (const std::uint64_t count : {0, 1, 2, 3, 63, 64, 1000, 70000}) {
    for (const std::uint64_t width : {1, 2, 4, 8, 10, 16, 4096}) {
      if (count * width > (1U << 22)) continue;
      for (const std::uint64_t batch : {0, 1, 3}) {
        for (const Indexed& indexed :
             {Indexed::random(count, count + width), Indexed::random(count, count).inverse()}) {
          const Problem problem{.permutation = indexed, .element_bytes = width, .batch = batch};
          expect_right(problem, plan(problem));
        }
      }
    }
  }
}

TEST_F(ExecutableIndexPlan, FormsWithoutAnArrayNeedNone) {
  for (const std::uint64_t width : {1, 4, 12}) {
    for (const Permutation& permutation :
         {Permutation(maps::roll(12345, 77)), Permutation(maps::flip(999)),
          Permutation(maps::transpose_any(123, 45)), Permutation(Axes({0}, {0}))}) {
      const Problem problem{.permutation = permutation, .element_bytes = width, .batch = 2};
      const ExecutablePlan made = plan(problem);
      expect_right(problem, made);
      EXPECT_EQ(made.schedule(), nullptr);
      EXPECT_EQ(made.plan().recognition(), nullptr);
      EXPECT_EQ(made.plan().passes().size(), made.plan().array_bytes() == 0 ? 0U : 1U);
      EXPECT_EQ(report_of([&] { made.save(directory_ / "none"); }).code, ErrorCode::unsupported);
      EXPECT_NE(made.plan().svg().find("<svg"), std::string::npos);  // of its box, where it has one
    }
  }
}

TEST_F(ExecutableIndexPlan, SavedSchedulesServeBothDirectionsAndAnyWidth) {
  const fs::path path = directory_ / "p.plan";
  const Indexed indexed = Indexed::random(20000, 9);
  for (const IndexChoice& choice :
       {IndexChoice{.chunk_bits = 8}, IndexChoice{.method = IndexMethod::direct}}) {
    plan({.permutation = indexed, .element_bytes = 4}, {.index_choice = choice}).save(path);
    const auto loaded = std::make_shared<const schedule::IndexSchedule>(schedule::load(path));
    for (const Indexed& of : {indexed, indexed.inverse()}) {
      for (const std::uint64_t width : {1, 4, 6, 32}) {
        const Problem problem{.permutation = of, .element_bytes = width, .batch = 3};
        const ExecutablePlan made = plan(problem, {.index_schedule = loaded});
        expect_right(problem, made);
        EXPECT_EQ(made.plan().index_plan()->chosen().method, choice.method.value_or(IndexMethod::partition));
      }
    }
    const auto refused = [&](const Problem& problem, PlanOptions options) {
      options.index_schedule = loaded;
      return report_of([&] { plan(problem, options); });
    };
    EXPECT_EQ(refused({.permutation = Indexed::random(20001, 9), .element_bytes = 4}, {}).got,
              "a schedule of 20000 elements");
    EXPECT_NE(
        refused({.permutation = Indexed::random(20000, 8), .element_bytes = 4}, {}).got.find("fingerprint"),
        std::string::npos);
    EXPECT_EQ(refused({.permutation = maps::roll(20000, 1), .element_bytes = 4}, {}).code, ErrorCode::value);
    EXPECT_EQ(refused({.permutation = indexed, .element_bytes = 4}, {.index_choice = {.chunk_bits = 9}}).code,
              ErrorCode::value);
  }
}

// Two entries exchanged, and the fingerprint made good: the entries are compared, of every kind of schedule.
TEST_F(ExecutableIndexPlan, SchedulesOfOtherEntriesAreRefused) {
  std::vector<std::uint32_t> entries(4096);
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] = (i ^ 5) < entries.size() ? i ^ 5 : i;
  std::swap(entries[100], entries[130]);
  std::vector<std::uint32_t> exchanged = entries;
  std::swap(exchanged[7], exchanged[20]);
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    const Indexed wanted(entries, direction);
    const Indexed other(exchanged, direction);
    for (const IndexMethod method :
         {IndexMethod::direct, IndexMethod::window, IndexMethod::partition, IndexMethod::row_column}) {
      const auto schedule_of = [&](const Indexed& indexed) {
        const auto made =
            plan({.permutation = indexed, .element_bytes = 4}, {.index_choice = {.method = method}});
        return *made.schedule();
      };
      const auto planned_by = [&](schedule::IndexSchedule kept, const Indexed& indexed) {
        PlanOptions options;
        options.index_schedule = std::make_shared<const schedule::IndexSchedule>(std::move(kept));
        return report_of([&] { plan({.permutation = indexed, .element_bytes = 4}, options); });
      };
      schedule::IndexSchedule forged = schedule_of(other);
      forged.fingerprint = schedule::fingerprint(wanted);
      EXPECT_EQ(planned_by(forged, wanted).code, ErrorCode::verification) << name(method);
      EXPECT_EQ(planned_by(forged, wanted.inverse()).code, ErrorCode::verification) << name(method);
      PlanOptions options;
      options.index_schedule = std::make_shared<const schedule::IndexSchedule>(schedule_of(wanted));
      EXPECT_NO_THROW(plan({.permutation = wanted, .element_bytes = 4}, options)) << name(method);
      EXPECT_NO_THROW(plan({.permutation = wanted.inverse(), .element_bytes = 4}, options)) << name(method);
    }
  }
}

TEST_F(ExecutableIndexPlan, LentWorkspaceIsUsedAndChecked) {
  const Problem problem{.permutation = Indexed::random(40000, 3), .element_bytes = 4};
  const ExecutablePlan made = plan(problem, {.index_choice = {.chunk_bits = 8, .level_bits = {4, 4}}});
  const std::uint64_t bytes = total_bytes(problem);
  const std::uint64_t needed = made.workspace_bytes();
  ASSERT_GE(needed, bytes);
  const std::vector<std::byte> in = bytes_of(bytes);
  std::vector<std::byte> out(bytes);
  std::vector<std::byte> workspace(needed + 1, std::byte{7});
  made.run(in.data(), out.data(), bytes, {.data = workspace.data(), .bytes = needed}, {});
  EXPECT_FALSE(find_mismatch(problem, in.data(), out.data()).has_value());
  EXPECT_EQ(workspace.back(), std::byte{7});

  const std::vector<std::byte> before = out;
  const auto refused = [&](Workspace lent) {
    return report_of([&] { made.run(in.data(), out.data(), bytes, lent, {}); }).code;
  };
  EXPECT_EQ(refused({.data = workspace.data(), .bytes = needed - 1}), ErrorCode::value);
  EXPECT_EQ(refused({.data = nullptr, .bytes = needed}), ErrorCode::value);
  EXPECT_EQ(refused({.data = out.data() + 4, .bytes = needed}), ErrorCode::value);
  EXPECT_EQ(refused({.data = const_cast<std::byte*>(in.data()), .bytes = needed}), ErrorCode::value);
  EXPECT_EQ(out, before);

  // Where none is needed none is looked at.
  const Problem affine{.permutation = maps::gray(10), .element_bytes = 4};
  std::vector<std::uint32_t> a(1024), b(1024);
  plan(affine).run(a.data(), b.data(), 4096, {}, {});
}

TEST_F(ExecutableIndexPlan, RunsFromManyThreads) {
  const Problem problem{.permutation = Indexed::random(30000, 5), .element_bytes = 4};
  const ExecutablePlan made = plan(problem, {.index_choice = {.chunk_bits = 8}});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_right(problem, made); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ExecutableIndexPlan, RefusesByName) {
  const Indexed indexed = Indexed::random(1000, 1);
  const auto code = [](const Problem& problem, const PlanOptions& options = {}) {
    return report_of([&] { plan(problem, options); }).code;
  };
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 0}), ErrorCode::value);
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 4097}), ErrorCode::value);
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 4, .batch = std::uint64_t{1} << 60}),
            ErrorCode::value);
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 4, .placement = Placement::in_place}),
            ErrorCode::unsupported);
  EXPECT_EQ(code({.permutation = maps::gray(4), .element_bytes = 12}), ErrorCode::value);
  EXPECT_EQ(code({.permutation = Indexed::random(20000, 1), .element_bytes = 4},
                 {.index_choice = {.method = IndexMethod::window}}),
            ErrorCode::unsupported);
  EXPECT_EQ(
      code({.permutation = indexed, .element_bytes = 4}, {.index_choice = {.method = IndexMethod::runs}}),
      ErrorCode::unsupported);
  EXPECT_EQ(
      code({.permutation = indexed, .element_bytes = 4}, {.index_choice = {.method = IndexMethod::axes}}),
      ErrorCode::unsupported);
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 4}, {.index_choice = {.chunk_bits = 17}}),
            ErrorCode::value);
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 4},
                 {.index_choice = {.chunk_bits = 2, .level_bits = {1}}}),
            ErrorCode::value);
  EXPECT_EQ(code({.permutation = indexed, .element_bytes = 4},
                 {.index_choice = {.method = IndexMethod::direct, .chunk_bits = 8}}),
            ErrorCode::value);
  EXPECT_EQ(code({.permutation = maps::gray(4), .element_bytes = 4},
                 {.index_choice = {.method = IndexMethod::direct}}),
            ErrorCode::unsupported);
  EXPECT_EQ(code({.permutation = maps::roll(9, 1), .element_bytes = 4},
                 {.index_choice = {.method = IndexMethod::direct}}),
            ErrorCode::unsupported);
  // A prime is no matrix.
  EXPECT_EQ(code({.permutation = Indexed::random(131101, 1), .element_bytes = 4},
                 {.index_choice = {.method = IndexMethod::row_column}}),
            ErrorCode::unsupported);

  const int there = 0;
  const Indexed on_device =
      Indexed::on_device(&there, 1000, {.bytes = 4, .is_signed = false}, Direction::scatter, 0, nullptr);
  EXPECT_EQ(code({.permutation = on_device, .element_bytes = 4}, {.engine = Engine::cpu}), ErrorCode::value);
  EXPECT_EQ(code({.permutation = on_device, .element_bytes = 4}, {.engine = Engine::cuda, .device = 1}),
            ErrorCode::value);
  EXPECT_EQ(report_of([&] { Plan({.permutation = on_device, .element_bytes = 4}, cpu::target()); }).code,
            ErrorCode::value);

  const ExecutablePlan made = plan({.permutation = indexed, .element_bytes = 4});
  std::vector<std::uint32_t> in(1000), out(1000, 1);
  EXPECT_EQ(report_of([&] { made.run(in.data(), out.data(), 3996); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([&] { made.run(in.data(), in.data(), 4000); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([&] { made.with_map("v"); }).code, ErrorCode::unsupported);
  EXPECT_EQ(out, std::vector<std::uint32_t>(1000, 1));
}

TEST_F(ExecutableIndexPlan, PlanOnlyDecidesTheSame) {
  for (const std::uint64_t count : {1000, 1024, 100000}) {
    const Problem problem{.permutation = Indexed::random(count, 1), .element_bytes = 4};
    EXPECT_EQ(plan_only(problem).explain(), plan(problem).explain());
  }
}

}  // namespace executable_index_engine_test
