// The kernels of the transposition in place on arrays of 2^29 to 2^33 elements and more: some blocks of every
// launch, the first and the last among them, on a memory that keeps nothing of the arrays but checks that
// every access is aligned and within its buffer.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/gpu_transpose.hpp"
#include "transpose_phases.hpp"

namespace faro {
namespace c2r_bounds_test {

using detail::GpuTranspose;
using detail::GpuTransposeForm;
using detail::GpuTransposeLaunch;
using detail::GpuTransposeLimits;

// Array, scratch and copied rows are sizes; shared memory is there, since kernels keep tables in it.
struct BoundsMemory : test::PhasesMemory {
  std::uint64_t size[3] = {};

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    require(buffer, offset, bytes);
    return {};
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& /*packet*/) {
    require(buffer, offset, bytes);
  }

  void require(int buffer, std::uint64_t offset, std::uint64_t bytes) const {
    const std::uint64_t end = size[buffer / 2];
    if (offset % bytes == 0 && offset < end && bytes <= end - offset) return;
    throw std::logic_error("buffer " + std::to_string(buffer) + " of " + std::to_string(end) + " bytes at " +
                           std::to_string(offset));
  }
};

class C2rBounds : public ::testing::Test {
 protected:
  std::mt19937_64 random{3};
  std::map<GpuTransposeForm, int> reached;

  void check(const Rectangle& r) {
    SCOPED_TRACE(std::to_string(r.rows) + " x " + std::to_string(r.columns) + " of " +
                 std::to_string(r.element_bytes));
    const GpuTranspose plan = detail::plan_gpu_transpose(r, GpuTransposeLimits{});
    ++reached[plan.form];
    const std::uint64_t e = r.element_bytes;
    BoundsMemory memory{{},
                        {plan.arrays_at_once * r.count() * e,
                         plan.arrays_at_once * plan.scratch_elements() * e, plan.copied_rows * plan.n * e}};
    const std::vector<GpuTransposeLaunch> launches = test::each_of(detail::launches_of(plan));
    const std::size_t step = 1 + launches.size() / 12;
    for (std::size_t i = 0; i < launches.size(); i += i + step < launches.size() ? step : 1) {
      const std::uint64_t blocks = launches[i].blocks_of_array * plan.arrays_at_once;
      ASSERT_LE(blocks, GpuTransposeLimits{}.blocks_max);
      for (const std::uint64_t block : {std::uint64_t{0}, blocks - 1, random() % blocks}) {
        try {
          test::run_block(plan.unit_bytes, launches[i], memory, block);
        } catch (const std::logic_error& error) {
          ADD_FAILURE() << "launch " << i << ", block " << block << ": " << error.what();
          return;
        }
      }
    }
  }
};

TEST_F(C2rBounds, LargeArrays) {
  for (const Rectangle& r : {Rectangle{.rows = 2545, .columns = 421902, .element_bytes = 4},
                             Rectangle{.rows = 97656, .columns = 87964, .element_bytes = 1},
                             Rectangle{.rows = 87964, .columns = 97656, .element_bytes = 4},
                             Rectangle{.rows = 16001, .columns = 16777, .element_bytes = 16},
                             Rectangle{.rows = 46340, .columns = 46340, .element_bytes = 3},
                             Rectangle{.rows = 4294967291, .columns = 2, .element_bytes = 1},
                             Rectangle{.rows = 31, .columns = 277094664, .element_bytes = 4},
                             Rectangle{.rows = 3, .columns = 2863311531, .element_bytes = 6},
                             Rectangle{.rows = 500, .columns = 17179869, .element_bytes = 8},
                             Rectangle{.rows = 17179869, .columns = 500, .element_bytes = 12},
                             Rectangle{.arrays = 57, .rows = 2500, .columns = 60000, .element_bytes = 4}}) {
    check(r);
  }
  EXPECT_GT(reached[GpuTransposeForm::long_rows], 2);
  EXPECT_GT(reached[GpuTransposeForm::long_columns], 2);
  EXPECT_GT(reached[GpuTransposeForm::huge], 1);
}

TEST_F(C2rBounds, RandomShapes) {
  constexpr std::uint64_t widths[] = {4, 8, 1, 2, 16};
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t count = std::uint64_t{1} << (29 + random() % 5);
    const std::uint64_t rows = 2 + random() % (std::uint64_t{1} << (1 + random() % 17));
    Rectangle r{.rows = rows, .columns = count / rows, .element_bytes = widths[i % 5]};
    if (i % 2 == 1) std::swap(r.rows, r.columns);
    check(r);
  }
}

}  // namespace c2r_bounds_test
}  // namespace faro
