// Transposition in place on the CPU against the loop that defines it: every shape to 64 x 64, every way that
// the work can be shared out, every width, between guard zones.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "engine_support.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/pass_program.hpp"
#include "faro/permutation/axes.hpp"

namespace faro {
namespace cpu_transpose_engine_test {

using cpu::PassSequence;
using detail::cpu_sweeps;
using detail::cpu_transpose_workers;
using detail::kSmallTransposeBytes;
using detail::Panels;
using detail::TransposeWorkers;
using testing::Guarded;
using testing::kInstrumented;
using testing::SplitMix64;

struct Case {
  Rectangle rectangle;
  TransposeWorkers workers;
  std::uint64_t small_bytes = kSmallTransposeBytes;
  std::size_t offset = 0;
};

std::string describe(const Case& c) {
  return std::to_string(c.rectangle.rows) + " x " + std::to_string(c.rectangle.columns) + " of " +
         std::to_string(c.rectangle.element_bytes) + " bytes, " + std::to_string(c.rectangle.arrays) +
         " arrays, " + std::to_string(c.workers.arrays_at_once) + " at once, " +
         std::to_string(c.workers.threads) + " threads" +
         (c.workers.shared_rows ? ", shared rows" : ", own rows") +
         (c.workers.panels == Panels::rotated_apart ? ", panels apart" : "") + ", small up to " +
         std::to_string(c.small_bytes) + ", data + " + std::to_string(c.offset);
}

std::vector<std::byte> draw(std::uint64_t bytes) {
  std::vector<std::byte> drawn(bytes);
  SplitMix64 random{bytes};
  for (std::uint64_t at = 0; at < bytes; at += 8) {
    const std::uint64_t word = random();
    std::memcpy(drawn.data() + at, &word, std::min<std::uint64_t>(8, bytes - at));
  }
  return drawn;
}

// The definition.
std::vector<std::byte> transposed(const Rectangle& r, const std::vector<std::byte>& in) {
  std::vector<std::byte> out(in.size());
  const std::uint64_t width = r.element_bytes;
  for (std::uint64_t array = 0; array < r.arrays; ++array) {
    const std::uint64_t first = array * r.count();
#pragma omp parallel for if (r.bytes() > std::uint64_t{1} << 20)
    for (std::uint64_t j = 0; j < r.columns; ++j) {
      for (std::uint64_t i = 0; i < r.rows; ++i) {
        std::memcpy(out.data() + (first + j * r.rows + i) * width,
                    in.data() + (first + i * r.columns + j) * width, width);
      }
    }
  }
  return out;
}

::testing::AssertionResult holds(const Case& c) {
  const PassSequence program(cpu_sweeps(c.rectangle, c.workers, c.small_bytes));
  const std::vector<std::byte> in = draw(c.rectangle.bytes());
  Guarded data(in.size(), c.offset);
  Guarded workspace(program.workspace_bytes(), 3);
  if (!in.empty()) std::memcpy(data.data(), in.data(), in.size());
  program.run(data.data(), data.data(), program.workspace_bytes() == 0 ? nullptr : workspace.data());
  const std::vector<std::byte> wanted = transposed(c.rectangle, in);
  const auto differs = std::mismatch(wanted.begin(), wanted.end(), data.data()).first - wanted.begin();
  if (static_cast<std::size_t>(differs) != wanted.size()) {
    return ::testing::AssertionFailure()
           << "element " << static_cast<std::uint64_t>(differs) / c.rectangle.element_bytes
           << " is wrong: " << describe(c);
  }
  if (!data.guards_intact()) return ::testing::AssertionFailure() << "written outside: " << describe(c);
  if (!workspace.guards_intact())
    return ::testing::AssertionFailure() << "written outside the workspace: " << describe(c);
  return ::testing::AssertionSuccess();
}

enum class Rows { own, shared };

// Shared out as the test wants it, whatever the size.
Case forced(const Rectangle& r, int threads, Rows rows, Panels panels = Panels::along_diagonals) {
  const std::uint64_t row_bytes = std::max(r.rows, r.columns) * r.element_bytes;
  return {.rectangle = r,
          .workers = {.arrays_at_once = 1,
                      .threads = threads,
                      .shared_rows = rows == Rows::shared,
                      .row_bytes = row_bytes,
                      .panels = std::gcd(r.rows, r.columns) > 1 ? panels : Panels::none},
          .small_bytes = 0};
}

Case as_planned(const Rectangle& r, int threads) {
  return {.rectangle = r, .workers = cpu_transpose_workers(r, threads)};
}

constexpr std::uint64_t kExhaustive = kInstrumented ? 24 : 64;

TEST(CpuTranspose, FourByFiveByHand) {
  std::vector<std::uint16_t> data(12);
  for (std::uint16_t i = 0; i < 12; ++i) data[i] = i;
  Case c = forced({.arrays = 1, .rows = 3, .columns = 4, .element_bytes = 2}, 1, Rows::own);
  std::vector<std::byte> row(c.workers.workspace_bytes());
  auto* const array = reinterpret_cast<std::byte*>(data.data());
  PassSequence(cpu_sweeps(c.rectangle, c.workers, 0)).run(array, array, row.data());
  EXPECT_EQ(data, (std::vector<std::uint16_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

TEST(CpuTranspose, EveryShapeTo64) {
  for (std::uint64_t rows = 1; rows <= kExhaustive; ++rows) {
    for (std::uint64_t columns = 1; columns <= kExhaustive; ++columns) {
      const Rectangle r{.arrays = 1, .rows = rows, .columns = columns, .element_bytes = 4};
      for (const Rows how : {Rows::own, Rows::shared}) {
        ASSERT_TRUE(holds(forced(r, 1, how)));
        if (std::gcd(rows, columns) > 1) {
          ASSERT_TRUE(holds(forced(r, 1, how, Panels::rotated_apart)));
        }
      }
      ASSERT_TRUE(holds(as_planned(r, 2)));
    }
  }
}

TEST(CpuTranspose, EveryShapeTo64OfOtherWidths) {
  for (const std::uint64_t width : {1, 3, 16}) {
    for (std::uint64_t rows = 2; rows <= kExhaustive; rows += width == 1 ? 1 : 3) {
      for (std::uint64_t columns = 2; columns <= kExhaustive; ++columns) {
        const Rectangle r{.arrays = 1, .rows = rows, .columns = columns, .element_bytes = width};
        ASSERT_TRUE(holds(forced(r, 1, rows % 2 == 0 ? Rows::own : Rows::shared,
                                 columns % 4 == 0 ? Panels::rotated_apart : Panels::along_diagonals)));
      }
    }
  }
}

TEST(CpuTranspose, NothingOrOneElement) {
  for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}, {1, 1}, {1, 7}, {7, 1}}) {
    const Rectangle r{.arrays = 3,
                      .rows = static_cast<std::uint64_t>(rows),
                      .columns = static_cast<std::uint64_t>(columns),
                      .element_bytes = 4};
    EXPECT_EQ(cpu_transpose_workers(r, 4).workspace_bytes(), 0U);
    EXPECT_TRUE(holds(as_planned(r, 4)));
  }
  const Rectangle none{.arrays = 0, .rows = 6, .columns = 7, .element_bytes = 4};
  EXPECT_TRUE(holds(as_planned(none, 4)));
}

// Shapes that take every path: strips borrowed and within, runs and walks, common divisors, squares.
const std::vector<std::pair<std::uint64_t, std::uint64_t>> kShapes{
    {2, 3},   {2, 1001}, {3, 999},  {7, 5000},  {31, 1000}, {32, 33},   {33, 32},   {45, 60},
    {97, 89}, {128, 96}, {100, 75}, {300, 301}, {257, 513}, {2000, 37}, {40, 2560}, {120, 121},
};

TEST(CpuTranspose, EveryWidthThreadAndAlignment) {
  std::uint64_t number = 0;
  for (std::uint64_t width = 1; width <= 16; ++width) {
    for (const auto& [rows, columns] : kShapes) {
      const Rectangle r{.arrays = 1 + number % 2, .rows = rows, .columns = columns, .element_bytes = width};
      for (const Rows how : {Rows::own, Rows::shared}) {
        // All threads wait for one another after every shared row, which takes long where cores are few.
        const std::uint64_t most = how == Rows::shared && std::min(rows, columns) > 8 ? 1 : 4;
        Case c = forced(r, static_cast<int>(1 + number % most), how,
                        number % 3 == 0 ? Panels::rotated_apart : Panels::along_diagonals);
        c.offset = number % 7;
        ASSERT_TRUE(holds(c));
        ++number;
      }
    }
  }
}

TEST(CpuTranspose, Batches) {
  for (const std::uint64_t arrays : {1, 2, 5, 64}) {
    for (int threads = 1; threads <= 4; ++threads) {
      for (const auto& [rows, columns] : {std::pair{2, 3}, {16, 16}, {50, 70}, {70, 50}, {90, 90}}) {
        const Rectangle r{.arrays = arrays,
                          .rows = static_cast<std::uint64_t>(rows),
                          .columns = static_cast<std::uint64_t>(columns),
                          .element_bytes = 8};
        ASSERT_TRUE(holds(as_planned(r, threads)));
        Case at_once = forced(r, 1, Rows::own);
        at_once.workers.arrays_at_once = static_cast<std::uint64_t>(threads);
        ASSERT_TRUE(holds(at_once));
      }
    }
  }
}

TEST(CpuTranspose, BackAgainIsTheIdentity) {
  SplitMix64 random{7};
  for (int trial = 0; trial < 20; ++trial) {
    const Rectangle there{.arrays = 1,
                          .rows = 2 + random() % 700,
                          .columns = 2 + random() % 700,
                          .element_bytes = 1 + random() % 16};
    const Rectangle back{
        .arrays = 1, .rows = there.columns, .columns = there.rows, .element_bytes = there.element_bytes};
    const std::vector<std::byte> in = draw(there.bytes());
    std::vector<std::byte> data = in;
    for (const Rectangle& r : {there, back}) {
      const Case c = as_planned(r, 2);
      std::vector<std::byte> workspace(c.workers.workspace_bytes());
      PassSequence(cpu_sweeps(r, c.workers)).run(data.data(), data.data(), workspace.data());
    }
    ASSERT_EQ(data, in) << describe(as_planned(there, 2));
  }
}

TEST(CpuTranspose, LargeShapes) {
  if (kInstrumented) GTEST_SKIP() << "sizes only; every path is taken by smaller shapes";
  // A slender one, an almost square one beyond the second-level cache, powers of two times odd, few rows.
  for (const auto& [rows, columns, width] : {std::tuple{5, 1000003, 4},
                                             {1000003, 29, 4},
                                             {4099, 4093, 2},
                                             {3 * 1024, 5 * 1024, 1},
                                             {20000, 301, 8},
                                             {70, 100000, 12},
                                             {9001, 130, 16}}) {
    const Rectangle r{.arrays = 1,
                      .rows = static_cast<std::uint64_t>(rows),
                      .columns = static_cast<std::uint64_t>(columns),
                      .element_bytes = static_cast<std::uint64_t>(width)};
    ASSERT_TRUE(holds(as_planned(r, 2)));
  }
}

TEST(CpuTranspose, RandomShapes) {
  SplitMix64 random{2026};
  for (int trial = 0; trial < (kInstrumented ? 20 : 150); ++trial) {
    const std::uint64_t limit = std::uint64_t{1} << (10 + random() % (kInstrumented ? 6 : 9));
    const std::uint64_t rows = 2 + random() % std::min<std::uint64_t>(limit / 2, 4000);
    const std::uint64_t columns = std::max<std::uint64_t>(2, limit / rows + random() % 5);
    const Rectangle r{.arrays = 1, .rows = rows, .columns = columns, .element_bytes = 1 + random() % 16};
    ASSERT_TRUE(
        holds(forced(r, static_cast<int>(1 + random() % 4), random() % 2 == 0 ? Rows::own : Rows::shared,
                     random() % 4 == 0 ? Panels::rotated_apart : Panels::along_diagonals)));
    ASSERT_TRUE(holds(as_planned(r, static_cast<int>(1 + random() % 4))));
  }
}

// Arrays of 4 to 64 MiB, of every width, with rows of all magnitudes.
TEST(CpuTranspose, RandomShapesTo64Mebibytes) {
  if (kInstrumented) GTEST_SKIP() << "sizes only; every path is taken by smaller shapes";
  SplitMix64 random{67};
  for (std::uint64_t width = 1; width <= 16; ++width) {
    const std::uint64_t count = (std::uint64_t{1} << (width % 4 == 0 ? 26 : 22 + random() % 3)) / width;
    const std::uint64_t rows = std::min(count / 2, 2 + random() % (std::uint64_t{1} << (1 + random() % 21)));
    const Rectangle r{.arrays = 1, .rows = rows, .columns = count / rows, .element_bytes = width};
    ASSERT_TRUE(holds(as_planned(r, 2)));
  }
}

// By way of a plan, from four threads at once, each with its own array and workspace.
TEST(CpuTranspose, PlansRunFromManyThreadsAtOnce) {
  for (const auto& [rows, columns] : {std::pair{3, 5}, {90, 90}, {120, 75}, {5, 4000}, {700, 900}}) {
    const auto r = static_cast<std::uint64_t>(rows);
    const auto c = static_cast<std::uint64_t>(columns);
    const Problem problem{.permutation = maps::transpose_any(r, c),
                          .element_bytes = 4,
                          .batch = 2,
                          .placement = Placement::in_place};
    const Plan plan(problem, cpu::target(2));
    ASSERT_NE(plan.transpose_plan(), nullptr);
    const Rectangle& rectangle = plan.transpose_plan()->rectangle();
    ASSERT_EQ(rectangle.bytes(), 2 * r * c * 4);
    const cpu::Executor executor(plan);
    ASSERT_EQ(executor.workspace_bytes(), plan.workspace_bytes());
    const std::vector<std::byte> in = draw(rectangle.bytes());
    const std::vector<std::byte> wanted = transposed(rectangle, in);
    std::vector<std::vector<std::byte>> data(4, in);
    std::vector<std::thread> callers;
    callers.reserve(data.size());
    for (std::vector<std::byte>& mine : data) {
      callers.emplace_back([&] {
        std::vector<std::byte> workspace(plan.workspace_bytes());
        executor.run_in_place(mine.data(), workspace.empty() ? nullptr : workspace.data());
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const std::vector<std::byte>& each : data) EXPECT_EQ(each, wanted) << rows << " x " << columns;
  }
}

// What is borrowed is a row a worker and no more, and nothing where no row is needed.
TEST(CpuTranspose, Workspace) {
  for (const auto& [rows, columns] : kShapes) {
    for (const int threads : {1, 2, 64}) {
      const Rectangle r{.arrays = 3, .rows = rows, .columns = columns, .element_bytes = 4};
      const TransposeWorkers workers = cpu_transpose_workers(r, threads);
      EXPECT_LE(workers.workspace_bytes(), std::max(rows, columns) * 4 * static_cast<std::uint64_t>(threads));
      EXPECT_LE(workers.count(), static_cast<std::uint64_t>(threads));
    }
  }
  const auto bytes = [](std::uint64_t rows, std::uint64_t columns) {
    return cpu_transpose_workers({.arrays = 1, .rows = rows, .columns = columns, .element_bytes = 4}, 8)
        .workspace_bytes();
  };
  EXPECT_EQ(bytes(5000, 5000), 0U);
  EXPECT_EQ(bytes(30, 34), 0U);                    // 4080 bytes: by way of the stack
  EXPECT_EQ(bytes(5000, 4000), 8U * 5000 * 4);     // a row for each thread
  EXPECT_EQ(bytes(3, 100000000), 100000000U * 4);  // one for all
  EXPECT_EQ(bytes(100000000, 3), 100000000U * 4);
}

// Every shorter side below 32, with longer ones around its multiples and powers of two, and primes; both
// directions, all widths, batches.
TEST(CpuTranspose, EverySkinnySide) {
  std::uint64_t number = 0;
  for (std::uint64_t m = 2; m < 32; ++m) {
    for (const std::uint64_t times : {std::uint64_t{64}, std::uint64_t{300}}) {
      for (const std::uint64_t n :
           {times * m, times * m - 1, times * m + 2, times * m + m / 2, std::uint64_t{4093}}) {
        const Rectangle r{.arrays = 1 + number % 3 / 2,
                          .rows = number % 2 == 0 ? m : n,
                          .columns = number % 2 == 0 ? n : m,
                          .element_bytes = 1 + number / 2 % 16};
        // Threads that wait for one another after every row take long where cores are few.
        const int threads = m < 6 || number % 16 == 0 ? 3 : 1;
        ASSERT_TRUE(holds(as_planned(r, threads)));
        ASSERT_TRUE(holds(forced(r, threads, number % 4 == 0 ? Rows::own : Rows::shared)));
        ++number;
      }
    }
  }
}

// A skinny array is swept twice whatever its sides have in common, by way of one row for all.
TEST(CpuTranspose, SkinnyArraysAreSweptTwice) {
  for (std::uint64_t m = 2; m < 32; ++m) {
    for (const std::uint64_t n : {m * 100000, m * 100000 + m / 2, m * 100000 + 1}) {
      for (std::uint64_t width = 1; width <= 16; ++width) {
        for (const bool turned : {false, true}) {
          const TransposePlan plan(
              {.permutation = turned ? maps::transpose_any(n, m) : maps::transpose_any(m, n),
               .element_bytes = width,
               .placement = Placement::in_place},
              cpu::target(2));
          ASSERT_EQ(plan.passes().size(), 2U);
          ASSERT_EQ(plan.workspace_bytes(), n * width);
        }
      }
    }
  }
}

// Both kinds of strips, and where one turns into the other.
TEST(CpuTranspose, Strips) {
  const auto strip = [](std::uint64_t m, std::uint64_t n, std::uint64_t width) {
    return detail::choose_strip(
        {.m = m, .panel_columns = n, .element_bytes = width, .memory_bytes = n * width});
  };
  EXPECT_TRUE(strip(100, 10000, 4).borrowed);
  EXPECT_EQ(strip(100, 10000, 4).columns, 100U);  // 10000 elements are 100 columns of 100
  EXPECT_EQ(strip(100, 10000, 2).columns, 64U);   // rotated by registers
  EXPECT_FALSE(strip(1000, 1001, 4).borrowed);
  EXPECT_EQ(strip(1000, 1001, 4).columns, 64U);
  EXPECT_EQ(strip(1000, 1001, 1).columns, 64U);  // rotated by registers
  EXPECT_EQ(strip(1000, 1001, 3).columns, 42U);  // a window of 85 pieces of 85 elements would be too large
  EXPECT_EQ(strip(40, 100000, 4).columns, 40U);  // 128 columns would be three turns of 40 rows
  EXPECT_EQ(strip(5, 100000, 4).columns, 2457U);
  EXPECT_TRUE(strip(20, 21, 4).borrowed);  // fewer rows than a strip's columns
  EXPECT_EQ(strip(20, 21, 4).columns, 1U);
  for (const std::uint64_t m : {2, 5, 64, 1000}) {
    for (std::uint64_t width = 1; width <= 16; ++width) {
      for (const std::uint64_t n : {m + 1, 3 * m, 40 * m, 1000 * m}) {
        const detail::Strip s = strip(m, n, width);
        EXPECT_GE(s.columns, 1U);
        EXPECT_LE(s.borrowed ? s.columns * m : m / 8 / width, n);
      }
    }
  }
}

}  // namespace cpu_transpose_engine_test
}  // namespace faro
