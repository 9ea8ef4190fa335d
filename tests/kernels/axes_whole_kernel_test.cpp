// Small arrays of a batch on the counting memory, held against the definition: whatever the axes, the widths
// and where the arrays begin; and its banks as they were counted beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "axes_kernel_support.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_whole.hpp"
#include "plan/gpu/sweep_phases.hpp"

namespace faro::kernels {
namespace axes_whole_kernel_test {

using machine::CountingMemory;

void run_kernel(CountingMemory& memory, const AxesWholeParams& p, int unit_bytes, std::uint64_t blocks) {
  faro::detail::by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [&](auto constant) {
    constexpr int unit = decltype(constant)::value;
    memory.run(
        {.blocks = blocks, .threads = kWholeThreads},
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) { load_axes_whole<unit>(m, p, b, t); },
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) { store_axes_whole<unit>(m, p, b, t); });
  });
}

// Two to four axes of arrays up to some KiB, in random orders.
StridedAxes random_axes(std::mt19937_64& random) {
  const std::size_t n = 2 + random() % 3;
  std::vector<std::uint64_t> shape{140 + random() % 100};
  std::vector<int> order{0};
  std::vector<int> inner(n);
  std::iota(inner.begin(), inner.end(), 1);
  do {
    std::shuffle(inner.begin(), inner.end(), random);
  } while (std::is_sorted(inner.begin(), inner.end()) || inner.front() == 1);
  order.insert(order.end(), inner.begin(), inner.end());
  const std::uint64_t most = n == 2 ? 40 : n == 3 ? 12 : 6;
  for (std::size_t a = 0; a < n; ++a) shape.push_back(2 + random() % most);
  return normal(shape, order);
}

TEST(AxesWholeKernel, RandomArrays) {
  std::mt19937_64 random(kSeed);
  std::set<std::string> ways;
  std::set<std::uint32_t> pads;
  for (int round = 0; round < 120; ++round) {
    const StridedAxes axes = random_axes(random);
    const int unit_bytes = 1 << random() % 5;
    const auto unit = static_cast<std::uint64_t>(unit_bytes);
    constexpr std::uint32_t tiles[] = {0, 3000, 12000, 32000};
    auto p = make_axes_whole(axes, unit_bytes, {}, tiles[random() % 4]);
    if (!p) continue;  // fewer blocks than are worth it
    ways.insert((p->period_step > 0    ? "period"
                 : p->list_vectors > 0 ? "list"
                                       : "each") +
                std::to_string(unit_bytes));
    pads.insert(p->pad_bits);
    // A few blocks, the first and the last of them; arrays anywhere.
    const std::uint64_t bytes = faro::detail::unit_count(axes) * unit;
    p->in.begin = random() % (32 / unit) * unit % 16;
    p->out.begin = random() % (32 / unit) * unit;
    p->in.end = p->in.begin + bytes;
    p->out.end = p->out.begin + bytes;
    std::vector<std::byte> input(p->in.end + random() % 32);
    for (std::byte& b : input) b = static_cast<std::byte>(random());
    std::vector<std::byte> output(p->out.end + 40, kPoison);
    const std::uint64_t blocks = std::min<std::uint64_t>(p->tiles, 2);
    p->first_tile = random() % 2 == 0 ? 0 : p->tiles - blocks;
    std::vector<std::byte> expected = output;
    const std::vector<std::uint64_t> from = sources(axes);
    const std::uint64_t low = p->first_tile * p->tile_bytes / unit;
    const std::uint64_t high = std::min<std::uint64_t>(from.size(), low + blocks * p->tile_bytes / unit);
    for (std::uint64_t y = low; y < high; ++y) {
      std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(p->in.begin + from[y] * unit), unit,
                  expected.begin() + static_cast<std::ptrdiff_t>(p->out.begin + y * unit));
    }
    CountingMemory memory({.shared_bytes = p->shared_bytes()});
    memory.add_input(input);
    memory.add_output(output);
    run_kernel(memory, *p, unit_bytes, blocks);
    ASSERT_EQ(output, expected) << describe(axes, unit_bytes) << ", round " << round << ", seed " << kSeed;
  }
  for (const char* way :
       {"period1", "period2", "period4", "period8", "period16", "list1", "list2", "each4"}) {
    EXPECT_TRUE(ways.contains(way)) << way;
  }
  EXPECT_GE(pads.size(), 2U);
}

TEST(AxesWholeKernel, LeavesWhatOthersMove) {
  EXPECT_FALSE(make_axes_whole(normal({1000, 30, 10}, {1, 0, 2}), 4));    // no batch
  EXPECT_FALSE(make_axes_whole(normal({1000, 30}, {1, 0}), 4));           // one array
  EXPECT_FALSE(make_axes_whole(normal({1000, 300, 100}, {0, 2, 1}), 4));  // large arrays
  EXPECT_FALSE(make_axes_whole(normal({100, 90, 100}, {0, 2, 1}), 4));    // few blocks
  EXPECT_TRUE(make_axes_whole(normal({200, 90, 100}, {0, 2, 1}), 4));
  EXPECT_TRUE(make_axes_whole(normal({std::uint64_t{1} << 34, 5, 3}, {0, 2, 1}), 4));
}

// The output is written by whole sectors, the input read by them; and as many lanes meet in banks as was
// counted beforehand, which is few.
TEST(AxesWholeKernel, CountsAsItSays) {
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
    int unit_bytes;
    double most_congestion;
  };
  const Case cases[] = {{{90000, 5, 15}, {0, 2, 1}, 4, 4},  {{20000, 40, 60}, {0, 2, 1}, 2, 5},
                        {{90000, 12, 16}, {0, 2, 1}, 2, 5}, {{90000, 12, 16}, {0, 2, 1}, 1, 5},
                        {{9000, 7, 9}, {0, 2, 1}, 8, 3},    {{9000, 12, 10, 10}, {0, 3, 1, 2}, 4, 6},
                        {{20000, 50, 48}, {0, 2, 1}, 4, 5}, {{20000, 35, 48}, {0, 2, 1}, 2, 5},
                        {{2000, 14, 12}, {0, 2, 1}, 16, 3}};
  for (const Case& of : cases) {
    const StridedAxes axes = normal(of.shape, of.order);
    const auto p = make_axes_whole(axes, of.unit_bytes);
    ASSERT_TRUE(p.has_value()) << describe(axes, of.unit_bytes);
    CountingMemory memory({.shared_bytes = p->shared_bytes()});
    memory.add_virtual_input(p->in.end);
    memory.add_virtual_output(p->out.end);
    run_kernel(memory, *p, of.unit_bytes, 2);
    const machine::AccessCounts& counts = memory.counts();
    EXPECT_EQ(p->tile_bytes % 32, 0U);
    EXPECT_EQ(counts.global_loads.sectors, 2 * p->tile_bytes / 32) << describe(axes, of.unit_bytes);
    EXPECT_EQ(counts.global_stores.sectors, 2 * p->tile_bytes / 32) << describe(axes, of.unit_bytes);
    const double seen =
        static_cast<double>(counts.shared_loads.wavefronts) / static_cast<double>(counts.shared_loads.phases);
    const double said = axes_whole_congestion(*p, of.unit_bytes, 1000);
    EXPECT_NEAR(seen, said, 0.1 * said) << describe(axes, of.unit_bytes);
    EXPECT_LE(seen, of.most_congestion) << describe(axes, of.unit_bytes);
    if (std::getenv("FARO_SHOW"))
      printf("%s: %f %f pad %u period %u tile %u\n", describe(axes, of.unit_bytes).c_str(), seen, said,
             p->pad_bits, p->period, p->tile_bytes);
  }
}

}  // namespace axes_whole_kernel_test
}  // namespace faro::kernels
