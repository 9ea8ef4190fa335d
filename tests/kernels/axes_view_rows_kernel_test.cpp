// Rows of strided views on the counting memory, held against the definition; what is not touched stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_view_rows.hpp"
#include "view_oracle.hpp"

namespace faro::kernels {
namespace axes_view_rows_kernel_test {

using layout::StridedAxis;
using machine::CountingMemory;

template <ViewRowsShape shape>
void run_shape(CountingMemory& memory, const ViewRowsParams& p) {
  const auto blocks = (p.vectors() + kViewRowsThreads - 1) / kViewRowsThreads;
  memory.run({.blocks = blocks, .threads = kViewRowsThreads},
             [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
               move_view_rows<shape>(m, p, block, thread);
             });
}

void run_kernel(CountingMemory& memory, const ViewRowsChoice& choice) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((choice.shape == kViewRowsShapes[i] ? run_shape<kViewRowsShapes[i]>(memory, choice.params) : void()),
     ...);
  }
  (std::make_index_sequence<std::size(kViewRowsShapes)>());
}

// Rows of the fastest axis, up to three axes more, gaps, flips and repeats.
TEST(ViewRowsKernel, RandomViews) {
  std::mt19937_64 random(kSeed);
  std::set<std::pair<int, int>> reached;
  for (int round = 0; round < 400; ++round) {
    const int unit_bytes = 1 << random() % 5;
    const auto unit = static_cast<std::size_t>(unit_bytes);
    const std::uint64_t grain = random() % 3 == 0 ? 1 : std::max<std::uint64_t>(1, 16 / unit);
    const auto gap = [&] { return static_cast<std::int64_t>(random() % 4 * grain); };
    std::vector<StridedAxis> axes{
        {.extent = (512 / unit / grain + 1 + random() % 40) * grain, .in = 1, .out = 1}};
    std::int64_t in = static_cast<std::int64_t>(axes.front().extent) + gap();
    std::int64_t out = static_cast<std::int64_t>(axes.front().extent) + gap();
    std::int64_t first = gap();
    const std::int64_t out_first = gap();
    if (random() % 3 == 0) {
      axes.front().in = -1;
      first += static_cast<std::int64_t>(axes.front().extent) - 1;
    }
    const std::size_t n = random() % 4;
    for (std::size_t a = 0; a < n; ++a) {
      StridedAxis axis{.extent = 2 + random() % 4, .in = random() % 5 == 0 ? 0 : in, .out = out};
      const auto extent = static_cast<std::int64_t>(axis.extent);
      if (random() % 4 == 0) {
        axis.in = -axis.in;
        first -= (extent - 1) * axis.in;
      }
      axes.push_back(axis);
      in = in * extent + gap();
      out = out * extent + gap();
    }
    const auto choice = make_view_rows(
        axes, unit_bytes, {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(out_first)});
    ASSERT_TRUE(choice.has_value()) << "seed " << kSeed << ", round " << round;
    reached.insert({choice->shape.access_bytes, choice->shape.reversed_bytes});
    std::vector<std::byte> input(static_cast<std::size_t>(in + first + 64) * unit);
    for (std::byte& b : input) b = static_cast<std::byte>(random());
    std::vector<std::byte> output(static_cast<std::size_t>(out + out_first) * unit, kPoison);
    std::vector<std::byte> expected = output;
    test::for_places(axes, [&](std::int64_t from, std::int64_t to) {
      std::copy_n(input.begin() + (first + from) * unit_bytes, unit,
                  expected.begin() + (out_first + to) * unit_bytes);
    });
    CountingMemory memory({});
    memory.add_input(input);
    memory.add_output(output);
    run_kernel(memory, *choice);
    ASSERT_EQ(output, expected) << "seed " << kSeed << ", round " << round;
  }
  EXPECT_EQ(reached.size(), std::size(kViewRowsShapes));
}

TEST(ViewRowsKernel, LeavesWhatBoxesMove) {
  const ViewFirst none{};
  EXPECT_FALSE(make_view_rows({{100, 7, 1}, {7, 1, 100}}, 4, none));    // the fastest axes differ
  EXPECT_TRUE(make_view_rows({{100, 1, 1}, {7, 108, 100}}, 4, none));   // short rows, in order, at vectors
  EXPECT_FALSE(make_view_rows({{100, 1, 1}, {7, 109, 100}}, 4, none));  // not at vectors
  EXPECT_FALSE(make_view_rows({{100, 1, 1}, {7, 540, 100}, {5, 108, 700}}, 4, none));  // they change places
  EXPECT_FALSE(make_view_rows({{4096, 1, 2}, {7, 8192, 8192}}, 4, none));              // gaps within rows
  EXPECT_FALSE(make_view_rows({{512, 1, 1}, {std::uint64_t{1} << 31, 1024, 512}}, 4, none));
  EXPECT_TRUE(make_view_rows({{512, 1, 1}, {(std::uint64_t{1} << 31) - 1, 1024, 512}}, 4, none));
}

}  // namespace axes_view_rows_kernel_test
}  // namespace faro::kernels
