// Index arrays, multiplications and computed maps with arithmetic: the passes of the plain permutation, of
// which one changes numbers.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/run/loaded_boxes.hpp"
#include "engines/cuda/run/number_arrays.hpp"
#include "engines/cuda/run/scheduled_passes.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_values.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

struct ValuePassExecutor::State {
  Arithmetic arithmetic;
  int device;
  std::uint64_t held_bytes;  // of all arrays, as passes hold them
  std::string told;
  FactorsOfPlaces factors;
  PassChange change;
  ScheduledPasses passes;

  State(const Plan& plan, const schedule::IndexSchedule* made, const Arithmetic& of, bool rounds_first)
      : arithmetic(of),
        device(plan.target().device),
        held_bytes(plan.array_bytes()),
        told(plan.explain()),
        factors(of, device),
        change{.arithmetic = of, .rounds_first = rounds_first, .factors = &factors.get(), .device = device},
        passes(plan, made, change) {}

  std::uint64_t numbers() const { return held_bytes / change.held_bytes(); }
  std::uint64_t in_bytes() const { return numbers() * bytes_of(arithmetic.from); }
  std::uint64_t out_bytes() const { return numbers() * bytes_of(arithmetic.to); }
  // What passes before the last write, where the output has numbers of another width or is added.
  std::uint64_t between_bytes() const {
    return change.rounds_first || passes.aligned().size() == 1 ? 0 : held_bytes;
  }
  const std::byte* held_in(const void* in) const {
    return change.rounds_first ? change.as_held(in) : static_cast<const std::byte*>(in);
  }
  std::byte* held_out(void* out) const {
    return change.rounds_first ? static_cast<std::byte*>(out) : const_cast<std::byte*>(change.as_held(out));
  }
};

bool ValuePassExecutor::takes(const Plan& plan, bool rounds_first) {
  if (plan.passes().empty() || !plan.exceptions().empty()) return false;
  const Pass& changed = rounds_first ? plan.passes().front() : plan.passes().back();
  return can_change(*changed.gpu);
}

ValuePassExecutor::ValuePassExecutor(const Plan& plan, const schedule::IndexSchedule* made,
                                     const Arithmetic& arithmetic, bool rounds_first) {
  FARO_CHECK(takes(plan, rounds_first));
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan, made, arithmetic, rounds_first);
}
ValuePassExecutor::ValuePassExecutor(ValuePassExecutor&&) noexcept = default;
ValuePassExecutor& ValuePassExecutor::operator=(ValuePassExecutor&&) noexcept = default;
ValuePassExecutor::~ValuePassExecutor() = default;

void ValuePassExecutor::run(const void* in, const void* addend, void* out, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  static_cast<void>(required_alignment(state.arithmetic, in, addend, out, state.device));
  const std::byte* const from = state.held_in(in);
  std::byte* const to = state.held_out(out);
  const LoadedPasses& passes = state.passes.of(addresses(from, to));
  const StreamMemory workspace(passes.workspace_bytes(), state.device, stream);
  const StreamMemory between(state.between_bytes(), state.device, stream);
  passes.launch(
      {.in = from,
       .out = to,
       .workspace = workspace.data(),
       .between = between.data(),
       .added = {.addend = static_cast<const std::byte*>(addend), .out = static_cast<const std::byte*>(out)}},
      stream);
}

std::uint64_t ValuePassExecutor::moved_bytes() const {
  const State& state = *state_;
  const std::uint64_t added = state.arithmetic.addend ? bytes_of(state.arithmetic.addend->number) : 0;
  return state.in_bytes() + state.out_bytes() + added * state.numbers() +
         2 * (state.passes.aligned().size() - 1) * state.held_bytes;
}

std::string ValuePassExecutor::explain() const {
  const State& state = *state_;
  return faro::detail::told_arithmetic(state.arithmetic, state.numbers(), state.in_bytes(),
                                       state.out_bytes()) +
         "changed         as the " + (state.change.rounds_first ? "first pass reads" : "last pass writes") +
         " them\n" + kCompiledByNvrtc + state.told;
}

}  // namespace faro::cuda
