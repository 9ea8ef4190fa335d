// The CPU engine for axes, rolls and flips, and its calibration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "cpu_index_support.hpp"

namespace faro {
namespace cpu_index_maps_engine_test {

using testing::expect_run;
using testing::Numbers;
using testing::Places;
using testing::plan_of;
using testing::Stores;

template <typename Map>
void expect_map(const Map& map, std::uint64_t count, const Places& p, const std::string& what) {
  const cpu::Executor executor(plan_of(map, p));
  EXPECT_EQ(executor.schedule(), nullptr);
  const std::uint64_t width = p.element_bytes;
  expect_run(
      executor, count * width, p,
      [&](const std::byte* in, std::byte* out) {
        for (std::uint64_t x = 0; x < count; ++x) std::memcpy(out + map(x) * width, in + x * width, width);
      },
      what);
}

TEST(CpuIndexEngine, RollsAndFlips) {
  for (const std::uint64_t count : Numbers{1, 2, 3, 15, 16, 17, 64, 1000, 4099}) {
    for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}, count / 3, count - 1}) {
      if (shift >= count) continue;
      for (const bool reversed : {false, true}) {
        const Cyclic cyclic{.count = count, .shift = shift, .reversed = reversed};
        const std::string what =
            (reversed ? "flip " : "roll ") + std::to_string(count) + ", " + std::to_string(shift);
        for (const std::uint64_t width : Numbers{1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 4096}) {
          if (count * width > (std::uint64_t{1} << 20)) continue;
          const Stores stores = width % 2 == count % 2 ? Stores::cached : Stores::streamed;
          expect_map(cyclic, count,
                     {.element_bytes = width, .batch = 2, .stores = stores, .out_offset = count % 64}, what);
        }
      }
    }
  }
  const Cyclic large{.count = 300'007, .shift = 1234, .reversed = true};
  for (const int threads : {2, 4}) {
    expect_map(large, large.count, {.batch = 2, .threads = threads, .stores = Stores::streamed}, "flip");
    expect_map(Cyclic{.count = 300'007, .shift = 1234, .reversed = false}, large.count,
               {.batch = 2, .threads = threads, .stores = Stores::streamed}, "roll");
  }
}

// Every order of the axes of many shapes: extents of a few elements, of more than a box, and primes.
TEST(CpuIndexEngine, Axes) {
  const std::vector<std::vector<std::uint64_t>> shapes{
      {3, 5},         {200, 300},         {3, 5000},      {5000, 3},    {129, 65},
      {7, 11, 13},    {2, 90, 70},        {64, 3, 64},    {2, 3, 5, 7}, {4, 65, 2, 9},
      {33, 2, 2, 40}, {2, 2, 2, 2, 2, 2}, {3, 4, 1, 5, 6}};
  for (const auto& shape : shapes) {
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    int number = 0;
    do {
      const Axes axes(shape, order);
      std::string what = "axes(";
      for (const std::uint64_t extent : axes.shape()) what += std::to_string(extent) + " ";
      what += ";";
      for (const int axis : axes.order()) what += " " + std::to_string(axis);
      ++number;
      if (shape.size() >= 5 && number % 17 != 0) continue;
      if (testing::kInstrumented && number % 5 != 0) continue;
      for (const std::uint64_t width : Numbers{1, 2, 4, 8, 12, 16}) {
        expect_map(axes, axes.count(), {.element_bytes = width, .stores = Stores::cached}, what + ")");
        expect_map(axes, axes.count(),
                   {.element_bytes = width, .batch = 2, .stores = Stores::streamed, .out_offset = 20},
                   what + ")");
      }
      if (HasFailure()) return;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  // Long segments, in pieces and short of one; threads.
  expect_map(Axes({3, 4, 40'000}, {1, 0, 2}), 480'000, {.threads = 4, .stores = Stores::streamed},
             "segments");
  expect_map(Axes({30, 40, 200}, {1, 0, 2}), 240'000, {.threads = 3}, "segments");
  expect_map(Axes({701, 1023}, {1, 0}), std::uint64_t{701} * 1023, {.threads = 4, .stores = Stores::streamed},
             "transpose");
  expect_map(Axes({512, 1024}, {1, 0}), std::uint64_t{512} * 1024, {.threads = 3, .stores = Stores::streamed},
             "transpose");
}

TEST(CpuIndexEngine, EmptyAndSingleMaps) {
  for (const std::uint64_t count : Numbers{0, 1}) {
    expect_map(Cyclic{.count = count, .shift = 0, .reversed = true}, count, {.batch = 3}, "flip");
    expect_map(Axes({count}, {0}), count, {.batch = 3}, "axes");
  }
}

TEST(CpuIndexEngine, TuneMeasuresEveryKernel) {
  const IndexCalibration curves = cpu::tune(1, true);
  EXPECT_FALSE(curves.source.empty());
  for (const IndexKernel kernel :
       {IndexKernel::gather, IndexKernel::scatter, IndexKernel::spread, IndexKernel::collect,
        IndexKernel::place, IndexKernel::pick, IndexKernel::window, IndexKernel::runs, IndexKernel::copy}) {
    const auto few = curves.predict_us(kernel, 4, 1 << 12, 14, 9);
    const auto many = curves.predict_us(kernel, 4, 1 << 22, 14, 9);
    ASSERT_TRUE(few.has_value() && many.has_value()) << name(kernel);
    EXPECT_GT(*few, 0) << name(kernel);
    EXPECT_GT(*many, *few) << name(kernel);
  }
}

}  // namespace cpu_index_maps_engine_test
}  // namespace faro
