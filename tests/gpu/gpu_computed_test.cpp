// Computed maps on a GPU, held against the CPU engine.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "faro/faro.hpp"
#include "gpu/gpu_rows_support.hpp"

namespace faro::testing {
namespace gpu_computed_test {

using namespace gpu_rows;

class GpuComputed : public GpuTest {};

void expect_moved(const std::string& text, std::uint64_t width, std::uint64_t batch = 1) {
  SCOPED_TRACE(text + ", " + std::to_string(width) + " bytes, " + std::to_string(batch) + " arrays");
  const Problem problem{.permutation = parse_permutation(text), .element_bytes = width, .batch = batch};
  const Bytes in = random_bytes(total_bytes(problem), width);
  Bytes expected(in.size());
  faro::plan(problem, {.engine = Engine::cpu}).run(in.data(), expected.data(), in.size());
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
  ASSERT_EQ(plan.plan().passes().front().kind, PassKind::computed);
  const std::uint64_t unit = width & (~width + 1);
  for (const std::uint64_t offset : {std::uint64_t{0}, unit < 16 ? unit : 0}) {
    const Placed device_in(in, offset);
    const Placed device_out(Bytes(in.size(), std::byte{9}));
    plan.run(device_in.data(), device_out.data(), in.size(), Stream{});
    EXPECT_TRUE(device_out.get() == expected) << offset;
  }
}

TEST_F(GpuComputed, MovesAsTheCpuDoes) {
  for (const std::string text :
       {"hilbert(2, 2)", "hilbert(2, 6)", "hilbert(2, 10)", "hilbert(3, 5)", "hilbert(4, 4)", "hilbert(5, 3)",
        "hilbert(8, 2)", "hilbert(9, 2)", "healpix(1)", "healpix(5)", "healpix(9)"}) {
    for (const std::string& each : {text, "inverse(" + text + ")"}) {
      for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U}) expect_moved(each, width);
      expect_moved(each, 4, 3);
    }
  }
  for (const std::string text : {"hilbert(2, 5)", "inverse(hilbert(3, 3))", "healpix(3)"}) {
    for (const std::uint64_t width : {48U, 1000U, 4095U, 4096U}) expect_moved(text, width, 2);
  }
}

// Past 2^32 bytes, and elements.
TEST_F(GpuComputed, LargeArrays) {
  for (const std::string text : {"hilbert(2, 16)", "inverse(hilbert(2, 16))", "healpix(14)"}) {
    const Problem problem{.permutation = parse_permutation(text), .element_bytes = 1};
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
    if (free_device_bytes() < 3 * total_bytes(problem) + kGiB) GTEST_SKIP() << "needs more device memory";
    expect_moved(text, 1);
  }
}

}  // namespace gpu_computed_test
}  // namespace faro::testing
