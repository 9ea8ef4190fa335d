#include "plan/block_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "disjoint.hpp"
#include "faro/error.hpp"
#include "permutation/axis_map.hpp"
#include "rounding.hpp"

namespace faro {

const char* name(BlockFormat format) noexcept {
  constexpr const char* kNames[] = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "nvfp4"};
  return kNames[static_cast<int>(format)];
}
std::uint64_t block_of(BlockFormat format) noexcept { return format == BlockFormat::nvfp4 ? 16 : 32; }
std::uint64_t bits_of(BlockFormat format) noexcept {
  return format == BlockFormat::mxfp4 || format == BlockFormat::nvfp4 ? 4 : 8;
}

}  // namespace faro

namespace faro::detail {
namespace {

constexpr const char* kPlanBlocks = "plan blocks";
constexpr std::uint64_t kMostBlockBytes = std::uint64_t{1} << 62;

bool is_packed(const BlockScaling& of) { return bits_of(of.format) == 4; }

// The array of scales as it is asked for, row-major.
std::vector<std::uint64_t> scale_extents(const BlockScaling& of) {
  std::vector<std::uint64_t> extents = of.extents;
  extents[of.axis] /= block_of(of.format);
  return extents;
}

void check_count(const BlockScaling& of) {
  std::uint64_t most = kMostBlockBytes / sizeof(float);
  for (const std::uint64_t extent : of.extents) {
    if (extent == 0) return;
    if (extent > most)
      fail(ErrorCode::value, kPlanBlocks, fmt::format("an array of {}", fmt::join(of.extents, " x ")),
           "at most 2^62 bytes");
    most /= extent;
  }
}

void check_scaling(const BlockScaling& of) {
  if (of.wide != Number::f32 && of.wide != Number::f16 && of.wide != Number::bf16)
    fail(ErrorCode::unsupported, kPlanBlocks, fmt::format("wide numbers of {}", name(of.wide)),
         "f32, f16 or bf16");
  if (of.axis >= of.extents.size())
    fail(ErrorCode::value, kPlanBlocks, fmt::format("blocks along axis {} of {}", of.axis, of.extents.size()),
         "an axis of the extents");
  const std::uint64_t block = block_of(of.format);
  if (of.extents[of.axis] % block != 0)
    fail(ErrorCode::value, kPlanBlocks, fmt::format("blocks along an axis of {}", of.extents[of.axis]),
         fmt::format("a multiple of {}, of {}", block, name(of.format)));
  if (is_packed(of) && of.extents.back() % 2 != 0)
    fail(ErrorCode::value, kPlanBlocks, fmt::format("a last axis of {} numbers of 4 bits", of.extents.back()),
         "whole bytes: an even number");
  check_count(of);
  const auto check_strides = [&](const std::vector<std::int64_t>& strides, const char* what) {
    if (!strides.empty() && strides.size() != of.extents.size())
      fail(ErrorCode::value, kPlanBlocks,
           fmt::format("{} {} for {} axes", strides.size(), what, of.extents.size()),
           "as many as axes, or none");
  };
  check_strides(of.strides, "strides");
  check_strides(of.scale_strides, "scale strides");
  const bool twice = of.format == BlockFormat::nvfp4;
  const auto global = static_cast<float>(of.global_scale);
  if (twice ? !(global > 0 && std::isfinite(global)) : of.global_scale != 1)
    fail(ErrorCode::value, kPlanBlocks,
         fmt::format("a global scale of {} for {}", of.global_scale, name(of.format)),
         twice ? "a finite number above 0" : "none, or 1");
  if (of.layout == ScaleLayout::tiled && !of.scale_strides.empty())
    fail(ErrorCode::value, kPlanBlocks, "scale strides of a layout in tiles", "none");
}

void check_scale_strides(const std::vector<std::uint64_t>& extents,
                         const std::vector<std::int64_t>& strides) {
  const bool down =
      std::any_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride < 0; });
  if (down || shares_own_bytes({nullptr, 1, extents, strides}))
    fail(ErrorCode::value, kPlanBlocks, fmt::format("scale strides {}", fmt::join(strides, " ")),
         "strides of 0 and more by which no two scales share a place");
}

// Strides of scales in a matrix, row-major, whose columns are the blocks along the axis.
std::vector<std::int64_t> matrix_strides(const BlockScaling& of) {
  const std::vector<std::uint64_t> extents = scale_extents(of);
  std::vector<std::int64_t> strides(extents.size());
  auto next = static_cast<std::int64_t>(extents[of.axis]);
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (i == of.axis) continue;
    strides[i] = next;
    next *= static_cast<std::int64_t>(extents[i]);
  }
  strides[of.axis] = 1;
  return strides;
}

struct BlockStrides {
  std::vector<std::int64_t> wide;
  std::vector<std::int64_t> data;
  std::vector<std::int64_t> scales;
};

std::vector<ValueAxis> axes_of(const BlockScaling& of, const BlockStrides& strides) {
  std::vector<ValueAxis> axes;
  for (std::size_t i = 0; i < of.extents.size(); ++i) {
    const ValueStrides s{.in = strides.wide[i], .out = strides.data[i], .scale = strides.scales[i]};
    const bool blocks = i == of.axis;
    const bool pairs = !blocks && is_packed(of) && i + 1 == of.extents.size();
    if (!blocks && !pairs) {
      axes.push_back({.extent = of.extents[i], .strides = s});
      continue;
    }
    const std::uint64_t part = blocks ? block_of(of.format) : 2;
    const auto parts = static_cast<std::int64_t>(part);
    axes.push_back(
        {.extent = of.extents[i] / part,
         .strides = {.in = s.in * parts, .out = s.out * parts, .scale = blocks ? s.scale : s.scale * parts}});
    axes.push_back({.extent = part,
                    .strides = {.in = s.in, .out = s.out, .scale = blocks ? 0 : s.scale},
                    .whole = true});
  }
  return axes;
}

std::uint64_t reach(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& strides) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) return 0;
    last += (extents[i] - 1) * static_cast<std::uint64_t>(strides[i]);
  }
  return last + 1;
}

void set_tiles(BlockPlan& plan) {
  using Tiles = kernels::TiledScales;
  const std::uint64_t columns = scale_extents(plan.scaling)[plan.scaling.axis];
  if (plan.blocks() == 0) return;
  const std::uint64_t rows = plan.blocks() / columns;
  plan.tiles = {.columns = device::Division64(columns), .tiles = ceil_div(columns, Tiles::kColumns)};
  plan.scale_bytes = ceil_div(rows, Tiles::kRows) * plan.tiles.tiles * Tiles::kRows * Tiles::kColumns;
  plan.scales_padded = plan.scale_bytes != plan.blocks();
}

}  // namespace

BlockPlan make_block_plan(const BlockScaling& scaling, const Target& target) {
  check_scaling(scaling);
  BlockPlan plan{.scaling = scaling};
  const std::vector<std::uint64_t> of_scales = scale_extents(scaling);
  BlockStrides strides{
      .wide = scaling.strides, .data = dense_strides(scaling.extents), .scales = scaling.scale_strides};
  if (strides.wide.empty()) strides.wide = strides.data;
  if (scaling.layout == ScaleLayout::tiled) strides.scales = matrix_strides(scaling);
  if (strides.scales.empty()) strides.scales = dense_strides(of_scales);
  if (scaling.layout == ScaleLayout::strided) check_scale_strides(of_scales, strides.scales);
  const Strided view{.extents = scaling.extents,
                     .in_strides = strides.wide,
                     .out_strides = strides.data,
                     .in_offset = scaling.first};
  check(view);
  plan.wide_count = in_elements(view);
  if (plan.wide_count > kMostBlockBytes / sizeof(float))
    fail(ErrorCode::value, kPlanBlocks, to_text(view), "arrays of at most 2^62 bytes");
  // What a data's number is stored as is the engine's; a box of it has as many bytes, or half of them.
  const Arithmetic arithmetic{.from = scaling.wide, .to = Number::u8, .scale = {{1.0}, 0}};
  plan.values = make_value_plan(axes_of(scaling, strides), {.in = static_cast<std::int64_t>(scaling.first)},
                                arithmetic, target);
  plan.data_bytes = plan.values.count * bits_of(scaling.format) / 8;
  plan.scale_bytes = reach(of_scales, strides.scales);
  if (scaling.layout == ScaleLayout::tiled) set_tiles(plan);
  const auto& axes = plan.values.axes;
  const auto block = std::find_if(
      axes.begin(), axes.end(), [](const ValueAxis& axis) { return axis.whole && axis.strides.scale == 0; });
  plan.block_axis = static_cast<std::size_t>(block - axes.begin());
  return plan;
}

ValuePlan BlockPlan::undone(const Target& target) const {
  std::vector<ValueAxis> axes = values.axes;
  for (ValueAxis& axis : axes) std::swap(axis.strides.in, axis.strides.out);
  ValueStrides first = values.first;
  std::swap(first.in, first.out);
  return make_value_plan(axes, first, {.from = Number::u8, .to = scaling.wide, .scale = {{1.0}, 0}}, target);
}

std::string BlockPlan::told_blocks() const {
  std::string text = fmt::format("blocks          {} of {}, {} numbers each, with scales of {}\n", blocks(),
                                 name(scaling.format), block_of(scaling.format),
                                 scaling.format == BlockFormat::nvfp4 ? "f8_e4m3fn" : "powers of two");
  return text + fmt::format("numbers         {}: {} bytes of {}, {} of data, {} of scales{}\n", values.count,
                            wide_bytes(), name(scaling.wide), data_bytes, scale_bytes,
                            scaling.layout == ScaleLayout::tiled ? " in tiles of 128 x 4" : "");
}

std::string BlockPlan::explain() const {
  if (values.count == 0) return told_blocks();
  return told_blocks() + fmt::format("boxes           {} in runs of {}\n  wide          {}\n",
                                     fmt::join(values.box, " x "), values.run_count(),
                                     values.in_direct ? "where they lie" : "by way of a box in the cache");
}

}  // namespace faro::detail
