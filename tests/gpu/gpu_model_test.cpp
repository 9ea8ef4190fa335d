// What the predictions rest on, on a GPU: the calibration says something that a device can do.
#include <gtest/gtest.h>

#include <cstdint>

#include "gpu/gpu_support.hpp"
#include "tell/prediction.hpp"

namespace faro::testing {
namespace {

class GpuModel : public GpuTest {};

TEST_F(GpuModel, CalibrationIsPlausibleAndLeavesNoMemory) {
  const std::uint64_t free_before = free_device_bytes();
  const Calibration rates = cuda::calibrate();
  EXPECT_EQ(free_device_bytes(), free_before);
  EXPECT_NE(rates.source.find(cuda::devices().at(0).name), std::string::npos);
  const auto plausible = [](const TransferRate& rate) {
    return rate.fixed_us >= 0 && rate.fixed_us < 100 && rate.gb_per_s > 50 && rate.gb_per_s < 50'000;
  };
  EXPECT_TRUE(plausible(rates.copy)) << rates.copy.fixed_us << " " << rates.copy.gb_per_s;
  EXPECT_TRUE(plausible(rates.vectors));
  for (const TransferRate& tile : rates.tiles) {
    EXPECT_TRUE(plausible(tile)) << tile.fixed_us << " " << tile.gb_per_s;
    // Rates are slopes, which small differences of times turn; what a gigabyte takes is measured.
    constexpr double bytes = 2.0 * (1 << 30);
    EXPECT_GT(tile.microseconds(bytes), 0.9 * rates.copy.microseconds(bytes))
        << tile.fixed_us << " " << tile.gb_per_s;
  }
  Target target = cuda::target();
  target.calibration = rates;
  const Plan plan({.permutation = maps::bit_reversal(26), .element_bytes = 4}, target);
  EXPECT_GT(predict_us(plan, 0).value(), 0);
}

}  // namespace
}  // namespace faro::testing
