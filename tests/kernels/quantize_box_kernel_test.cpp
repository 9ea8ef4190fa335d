// Boxes and tiles of scaled blocks, planned as for a GPU and run by a block that is emulated, against one
// loop over all blocks (block_support.hpp): drawn formats, shapes, strides and layouts of scales, between
// guard zones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "block_emulator.hpp"
#include "block_support.hpp"
#include "cpu_strided_support.hpp"
#include "kernels/block_formats.hpp"
#include "kernels/quantize_tile.hpp"
#include "plan/block_plan.hpp"
#include "plan/gpu/block_tiles.hpp"
#include "plan/gpu/value_boxes.hpp"

namespace faro::quantize_box_test {

using cpu_strided_test::Guarded;
using detail::BlockPlan;
using detail::BlockTiles;
using detail::ValueBoxes;
using testing::SplitMix64;

struct Arrays {
  std::byte* wide = nullptr;
  std::byte* data = nullptr;
  std::byte* scales = nullptr;
};

// A kernel as it is launched, but for its boxes or tiles: `from` and `to` are the wide array and the data, or
// the other way round.
template <typename Kernel>
struct Launched : Kernel {
  std::uint64_t count;
  std::uint64_t blocks() const { return count; }

  Launched(const BlockPlan& plan, std::uint64_t of, const kernels::ValueBoxParams& grid,
           const std::byte* from, std::byte* to, std::byte* scales_at)
      : count(of) {
    this->p = grid;
    this->in = from;
    this->out = to;
    this->scale_bytes = reinterpret_cast<std::uint8_t*>(scales_at);
    this->params = {.ceil = plan.scaling.rounding == ScaleRounding::ceil,
                    .global_scale = static_cast<float>(plan.scaling.global_scale)};
    this->tiled = plan.scaling.layout == ScaleLayout::tiled ? 1 : 0;
    this->tiles = plan.tiles;
  }
};

template <typename Kernel>
void run_kernel(const BlockPlan& plan, const ValueBoxes& boxes, const std::byte* from, std::byte* to,
                std::byte* scales, testing::Order order) {
  Launched<Kernel> kernel(plan, boxes.boxes, boxes.params, from, to, scales);
  kernel.in_rows = boxes.in_rows.data();
  kernel.out_rows = boxes.out_rows.data();
  kernel.row_factors = boxes.row_factors.data();
  kernel.scales_of_run = boxes.scales_of_run.data();
  static_cast<Kernel&>(kernel).blocks = boxes.blocks.data();
  kernel.row_blocks = boxes.row_blocks.data();
  kernel.run_blocks = boxes.run_blocks.data();
  kernel.block_count = static_cast<std::uint32_t>(boxes.blocks.size());
  kernel.block_step = boxes.block_step;
  kernel.of_vector = boxes.blocks_of_vector;
  // Places are read by vectors.
  std::vector<std::uint16_t> places(boxes.places.size() + 16);
  void* aligned = places.data();
  std::size_t room = places.size() * sizeof(std::uint16_t);
  std::memcpy(std::align(16, boxes.places.size() * sizeof(std::uint16_t), aligned, room), boxes.places.data(),
              boxes.places.size() * sizeof(std::uint16_t));
  kernel.places = static_cast<const std::uint16_t*>(aligned);
  testing::emulate(kernel, {.order = order});
}

// By tables, which any box has; vectors are of 16 bytes, or as few numbers as there can be.
template <typename Wide, typename Scaled>
void run_boxes(const BlockPlan& plan, const ValueBoxes& boxes, bool back, const Arrays& arrays,
               testing::Order order) {
  constexpr int kMostWide = 16 / static_cast<int>(sizeof(Wide));
  constexpr bool kPairs = kernels::kIsPacked<Scaled>;
  constexpr int kLeastData = kPairs ? 2 : 1;
  const auto run = [&]<int kWide, int kData>() {
    if (back) {
      using Shape = kernels::ValueShape<kData, kWide, kernels::ValueOrder::by_table,
                                        kernels::ValueOrder::by_table, false, kPairs>;
      return run_kernel<kernels::DequantizeBoxes<Wide, Scaled, Shape>>(plan, boxes, arrays.data, arrays.wide,
                                                                       arrays.scales, order);
    }
    run_kernel<kernels::QuantizeBoxes<Wide, Scaled, kernels::ValueShape<kWide, kData>>>(
        plan, boxes, arrays.wide, arrays.data, arrays.scales, order);
  };
  const int wide = back ? boxes.out_vector : boxes.in_vector;
  const int data = back ? boxes.in_vector : boxes.out_vector;
  if (wide == kMostWide && data == 16) return run.template operator()<kMostWide, 16>();
  if (wide == kMostWide && data == kLeastData) return run.template operator()<kMostWide, kLeastData>();
  if (wide == 1 && data == 16) return run.template operator()<1, 16>();
  ASSERT_TRUE(wide == 1 && data == kLeastData);
  run.template operator()<1, kLeastData>();
}

// Vectors of a size that there is a kernel of, as wide as can be but for one of four.
ValueBoxes drawn_boxes(const BlockPlan& plan, bool back, SplitMix64& random) {
  const std::uint64_t width = bytes_of(plan.scaling.wide);
  const std::uint64_t least = bits_of(plan.scaling.format) == 4 ? 2 : 1;
  const detail::ValuePlan view = back ? plan.undone() : plan.values;
  const auto boxes_for = [&](std::uint64_t wide, std::uint64_t data) {
    return detail::make_value_boxes(view, {.in = back ? data : wide, .out = back ? wide : data});
  };
  const auto fits = [&](const ValueBoxes& boxes) {
    const auto wide = static_cast<std::uint64_t>(back ? boxes.out_vector : boxes.in_vector);
    const auto data = static_cast<std::uint64_t>(back ? boxes.in_vector : boxes.out_vector);
    return (wide == 1 || wide * width == 16) && (data == least || data == 16);
  };
  ValueBoxes boxes = boxes_for(16, 16);
  if (!fits(boxes)) boxes = boxes_for(16, least);
  if (!fits(boxes)) boxes = boxes_for(width, 16);
  if (!fits(boxes) || random() % 4 == 0) boxes = boxes_for(width, least);
  return boxes;
}

// Tiles, of as many blocks a thread as there are kernels of.
template <typename Wide, typename Scaled, bool kWideAlong, bool kDataAlong>
void run_tiles_along(const BlockPlan& plan, const BlockTiles& tiles, bool back, const Arrays& arrays,
                     testing::Order order) {
  constexpr bool kAlong = kWideAlong && kDataAlong;
  constexpr int kMost = (kAlong ? 128 : 256) / Scaled::kBlock / static_cast<int>(sizeof(Wide));
  constexpr int kPart = kWideAlong ? 16 / static_cast<int>(sizeof(Wide)) : Scaled::kBlock;
  constexpr int kMostBack = kAlong ? 4 : kWideAlong ? 16 : kMost;
  bool ran = false;
  const auto run = [&]<int kBlocks>() {
    if (tiles.vector != kBlocks || ran) return;
    ran = true;
    if constexpr (kBlocks <= kMostBack) {
      if (back) {
        ASSERT_EQ(tiles.part, kPart);
        return testing::emulate(
            Launched<kernels::DequantizeTiles<Wide, Scaled, kPart, kBlocks, kWideAlong, kDataAlong>>(
                plan, tiles.blocks, tiles.params, arrays.data, arrays.wide, arrays.scales),
            {.order = order});
      }
    }
    if constexpr (kBlocks <= kMost) {
      ASSERT_FALSE(back);
      ASSERT_EQ(tiles.part, Scaled::kBlock);
      testing::emulate(Launched<kernels::QuantizeTiles<Wide, Scaled, kBlocks, kWideAlong, kDataAlong>>(
                           plan, tiles.blocks, tiles.params, arrays.wide, arrays.data, arrays.scales),
                       {.order = order});
    }
  };
  constexpr int kLeast = !kDataAlong && kernels::kIsPacked<Scaled>             ? 2
                         : !kWideAlong && sizeof(Wide) < sizeof(std::uint32_t) ? 2
                                                                               : 1;
  if constexpr (kLeast == 1) run.template operator()<1>();
  run.template operator()<2>();
  run.template operator()<4>();
  run.template operator()<8>();
  if constexpr (kWideAlong && !kDataAlong) run.template operator()<16>();
  ASSERT_TRUE(ran);
}

template <typename Wide, typename Scaled>
void run_tiles(const BlockPlan& plan, const BlockTiles& tiles, bool back, const Arrays& arrays,
               testing::Order order) {
  if (tiles.wide_along) {
    if (tiles.data_along) return run_tiles_along<Wide, Scaled, true, true>(plan, tiles, back, arrays, order);
    return run_tiles_along<Wide, Scaled, true, false>(plan, tiles, back, arrays, order);
  }
  if (tiles.data_along) return run_tiles_along<Wide, Scaled, false, true>(plan, tiles, back, arrays, order);
  run_tiles_along<Wide, Scaled, false, false>(plan, tiles, back, arrays, order);
}

// What a call would take, or boxes.
void run_way(const BlockPlan& plan, bool back, const Arrays& arrays, SplitMix64& random, int& tiled) {
  const auto order_of_threads = static_cast<testing::Order>(random() % 3);
  const std::uint64_t data = 16 * 8 / bits_of(plan.scaling.format);
  const auto tiles = detail::make_block_tiles(plan, back, {.in = back ? data : 16, .out = back ? 16 : data});
  if (tiles && random() % 4 != 0) {
    ++tiled;
    SCOPED_TRACE(tiles->explain());
    return kernels::with_format(plan.scaling.format, [&]<typename Scaled>() {
      if (plan.scaling.wide == Number::f32)
        return run_tiles<float, Scaled>(plan, *tiles, back, arrays, order_of_threads);
      run_tiles<kernels::BrainHalf, Scaled>(plan, *tiles, back, arrays, order_of_threads);
    });
  }
  const ValueBoxes boxes = drawn_boxes(plan, back, random);
  SCOPED_TRACE(boxes.explain());
  kernels::with_format(plan.scaling.format, [&]<typename Scaled>() {
    if (plan.scaling.wide == Number::f32)
      return run_boxes<float, Scaled>(plan, boxes, back, arrays, order_of_threads);
    run_boxes<kernels::BrainHalf, Scaled>(plan, boxes, back, arrays, order_of_threads);
  });
}

// Counts in `tiled` which of both ways went by tiles.
void expect_blocks(const BlockScaling& of, std::uint64_t seed, int& tiled) {
  SCOPED_TRACE(test::text_of(of));
  const BlockPlan plan = detail::make_block_plan(of, Target{});
  if (plan.values.count == 0) return;
  SplitMix64 random{seed};
  Guarded wide(plan.wide_count * bytes_of(of.wide), 0);
  Guarded data(plan.data_bytes, 0);
  Guarded scales(plan.scale_bytes, random() % 64);
  test::fill_blocks(wide.data(), plan.wide_count, of, random);
  if (of.layout == ScaleLayout::tiled) std::memset(scales.data(), 0, scales.bytes());
  Guarded wanted_data = data;
  Guarded wanted_scales = scales;
  const Arrays arrays{.wide = wide.data(), .data = data.data(), .scales = scales.data()};
  run_way(plan, false, arrays, random, tiled);
  test::quantize_by_loop(of, wide.data(), data.data(), wanted_data.data(), wanted_scales.data());
  ASSERT_EQ(scales.memory(), wanted_scales.memory());
  ASSERT_EQ(data.memory(), wanted_data.memory());
  if (std::find(of.strides.begin(), of.strides.end(), 0) != of.strides.end()) return;  // none to undo to
  Guarded wanted_wide = wide;
  run_way(plan, true, arrays, random, tiled);
  test::dequantize_by_loop(of, data.data(), scales.data(), wanted_wide.data());
  test::forget_bits_of_nan(of.wide, wide.data(), wanted_wide.data(), plan.wide_count);
  ASSERT_EQ(wide.memory(), wanted_wide.memory());
}

TEST(QuantizeBoxes, DrawnFormatsShapesAndLayouts) {
  const int rounds = testing::kInstrumented ? 40 : 300;
  int tiled = 0;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 7559 + 1};
    SCOPED_TRACE("seed " + std::to_string(i));
    BlockScaling of = test::draw_blocks(random);
    if (of.wide == Number::f16) of.wide = Number::bf16;
    expect_blocks(of, random(), tiled);
  }
  EXPECT_GT(tiled, rounds / 10);
}

// Along rows and columns, as they lie and transposed, of matrices and of heads, padded too, by tiles of
// whole and of half vectors.
TEST(QuantizeTiles, TransposedAndInRows) {
  int tiled = 0;
  int all = 0;
  const auto expect = [&](BlockScaling of) {
    for (const Number wide : {Number::f32, Number::bf16}) {
      for (int format = 0; format < 4; ++format) {
        for (std::size_t axis = 0; axis < of.extents.size(); ++axis) {
          of.format = static_cast<BlockFormat>(format);
          of.wide = wide;
          of.axis = axis;
          if (of.extents[axis] % 32 != 0) continue;
          expect_blocks(of, ++all, tiled);
        }
      }
    }
  };
  for (const std::uint64_t columns : {224, 160, 36, 34}) {
    const auto row = static_cast<std::int64_t>(columns);
    expect({.extents = {160, columns}, .strides = {1, 160}});
    expect({.extents = {160, columns}, .strides = {row, 1}});
    expect({.extents = {160, columns}, .strides = {row + 16, 1}, .first = 32});
  }
  expect({.extents = {3, 64, 2, 32}, .strides = {64 * 64, 32, 64 * 32, 1}});
  expect({.extents = {2, 64, 96}, .strides = {64 * 96, 1, 64}, .layout = ScaleLayout::tiled});
  EXPECT_GT(tiled, all);  // of both ways
}

// What numbers of 4 bits are rounded by: as any small float.
TEST(QuantizeBoxes, RoundsToFourBits) {
  for (std::uint32_t upper = 0; upper < 1U << 16; ++upper) {
    for (const std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const auto x = std::bit_cast<float>(upper << 16 | lower);
      const kernels::Float4E2M1 wanted =
          kernels::rounded_to<kernels::Float4E2M1>(x, kernels::Overflow::saturate);
      ASSERT_EQ(kernels::steps_of_e2m1(x), wanted.bits) << x;
    }
  }
}

}  // namespace faro::quantize_box_test
