// Views as packing and copies of rows: both steps by loops, against the view itself.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "shard/row_copies.hpp"
#include "shard_support.hpp"

namespace faro::detail {
namespace {

using faro::testing::move_by_loops;

constexpr std::uint32_t kUntouched = 0xa5a5a5a5;

void expect_same(const Strided& view, const RowChoice& choice) {
  std::vector<std::uint32_t> in(in_elements(view) + 3);
  std::iota(in.begin(), in.end(), 1);
  std::vector<std::uint32_t> wanted(out_elements(view) + 3, kUntouched);
  std::vector<std::uint32_t> out = wanted;
  move_by_loops(view, in, wanted);
  const std::optional<RowCopies> made = row_copies(view, choice);
  ASSERT_TRUE(made.has_value());
  EXPECT_LE(made->slices.size(), choice.slices);
  std::vector<std::uint32_t> workspace(made->workspace_elements, kUntouched);
  for (const RowCopies::Slice& slice : made->slices) {
    EXPECT_GE(slice.run, choice.least_run);
    const bool is_packed = made->workspace_elements > 0;
    if (is_packed) {
      EXPECT_EQ(slice.from % choice.unit + slice.from_pitch % choice.unit, 0U);
      check(slice.packing);
      move_by_loops(slice.packing, in, workspace);
    }
    const std::vector<std::uint32_t>& from = is_packed ? workspace : in;
    for (std::uint64_t row = 0; row < slice.rows; ++row) {
      for (std::uint64_t i = 0; i < slice.run; ++i)
        out.at(slice.to + row * slice.to_pitch + i) = from.at(slice.from + row * slice.from_pitch + i);
    }
  }
  EXPECT_EQ(out, wanted);
}

TEST(ShardRowCopies, ATransposedSlab) {
  // 30 x 50, the columns 20 to 49 to a peer whose rows have 77 places, from place 5 on.
  const Strided view{
      .extents = {30, 30}, .in_strides = {50, 1}, .out_strides = {1, 77}, .in_offset = 20, .out_offset = 5};
  for (const std::uint64_t slices : {1U, 2U, 7U, 30U})
    expect_same(view, {.slices = slices, .least_run = 30, .unit = 8});
  expect_same(view, {.slices = 1000, .least_run = 1, .unit = 1});
  EXPECT_EQ(row_copies(view, {.slices = 7, .least_run = 30, .unit = 8})->slices.size(), 7U);
  EXPECT_FALSE(row_copies(view, {.least_run = 31}).has_value());
}

TEST(ShardRowCopies, OneRunFlipsAndManyAxes) {
  expect_same(
      {.extents = {6, 7}, .in_strides = {1, 6}, .out_strides = {7, 1}, .in_offset = 2, .out_offset = 9},
      {.slices = 3, .least_run = 7, .unit = 4});
  expect_same({.extents = {40}, .in_strides = {-1}, .out_strides = {1}, .in_offset = 45, .out_offset = 3},
              {.slices = 4, .least_run = 10, .unit = 16});
  // Two axes of rows that continue each other, and two within a row.
  expect_same({.extents = {3, 4, 5, 6}, .in_strides = {1, 3, 72, 12}, .out_strides = {160, 40, 6, 1}},
              {.slices = 2, .least_run = 30, .unit = 8});
  // Rows of two distances.
  EXPECT_FALSE(row_copies({.extents = {3, 4, 5}, .in_strides = {20, 5, 1}, .out_strides = {100, 7, 1}},
                          {.slices = 2, .least_run = 1})
                   .has_value());
  EXPECT_FALSE(row_copies({.extents = {0}, .in_strides = {1}, .out_strides = {1}}, {}).has_value());
}

TEST(ShardRowCopies, RowsThatBothSidesHaveAreCopiedFromTheInput) {
  // Columns 20 to 49 of 30 rows, into rows of 77; a run; single elements.
  const Strided slab{
      .extents = {30, 30}, .in_strides = {50, 1}, .out_strides = {77, 1}, .in_offset = 20, .out_offset = 5};
  const Strided run{.extents = {6, 7}, .in_strides = {7, 1}, .out_strides = {7, 1}, .in_offset = 3};
  for (const Strided& view : {slab, run}) {
    expect_same(view, {.slices = 4, .least_run = 30, .unit = 8});
    EXPECT_EQ(row_copies(view, {.slices = 4, .least_run = 30})->workspace_elements, 0U);
  }
  // Rows of two distances, rows that the input has backwards, and those that go on in the output alone.
  for (const Strided& view :
       {Strided{.extents = {3, 4, 5}, .in_strides = {40, 6, 1}, .out_strides = {20, 5, 1}},
        Strided{.extents = {4, 5}, .in_strides = {-7, 1}, .out_strides = {5, 1}, .in_offset = 21},
        Strided{.extents = {3, 4}, .in_strides = {1, 3}, .out_strides = {4, 1}}}) {
    expect_same(view, {.slices = 2, .least_run = 1, .unit = 1});
    EXPECT_GT(row_copies(view, {.slices = 2, .least_run = 1})->workspace_elements, 0U);
  }
}

TEST(ShardRowCopies, SlabsOfAnyOrder) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::uint64_t> shape(2 + random() % 3);
    for (auto& extent : shape) extent = 1 + random() % 6;
    shape.front() += 1;  // a single element has no rows
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Strided view{.extents = shape,
                 .in_strides = std::vector<std::int64_t>(shape.size()),
                 .out_strides = std::vector<std::int64_t>(shape.size())};
    std::int64_t stride = 1;
    for (std::size_t a = shape.size(); a-- > 0; stride *= static_cast<std::int64_t>(shape[a]))
      view.in_strides[a] = stride;
    stride = 1;
    // One axis of the output is longer than what comes.
    const std::size_t cut = random() % shape.size();
    for (std::size_t b = shape.size(); b-- > 0;) {
      view.out_strides[order[b]] = stride;
      stride *= static_cast<std::int64_t>(shape[order[b]] + (b == cut ? 3 : 0));
    }
    view.out_offset = random() % 9;
    expect_same(view, {.slices = 1 + random() % 4, .least_run = 1, .unit = 1 + random() % 8});
  }
}

}  // namespace
}  // namespace faro::detail
