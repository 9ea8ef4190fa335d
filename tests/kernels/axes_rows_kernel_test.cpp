// Rows that change places whole, on the counting memory: rows of any length anywhere, against the definition;
// whole sectors where rows are made of them.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "affine_kernel_support.hpp"
#include "axes_kernel_support.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_rows.hpp"

namespace faro::kernels {
namespace axes_rows_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;

template <int unit>
AccessCounts run_rows(const StridedAxes& axes, std::uint32_t in_skew, std::uint32_t out_skew,
                      std::mt19937_64& random) {
  SCOPED_TRACE(describe(axes, unit) + ", skews " + std::to_string(in_skew) + " " + std::to_string(out_skew));
  const AxesRowsParams params = make_axes_rows_params(axes, unit, in_skew, out_skew);
  const std::uint64_t blocks = (params.vectors() + kAxesRowsThreads - 1) / kAxesRowsThreads;
  return expect_moved(
      axes, unit,
      {.in_end = params.in.end, .out_end = params.out.end, .in_skew = in_skew, .out_skew = out_skew}, random,
      [&](CountingMemory& memory) {
        memory.run({.blocks = blocks, .threads = kAxesRowsThreads},
                   [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
                     move_axes_rows<unit>(m, params, block, thread);
                   });
      });
}

template <int unit>
void sweep_rows(std::mt19937_64& random) {
  for (const std::uint64_t row : {1U, 2U, 3U, 5U, 16U, 33U, 100U, 1000U}) {
    for (const std::uint64_t batch : {1U, 3U}) {
      const StridedAxes axes = layout::unit_axes(Axes({3, 2, 4}, {1, 2, 0}), row, batch).axes;
      if (row == 1) continue;
      const auto skew = [&] { return static_cast<std::uint32_t>(random() % 16 / unit * unit); };
      run_rows<unit>(axes, skew(), skew(), random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(AxesRowsKernel, RowsOfAllLengthsAnywhere) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 3; ++round) {
    sweep_rows<1>(random);
    sweep_rows<2>(random);
    sweep_rows<4>(random);
    sweep_rows<8>(random);
    sweep_rows<16>(random);
  }
}

TEST(AxesRowsKernel, WholeSectors) {
  std::mt19937_64 random(kSeed);
  const StridedAxes axes = normal({20, 30, 64}, {1, 0, 2});
  const AccessCounts counts = run_rows<4>(axes, 0, 0, random);
  EXPECT_EQ(counts.global_loads.bytes, faro::detail::unit_count(axes) * 4);
  EXPECT_EQ(counts.global_loads.sectors, faro::detail::unit_count(axes) / 8);
  EXPECT_EQ(counts.global_stores.sectors, faro::detail::unit_count(axes) / 8);
  EXPECT_TRUE(axes_rows_suit(axes, 4));
  EXPECT_FALSE(axes_rows_suit(normal({20, 30, 3}, {1, 0, 2}), 4));
  EXPECT_FALSE(axes_rows_suit(normal({20, 30}, {1, 0}), 16));
  EXPECT_TRUE(axes_rows_suit(normal({20, 30}, {0, 1}), 4));
}

TEST(AxesRowsKernel, BeyondThirtyTwoBits) {
  const StridedAxes axes = normal({(1 << 14) + 1, (1 << 13) + 3, 1001}, {1, 0, 2});
  const AxesRowsParams params = make_axes_rows_params(axes, 4, 0, 0);
  const std::uint64_t blocks = (params.vectors() + kAxesRowsThreads - 1) / kAxesRowsThreads;
  for (const std::uint64_t block : {std::uint64_t{0}, blocks / 3, blocks - 2}) {
    CountingMemory memory({});
    memory.add_virtual_input(params.in.end);
    memory.add_virtual_output(params.out.end);
    memory.run(
        {.blocks = 1, .threads = kAxesRowsThreads, .first_block = block},
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) { move_axes_rows<4>(m, params, b, t); });
    EXPECT_EQ(memory.counts().global_stores.bytes, kAxesRowsThreads * kMovedBytes);
  }
  std::mt19937_64 random(kSeed);
  const Axes map({(1 << 14) + 1, (1 << 13) + 3, 1001}, {1, 0, 2});
  for (int sample = 0; sample < 2000; ++sample) {
    const std::uint64_t x = random() % faro::detail::unit_count(axes);
    ASSERT_EQ(axes_rows_piece(params, map(x) * 4).at, x * 4);
  }
}

}  // namespace axes_rows_kernel_test
}  // namespace faro::kernels
