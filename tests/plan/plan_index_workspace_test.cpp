// What a plan of an index array says it is lent, held against what its executor asks for; by hand on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/row_column.hpp"

namespace faro {
namespace plan_index_workspace_test {

struct Asked {
  std::uint64_t width = 4;
  std::uint64_t batch = 1;
  int threads = 1;
};

// The plan's figure, the executor's, and that of what explain() prints.
void expect_agreement(const Permutation& permutation, const IndexChoice& choice, const Asked& asked) {
  const Problem problem{.permutation = permutation, .element_bytes = asked.width, .batch = asked.batch};
  Recognition recognition;
  recognition.permutation = permutation;
  recognition.displacement = 99;
  recognition.runs = 3;
  const Plan made(problem, cpu::target(asked.threads), recognition, choice);
  ASSERT_NE(made.way(), nullptr);
  const cpu::Executor executor(made);
  EXPECT_EQ(made.workspace_bytes(), executor.workspace_bytes())
      << to_text(*made.way()) << ", " << element_count(permutation) << " elements of " << asked.width
      << " bytes, batch " << asked.batch << ", threads " << asked.threads << ", "
      << to_text(permutation).substr(0, 40);
}

IndexChoice of_method(IndexMethod method) { return {.method = method, .chunk_bits = {}, .level_bits = {}}; }

// Blocks of 50 elements shuffled: nothing moves further than 49.
Indexed near(std::uint64_t count) {
  std::vector<std::uint32_t> entries(count);
  for (std::uint32_t i = 0; i < count; ++i) entries[i] = i;
  for (std::size_t begin = 0; begin < count; begin += 50)
    std::reverse(entries.begin() + static_cast<std::ptrdiff_t>(begin),
                 entries.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, begin + 50)));
  return {std::move(entries), Direction::scatter};
}

TEST(IndexWorkspace, PlansAndExecutorsAgree) {
  for (const Asked& asked : {Asked{.width = 1, .batch = 1, .threads = 1},
                             {.width = 4, .batch = 3, .threads = 2},
                             {.width = 12, .batch = 1, .threads = 5},
                             {.width = 64, .batch = 2, .threads = 2},
                             {.width = 4096, .batch = 1, .threads = 3},
                             {.width = 4, .batch = 0, .threads = 2}}) {
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      for (const std::uint64_t count : {1U, 2U, 48U, 4096U, 6000U}) {
        const Indexed array = Indexed::random(count, 1).redirected(direction);
        expect_agreement(array, of_method(IndexMethod::direct), asked);
        for (const IndexMethod method : {IndexMethod::row_column, IndexMethod::row_column_5})
          expect_agreement(array, of_method(method), asked);
        for (const std::vector<int>& levels : {std::vector<int>{}, {3}, {3, 4}, {2, 2, 3}}) {
          if (count < 6000) continue;
          int bits = 13;
          for (const int each : levels) bits -= each;
          expect_agreement(
              array, {.method = IndexMethod::partition, .chunk_bits = bits, .level_bits = levels}, asked);
        }
        const Indexed local = near(count).redirected(direction);
        if (count > 400) expect_agreement(local, of_method(IndexMethod::window), asked);
        expect_agreement(array, of_method(IndexMethod::runs), asked);
        expect_agreement(array, {}, asked);  // whatever is the fastest
      }
    }
    for (const Permutation& map :
         {Permutation(maps::roll(1000, 3)), Permutation(maps::roll(0, 0)), Permutation(maps::flip(1000)),
          Permutation(Cyclic{.count = 1000, .shift = 7, .reversed = true}),
          Permutation(maps::transpose_any(30, 50)), Permutation(maps::transpose_any(3, 5000)),
          Permutation(maps::transpose_any(0, 3)), Permutation(Axes({10, 20, 30}, {2, 0, 1})),
          Permutation(Axes({6, 5, 300}, {1, 0, 2})), Permutation(Axes({7}, {0}))}) {
      const bool is_axes = std::holds_alternative<Axes>(map);
      expect_agreement(map, of_method(is_axes ? IndexMethod::axes : IndexMethod::cyclic), asked);
    }
  }
}

// A chunk that no thread can hold is moved element by element, and needs nothing.
TEST(IndexWorkspace, NothingWhereElementsMoveByThemselves) {
  const Indexed array = Indexed::random(5000, 1);
  const IndexChoice choice{.method = IndexMethod::partition, .chunk_bits = 13, .level_bits = {}};
  expect_agreement(array, choice, {.width = 1024, .threads = 2});
  const IndexPlan plan(
      {.permutation = array, .element_bytes = 1024}, cpu::target(2),
      {.family = Family::general, .permutation = array, .runs = {}, .displacement = {}, .findings = {}},
      choice);
  EXPECT_EQ(plan.workspace_bytes(), 0U);
}

// 20000 elements of 4 bytes in chunks of 2^12, two threads: by hand.
TEST(IndexWorkspace, ByHand) {
  const Indexed array = Indexed::random(20000, 1);
  const Recognition general{
      .family = Family::general, .permutation = array, .runs = {}, .displacement = {}, .findings = {}};
  const Plan plan({.permutation = array, .element_bytes = 4}, cpu::target(2), general,
                  {.method = IndexMethod::partition, .chunk_bits = 12, .level_bits = {2, 1}});
  // A thread: chunk and line 16448, stage 4096, 4 slots of 65: 20804, in pages 24576. Then an array of 80000.
  EXPECT_EQ(plan.workspace_bytes(), 2 * 24576 + 80000 + 4095U);
  EXPECT_NE(plan.explain().find("workspace     130 KiB"), std::string::npos) << plan.explain();
}

TEST(IndexWorkspace, OfAGpuIsOneArrayOrNothing) {
  const Target gpu = cuda::target_of_capability(9, 0);
  const auto workspace = [&](IndexMethod method, std::uint64_t count, std::uint64_t width,
                             Direction direction = Direction::scatter) {
    const Indexed array = Indexed::random(count, 1).redirected(direction);
    const Recognition general{
        .family = Family::general, .permutation = array, .runs = {}, .displacement = {}, .findings = {}};
    return IndexPlan({.permutation = array, .element_bytes = width, .batch = 7}, gpu, general,
                     of_method(method))
        .workspace_bytes();
  };
  EXPECT_EQ(workspace(IndexMethod::direct, 4096, 4), 0U);
  EXPECT_EQ(workspace(IndexMethod::row_column, 4096, 4), 0U);  // rows and columns in place
  EXPECT_EQ(workspace(IndexMethod::row_column_5, 4096, 4), 4 * 4096U);
  // 2^16 elements of 4 KiB are 256 x 256: no row fits, every pass goes somewhere else.
  EXPECT_EQ(workspace(IndexMethod::row_column, 1 << 16, 4096), std::uint64_t{4096} << 16);
  EXPECT_EQ(workspace(IndexMethod::partition, 1 << 16, 4), 0U);  // one level, and the last pass in place
  EXPECT_EQ(workspace(IndexMethod::partition, 1 << 16, 4, Direction::gather), 4U << 16);
}

// The square, or what is nearest to it: against the definition.
TEST(IndexWorkspace, MatrixSides) {
  const auto by_definition = [](std::uint64_t count, std::uint64_t most) {
    std::uint64_t best = 0;
    for (std::uint64_t columns = 1; columns <= std::min(most, count); ++columns) {
      if (count % columns != 0) continue;
      if (best == 0 || std::max(columns, count / columns) <= std::max(best, count / best)) best = columns;
    }
    return best;
  };
  for (const std::uint64_t most : {1U, 2U, 7U, 96U, 1U << 16}) {
    for (std::uint64_t count = 1; count <= 3000; ++count) {
      const schedule::MatrixSides sides = schedule::matrix_sides(count, most);
      ASSERT_EQ(sides.columns, by_definition(count, most)) << count << ", at most " << most;
      ASSERT_EQ(sides.rows * sides.columns, count);
    }
  }
  const std::uint64_t side = 1 << 16;
  EXPECT_EQ(schedule::matrix_sides(side * side).columns, side);
  EXPECT_EQ(schedule::matrix_sides(side * side + 1).columns, 0U);
  EXPECT_EQ(schedule::matrix_sides(65537).columns, 0U);  // a prime
  EXPECT_EQ(schedule::matrix_sides(0).columns, 0U);
  EXPECT_EQ(schedule::matrix_sides(4, 0).columns, 0U);
  EXPECT_EQ(schedule::matrix_sides(side * 3, 2).columns, 0U);  // more rows than places can name
}

}  // namespace plan_index_workspace_test
}  // namespace faro
