// What the predictions rest on, on a GPU: the transposes that are profiled and timed are right, and the
// calibration says something that a device can do.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "engines/cuda_shared_transpose.hpp"
#include "faro/error.hpp"
#include "gpu/gpu_support.hpp"
#include "tell/prediction.hpp"

namespace faro::testing {
namespace {

using cuda::SharedLayout;
using cuda::SharedTranspose;
using kernels::TransposeOrder;

constexpr std::uint32_t w = cuda::kTransposeWidth;

class GpuModel : public GpuTest {};

template <typename Element>
std::uint64_t wrong_elements(const SharedTranspose& transpose) {
  constexpr std::uint32_t blocks = 3;
  std::vector<Element> host(std::size_t{blocks} * w * w);
  std::iota(host.begin(), host.end(), Element{1});
  const std::uint64_t bytes = host.size() * sizeof(Element);
  cuda::DeviceArray in(bytes);
  const cuda::DeviceArray out(bytes);
  in.upload(host.data());
  check_cuda(cudaMemset(out.data(), 0xA5, bytes), "cudaMemset");
  cuda::run(transpose, in.data(), out.data(), blocks, 3);
  std::vector<Element> result(host.size());
  out.download(result.data());
  std::uint64_t wrong = 0;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (std::uint32_t i = 0; i < w; ++i) {
      for (std::uint32_t j = 0; j < w; ++j) {
        wrong += result[(b * w + j) * w + i] != host[(b * w + i) * w + j];
      }
    }
  }
  return wrong;
}

TEST_F(GpuModel, TransposesInSharedMemory) {
  for (const TransposeOrder order : {TransposeOrder::crsw, TransposeOrder::srcw, TransposeOrder::drdw}) {
    for (const SharedLayout layout : {SharedLayout::raw, SharedLayout::ras, SharedLayout::rap}) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        EXPECT_EQ(wrong_elements<std::uint32_t>({order, layout, 4, seed}), 0U) << static_cast<int>(order);
        EXPECT_EQ(wrong_elements<std::uint64_t>({order, layout, 8, seed}), 0U) << static_cast<int>(order);
      }
    }
  }
}

// The kernel as the paper prints it is wrong, unless the layout turns nothing.
TEST_F(GpuModel, ThePrintedKernelIsWrong) {
  EXPECT_GT(wrong_elements<std::uint32_t>({TransposeOrder::crsw_as_printed, SharedLayout::rap, 4, 1}), 2000U);
  EXPECT_EQ(wrong_elements<std::uint32_t>({TransposeOrder::crsw_as_printed, SharedLayout::raw, 4, 1}), 0U);
}

TEST_F(GpuModel, RefusesOtherElements) {
  EXPECT_THROW(cuda::run({.element_bytes = 2}, nullptr, nullptr, 1, 1), Error);
}

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
