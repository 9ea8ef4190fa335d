#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

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

namespace faro::cuda {
namespace {

using faro::detail::BlockPlan;
using faro::detail::ValueAlignment;
using faro::detail::ValueBoxes;
using faro::detail::ValuePlan;

BoxKernel block_box_kernel(const BlockKernel& which, std::uint64_t shared_bytes, int device) {
  return {compiled_block_kernel(which), [&] { return kernel_source(type_text(which)); }, kValueKernelName,
          shared_bytes, device};
}

// Boxes of one way, for arrays of some alignment.
class LoadedBlocks {
 public:
  LoadedBlocks(const BlockPlan& plan, bool back, const ValueAlignment& alignment, int device)
      : boxes_(faro::detail::make_value_boxes(back ? plan.undone() : plan.values, alignment)),
        kernel_(block_box_kernel({.wide = plan.scaling.wide,
                                  .format = plan.scaling.format,
                                  .back = back,
                                  .in = boxes_.in_vector,
                                  .out = boxes_.out_vector,
                                  .loads = boxes_.loads,
                                  .stores = boxes_.stores},
                                 boxes_.params.shared_bytes, device)),
        tables_(boxes_, device),
        blocks_(DeviceBuffer<kernels::ScaledBlock>::of(boxes_.blocks, device)),
        row_blocks_(DeviceBuffer<std::uint16_t>::of(boxes_.row_blocks, device)),
        run_blocks_(DeviceBuffer<std::uint16_t>::of(boxes_.run_blocks, device)) {
    tables_.give(arguments_);
    arguments_.blocks = blocks_.data();
    arguments_.row_blocks = row_blocks_.data();
    arguments_.run_blocks = run_blocks_.data();
    arguments_.block_count = static_cast<std::uint32_t>(boxes_.blocks.size());
    arguments_.block_step = boxes_.block_step;
    arguments_.of_vector = boxes_.blocks_of_vector;
    arguments_.params = {.ceil = plan.scaling.rounding == ScaleRounding::ceil,
                         .global_scale = static_cast<float>(plan.scaling.global_scale)};
    arguments_.tiled = plan.scaling.layout == ScaleLayout::tiled ? 1 : 0;
    arguments_.tiles = plan.tiles;
  }

  void launch(const void* in, const void* scales, void* out, Stream stream) const {
    kernels::ScaledArrays arguments = arguments_;
    arguments.in = in;
    arguments.out = out;
    arguments.scale_bytes = static_cast<std::uint8_t*>(const_cast<void*>(scales));
    kernel_.launch(boxes_.boxes, arguments, stream);
  }

  std::string explain() const { return boxes_.explain() + (kernel_.at_run_time() ? kCompiledByNvrtc : ""); }

 private:
  ValueBoxes boxes_;
  BoxKernel kernel_;
  BoxTables tables_;
  DeviceBuffer<kernels::ScaledBlock> blocks_;
  DeviceBuffer<std::uint16_t> row_blocks_;
  DeviceBuffer<std::uint16_t> run_blocks_;
  kernels::ScaledArrays arguments_;
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
    const std::uint64_t data = std::min(kVector, data_alignment * 8 / bits_of(plan.scaling.format));
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
