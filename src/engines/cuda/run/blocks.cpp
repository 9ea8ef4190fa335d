#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/loaded_boxes.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/value_program.hpp"
#include "engines/cuda_blocks.hpp"
#include "faro/error.hpp"
#include "kernels/quantize_box.hpp"
#include "plan/gpu/block_tiles.hpp"

namespace faro::cuda {
namespace {

using faro::detail::BlockPlan;
using faro::detail::ValueAlignment;
using faro::detail::ValueBoxes;
using faro::detail::ValuePlan;

// What every launch of one way has, whichever kernel runs it.
kernels::ScaledArrays arguments_of(const BlockPlan& plan) {
  kernels::ScaledArrays arguments;
  arguments.params = {.ceil = plan.scaling.rounding == ScaleRounding::ceil,
                      .global_scale = static_cast<float>(plan.scaling.global_scale)};
  arguments.tiled = plan.scaling.layout == ScaleLayout::tiled ? 1 : 0;
  arguments.tiles = plan.tiles;
  return arguments;
}

// Tables that boxes read.
struct LoadedTables {
  BoxTables of_boxes;
  DeviceBuffer<kernels::ScaledBlock> blocks;
  DeviceBuffer<std::uint16_t> row_blocks;
  DeviceBuffer<std::uint16_t> run_blocks;

  LoadedTables(const ValueBoxes& boxes, int device)
      : of_boxes(boxes, device),
        blocks(DeviceBuffer<kernels::ScaledBlock>::of(boxes.blocks, device)),
        row_blocks(DeviceBuffer<std::uint16_t>::of(boxes.row_blocks, device)),
        run_blocks(DeviceBuffer<std::uint16_t>::of(boxes.run_blocks, device)) {}

  void give(const ValueBoxes& boxes, kernels::ScaledArrays& arguments) const {
    of_boxes.give(arguments);
    arguments.blocks = blocks.data();
    arguments.row_blocks = row_blocks.data();
    arguments.run_blocks = run_blocks.data();
    arguments.block_count = static_cast<std::uint32_t>(boxes.blocks.size());
    arguments.block_step = boxes.block_step;
    arguments.of_vector = boxes.blocks_of_vector;
  }
};

// One way, for arrays of some alignment: tiles in registers where they fit, else boxes.
class LoadedBlocks {
 public:
  LoadedBlocks(const BlockPlan& plan, bool back, const ValueAlignment& alignment, int device)
      : arguments_(arguments_of(plan)) {
    if (const auto tiles = faro::detail::make_block_tiles(plan, back, alignment)) {
      const BlockTileKernel which{.wide = plan.scaling.wide,
                                  .format = plan.scaling.format,
                                  .back = back,
                                  .part = tiles->part,
                                  .vector = tiles->vector,
                                  .wide_along = tiles->wide_along,
                                  .data_along = tiles->data_along};
      arguments_.p = tiles->params;
      launches_ = tiles->blocks;
      explain_ = tiles->explain();
      load(compiled_block_kernel(which), type_text(which), 0, device);
      return;
    }
    const ValueBoxes boxes = faro::detail::make_value_boxes(back ? plan.undone() : plan.values, alignment);
    tables_ = std::make_unique<LoadedTables>(boxes, device);
    tables_->give(boxes, arguments_);
    launches_ = boxes.boxes;
    explain_ = boxes.explain();
    load(nullptr,
         type_text(BlockKernel{.wide = plan.scaling.wide,
                               .format = plan.scaling.format,
                               .back = back,
                               .in = boxes.in_vector,
                               .out = boxes.out_vector,
                               .loads = boxes.loads,
                               .stores = boxes.stores}),
         boxes.params.shared_bytes, device);
  }

  void launch(const void* in, const void* scales, void* out, Stream stream) const {
    kernels::ScaledArrays arguments = arguments_;
    arguments.in = in;
    arguments.out = out;
    arguments.scale_bytes = static_cast<std::uint8_t*>(const_cast<void*>(scales));
    kernel_->launch(launches_, arguments, stream);
  }

  std::string explain() const { return explain_ + (kernel_->at_run_time() ? kCompiledByNvrtc : ""); }

 private:
  void load(const void* compiled, const std::string& type, std::uint64_t shared_bytes, int device) {
    kernel_.emplace(
        compiled, [&] { return kernel_source(type); }, kValueKernelName, shared_bytes, device);
  }

  kernels::ScaledArrays arguments_;
  std::uint64_t launches_ = 0;
  std::string explain_;
  std::optional<BoxKernel> kernel_;
  std::unique_ptr<LoadedTables> tables_;
};

}  // namespace

struct BlockExecutor::State {
  BlockPlan plan;
  int device;
  ByAlignment<LoadedBlocks> quantizing;
  ByAlignment<LoadedBlocks> dequantizing;

  State(const BlockPlan& of, int on) : plan(of), device(on) {}

  const LoadedBlocks& boxes_for(bool back, std::uint64_t wide_alignment, std::uint64_t data_alignment) const {
    // Of numbers, as boxes count: two of 4 bits are a byte.
    const std::uint64_t data = data_alignment * 8 / bits_of(plan.scaling.format);
    const ValueAlignment alignment{.in = back ? data : wide_alignment, .out = back ? wide_alignment : data};
    return (back ? dequantizing : quantizing).get(alignment, [&] {
      return LoadedBlocks(plan, back, alignment, device);
    });
  }

  void require(const void* wide, const void* data, const void* scales) const {
    require_accessible(wide, "wide array", device);
    require_accessible(data, "data", device);
    require_accessible(scales, "scales", device);
    require_aligned(address(wide), bytes_of(plan.scaling.wide), {.what = "a wide array"});
  }
};

BlockExecutor::BlockExecutor(const BlockPlan& plan, int device) {
  require_available();
  state_ = std::make_unique<State>(plan, ordinal_of(device));
}
BlockExecutor::BlockExecutor(BlockExecutor&&) noexcept = default;
BlockExecutor& BlockExecutor::operator=(BlockExecutor&&) noexcept = default;
BlockExecutor::~BlockExecutor() = default;

void BlockExecutor::quantize(const void* wide, void* data, void* scales, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  state.require(wide, data, scales);
  const LoadedBlocks& boxes = state.boxes_for(false, alignment_of(wide), alignment_of(data));
  if (state.plan.scales_padded)
    check(cudaMemsetAsync(scales, 0, state.plan.scale_bytes, stream.handle()), "cudaMemsetAsync", "quantize");
  boxes.launch(wide, scales, data, stream);
}

void BlockExecutor::dequantize(const void* data, const void* scales, void* wide, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  state.require(wide, data, scales);
  state.boxes_for(true, alignment_of(wide), alignment_of(data)).launch(data, scales, wide, stream);
}

std::string BlockExecutor::explain() const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  return state.boxes_for(false, kVector, kVector).explain();
}

}  // namespace faro::cuda
