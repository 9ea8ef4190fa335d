// Permutations of axes on a GPU against the definition, between guard zones: shapes of many ranks, every
// width, batches, arrays that begin anywhere, arrays past 2^31 and 2^32 elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kAxesGuard = 256;

struct AxesCase {
  std::vector<std::uint64_t> shape;
  std::vector<int> order;
};

std::string text_of(const AxesCase& c, std::uint64_t width) {
  std::string text = "axes(";
  for (const std::uint64_t e : c.shape) text += std::to_string(e) + " ";
  text += ";";
  for (const int a : c.order) text += " " + std::to_string(a);
  return text + "), " + std::to_string(width) + " bytes";
}

class GpuAxes : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};

  static std::string kernel_of(const AxesCase& c, std::uint64_t width) {
    const Problem problem{.permutation = Axes(c.shape, c.order), .element_bytes = width};
    const Plan plan(problem, cuda::target());
    const auto& launch = plan.passes().front().launch;
    return launch ? launch->kernel : "none";
  }

  // Both arrays begin so many elements' units past an aligned address.
  void check(const AxesCase& c, std::uint64_t width, std::uint64_t batch = 1, std::uint64_t in_offset = 0,
             std::uint64_t out_offset = 0) {
    SCOPED_TRACE(text_of(c, width) + ", batch " + std::to_string(batch) + ", offsets " +
                 std::to_string(in_offset) + " " + std::to_string(out_offset));
    const Axes axes(c.shape, c.order);
    const std::uint64_t bytes = axes.count() * width * batch;
    const ExecutablePlan plan =
        faro::plan({.permutation = axes, .element_bytes = width, .batch = batch}, {.engine = Engine::cuda});
    const cuda::DeviceArray in(bytes + in_offset);
    cuda::DeviceArray out(bytes + out_offset + 2 * kAxesGuard);
    const OwnStream stream;
    draw_bytes(in.data(), in.size(), 3, stream);
    draw_bytes(out.data(), out.size(), 4, stream);
    cuda::DeviceArray guards(kAxesGuard + out_offset + kAxesGuard);
    cuda::copy(out.data(), guards.data(), kAxesGuard + out_offset, stream);
    cuda::copy(out.data() + kAxesGuard + out_offset + bytes, guards.data() + kAxesGuard + out_offset,
               kAxesGuard, stream);
    std::byte* const target = out.data() + kAxesGuard + out_offset;
    plan.run(in.data() + in_offset, target, bytes, stream);
    EXPECT_EQ(misplaced_elements(in.data() + in_offset, target, axes_oracle(c.shape, c.order, width, batch),
                                 stream),
              0u);
    std::vector<std::byte> wanted(guards.size());
    std::vector<std::byte> got(guards.size());
    guards.download(wanted.data());
    cuda::copy(out.data(), guards.data(), kAxesGuard + out_offset, stream);
    cuda::copy(out.data() + kAxesGuard + out_offset + bytes, guards.data() + kAxesGuard + out_offset,
               kAxesGuard, stream);
    stream.wait();
    guards.download(got.data());
    EXPECT_EQ(wanted, got) << "guard zones";
  }
};

TEST_F(GpuAxes, ShapesOfAllRanksAndWidths) {
  const AxesCase cases[] = {
      {{48, 28, 12, 28, 48}, {4, 3, 2, 1, 0}},
      {{15, 32, 15, 15, 32}, {2, 4, 1, 0, 3}},
      {{96, 75, 75, 16}, {3, 2, 1, 0}},
      {{101, 7, 203}, {2, 1, 0}},
      {{3, 5, 7, 11, 13, 17}, {5, 4, 3, 2, 1, 0}},
      {{17, 13, 11, 7, 5, 3}, {1, 4, 0, 3, 5, 2}},
      {{2, 3, 4, 3, 2, 2, 3, 2, 20, 18}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
      {{10, 10, 10, 10, 10}, {3, 1, 4, 0, 2}},
      {{64, 100, 100, 3}, {0, 2, 1, 3}},
      {{27, 27, 27, 27}, {2, 0, 3, 1}},
      {{40, 64, 30, 128}, {0, 2, 1, 3}},
      {{8, 6, 200, 4}, {2, 0, 3, 1}},
  };
  for (const AxesCase& c : cases) {
    for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 48U, 100U}) {
      check(c, width, 1 + random() % 3);
      if (HasFailure()) return;
    }
  }
}

TEST_F(GpuAxes, RandomShapesWhereverArraysBegin) {
  for (int round = 0; round < 300; ++round) {
    AxesCase c;
    const std::size_t n = 2 + random() % 7;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < n; ++a) {
      std::uint64_t extent = 1 + random() % 60;
      if (random() % 2 == 0) extent = (extent + 7) / 8 * 8;
      extent = std::min<std::uint64_t>(extent, std::max<std::uint64_t>(1, 3000000 / count));
      c.shape.push_back(extent);
      count *= extent;
    }
    c.order.resize(n);
    std::iota(c.order.begin(), c.order.end(), 0);
    std::shuffle(c.order.begin(), c.order.end(), random);
    constexpr std::uint64_t widths[] = {1, 2, 4, 8, 16, 6};
    const std::uint64_t width = widths[random() % 6];
    const std::uint64_t unit = width == 6 ? 2 : width;
    const bool aligned = random() % 2 == 0;
    check(c, width, 1 + random() % 2, aligned ? 0 : random() % 16 * unit, aligned ? 0 : random() % 16 * unit);
    if (HasFailure()) FAIL() << "seed " << settings().seed << ", round " << round;
  }
}

// Batches of more units than go one by one, whose arrays a block holds some of, wherever they begin.
TEST_F(GpuAxes, ManySmallArrays) {
  int whole = 0;
  for (int round = 0; round < 120; ++round) {
    const std::size_t n = 2 + random() % 3;
    AxesCase c{.shape = {0}, .order = {0}};
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < n; ++a) {
      c.shape.push_back(2 + random() % (n == 2 ? 70 : n == 3 ? 14 : 7));
      count *= c.shape.back();
    }
    c.shape[0] = 600000 / count + random() % 50;
    std::vector<int> inner(n);
    std::iota(inner.begin(), inner.end(), 1);
    std::shuffle(inner.begin(), inner.end(), random);
    c.order.insert(c.order.end(), inner.begin(), inner.end());
    constexpr std::uint64_t widths[] = {1, 1, 2, 4, 8, 16, 3, 6};
    const std::uint64_t width = widths[random() % 8];
    const std::uint64_t unit = width == 6 ? 2 : width == 3 ? 1 : width;
    const bool aligned = random() % 2 == 0;
    if (kernel_of(c, width).find("axes whole") != std::string::npos) ++whole;
    check(c, width, 1, aligned ? 0 : random() % 16 * unit, aligned ? 0 : random() % 16 * unit);
    if (HasFailure()) FAIL() << "seed " << settings().seed << ", round " << round;
  }
  EXPECT_GE(whole, 60);
}

// ptxas 13.0 encodes a copy to shared memory that has a cache policy, and whose address is a sum of a
// register and a uniform register, as an illegal instruction. Kernels avoid such sums, which arise where
// units are bytes: every kernel that copies so, with addresses that the compiler knows the least and the most
// of.
TEST_F(GpuAxes, CopiesToSharedMemoryOfEveryKernel) {
  struct Form {
    AxesCase axes;
    const char* kernel;
  };
  const Form forms[] = {{{{12000, 12, 16}, {0, 2, 1}}, "axes whole"},
                        {{{4000, 7, 9, 11}, {0, 3, 2, 1}}, "axes whole"},
                        {{{48, 28, 12, 28, 48}, {4, 3, 2, 1, 0}}, "axes box"},
                        {{{33, 35, 9, 37, 41}, {4, 3, 2, 1, 0}}, "axes ragged box"},
                        {{{33, 35, 9, 37, 41}, {2, 0, 4, 1, 3}}, "axes ragged box"},
                        {{{40, 34, 31, 97}, {2, 0, 3, 1}}, "axes"}};
  for (const Form& form : forms) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
      const std::string kernel = kernel_of(form.axes, width);
      EXPECT_TRUE(width == 16 || kernel.find(form.kernel) != std::string::npos) << kernel;
      for (const std::uint64_t past : {std::uint64_t{0}, width, 5 * width}) {
        check(form.axes, width, 1, past, past);
        check(form.axes, width, 1, 0, past);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(GpuAxes, PastThirtyTwoBits) {
  check({{1291, 3, 1291, 431}, {3, 2, 1, 0}}, 1);      // 2.15 x 10^9 elements
  check({{17, 1024, 241, 1025}, {2, 0, 3, 1}}, 1);     // 4.30 x 10^9
  check({{64, 257, 65, 64, 63}, {4, 1, 3, 0, 2}}, 1);  // 4.31 x 10^9
}

}  // namespace
}  // namespace faro::testing
