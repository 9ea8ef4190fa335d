// Rolls, flips and equal axes that change places in place on a GPU, against the map element by element,
// between guard zones, in arrays that begin anywhere; and arrays past 2^32 bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kZone = 256;

class GpuExchange : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};

  void check_moved(const Permutation& permutation, std::uint64_t width, std::uint64_t batch = 1) {
    const std::uint64_t unit = std::min<std::uint64_t>(width & (~width + 1), 16);
    const std::uint64_t offset = random() % 3 == 0 ? 0 : random() % (64 / unit) * unit;
    SCOPED_TRACE(to_text(permutation) + ", elements of " + std::to_string(width) + " bytes, batch " +
                 std::to_string(batch) + ", offset " + std::to_string(offset));
    const std::uint64_t count = element_count(permutation);
    const std::uint64_t bytes = count * width * batch;
    const std::uint64_t begin = kZone + offset;
    std::vector<std::byte> before(begin + bytes + kZone, std::byte{0x5a});
    for (std::uint64_t i = 0; i < bytes; ++i) before[begin + i] = static_cast<std::byte>(random());
    std::vector<std::byte> wanted = before;
    for (std::uint64_t x = 0; x < count * batch; ++x) {
      const std::uint64_t y = x / count * count + faro::apply(permutation, x % count);
      std::memcpy(&wanted[begin + y * width], &before[begin + x * width], width);
    }
    const ExecutablePlan plan = faro::plan({.permutation = permutation,
                                            .element_bytes = width,
                                            .batch = batch,
                                            .placement = Placement::in_place},
                                           {.engine = Engine::cuda});
    cuda::DeviceArray memory(before.size());
    memory.upload(before.data());
    const OwnStream stream;
    plan.run(memory.data() + begin, bytes, stream);
    stream.wait();
    memory.download(before.data());
    EXPECT_TRUE(before == wanted);
  }
};

TEST_F(GpuExchange, RollsAndFlips) {
  for (const std::uint64_t width :
       {1U, 2U, 3U, 4U, 5U, 8U, 12U, 16U, 24U, 100U, 4096U, 5000U, 8192U, 70003U}) {
    for (const std::uint64_t count : {2U, 3U, 17U, 1000U, 30000U, 200001U}) {
      if (count * width > (16U << 20)) continue;
      const std::uint64_t shift = random() % (count - 1) + 1;
      check_moved(Cyclic{.count = count, .shift = shift}, width, 1 + random() % 3);
      check_moved(Cyclic{.count = count, .shift = count - 1, .reversed = true}, width, 1 + random() % 3);
      check_moved(Cyclic{.count = count, .shift = shift, .reversed = true}, width);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST_F(GpuExchange, RandomAxes) {
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rank = 1 + random() % 4;
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
    std::vector<Cyclic> moves;
    for (std::size_t a = 0; a < rank; ++a) {
      shape.push_back(1 + random() % (trial % 3 == 0 ? 100 : 20));
      order.push_back(static_cast<int>(a));
      moves.push_back({.count = shape[a], .shift = random() % shape[a], .reversed = random() % 3 == 0});
    }
    const std::vector<std::uint64_t> widths{1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 1000, 4096};
    const std::uint64_t width = widths[random() % (trial % 3 == 0 ? 5 : widths.size())];
    const CyclicAxes axes(shape, order, moves);
    if (axes.count() * width > (8U << 20)) continue;
    const Permutation normal = normal_form(Permutation(axes));
    if (std::holds_alternative<Affine>(normal) && (width & (width - 1)) != 0) continue;
    check_moved(normal, width, 1 + random() % 3);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(GpuExchange, EqualAxes) {
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<std::uint64_t> widths{1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 1000, 4096};
    const std::uint64_t width = widths[random() % widths.size()];
    const std::uint64_t side = 2 + random() % (trial % 4 == 0 ? 600 : trial % 2 == 0 ? 140 : 40);
    const std::uint64_t between = 1 + random() % 12;
    const std::uint64_t parts = 1 + (random() % 2) * (random() % 5);
    const std::uint64_t arrays = 1 + random() % 3;
    if (arrays * side * side * between * parts * width > (16U << 20)) continue;
    check_moved(Axes({arrays, side, between, side, parts}, {0, 3, 2, 1, 4}), width);
    ASSERT_FALSE(HasFailure());
  }
}

// More than 2^32 bytes, and of bytes more than 2^32 elements.
TEST_F(GpuExchange, LargerThan32Bits) {
  const auto check_large = [](const Permutation& permutation, const AxesOracle& oracle) {
    const std::uint64_t bytes = element_count(permutation) * oracle.element_bytes;
    if (free_device_bytes() < 2 * bytes + (1U << 28)) GTEST_SKIP() << "too little free memory";
    cuda::DeviceArray before(bytes);
    cuda::DeviceArray data(bytes);
    draw_bytes(before.data(), bytes, 1, {});
    cuda::copy(before.data(), data.data(), bytes, {});
    const ExecutablePlan plan = faro::plan(
        {.permutation = permutation, .element_bytes = oracle.element_bytes, .placement = Placement::in_place},
        {.engine = Engine::cuda});
    plan.run(data.data(), bytes);
    EXPECT_EQ(misplaced_elements(before.data(), data.data(), oracle, {}), 0U);
  };
  const std::uint64_t side = 65601;
  check_large(Axes({side, side}, {1, 0}), axes_oracle({side, side}, {1, 0}, 1));
  const std::uint64_t count = (std::uint64_t{1} << 32) + 12345;
  const Strided flipped{.extents = {count}, .in_strides = {-1}, .out_strides = {1}, .in_offset = count - 1};
  check_large(maps::flip(count), axes_oracle(flipped, 1));
}

}  // namespace
}  // namespace faro::testing
