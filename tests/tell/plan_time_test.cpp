// Predicted times: the line through two sizes, which rate a pass takes, and where shared memory decides.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include "faro/permutation/affine.hpp"
#include "gpu_plan_support.hpp"
#include "tell/prediction.hpp"

namespace faro {
namespace plan_time_test {

using testing::gpu_plan;

constexpr double kMiB = 1 << 20;

Target with_rates() {
  Target target = cuda::target_of_capability(9, 0);
  Calibration rates{.source = "a test",
                    .copy = {.fixed_us = 1, .gb_per_s = 1000},
                    .vectors = {.fixed_us = 2, .gb_per_s = 500},
                    .tiles = {},
                    .shared_wavefronts_per_us = 1e9};
  for (std::size_t bits = 0; bits < rates.tiles.size(); ++bits) {
    rates.tiles[bits] = {.fixed_us = 10.0 * static_cast<double>(bits + 1), .gb_per_s = 100};
  }
  target.calibration = rates;
  return target;
}

TEST(PlanTime, LineThroughTwoSizes) {
  // 1000 bytes a microsecond after the first 5.
  const TransferRate rate =
      Calibration::line({.bytes = 10'000, .microseconds = 15}, {.bytes = 40'000, .microseconds = 45});
  EXPECT_DOUBLE_EQ(rate.fixed_us, 5);
  EXPECT_DOUBLE_EQ(rate.gb_per_s, 1);
  EXPECT_DOUBLE_EQ(rate.microseconds(10'000), 15);
  EXPECT_DOUBLE_EQ(rate.microseconds(100'000), 105);
}

// Noise does not make times negative.
TEST(PlanTime, LineThatNoiseTurnedDown) {
  for (const double small_us : {0.1, 40.0, 41.0, 100.0}) {
    const TransferRate rate =
        Calibration::line({.bytes = 10'000, .microseconds = small_us}, {.bytes = 40'000, .microseconds = 40});
    EXPECT_GE(rate.fixed_us, 0) << small_us;
    EXPECT_NEAR(rate.microseconds(40'000), 40, 1e-9) << small_us;
    EXPECT_GT(rate.microseconds(20'000), 0) << small_us;
  }
}

TEST(PlanTime, EveryKindOfPassHasItsRate) {
  const Target target = with_rates();
  const double bytes = 2 * 64 * kMiB;
  const auto us = [&](const Affine& map, std::uint64_t width) {
    return predict_us(gpu_plan(map, width, 1, target), 0).value();
  };
  EXPECT_DOUBLE_EQ(us(maps::identity(24), 4), 1 + bytes / 1e6);
  EXPECT_DOUBLE_EQ(us(maps::xor_mask(24, 1U << 23), 4), 2 + bytes / 5e5);
  for (int bits = 0; bits < Calibration::kWidths; ++bits) {
    EXPECT_DOUBLE_EQ(us(maps::random_bmmc(26 - bits, 3), std::uint64_t{1} << bits),
                     10 * (bits + 1) + bytes / 1e5)
        << bits;
  }
}

// What is counted decides, not what is asked for: a sector for each element.
TEST(PlanTime, WastedSectorsCost) {
  Target target = with_rates();
  target.tiles.clear();
  const Plan plan = gpu_plan(maps::bit_reversal(24), 4, 1, target);
  EXPECT_DOUBLE_EQ(predict_us(plan, 0).value(), 2 + 64 * kMiB * (1 + 8) / 5e5);
}

TEST(PlanTime, SharedMemoryMayBeTheSlower) {
  Target target = with_rates();
  target.calibration->shared_wavefronts_per_us = 1;
  const Plan plan = gpu_plan(maps::random_bmmc(24, 3), 4, 1, target);
  const machine::AccessCounts counts = predict(plan, 0);
  EXPECT_DOUBLE_EQ(predict_us(plan, 0).value(),
                   static_cast<double>(counts.shared_loads.wavefronts + counts.shared_stores.wavefronts));
}

TEST(PlanTime, UnknownRatesPredictNothing) {
  Target target = with_rates();
  target.calibration->tiles[2] = {};
  EXPECT_FALSE(predict_us(gpu_plan(maps::random_bmmc(24, 3), 4, 1, target), 0));
  EXPECT_TRUE(predict_us(gpu_plan(maps::random_bmmc(24, 3), 8, 1, target), 0));
  target.calibration.reset();
  EXPECT_FALSE(predict_us(gpu_plan(maps::random_bmmc(24, 3), 8, 1, target), 0));
}

}  // namespace plan_time_test
}  // namespace faro
