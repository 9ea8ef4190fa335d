// Scaled blocks on a GPU against the CPU engine, both ways, between guard zones.
#include <gtest/gtest.h>

#include <algorithm>

#include "block_support.hpp"
#include "engine_support.hpp"
#include "faro/block_scales.hpp"
#include "gpu/gpu_rows_support.hpp"

namespace faro::testing {
namespace gpu_blocks_test {

using namespace gpu_rows;

class GpuBlocks : public GpuTest {};

void expect_as_on_cpu(const BlockScaling& of, SplitMix64& random) {
  SCOPED_TRACE(test::text_of(of));
  const ExecutableBlocks cpu = plan_blocks(of);
  const ExecutableBlocks gpu = plan_blocks(of, {.engine = Engine::cuda});
  SCOPED_TRACE(gpu.explain());
  const std::uint64_t width = bytes_of(of.wide);
  Bytes wide(cpu.wide_count() * width);
  test::fill_blocks(wide.data(), cpu.wide_count(), of, random);
  Bytes data(cpu.data_bytes(), std::byte{7});
  Bytes scales(cpu.scale_bytes(), std::byte{7});
  const auto offset = [&](std::uint64_t unit) { return random() % 3 == 0 ? unit * (random() % 5) : 0; };
  const Placed device_wide(wide, offset(width));
  Placed device_data(data, offset(1));
  const Placed device_scales(scales, offset(1));
  const OwnStream stream;
  cpu.quantize(wide.data(), data.data(), scales.data());
  gpu.quantize(device_wide.data(), device_data.data(), device_scales.data(), stream);
  stream.wait();
  const Bytes got_data = device_data.get();
  ASSERT_TRUE(device_scales.get() == scales);
  ASSERT_TRUE(device_wide.get() == wide);
  const bool same = got_data == data;
  for (std::uint64_t i = 0; !same && i < data.size() * 8 / bits_of(of.format); ++i) {
    const unsigned got = test::code_at(of, got_data.data(), i);
    const unsigned wanted = test::code_at(of, data.data(), i);
    const bool none = test::may_be_none(of.format, got) && test::may_be_none(of.format, wanted);
    ASSERT_TRUE(got == wanted || none) << "number " << i << ": " << got << ", wanted " << wanted;
  }
  if (std::find(of.strides.begin(), of.strides.end(), 0) != of.strides.end()) return;
  device_data.set(data);
  cpu.dequantize(data.data(), scales.data(), wide.data());
  gpu.dequantize(device_data.data(), device_scales.data(), device_wide.data(), stream);
  stream.wait();
  const Bytes got = device_wide.get();
  test::forget_bits_of_nan(of.wide, got.data(), wide.data(), cpu.wide_count());
  ASSERT_TRUE(got == wide);
}

TEST_F(GpuBlocks, DrawnAsOnTheCpu) {
  // So many kernels are compiled.
  const std::uint64_t rounds = std::max<std::uint64_t>(settings().maps / 10, 20);
  for (std::uint64_t i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{i * 7919 + settings().seed};
    SCOPED_TRACE("case " + std::to_string(i));
    expect_as_on_cpu(test::draw_blocks(random), random);
  }
}

TEST_F(GpuBlocks, MatricesAsOnTheCpu) {
  SplitMix64 random{3};
  for (int format = 0; format < 4; ++format) {
    for (const auto& strides : {std::vector<std::int64_t>{1, 2048}, std::vector<std::int64_t>{4096, 1}}) {
      for (const auto layout : {ScaleLayout::strided, ScaleLayout::tiled}) {
        expect_as_on_cpu({.format = static_cast<BlockFormat>(format),
                          .wide = Number::bf16,
                          .extents = {2048, 4096},
                          .strides = strides,
                          .axis = 1,
                          .layout = layout},
                         random);
      }
    }
  }
}

TEST_F(GpuBlocks, RefusesWhatCannotBe) {
  const ExecutableBlocks plan =
      plan_blocks({.wide = Number::bf16, .extents = {64, 64}, .axis = 1}, {.engine = Engine::cuda});
  const Bytes host(2 * 64 * 64);
  const Placed wide(host);
  const Placed data(Bytes(64 * 64));
  const Placed scales(Bytes(2 * 64));
  EXPECT_NE(refusal([&] { plan.quantize(host.data(), data.data(), scales.data()); }), "");
  EXPECT_NE(refusal([&] { plan.quantize(wide.data() + 1, data.data(), scales.data()); }), "");
  EXPECT_NE(refusal([&] { plan.quantize(wide.data(), wide.data(), scales.data()); }), "");
  EXPECT_EQ(refusal([&] { plan.quantize(wide.data(), data.data(), scales.data()); }), "");
}

}  // namespace gpu_blocks_test
}  // namespace faro::testing
