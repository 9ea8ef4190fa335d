// Plans of transpositions in place: what is one, which way it is taken, what it borrows, and what is refused.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/plan/plan.hpp"
#include "plan/gpu_transpose.hpp"
#include "refusal.hpp"

namespace faro {
namespace transpose_plan_test {

using detail::GpuTranspose;
using detail::GpuTransposeForm;

Problem problem_of(const Permutation& permutation, std::uint64_t element_bytes, std::uint64_t batch = 1) {
  return {.permutation = permutation,
          .element_bytes = element_bytes,
          .batch = batch,
          .placement = Placement::in_place};
}

Target cpu_target() {
  Target target;
  target.threads = 4;
  return target;
}

ErrorCode code_of(const std::function<void()>& action) {
  const ErrorReport report = test::report_of(action);
  EXPECT_FALSE(report.got.empty());
  EXPECT_FALSE(report.wanted.empty());
  return report.code;
}

void expect_rectangle(const Problem& problem, const std::vector<std::uint64_t>& wanted) {
  const std::optional<Rectangle> r = as_transposition(problem);
  ASSERT_TRUE(r.has_value()) << to_text(problem.permutation);
  EXPECT_EQ((std::vector<std::uint64_t>{r->arrays, r->rows, r->columns, r->element_bytes}), wanted)
      << to_text(problem.permutation);
}

TEST(AsTransposition, OfAxes) {
  expect_rectangle(problem_of(Axes({3, 5}, {1, 0}), 4), {1, 3, 5, 4});
  expect_rectangle(problem_of(Axes({3, 5}, {1, 0}), 4, 7), {7, 3, 5, 4});
  expect_rectangle(problem_of(Axes({2, 3, 5}, {0, 2, 1}), 4, 7), {14, 3, 5, 4});
  expect_rectangle(problem_of(Axes({3, 5, 2}, {1, 0, 2}), 4), {1, 3, 5, 8});
  expect_rectangle(problem_of(Axes({6, 3, 5, 2}, {0, 2, 1, 3}), 3), {6, 3, 5, 6});
  expect_rectangle(problem_of(Axes({3, 5, 2}, {1, 2, 0}), 4), {1, 3, 10, 4});
  expect_rectangle(problem_of(Axes({9}, {0}), 4), {1, 1, 9, 4});
  EXPECT_FALSE(as_transposition(problem_of(Axes({2, 3, 5}, {2, 1, 0}), 4)));
}

// By the definition: element (a, i, j, u) goes to (a, j, i, u).
TEST(AsTransposition, OfAffineMaps) {
  int found = 0;
  for (int high = 0; high <= 2; ++high) {
    for (int rows = 1; rows <= 3; ++rows) {
      for (int columns = 1; columns <= 3; ++columns) {
        for (int low = 0; low <= 2; ++low) {
          const auto bit = [](int bits) { return std::uint64_t{1} << bits; };
          const Axes axes({bit(high), bit(rows), bit(columns), bit(low)}, {0, 2, 1, 3});
          const std::optional<Affine> map = affine_form(axes);
          ASSERT_TRUE(map.has_value());
          expect_rectangle(problem_of(*map, 2, 3), {3 * bit(high), bit(rows), bit(columns), 2 * bit(low)});
          ++found;
        }
      }
    }
  }
  EXPECT_EQ(found, 81);
  EXPECT_FALSE(as_transposition(problem_of(maps::bit_reversal(5), 4)));
  EXPECT_FALSE(as_transposition(problem_of(maps::gray(5), 4)));
}

TEST(TransposePlan, OnTheCpu) {
  const TransposePlan plan(problem_of(maps::transpose_any(1000, 3000), 4), cpu_target());
  EXPECT_FALSE(plan.r2c());
  EXPECT_EQ(plan.method(), TransposeMethod::rows_in_memory);
  ASSERT_EQ(plan.passes().size(), 3u);
  EXPECT_EQ(plan.passes()[0].what, "rotate columns");
  EXPECT_EQ(plan.passes()[1].bytes_read, 12'000'000u);
  EXPECT_LE(plan.workspace_bytes(), plan.workers() * 3000 * 4);

  const TransposePlan turned(problem_of(maps::transpose_any(3000, 1000), 4), cpu_target());
  EXPECT_TRUE(turned.r2c());
  EXPECT_EQ(turned.passes()[2].what, "rotate columns");
  EXPECT_EQ(TransposePlan(problem_of(maps::transpose_any(31, 1009), 4), cpu_target()).method(),
            TransposeMethod::narrow);
}

// Panels that are not narrow are not rotated apart.
TEST(TransposePlan, SweepsOnTheCpu) {
  const auto sweeps = [](std::uint64_t rows, std::uint64_t columns) {
    std::vector<std::string> steps;
    const TransposePlan plan(problem_of(maps::transpose_any(rows, columns), 4), cpu_target());
    for (const Pass& sweep : plan.passes()) steps.push_back(sweep.what);
    return steps;
  };
  using Steps = std::vector<std::string>;
  EXPECT_EQ(sweeps(24, 22369620),
            (Steps{"shuffle rows along diagonals, each to where one was before", "shuffle columns"}));
  EXPECT_EQ(sweeps(22369620, 24),
            (Steps{"shuffle columns", "shuffle rows along diagonals, each to where one was before"}));
  EXPECT_EQ(sweeps(5, 1000003), (Steps{"shuffle rows, each to where one was before", "shuffle columns"}));
  EXPECT_EQ(sweeps(1001, 3001), (Steps{"shuffle rows", "shuffle columns"}));
  EXPECT_EQ(sweeps(1002, 3002), (Steps{"shuffle rows along diagonals", "shuffle columns"}));
  EXPECT_EQ(sweeps(1000, 3000), (Steps{"rotate columns", "shuffle rows", "shuffle columns"}));
  EXPECT_EQ(sweeps(300, 300), (Steps{"exchange across the diagonal"}));
}

TEST(TransposePlan, OfNothing) {
  for (const Problem& problem :
       {problem_of(maps::transpose_any(1, 9), 4), problem_of(maps::transpose_any(9, 1), 400),
        problem_of(maps::transpose_any(7, 9), 4, 0)}) {
    for (const Target& target : {cpu_target(), cuda::target_of_capability(9, 0)}) {
      const TransposePlan plan(problem, target);
      EXPECT_TRUE(plan.passes().empty());
      EXPECT_EQ(plan.workspace_bytes(), 0u);
      Problem in_place = problem;
      in_place.placement = Placement::in_place;
      EXPECT_NE(Plan(in_place, target).explain().find("nothing moves"), std::string::npos);
    }
  }
  Problem none = problem_of(maps::transpose_any(0, 4), 4);
  none.placement = Placement::in_place;
  const Plan plan(none, cpu_target());
  EXPECT_EQ(nlohmann::json::parse(plan.explain_json())["permutation"], to_text(none.permutation));
}

TEST(TransposePlan, Refusals) {
  const auto plan = [](const Problem& problem) { return [=] { TransposePlan(problem, cpu_target()); }; };
  EXPECT_EQ(code_of(plan(problem_of(maps::gray(5), 4))), ErrorCode::unsupported);
  EXPECT_EQ(code_of(plan(problem_of(maps::transpose_any(3, 5), 17))), ErrorCode::unsupported);
  EXPECT_EQ(code_of(plan(problem_of(Axes({3, 5, 5}, {1, 0, 2}), 4))), ErrorCode::unsupported);
  EXPECT_EQ(code_of(plan(problem_of(maps::transpose_any(3, 5), 16, std::uint64_t{1} << 60))),
            ErrorCode::value);
}

TEST(TransposePlan, IsExplained) {
  Problem problem = problem_of(maps::transpose_any(20000, 50000), 4);
  problem.placement = Placement::in_place;
  const Plan plan(problem, cuda::target_of_capability(9, 0));
  const auto json = nlohmann::json::parse(plan.explain_json());
  EXPECT_EQ(json["placement"], "in_place");
  EXPECT_EQ(json["elements"], 1'000'000'000u);
  EXPECT_EQ(json["workspace_bytes"], plan.workspace_bytes());
  EXPECT_EQ(json["sweeps"].size(), plan.passes().size());
  EXPECT_EQ(json["direction"], plan.transpose_plan()->r2c() ? "r2c" : "c2r");
}

// The way that shapes of 4 GiB take on an H200, and how little they borrow.
TEST(GpuTransposePlan, ShapesOfFourGibibytes) {
  const detail::GpuTransposeLimits limits = detail::gpu_transpose_limits(cuda::target_of_capability(9, 0));
  struct Case {
    std::uint64_t rows;
    std::uint64_t columns;
    std::uint64_t element_bytes;
    GpuTransposeForm form;
    int sweeps;
  };
  for (const Case& c : {Case{32749, 32771, 4, GpuTransposeForm::long_columns, 2},
                        Case{20011, 53654, 4, GpuTransposeForm::long_columns, 2},
                        Case{10000, 100000, 4, GpuTransposeForm::long_columns, 3},
                        Case{500, 2147483, 4, GpuTransposeForm::long_rows, 2},
                        Case{3, 357913941, 4, GpuTransposeForm::long_rows, 2},
                        Case{357913941, 3, 4, GpuTransposeForm::long_rows, 2},
                        Case{16000, 16777, 16, GpuTransposeForm::huge, 2},
                        Case{92681, 92683, 4, GpuTransposeForm::huge, 2}}) {
    const Rectangle r{.rows = c.rows, .columns = c.columns, .element_bytes = c.element_bytes};
    const GpuTranspose plan = detail::plan_gpu_transpose(r, limits);
    SCOPED_TRACE(std::to_string(c.rows) + " x " + std::to_string(c.columns));
    EXPECT_EQ(plan.form, c.form);
    EXPECT_EQ(plan.sweeps(), c.sweeps);
    EXPECT_LE(plan.workspace_bytes(),
              std::max(r.bytes() / 16, std::max(c.rows, c.columns) * c.element_bytes));
    for (const detail::GpuTransposeLaunch& launch : detail::launches_of(plan)) {
      EXPECT_LE(launch.shared_bytes, limits.shared_bytes);
      EXPECT_LE(launch.blocks_of_array * plan.arrays_at_once, limits.blocks_max);
      EXPECT_GE(launch.threads, 32u);
      EXPECT_LE(launch.threads, 1024u);
    }
  }
}

// Columns of 2^31 elements and more are moved by strips in shared memory, or not at all.
TEST(GpuTransposePlan, RefusesWhatItsKernelsCannotCount) {
  const std::uint64_t rows = (std::uint64_t{1} << 31) + 1;
  const auto plan = [&] {
    detail::plan_gpu_transpose({.rows = rows, .columns = 5000, .element_bytes = 4}, {});
  };
  EXPECT_EQ(code_of(plan), ErrorCode::unsupported);
  EXPECT_EQ(detail::plan_gpu_transpose({.rows = rows, .columns = 5, .element_bytes = 4}, {}).form,
            GpuTransposeForm::long_rows);
}

// Every launch of every shape is one that a device accepts.
TEST(GpuTransposePlan, LaunchesAreWithinADevicesLimits) {
  const detail::GpuTransposeLimits limits = detail::gpu_transpose_limits(cuda::target_of_capability(9, 0));
  for (std::uint64_t width = 1; width <= 16; ++width) {
    for (std::uint64_t rows = 2; rows < 300'000; rows = rows * 3 / 2 + 1) {
      for (std::uint64_t columns = 2; columns < 300'000; columns = columns * 2 + 1) {
        const Rectangle r{.arrays = 3, .rows = rows, .columns = columns, .element_bytes = width};
        const GpuTranspose plan = detail::plan_gpu_transpose(r, limits);
        ASSERT_LE(plan.workspace_bytes(), plan.workers() * std::max(rows, columns) * width);
        for (const detail::GpuTransposeLaunch& launch : detail::launches_of(plan)) {
          const std::size_t kernel = launch.params.index();
          const std::uint32_t most = kernel <= 1 || kernel == 6   ? 1024
                                     : kernel == 3 || kernel == 8 ? 256
                                                                  : 512;
          ASSERT_LE(launch.shared_bytes, limits.shared_bytes) << rows << " x " << columns << " of " << width;
          ASSERT_LE(launch.threads, most) << rows << " x " << columns << " of " << width;
          ASSERT_GE(launch.threads, 1u);
        }
      }
    }
  }
}

}  // namespace transpose_plan_test
}  // namespace faro
