#include <memory>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/loaded_boxes.hpp"
#include "engines/cuda/run/number_arrays.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/value_program.hpp"
#include "engines/cuda_values.hpp"
#include "faro/error.hpp"
#include "kernels/group_values.hpp"
#include "kernels/value_tile.hpp"

namespace faro::cuda {
namespace {

using faro::detail::ValueAlignment;
using faro::detail::ValueBoxes;
using faro::detail::ValuePlan;
using faro::detail::ValueTilePlan;
using Arguments = kernels::ValueArrays;

BoxKernel value_box_kernel(const ValueKernel& which, std::uint64_t shared_bytes, int device) {
  return {compiled_value_kernel(which), [&] { return kernel_source(type_text(which)); }, kValueKernelName,
          shared_bytes, device};
}

// Boxes for arrays of some alignment, ready to run.
class LoadedBoxes {
 public:
  LoadedBoxes(const ValuePlan& plan, const ValueAlignment& alignment, int device)
      : boxes_(faro::detail::make_value_boxes(plan, alignment)),
        kernel_(
            value_box_kernel(value_kernel_of(plan.arithmetic, boxes_), boxes_.params.shared_bytes, device)),
        tables_(boxes_, device) {}

  void launch(Arguments arguments, Stream stream) const {
    tables_.give(arguments);
    kernel_.launch(boxes_.boxes, arguments, stream);
  }

  ValueKernel which(const Arithmetic& arithmetic) const { return value_kernel_of(arithmetic, boxes_); }
  GroupedValues grouped(const Arithmetic& arithmetic) const {
    GroupedValues made{.kind = type_text(which(arithmetic)),
                       .arrays = {},
                       .boxes = boxes_.boxes,
                       .shared_bytes = boxes_.params.shared_bytes + kernels::GroupValues::kKeptBytes};
    tables_.give(made.arrays);
    return made;
  }

  std::string explain() const { return boxes_.explain() + (kernel_.at_run_time() ? kCompiledByNvrtc : ""); }

 private:
  ValueBoxes boxes_;
  BoxKernel kernel_;
  BoxTables tables_;
};

// Tiles for arrays of some alignment, ready to run.
class LoadedTiles {
 public:
  LoadedTiles(const ValueTilePlan& plan, const ValueAlignment& alignment, int device)
      : tiles_(faro::detail::make_value_tiles(plan, alignment)),
        kernel_(
            nullptr, [&] { return kernel_source(tile_type_text(plan.arithmetic, tiles_)); }, kValueKernelName,
            static_cast<std::uint64_t>(tiles_.shape.tile_bytes()), device, tiles_.shape.threads()) {}

  void launch(kernels::ValueTileArrays arrays, Stream stream) const {
    arrays.p = tiles_.params;
    kernel_.launch_blocks(tiles_.params.blocks(), arrays, stream);
  }
  std::string explain() const { return tiles_.explain(); }

 private:
  faro::detail::ValueTiles tiles_;
  BoxKernel kernel_;
};

}  // namespace

struct ValueExecutor::State {
  ValuePlan plan;
  int device;
  DeviceBuffer<std::byte> scales;
  DeviceBuffer<std::byte> offsets;
  kernels::ValueFactor beta;
  ByAlignment<LoadedBoxes> loaded;

  State(const ValuePlan& of, int on) : plan(of), device(on) {
    if (plan.count == 0) return;
    const Number computed = computed_in(plan.arithmetic);
    scales = DeviceBuffer<std::byte>::of(factors_of(plan.arithmetic.scale, computed), device);
    offsets = DeviceBuffer<std::byte>::of(factors_of(plan.arithmetic.offset, computed), device);
    if (plan.arithmetic.addend) beta = factor_of(plan.arithmetic.addend->beta, computed);
    static_cast<void>(boxes_for({}));
  }

  const LoadedBoxes& boxes_for(const ValueAlignment& alignment) const {
    return loaded.get(alignment, [&] { return LoadedBoxes(plan, alignment, device); });
  }
};

ValueExecutor::ValueExecutor(const ValuePlan& plan, int device) {
  require_available();
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  state_ = std::make_unique<State>(plan, ordinal);
}
ValueExecutor::ValueExecutor(ValueExecutor&&) noexcept = default;
ValueExecutor& ValueExecutor::operator=(ValueExecutor&&) noexcept = default;
ValueExecutor::~ValueExecutor() = default;

void ValueExecutor::run(const void* in, const void* addend, void* out, Stream stream,
                        const faro::detail::ValueStrides& first) const {
  const State& state = *state_;
  if (state.plan.count == 0) return;
  const Arithmetic& of = state.plan.arithmetic;
  const DeviceGuard guard(state.device);
  const ValueAlignment alignment = required_alignment(of, in, addend, out, state.device);
  Arguments arrays;
  const auto width = static_cast<std::int64_t>(bytes_of(computed_in(of)));
  arrays.scales = state.scales.data() + first.scale * width;
  arrays.offsets = state.offsets.data() + first.offset * width;
  arrays.beta = state.beta;
  arrays.in = in;
  arrays.addend = addend;
  arrays.out = out;
  state.boxes_for(alignment).launch(arrays, stream);
}

GroupedValues ValueExecutor::grouped(const ValueAlignment& alignment) const {
  const State& state = *state_;
  FARO_CHECK(state.plan.count > 0 && !state.plan.arithmetic.addend);
  const DeviceGuard guard(state.device);
  GroupedValues made = state.boxes_for(alignment).grouped(state.plan.arithmetic);
  made.arrays.scales = state.scales.data();
  made.arrays.offsets = state.offsets.data();
  made.arrays.beta = state.beta;
  return made;
}

RuntimeKernel ValueExecutor::group_kernel(const ValueAlignment& alignment) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  const ValueKernel which = state.boxes_for(alignment).which(state.plan.arithmetic);
  return compile(kernel_source(group_type_text(which)), state.device)->kernel(kValueKernelName);
}

std::string ValueExecutor::explain() const {
  const ValuePlan& plan = state_->plan;
  const std::string text =
      faro::detail::told_arithmetic(plan.arithmetic, plan.count, plan.read_bytes(), plan.written_bytes());
  return plan.count == 0 ? text : text + state_->boxes_for({}).explain();
}

struct ValueTileExecutor::State {
  ValueTilePlan plan;
  int device;
  FactorsOfPlaces factors;
  ByAlignment<LoadedTiles> loaded;

  State(const ValueTilePlan& of, int on) : plan(of), device(on), factors(plan.arithmetic, device) {
    static_cast<void>(tiles_for({}));
  }

  const LoadedTiles& tiles_for(const ValueAlignment& alignment) const {
    return loaded.get(alignment, [&] { return LoadedTiles(plan, alignment, device); });
  }
};

ValueTileExecutor::ValueTileExecutor(const ValueTilePlan& plan, int device) {
  require_available();
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  state_ = std::make_unique<State>(plan, ordinal);
}
ValueTileExecutor::ValueTileExecutor(ValueTileExecutor&&) noexcept = default;
ValueTileExecutor& ValueTileExecutor::operator=(ValueTileExecutor&&) noexcept = default;
ValueTileExecutor::~ValueTileExecutor() = default;

void ValueTileExecutor::run(const void* in, const void* addend, void* out, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  const ValueAlignment alignment = required_alignment(state.plan.arithmetic, in, addend, out, state.device);
  kernels::ValueTileArrays arrays;
  arrays.factors = state.factors.get();
  arrays.in = in;
  arrays.addend = addend;
  arrays.out = out;
  state.tiles_for(alignment).launch(arrays, stream);
}

std::string ValueTileExecutor::explain() const {
  const ValueTilePlan& plan = state_->plan;
  return faro::detail::told_arithmetic(plan.arithmetic, plan.count(), plan.read_bytes(),
                                       plan.written_bytes()) +
         state_->tiles_for({}).explain() + kCompiledByNvrtc;
}

}  // namespace faro::cuda
