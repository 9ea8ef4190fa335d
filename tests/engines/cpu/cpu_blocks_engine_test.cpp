// Scaled blocks on the CPU engine against one loop over all blocks (block_support.hpp): drawn formats,
// shapes, strides, axes, layouts of scales, alignments and threads, between guard zones.
#include <gtest/gtest.h>

#include <cstring>

#include "block_support.hpp"
#include "cpu_strided_support.hpp"
#include "faro/block_scales.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "refusal.hpp"

namespace faro::cpu_blocks_test {

using cpu_strided_test::Guarded;
using testing::SplitMix64;

struct Setting {
  std::size_t past_line = 0;
  int threads = 1;
};

void expect_blocks(const BlockScaling& of, const Setting& setting, std::uint64_t seed) {
  SCOPED_TRACE(test::text_of(of) + ", " + std::to_string(setting.past_line) + " bytes past a line, " +
               std::to_string(setting.threads) + " threads");
  const ExecutableBlocks plan = plan_blocks(of, {.engine = Engine::cpu, .threads = setting.threads});
  const std::uint64_t width = bytes_of(of.wide);
  Guarded wide(plan.wide_count() * width, setting.past_line / width * width);
  Guarded data(plan.data_bytes(), setting.past_line);
  Guarded scales(plan.scale_bytes(), setting.past_line);
  SplitMix64 random{seed};
  test::fill_blocks(wide.data(), plan.wide_count(), of, random);
  Guarded wanted_data = data;
  Guarded wanted_scales = scales;
  if (of.layout == ScaleLayout::tiled) std::memset(wanted_scales.data(), 0, wanted_scales.bytes());
  const std::vector<std::byte> before = wide.memory();
  plan.quantize(wide.data(), data.data(), scales.data());
  test::quantize_by_loop(of, wide.data(), data.data(), wanted_data.data(), wanted_scales.data());
  ASSERT_EQ(wide.memory(), before);
  ASSERT_EQ(scales.memory(), wanted_scales.memory());
  ASSERT_EQ(data.memory(), wanted_data.memory());

  Guarded back(wide.bytes(), setting.past_line / width * width);
  Guarded wanted = back;
  plan.dequantize(data.data(), scales.data(), back.data());
  test::dequantize_by_loop(of, data.data(), scales.data(), wanted.data());
  test::forget_bits_of_nan(of.wide, back.data(), wanted.data(), plan.wide_count());
  ASSERT_EQ(back.memory(), wanted.memory());
}

TEST(CpuBlocks, DrawnFormatsShapesAndLayouts) {
  const int rounds = testing::kInstrumented ? 60 : 800;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 6151 + 3};
    SCOPED_TRACE("seed " + std::to_string(i));
    const BlockScaling of = test::draw_blocks(random);
    expect_blocks(of, {.past_line = random() % 64, .threads = 1 + static_cast<int>(random() % 2)}, random());
  }
}

TEST(CpuBlocks, LargerThanABox) {
  for (const BlockFormat format :
       {BlockFormat::mxfp8_e4m3, BlockFormat::mxfp8_e5m2, BlockFormat::mxfp4, BlockFormat::nvfp4}) {
    for (const ScaleLayout layout : {ScaleLayout::strided, ScaleLayout::tiled}) {
      BlockScaling of{.format = format, .extents = {736, 1056}, .layout = layout};
      for (const auto& strides : {std::vector<std::int64_t>{1, 736}, std::vector<std::int64_t>{1056, 1}}) {
        of.strides = strides;
        for (of.axis = 0; of.axis < 2; ++of.axis) expect_blocks(of, {.threads = 2}, 11);
      }
    }
  }
}

// Every pattern of 16 bits as a block's largest number, by every format and rounding of scales.
TEST(CpuBlocks, EveryLargestNumber) {
  for (const Number wide : {Number::f16, Number::bf16}) {
    for (int format = 0; format < 4; ++format) {
      for (const ScaleRounding rounding : {ScaleRounding::floor, ScaleRounding::ceil}) {
        BlockScaling of{
            .format = static_cast<BlockFormat>(format), .wide = wide, .axis = 1, .rounding = rounding};
        const std::uint64_t block = block_of(of.format);
        of.extents = {65536, block};
        std::vector<std::uint16_t> numbers(65536 * block, 0);
        for (std::uint64_t i = 0; i < 65536; ++i) {
          numbers[i * block + i % block] = static_cast<std::uint16_t>(i);
          // Another that is smaller by a factor, where that is so.
          numbers[i * block + (i + 1) % block] = static_cast<std::uint16_t>(i ^ (i & 0x7fff) >> 3);
        }
        const ExecutableBlocks plan = plan_blocks(of, {.engine = Engine::cpu, .threads = 2});
        std::vector<std::byte> data(plan.data_bytes());
        std::vector<std::byte> scales(plan.scale_bytes());
        plan.quantize(numbers.data(), data.data(), scales.data());
        std::vector<std::byte> wanted_data = data;
        std::vector<std::byte> wanted_scales = scales;
        test::quantize_by_loop(of, reinterpret_cast<const std::byte*>(numbers.data()), data.data(),
                               wanted_data.data(), wanted_scales.data());
        ASSERT_EQ(scales, wanted_scales) << test::text_of(of);
        ASSERT_EQ(data, wanted_data) << test::text_of(of);
      }
    }
  }
}

TEST(CpuBlocks, RefusesWhatCannotBe) {
  const auto refused = [](const BlockScaling& of) { return refusal_of([&] { plan_blocks(of); }); };
  EXPECT_NE(refused({.extents = {4, 40}, .axis = 1}).find("a multiple of 32"), std::string::npos);
  EXPECT_NE(refused({.extents = {4, 64}, .axis = 2}).find("axis 2 of 2"), std::string::npos);
  EXPECT_NE(refused({.wide = Number::f64, .extents = {64}}).find("f32, f16 or bf16"), std::string::npos);
  EXPECT_NE(refused({.format = BlockFormat::nvfp4, .extents = {32, 3}}).find("whole bytes"),
            std::string::npos);
  EXPECT_NE(refused({.format = BlockFormat::nvfp4, .extents = {32}, .global_scale = 0}).find("above 0"),
            std::string::npos);
  EXPECT_NE(refused({.extents = {32}, .global_scale = 2}).find("none, or 1"), std::string::npos);
  EXPECT_NE(refused({.extents = {64, 2}, .scale_strides = {1, 1}}).find("share a place"), std::string::npos);
  EXPECT_NE(refused({.extents = {64, 2}, .strides = {1}}).find("1 strides for 2 axes"), std::string::npos);
  EXPECT_NE(refused({.extents = {std::uint64_t{1} << 40, std::uint64_t{1} << 40}}).find("2^62"),
            std::string::npos);

  const ExecutableBlocks plan = plan_blocks({.extents = {64}});
  std::vector<float> wide(64, 1.0F);
  std::vector<std::byte> data(64, std::byte{7});
  std::vector<std::byte> scales(2, std::byte{7});
  EXPECT_NE(refusal_of([&] { plan.quantize(nullptr, data.data(), scales.data()); }).find("null"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { plan.quantize(wide.data(), wide.data(), scales.data()); }).find("wide array"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { plan.quantize(wide.data(), data.data(), data.data() + 63); }).find("scales"),
            std::string::npos);
  EXPECT_EQ(data, std::vector<std::byte>(64, std::byte{7}));
  // Read from one place, but never written to it.
  const ExecutableBlocks repeated = plan_blocks({.extents = {64}, .strides = {0}});
  repeated.quantize(wide.data(), data.data(), scales.data());
  EXPECT_NE(
      refusal_of([&] { repeated.dequantize(data.data(), scales.data(), wide.data()); }).find("wide array"),
      std::string::npos);
}

}  // namespace faro::cpu_blocks_test
