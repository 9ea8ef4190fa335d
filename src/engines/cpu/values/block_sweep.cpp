#include "engines/cpu/values/block_sweep.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "disjoint.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/values/block_run.hpp"
#include "engines/cpu/values/box_move.hpp"

namespace faro::cpu {
namespace {

using detail::BlockPlan;
using detail::ValueAxis;
using detail::ValuePlan;
using detail::ValueStrides;

// A thread's own.
struct BlockMemory {
  std::vector<std::byte> box;
  std::vector<std::byte> scales;  // of a run
  std::vector<std::byte> workspace;
};

// Boxes of some extents.
struct BlockBox {
  std::unique_ptr<BoxMove> collect;
  std::unique_ptr<BoxMove> spread;
  std::vector<std::int64_t> scale_places;  // of a run's blocks, from its first one's
  bool scales_together = false;
};

// Whether no two of a box's wide numbers lie in one place.
bool can_be_written(const ValuePlan& plan) {
  std::vector<std::uint64_t> extents;
  std::vector<std::int64_t> strides;
  for (const ValueAxis& axis : plan.axes) {
    extents.push_back(axis.extent);
    strides.push_back(axis.strides.in);
  }
  return !detail::shares_own_bytes({nullptr, 1, extents, strides});
}

}  // namespace

struct BlockSweep::State {
  BlockPlan plan;
  BlockProgram program;
  BoxGrid grid;
  std::size_t run_axes;  // the last ones, whose numbers lie together: whole blocks, or side by side
  std::int64_t bits;     // of a number of the data
  std::int64_t width;    // of a wide one, in bytes
  std::map<BoxExtents, BlockBox> boxes;
  std::uint64_t workspace_bytes = 0;

  State(const BlockPlan& of, const Target& one_thread)
      : plan(of),
        program{.format = of.scaling.format,
                .wide = of.scaling.wide,
                .params = {.ceil = of.scaling.rounding == ScaleRounding::ceil,
                           .global_scale = static_cast<float>(of.scaling.global_scale)}},
        grid(plan.values),
        run_axes(plan.values.run_axes),
        bits(static_cast<std::int64_t>(bits_of(of.scaling.format))),
        width(static_cast<std::int64_t>(bytes_of(of.scaling.wide))) {
    if (plan.values.count == 0) return;
    const std::size_t behind = axes().size() - 1 - plan.block_axis;
    program.in_columns = behind > 0;
    if (program.in_columns) run_axes = std::min(run_axes, behind);
    const bool written = can_be_written(plan.values);
    grid.for_each_kind([&](const BoxExtents& extents) {
      BlockBox& box = boxes[extents];
      set_scale_places(box, extents);
      if (plan.values.in_direct) return;
      const auto move = [&](bool to_box) {
        auto made = std::make_unique<BoxMove>(plan.values, extents, &ValueStrides::in,
                                              static_cast<std::uint64_t>(width), to_box, one_thread);
        workspace_bytes = std::max(workspace_bytes, made->workspace_bytes());
        return made;
      };
      box.collect = move(true);
      if (written) box.spread = move(false);
    });
  }

  const std::vector<ValueAxis>& axes() const { return plan.values.axes; }

  // One of each block.
  BoxExtents blocks_of(BoxExtents extents) const {
    extents[plan.block_axis] = 1;
    return extents;
  }

  void set_scale_places(BlockBox& box, const BoxExtents& extents) const {
    const std::size_t outer = axes().size() - run_axes;
    const BoxExtents blocks = blocks_of(extents);
    const BoxExtents run(blocks.begin() + static_cast<std::ptrdiff_t>(outer), blocks.end());
    BoxExtents at(run.size(), 0);
    do {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < at.size(); ++i)
        place += static_cast<std::int64_t>(at[i]) * axes()[outer + i].strides.scale;
      box.scales_together = place == static_cast<std::int64_t>(box.scale_places.size()) &&
                            (box.scale_places.empty() || box.scales_together);
      box.scale_places.push_back(place);
    } while (step(at, run, run.size()));
    box.scales_together &= plan.scaling.layout == ScaleLayout::strided;
  }

  BlockMemory make_memory() const {
    BlockMemory memory;
    if (!plan.values.in_direct)
      memory.box.resize(plan.values.box_count() * static_cast<std::uint64_t>(width));
    memory.scales.resize(plan.values.box_count() / block_of(program.format));
    memory.workspace.resize(workspace_bytes);
    return memory;
  }

  std::uint64_t scale_place(std::int64_t scale) const {
    const auto place = static_cast<std::uint64_t>(scale);
    return plan.scaling.layout == ScaleLayout::tiled ? plan.tiles.place(place) : place;
  }

  // Calls call(run, place of its first scale) of every run of a box whose wide numbers begin at `wide`, the
  // others at `data`. Strides of the box itself are those of dense extents.
  template <typename Run, typename WideByte, typename DataByte, typename Call>
  void for_each_run(const BoxExtents& extents, const ValueStrides& corner, WideByte* wide, DataByte* data,
                    const Call& call) const {
    const bool direct = plan.values.in_direct;
    std::vector<std::int64_t> in_box(extents.size());
    std::int64_t next = 1;
    for (std::size_t i = extents.size(); i-- > 0; next *= static_cast<std::int64_t>(extents[i]))
      in_box[i] = next;
    const auto wide_stride = [&](std::size_t axis) {
      return direct ? axes()[axis].strides.in : in_box[axis];
    };
    const std::size_t outer = extents.size() - run_axes;
    const BoxExtents blocks = blocks_of(extents);
    Run run;
    run.blocks = count_of(BoxExtents(blocks.begin() + static_cast<std::ptrdiff_t>(outer), blocks.end()));
    run.wide_pitch_bytes = wide_stride(plan.block_axis) * width;
    run.data_pitch_bytes = axes()[plan.block_axis].strides.out * bits / 8;
    BoxExtents at(outer, 0);
    do {
      ValueStrides place = corner;
      std::int64_t wide_at = direct ? corner.in : 0;
      for (std::size_t i = 0; i < outer; ++i) {
        advance(place, axes()[i].strides, static_cast<std::int64_t>(at[i]));
        wide_at += static_cast<std::int64_t>(at[i]) * wide_stride(i);
      }
      run.wide = wide + wide_at * width;
      run.data = data + place.out * bits / 8;
      call(run, place.scale);
    } while (step(at, blocks, outer));
  }

  void quantize_box(const BoxExtents& at, const std::byte* wide, std::byte* data, std::byte* scales,
                    BlockMemory& memory) const {
    const BoxExtents extents = grid.extents_at(at);
    const BlockBox& box = boxes.at(extents);
    const ValueStrides corner = grid.corner_at(at);
    if (box.collect) {
      box.collect->collect(wide + corner.in * width, memory.box.data(), memory.workspace.data());
      wide = memory.box.data();
    }
    for_each_run<QuantizedRun>(extents, corner, wide, data, [&](QuantizedRun& run, std::int64_t first) {
      run.scales = box.scales_together ? scales + first : memory.scales.data();
      quantize_run(program, run);
      if (box.scales_together) return;
      for (std::uint64_t i = 0; i < run.blocks; ++i)
        scales[scale_place(first + box.scale_places[i])] = memory.scales[i];
    });
  }

  void dequantize_box(const BoxExtents& at, const std::byte* data, const std::byte* scales, std::byte* wide,
                      BlockMemory& memory) const {
    const BoxExtents extents = grid.extents_at(at);
    const BlockBox& box = boxes.at(extents);
    const ValueStrides corner = grid.corner_at(at);
    std::byte* const target = box.spread ? memory.box.data() : wide;
    for_each_run<DequantizedRun>(extents, corner, target, data, [&](DequantizedRun& run, std::int64_t first) {
      run.scales = box.scales_together ? scales + first : memory.scales.data();
      for (std::uint64_t i = 0; i < run.blocks && !box.scales_together; ++i)
        memory.scales[i] = scales[scale_place(first + box.scale_places[i])];
      dequantize_run(program, run);
    });
    if (box.spread) box.spread->spread(target, wide + corner.in * width, memory.workspace.data());
  }

  // Calls call(box, a thread's memory) of all boxes.
  template <typename Call>
  void share_boxes(const Call& call) const {
    if (plan.values.count == 0) return;
    const int threads = std::max(plan.values.threads, 1);
    std::vector<std::optional<BlockMemory>> of_ranks(static_cast<std::size_t>(threads));
    share_out_by_rank(grid.count(), threads, [&](const Share& share) {
      std::optional<BlockMemory>& own = of_ranks[share.rank];
      if (!own) own = make_memory();  // by the thread that uses it
      for (std::uint64_t box = share.begin; box < share.end; ++box) call(grid.at(box), *own);
    });
  }
};

BlockSweep::BlockSweep(const BlockPlan& plan, const Target& one_thread)
    : state_(std::make_unique<State>(plan, one_thread)) {}
BlockSweep::BlockSweep(BlockSweep&&) noexcept = default;
BlockSweep& BlockSweep::operator=(BlockSweep&&) noexcept = default;
BlockSweep::~BlockSweep() = default;

void BlockSweep::quantize(const std::byte* wide, std::byte* data, std::byte* scales) const {
  if (state_->plan.scales_padded) std::memset(scales, 0, state_->plan.scale_bytes);
  state_->share_boxes([&](const BoxExtents& box, BlockMemory& memory) {
    state_->quantize_box(box, wide, data, scales, memory);
  });
}

void BlockSweep::dequantize(const std::byte* data, const std::byte* scales, std::byte* wide) const {
  state_->share_boxes([&](const BoxExtents& box, BlockMemory& memory) {
    state_->dequantize_box(box, data, scales, wide, memory);
  });
}

}  // namespace faro::cpu
