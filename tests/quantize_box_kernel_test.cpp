// Boxes of scaled blocks, planned as for a GPU and run by a block that is emulated, against one loop over all
// blocks (block_support.hpp): drawn formats, shapes, strides and layouts of scales, between guard zones.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <type_traits>

#include "block_emulator.hpp"
#include "block_support.hpp"
#include "cpu_strided_support.hpp"
#include "kernels/block_formats.hpp"
#include "kernels/quantize_box.hpp"
#include "plan/block_plan.hpp"
#include "plan/gpu/value_boxes.hpp"

namespace faro::quantize_box_test {

using cpu_strided_test::Guarded;
using detail::BlockPlan;
using detail::ValueBoxes;
using testing::SplitMix64;

struct Arrays {
  const std::byte* wide = nullptr;
  std::byte* data = nullptr;
  std::byte* scales = nullptr;
};

template <typename Wide, typename Scaled, typename Shape>
void run_kernel(const BlockPlan& plan, const ValueBoxes& boxes, const Arrays& arrays, testing::Order order) {
  using Kernel = kernels::QuantizeBoxes<Wide, Scaled, Shape>;
  struct Launched : Kernel {
    std::uint64_t count = 1;
    std::uint64_t blocks() const { return count; }
  };
  Launched kernel;
  kernel.count = boxes.boxes;
  kernel.p = boxes.params;
  kernel.in_rows = boxes.in_rows.data();
  kernel.out_rows = boxes.out_rows.data();
  kernel.row_factors = boxes.row_factors.data();
  kernel.scales_of_run = boxes.scales_of_run.data();
  kernel.in = arrays.wide;
  kernel.out = arrays.data;
  static_cast<Kernel&>(kernel).blocks = boxes.blocks.data();
  kernel.row_blocks = boxes.row_blocks.data();
  kernel.run_blocks = boxes.run_blocks.data();
  kernel.scale_bytes = reinterpret_cast<std::uint8_t*>(arrays.scales);
  kernel.block_count = static_cast<std::uint32_t>(boxes.blocks.size());
  kernel.block_step = boxes.block_step;
  kernel.params = {.ceil = plan.scaling.rounding == ScaleRounding::ceil,
                   .global_scale = static_cast<float>(plan.scaling.global_scale)};
  kernel.tiled = plan.scaling.layout == ScaleLayout::tiled ? 1 : 0;
  kernel.tiles = plan.tiles;
  // Places are read by vectors.
  std::vector<std::uint16_t> places(boxes.places.size() + 16);
  void* aligned = places.data();
  std::size_t room = places.size() * sizeof(std::uint16_t);
  std::memcpy(std::align(16, boxes.places.size() * sizeof(std::uint16_t), aligned, room), boxes.places.data(),
              boxes.places.size() * sizeof(std::uint16_t));
  kernel.places = static_cast<const std::uint16_t*>(aligned);
  testing::emulate(kernel, {.order = order});
}

// By tables, which any box has; vectors are of 16 numbers or as few as there can be.
template <typename Wide, typename Scaled>
void run_boxes(const BlockPlan& plan, const ValueBoxes& boxes, const Arrays& arrays, testing::Order order) {
  constexpr int kMostIn = 16 / static_cast<int>(sizeof(Wide));
  constexpr int kLeastOut = kernels::kIsPacked<Scaled> ? 2 : 1;
  const auto run = [&]<int kIn, int kOut>() {
    run_kernel<Wide, Scaled, kernels::ValueShape<kIn, kOut>>(plan, boxes, arrays, order);
  };
  if (boxes.in_vector == kMostIn && boxes.out_vector == 16) return run.template operator()<kMostIn, 16>();
  if (boxes.in_vector == kMostIn && boxes.out_vector == kLeastOut)
    return run.template operator()<kMostIn, kLeastOut>();
  if (boxes.in_vector == 1 && boxes.out_vector == 16) return run.template operator()<1, 16>();
  ASSERT_TRUE(boxes.in_vector == 1 && boxes.out_vector == kLeastOut);
  run.template operator()<1, kLeastOut>();
}

void expect_boxes(const BlockScaling& of, std::uint64_t seed) {
  SCOPED_TRACE(test::text_of(of));
  const BlockPlan plan = detail::make_block_plan(of, Target{});
  if (plan.values.count == 0) return;
  const std::uint64_t width = bytes_of(of.wide);
  const std::uint64_t least_out = bits_of(of.format) == 4 ? 2 : 1;
  const auto boxes_for = [&](std::uint64_t in, std::uint64_t out) {
    return detail::make_value_boxes(plan.values, {.in = in, .out = out});
  };
  const auto fits = [&](const ValueBoxes& boxes) {
    const auto in = static_cast<std::uint64_t>(boxes.in_vector);
    const auto out = static_cast<std::uint64_t>(boxes.out_vector);
    return (in == 1 || in * width == 16) && (out == least_out || out == 16);
  };
  SplitMix64 random{seed};
  ValueBoxes boxes = boxes_for(16, 16);
  if (!fits(boxes)) boxes = boxes_for(16, least_out);
  if (!fits(boxes)) boxes = boxes_for(width, 16);
  if (!fits(boxes) || random() % 4 == 0) boxes = boxes_for(width, least_out);
  SCOPED_TRACE(boxes.explain());
  Guarded wide(plan.wide_count * width, 0);
  Guarded data(plan.data_bytes, 0);
  Guarded scales(plan.scale_bytes, random() % 64);
  test::fill_blocks(wide, of, random);
  if (of.layout == ScaleLayout::tiled) std::memset(scales.data(), 0, scales.bytes());
  Guarded wanted_data = data;
  Guarded wanted_scales = scales;
  kernels::with_format(of.format, [&]<typename Scaled>() {
    const Arrays arrays{.wide = wide.data(), .data = data.data(), .scales = scales.data()};
    const auto order = static_cast<testing::Order>(random() % 3);
    if (of.wide == Number::f32) return run_boxes<float, Scaled>(plan, boxes, arrays, order);
    run_boxes<kernels::BrainHalf, Scaled>(plan, boxes, arrays, order);
  });
  test::quantize_by_loop(of, wide.data(), data.data(), wanted_data.data(), wanted_scales.data());
  ASSERT_EQ(scales.memory(), wanted_scales.memory());
  ASSERT_EQ(data.memory(), wanted_data.memory());
}

TEST(QuantizeBoxes, DrawnFormatsShapesAndLayouts) {
  const int rounds = testing::kInstrumented ? 40 : 300;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 7559 + 1};
    SCOPED_TRACE("seed " + std::to_string(i));
    BlockScaling of = test::draw_blocks(random);
    if (of.wide == Number::f16) of.wide = Number::bf16;
    expect_boxes(of, random());
  }
}

TEST(QuantizeBoxes, TransposedAndInRows) {
  for (int format = 0; format < 4; ++format) {
    for (const auto& strides : {std::vector<std::int64_t>{1, 160}, std::vector<std::int64_t>{224, 1}}) {
      for (std::size_t axis = 0; axis < 2; ++axis) {
        for (const Number wide : {Number::f32, Number::bf16})
          expect_boxes({.format = static_cast<BlockFormat>(format),
                        .wide = wide,
                        .extents = {160, 224},
                        .strides = strides,
                        .axis = axis},
                       5);
      }
    }
  }
}

}  // namespace faro::quantize_box_test
