// Strided views on a GPU against one obvious loop on the host: flips, slices, broadcasts, padded rows, and
// arrays that begin anywhere. What no index reaches stays as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "gpu/gpu_support.hpp"
#include "view_oracle.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kViewGuard = 256;

class GpuViews : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};

  void check(const Strided& view, std::uint64_t width, std::uint64_t in_skew = 0,
             std::uint64_t out_skew = 0) {
    SCOPED_TRACE(to_text(view) + " of " + std::to_string(width) + " bytes, " + std::to_string(in_skew) +
                 " and " + std::to_string(out_skew) + " bytes past an aligned address");
    const std::uint64_t in_bytes = in_elements(view) * width;
    const std::uint64_t out_bytes = out_elements(view) * width;
    std::vector<std::byte> in(in_bytes + in_skew);
    std::vector<std::byte> out(out_bytes + out_skew + 2 * kViewGuard);
    for (std::byte& b : in) b = static_cast<std::byte>(random());
    for (std::byte& b : out) b = static_cast<std::byte>(random());
    cuda::DeviceArray from(in.size());
    cuda::DeviceArray to(out.size());
    from.upload(in.data());
    to.upload(out.data());
    const ExecutablePlan plan = faro::plan(view, width, {.engine = Engine::cuda});
    plan.run(from.data() + in_skew, in_elements(view), to.data() + kViewGuard + out_skew, out_elements(view));
    test::move_by_loop(view, width, in.data() + in_skew, out.data() + kViewGuard + out_skew);
    std::vector<std::byte> got(out.size());
    to.download(got.data());
    ASSERT_TRUE(got == out);
  }
};

TEST_F(GpuViews, KnownViews) {
  const char* const views[] = {
      "strided(300 400; -400 1; 400 1; 119600 0)",
      "strided(100000; -1; 1; 99999 0)",
      "strided(1000 40; 80 2; 40 1)",
      "strided(500 800; 0 1; 800 1)",
      "strided(70 900; 0 0; 900 1)",
      "strided(400 400; 600 1; 400 1; 601 0)",
      "strided(8000 3; 1 1; 3 1)",
      "strided(400 500; 1 400; 512 1)",
      "strided(1; 1; 1; 5 7)",
      "strided(100000; 1; 1; 3 5)",
      "strided(130 17 190; -3230 190 1; 1 130 2210; 416670 2)",
      "strided(64 320 16; 5120 16 1; 16 1024 1; 0 16)",
      "strided(210 33 2 3; 198 6 3 1; 3 630 21000 1; 0 0)",
      "strided(0 4; 4 1; 4 1)",
      "strided(30000 5 9; 45 9 -1; 45 1 5; 8 0)",  // many small arrays, flipped
      "strided(30000 7 6; 48 6 1; 42 1 7; 3 1)",   // the same in a few more rows
      "strided(30000 8 5; 8 1 0; 40 1 8)",         // a column each, repeated
      "strided(2000 1500; 3001 2; 1500 1)",        // large, with gaps, in the order of the input
      "strided(3001 1005; -2020 -2; 1008 1; 6062008 3)",
      "strided(1200000 3; 1 1; 3 1)",
  };
  for (const char* const view : views) {
    for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 48U}) {
      check(parse_strided(view), width);
      check(parse_strided(view), width, width, width);
      if (HasFailure()) return;
    }
  }
}

TEST_F(GpuViews, RandomViewsWhereverArraysBegin) {
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 1 + random() % 5;
    Strided view{.extents = std::vector<std::uint64_t>(n),
                 .in_strides = std::vector<std::int64_t>(n),
                 .out_strides = std::vector<std::int64_t>(n)};
    std::uint64_t count = 1;
    for (std::uint64_t& extent : view.extents) {
      extent = 1 + random() % std::clamp<std::uint64_t>(400000 / count, 1, 150);
      count *= extent;
    }
    const auto stride_all = [&](std::vector<std::int64_t>& strides, std::uint64_t& offset, bool of_input) {
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), 0U);
      std::shuffle(order.begin(), order.end(), random);
      std::int64_t stride = random() % 5 == 0 ? 2 : 1;
      offset = random() % 3;
      for (const std::size_t a : order) {
        const auto extent = static_cast<std::int64_t>(view.extents[a]);
        strides[a] = of_input && random() % 8 == 0 ? 0 : random() % 4 == 0 ? -stride : stride;
        if (strides[a] < 0) offset += static_cast<std::uint64_t>((extent - 1) * stride);
        stride *= extent + static_cast<std::int64_t>(random() % 3 == 0 ? random() % 4 : 0);
      }
    };
    stride_all(view.in_strides, view.in_offset, true);
    stride_all(view.out_strides, view.out_offset, false);
    constexpr std::uint64_t widths[] = {1, 2, 4, 8, 16, 6};
    const std::uint64_t width = widths[random() % 6];
    const std::uint64_t unit = width == 6 ? 2 : width;
    check(view, width, random() % 16 * unit, random() % 16 * unit);
    if (HasFailure()) FAIL() << "seed " << settings().seed << ", round " << round;
  }
}

TEST_F(GpuViews, HostArraysAreRefused) {
  std::vector<std::byte> host(4000);
  const ExecutablePlan plan =
      faro::plan(parse_strided("strided(10 10; -10 1; 10 1; 90 0)"), 4, {.engine = Engine::cuda});
  EXPECT_THROW(plan.run(host.data(), 100, host.data() + 2000, 100), Error);
}

}  // namespace
}  // namespace faro::testing
