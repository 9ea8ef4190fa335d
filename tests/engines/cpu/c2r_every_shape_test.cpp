// The kernels of the transposition in place, for every shape to 64 x 64 and elements of 1 to 16 bytes: whole
// plans on a memory that moves and checks bounds, and counts nothing. Blocks run in a random order, each to
// its end, which a block that read what another writes would not survive.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/gpu_transpose.hpp"
#include "transpose_phases.hpp"

namespace faro {
namespace c2r_every_shape_test {

using detail::GpuTranspose;
using detail::GpuTransposeForm;
using detail::GpuTransposeLaunch;
using detail::GpuTransposeLimits;

// Array, scratch and copied rows. The array's launches in vectors count from `skew_bytes` before it.
struct PlainMemory : test::PhasesMemory {
  std::vector<std::byte> buffer[3] = {};
  std::uint64_t skew_bytes = 0;
  bool from_aligned = false;

  template <int bytes>
  device::Packet<bytes> load_global(int number, std::uint64_t offset) {
    device::Packet<bytes> packet;
    std::memcpy(&packet, at(number, offset, bytes), bytes);
    return packet;
  }
  template <int bytes>
  void store_global(int number, std::uint64_t offset, const device::Packet<bytes>& packet) {
    std::memcpy(at(number, offset, bytes), &packet, bytes);
  }

 private:
  std::byte* at(int number, std::uint64_t offset, std::uint64_t bytes) {
    std::vector<std::byte>& all = buffer[number / 2];
    const std::uint64_t begin = number / 2 == 0 ? skew_bytes : 0;
    if (!from_aligned) offset += begin;
    if (offset < begin || offset + bytes > all.size()) throw std::logic_error("outside a buffer");
    if (from_aligned && offset % bytes != 0) throw std::logic_error("a misaligned access");
    return &all[offset];
  }
};

class C2rEveryShape : public ::testing::Test {
 protected:
  std::mt19937_64 random{5};
  std::map<GpuTransposeForm, int> reached;

  void run(const GpuTranspose& plan, PlainMemory& memory, std::uint32_t skew) {
    std::vector<std::uint64_t> order;
    for (GpuTransposeLaunch launch : test::each_of(detail::launches_of(plan))) {
      memory.from_aligned = detail::set_skew(launch, skew);
      order.resize(launch.blocks_of_array);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      for (const std::uint64_t block : order) test::run_block(plan.unit_bytes, launch, memory, block);
    }
  }

  void check(const Rectangle& r, const GpuTransposeLimits& limits, std::uint32_t skew) {
    const GpuTranspose plan = detail::plan_gpu_transpose(r, limits);
    ++reached[plan.form];
    const std::uint64_t e = r.element_bytes;
    PlainMemory memory;
    memory.skew_bytes = skew * plan.unit_bytes;
    std::vector<std::byte> in(r.bytes());
    for (std::byte& byte : in) byte = static_cast<std::byte>(random());
    memory.buffer[0].resize(memory.skew_bytes);
    memory.buffer[0].insert(memory.buffer[0].end(), in.begin(), in.end());
    memory.buffer[1].resize(plan.scratch_elements() * e);
    memory.buffer[2].resize(plan.copied_rows * plan.n * e);
    const std::string text = std::to_string(r.rows) + " x " + std::to_string(r.columns) + " of " +
                             std::to_string(e) + " bytes, form " +
                             std::to_string(static_cast<int>(plan.form)) + ", skew " + std::to_string(skew);
    try {
      run(plan, memory, skew);
    } catch (const std::logic_error& error) {
      ADD_FAILURE() << text << ": " << error.what();
      return;
    }
    const std::byte* const out = memory.buffer[0].data() + memory.skew_bytes;
    for (std::uint64_t i = 0; i < r.rows; ++i) {
      for (std::uint64_t j = 0; j < r.columns; ++j) {
        if (std::memcmp(out + (j * r.rows + i) * e, &in[(i * r.columns + j) * e], e) == 0) continue;
        ADD_FAILURE() << text << ": element " << i << ", " << j;
        return;
      }
    }
  }
};

TEST_F(C2rEveryShape, OfSeveralWidthsAndLimits) {
  std::vector<GpuTransposeLimits> kinds;
  for (const std::uint64_t shared : {4000, 1200, 400}) {
    kinds.push_back({.shared_bytes = shared,
                     .blocks_bytes = shared / 2,
                     .whole_bytes = 0,
                     .strip_bytes = 32,
                     .strip_bytes_min = 16,
                     .panel_bytes_min = 16,
                     .window_rows = 24,
                     .tile_bytes = 512,
                     .batch_bytes = 300,
                     .batch_bytes_max = 600,
                     .copied_bytes = 256});
  }
  for (const int large : {0, 1}) {
    kinds.push_back(kinds[static_cast<std::size_t>(large)]);
    kinds.back().blocks_bytes = 0;  // windows
  }
  std::uint64_t turn = 0;
  for (std::uint64_t rows = 1; rows <= 64; ++rows) {
    for (std::uint64_t columns = 1; columns <= 64; ++columns, ++turn) {
      // Any width, and one that goes in vectors.
      for (const std::uint64_t width : {1 + (turn + rows) % 16, std::uint64_t{1} << random() % 4}) {
        const std::uint64_t unit = width & (~width + 1);
        check({.arrays = 1, .rows = rows, .columns = columns, .element_bytes = width},
              kinds[random() % kinds.size()], static_cast<std::uint32_t>(random() % (16 / unit)));
      }
    }
  }
  for (const GpuTransposeForm form : {GpuTransposeForm::resident, GpuTransposeForm::long_rows,
                                      GpuTransposeForm::long_columns, GpuTransposeForm::huge}) {
    EXPECT_GT(reached[form], 50) << static_cast<int>(form);
  }
}

}  // namespace c2r_every_shape_test
}  // namespace faro
