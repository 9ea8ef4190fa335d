// The kernels of the transposition in place, on the counting memory, whole plans at a time: every form of
// plan, reached with small shapes by making the limits small; elements of every width; batches; and what they
// cost.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "transpose_emulator.hpp"

namespace faro {
namespace c2r_kernel_test {

using detail::GpuTranspose;
using detail::GpuTransposeForm;
using detail::GpuTransposeLimits;
using test::limits_of_windows;
using test::small_limits;

std::string text_of(const Rectangle& r, const GpuTranspose& plan) {
  return std::to_string(r.arrays) + " arrays of transpose(" + std::to_string(r.rows) + ", " +
         std::to_string(r.columns) + "), " + std::to_string(r.element_bytes) + " bytes, form " +
         std::to_string(static_cast<int>(plan.form)) + (plan.r2c ? " R2C" : " C2R") +
         (plan.rotates_apart ? " rotated apart" : "") + ", K " + std::to_string(plan.moved_rows) + ", W " +
         std::to_string(plan.moved_columns);
}

std::vector<std::byte> drawn(std::uint64_t bytes) {
  std::mt19937_64 random(bytes);
  std::vector<std::byte> array(bytes);
  for (std::byte& b : array) b = static_cast<std::byte>(random());
  return array;
}

std::vector<std::byte> transposed(const Rectangle& r, const std::vector<std::byte>& in) {
  std::vector<std::byte> out(in.size());
  const std::uint64_t e = r.element_bytes;
  for (std::uint64_t a = 0; a < r.arrays; ++a) {
    for (std::uint64_t i = 0; i < r.rows; ++i) {
      for (std::uint64_t j = 0; j < r.columns; ++j) {
        std::memcpy(&out[((a * r.columns + j) * r.rows + i) * e], &in[((a * r.rows + i) * r.columns + j) * e],
                    e);
      }
    }
  }
  return out;
}

class C2rKernels : public ::testing::Test {
 protected:
  std::map<std::pair<GpuTransposeForm, bool>, int> reached;  // form, R2C
  int rotated_apart = 0;

  test::EmulatedTraffic check(const Rectangle& r, const GpuTransposeLimits& limits, std::uint32_t skew = 0) {
    const GpuTranspose plan = detail::plan_gpu_transpose(r, limits);
    SCOPED_TRACE(text_of(r, plan));
    const std::vector<std::byte> in = drawn(r.bytes());
    std::vector<std::byte> data = in;
    test::EmulatedTraffic traffic;
    try {
      traffic = test::emulate(plan, data, skew);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      return traffic;
    }
    EXPECT_TRUE(data == transposed(r, in));
    EXPECT_LE(plan.workspace_bytes(), plan.workers() * std::max(r.rows, r.columns) * r.element_bytes);
    // Nothing but whole sweeps, and in form huge the copies.
    const bool huge = plan.form == GpuTransposeForm::huge;
    const auto sweeps = static_cast<std::uint64_t>(plan.sweeps() + (huge ? 1 : 0));
    EXPECT_EQ(traffic.stored, sweeps * r.bytes());
    ++reached[{plan.form, plan.r2c}];
    if (plan.rotates_apart) ++rotated_apart;
    return traffic;
  }
};

TEST_F(C2rKernels, EverySmallShapeWhole) {
  for (std::uint64_t rows = 0; rows <= 9; ++rows) {
    for (std::uint64_t columns = 0; columns <= 9; ++columns) {
      check({.arrays = 3, .rows = rows, .columns = columns, .element_bytes = 4}, {});
    }
  }
  check({.arrays = 0, .rows = 5, .columns = 7, .element_bytes = 4}, {});
  check({.arrays = 1000, .rows = 5, .columns = 7, .element_bytes = 3}, {});
}

TEST_F(C2rKernels, EverySmallShapeOfEveryForm) {
  for (const GpuTransposeLimits& limits : {small_limits(600), small_limits(100), limits_of_windows(600),
                                           limits_of_windows(150), limits_of_windows(16)}) {
    for (std::uint64_t rows = 2; rows <= 18; ++rows) {
      for (std::uint64_t columns = 2; columns <= 18; ++columns) {
        const auto skew = static_cast<std::uint32_t>((rows + columns / 2) % 4);
        check({.arrays = 1, .rows = rows, .columns = columns, .element_bytes = 4}, limits, skew);
        check({.arrays = 1, .rows = rows, .columns = columns, .element_bytes = 12}, limits);
      }
    }
    for (std::uint64_t shorter = 2; shorter <= 8; ++shorter) {
      for (std::uint64_t longer = 30 + shorter % 3; longer < 140; longer += 3) {
        const auto skew = static_cast<std::uint32_t>(longer % 4);
        check({.arrays = 1, .rows = shorter, .columns = longer, .element_bytes = 4}, limits, skew);
        check({.arrays = 1, .rows = longer, .columns = shorter, .element_bytes = 4}, limits, skew);
      }
    }
  }
  constexpr int several = 5;
  for (const GpuTransposeForm form : {GpuTransposeForm::resident, GpuTransposeForm::long_rows,
                                      GpuTransposeForm::long_columns, GpuTransposeForm::huge}) {
    EXPECT_GT((reached[{form, false}]), several) << static_cast<int>(form);
    EXPECT_GT((reached[{form, true}]), several) << static_cast<int>(form);
  }
  EXPECT_GT(rotated_apart, 100);
}

TEST_F(C2rKernels, RandomShapesWidthsAndBatches) {
  std::mt19937_64 random(11);
  for (GpuTransposeLimits limits :
       {small_limits(2400), small_limits(800), limits_of_windows(1500), limits_of_windows(300)}) {
    limits.batch_bytes = 3000;
    for (int i = 0; i < 30; ++i) {
      Rectangle r{.arrays = 1 + random() % 3,
                  .rows = 2 + random() % 40,
                  .columns = 2 + random() % 40,
                  .element_bytes = 1 + random() % 16};
      if (i % 4 == 0) r.columns = r.rows * (1 + random() % 4);
      if (i % 5 == 0) r.columns = 250 + random() % 100;
      if (i % 7 == 0) std::swap(r.rows, r.columns);
      if (i % 3 == 0) r.element_bytes = std::uint64_t{1} << random() % 4;
      check(r, limits,
            static_cast<std::uint32_t>(random() % (16 / (r.element_bytes & (~r.element_bytes + 1)))));
    }
  }
}

// The limits of an H200, and the shapes for which each form is there.
TEST_F(C2rKernels, TheDevicesOwnLimits) {
  const GpuTransposeLimits limits;
  check({.arrays = 1, .rows = 300, .columns = 1000, .element_bytes = 4}, limits);
  check({.arrays = 1, .rows = 3, .columns = 100003, .element_bytes = 4}, limits);
  check({.arrays = 1, .rows = 60000, .columns = 8, .element_bytes = 4}, limits);
  check({.arrays = 1, .rows = 1000, .columns = 1201, .element_bytes = 1}, limits);
  check({.arrays = 2, .rows = 1200, .columns = 30, .element_bytes = 12}, limits);
  check({.arrays = 1, .rows = 17, .columns = 8000, .element_bytes = 16}, limits);
}

// Memory is asked for in whole sectors but at the ends of segments.
TEST_F(C2rKernels, WastesFewSectors) {
  GpuTransposeLimits limits;
  limits.whole_bytes = 0;
  limits.shared_bytes = 8000;
  limits.blocks_bytes = 0;  // windows
  constexpr double sector = 32;
  const Rectangle r{.arrays = 1, .rows = 1024, .columns = 192, .element_bytes = 4};
  const test::EmulatedTraffic traffic = check(r, limits);
  ASSERT_GT(
      (reached[{GpuTransposeForm::long_columns, true}] + reached[{GpuTransposeForm::long_columns, false}]),
      0);
  EXPECT_LT(static_cast<double>(traffic.store_sectors) * sector, 1.3 * static_cast<double>(traffic.stored));
  EXPECT_LT(static_cast<double>(traffic.load_sectors) * sector, 1.4 * static_cast<double>(traffic.loaded));
}

}  // namespace c2r_kernel_test
}  // namespace faro
