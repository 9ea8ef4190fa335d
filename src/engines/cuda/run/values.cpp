#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engines/cpu/values/value_run.hpp"
#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "engines/cuda/value_program.hpp"
#include "engines/cuda_values.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"
#include "kernels/group_values.hpp"

namespace faro::cuda {
namespace {

using faro::detail::ValueAlignment;
using faro::detail::ValueBoxes;
using faro::detail::ValuePlan;
using Arguments = kernels::ValueArrays;

// A kernel, whoever compiled it.
class AnyKernel {
 public:
  AnyKernel(const ValueKernel& which, std::uint64_t shared_bytes, int device) : shared_bytes_(shared_bytes) {
    if (const void* const function = compiled_value_kernel(which)) {
      entry_ = loaded({.function = function,
                       .threads = static_cast<int>(kernels::kValueThreads),
                       .shared_bytes = static_cast<int>(shared_bytes)});
    } else {
      kernel_ = compile(value_source(which), device)->kernel(kValueKernelName, shared_bytes > 0);
    }
  }

  bool at_run_time() const { return kernel_.has_value(); }
  void launch(std::uint64_t blocks, Arguments& arguments, Stream stream) const {
    void* pointers[] = {&arguments};
    if (kernel_) {
      kernel_->launch(blocks, static_cast<int>(kernels::kValueThreads), 1, shared_bytes_, pointers, stream);
    } else {
      cuda::launch(entry_, blocks, pointers, stream, {.operation = "run"});
    }
  }

 private:
  std::uint64_t shared_bytes_;
  KernelEntry entry_;
  std::optional<RuntimeKernel> kernel_;
};

// Boxes for arrays of some alignment, ready to run.
class LoadedBoxes {
 public:
  LoadedBoxes(const ValuePlan& plan, const ValueAlignment& alignment, int device)
      : boxes_(faro::detail::make_value_boxes(plan, alignment)),
        kernel_(value_kernel_of(plan.arithmetic, boxes_), boxes_.params.shared_bytes, device),
        in_rows_(DeviceBuffer<kernels::ValueRow>::of(boxes_.in_rows, device)),
        out_rows_(DeviceBuffer<kernels::ValueRow>::of(boxes_.out_rows, device)),
        row_factors_(DeviceBuffer<kernels::ValueRowFactors>::of(boxes_.row_factors, device)),
        places_(DeviceBuffer<std::uint16_t>::of(boxes_.places, device)),
        scales_of_run_(DeviceBuffer<std::int32_t>::of(boxes_.scales_of_run, device)),
        offsets_of_run_(DeviceBuffer<std::int32_t>::of(boxes_.offsets_of_run, device)) {
    arguments_.p = boxes_.params;
    arguments_.in_rows = in_rows_.data();
    arguments_.out_rows = out_rows_.data();
    arguments_.row_factors = row_factors_.data();
    arguments_.places = places_.data();
    arguments_.scales_of_run = scales_of_run_.data();
    arguments_.offsets_of_run = offsets_of_run_.data();
  }

  void launch(Arguments arrays, Stream stream) const {
    Arguments arguments = arguments_;
    arguments.scales = arrays.scales;
    arguments.offsets = arrays.offsets;
    arguments.beta = arrays.beta;
    arguments.in = arrays.in;
    arguments.addend = arrays.addend;
    arguments.out = arrays.out;
    constexpr std::uint64_t kMostBlocks = (std::uint64_t{1} << 31) - 1;
    for (std::uint64_t first = 0; first < boxes_.boxes; first += kMostBlocks) {
      arguments.p.first_box = first;
      kernel_.launch(std::min(boxes_.boxes - first, kMostBlocks), arguments, stream);
    }
  }

  ValueKernel which(const Arithmetic& arithmetic) const { return value_kernel_of(arithmetic, boxes_); }
  GroupedValues grouped(const Arithmetic& arithmetic) const {
    return {.kind = type_text(which(arithmetic)),
            .arrays = arguments_,
            .boxes = boxes_.boxes,
            .shared_bytes = boxes_.params.shared_bytes + kernels::GroupValues::kKeptBytes};
  }

  std::string explain() const {
    return boxes_.explain() + (kernel_.at_run_time() ? "kernel          compiled by NVRTC\n" : "");
  }

 private:
  ValueBoxes boxes_;
  AnyKernel kernel_;
  DeviceBuffer<kernels::ValueRow> in_rows_;
  DeviceBuffer<kernels::ValueRow> out_rows_;
  DeviceBuffer<kernels::ValueRowFactors> row_factors_;
  DeviceBuffer<std::uint16_t> places_;
  DeviceBuffer<std::int32_t> scales_of_run_;
  DeviceBuffer<std::int32_t> offsets_of_run_;
  Arguments arguments_;
};

std::vector<std::byte> factors_of(const Coefficient& of, Number computed) {
  const std::uint64_t width = bytes_of(computed);
  std::vector<std::byte> values(of.values.size() * width);
  for (std::size_t i = 0; i < of.values.size(); ++i)
    cpu::store_factor(computed, of.values[i], values.data() + i * width);
  return values;
}

// Vectors are of 16 bytes at most.
std::uint64_t alignment_of(const void* array) {
  return std::min<std::uint64_t>(kVector, std::uint64_t{1} << std::countr_zero(address(array) | kVector));
}

}  // namespace

struct ValueExecutor::State {
  ValuePlan plan;
  int device;
  DeviceBuffer<std::byte> scales;
  DeviceBuffer<std::byte> offsets;
  kernels::ValueFactor beta;
  mutable std::mutex mutex;
  // By the alignments of the arrays: most are aligned to 16 bytes.
  mutable std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::unique_ptr<LoadedBoxes>>
      loaded;

  State(const ValuePlan& of, int on) : plan(of), device(on) {
    if (plan.count == 0) return;
    const Number computed = computed_in(plan.arithmetic);
    scales = DeviceBuffer<std::byte>::of(factors_of(plan.arithmetic.scale, computed), device);
    offsets = DeviceBuffer<std::byte>::of(factors_of(plan.arithmetic.offset, computed), device);
    if (plan.arithmetic.addend)
      cpu::store_factor(computed, plan.arithmetic.addend->beta, reinterpret_cast<std::byte*>(beta.bytes));
    static_cast<void>(boxes_for({}));
  }

  const LoadedBoxes& boxes_for(const ValueAlignment& alignment) const {
    const std::lock_guard lock(mutex);
    auto& boxes = loaded[{alignment.in, alignment.out, alignment.addend}];
    if (boxes == nullptr) boxes = std::make_unique<LoadedBoxes>(plan, alignment, device);
    return *boxes;
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

void ValueExecutor::run(const void* in, const void* addend, void* out, Stream stream) const {
  const State& state = *state_;
  if (state.plan.count == 0) return;
  const Arithmetic& of = state.plan.arithmetic;
  const DeviceGuard guard(state.device);
  require_accessible(in, "input", state.device);
  require_accessible(out, "output", state.device);
  require_aligned(address(in), bytes_of(of.from), {.what = "an input"});
  require_aligned(address(out), bytes_of(of.to), {.what = "an output"});
  ValueAlignment alignment{.in = alignment_of(in), .out = alignment_of(out)};
  if (of.addend) {
    require_accessible(addend, "added array", state.device);
    require_aligned(address(addend), bytes_of(of.addend->number), {.what = "an added array"});
    alignment.addend = alignment_of(addend);
  }
  Arguments arrays;
  arrays.scales = state.scales.data();
  arrays.offsets = state.offsets.data();
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
  return compile(value_source(which, ArraysOfKernel::group), state.device)->kernel(kValueKernelName);
}

std::string ValueExecutor::explain() const {
  const ValuePlan& plan = state_->plan;
  const std::string text =
      faro::detail::told_arithmetic(plan.arithmetic, plan.count, plan.read_bytes(), plan.written_bytes());
  return plan.count == 0 ? text : text + state_->boxes_for({}).explain();
}

}  // namespace faro::cuda
