// The CUDA engine's executor: a plan's passes, loaded, and the schedule that they read. What may be wrong
// with its arrays is refused here and by LoadedPasses, before anything is queued.
#include <memory>
#include <string>
#include <utility>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/run/scheduled_passes.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

void require_placement(Placement taken, Placement planned) {
  if (taken == planned) return;
  const bool in_place = planned == Placement::in_place;
  fail(ErrorCode::value, "run", std::string("a plan ") + (in_place ? "in place" : "out of place"),
       std::string("one for ") + (in_place ? "two arrays" : "one array"), "set Problem::placement");
}

}  // namespace

struct Executor::State {
  int device = 0;
  Placement placement = Placement::out_of_place;
  ScheduledPasses passes;

  State(const Plan& plan, const schedule::IndexSchedule* made)
      : device(plan.target().device), placement(plan.problem().placement), passes(plan, made) {
    FARO_CHECK(passes.aligned().workspace_bytes() == plan.workspace_bytes());
  }
};

Executor::Executor(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan, nullptr);
}

Executor::Executor(const Plan& plan, const schedule::IndexSchedule& made) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  require_available();
  if (!has_schedule(plan)) {
    fail(ErrorCode::value, "plan", "a schedule for " + to_text(plan.problem().permutation),
         "a schedule for an index array that is carried out as such", "other permutations need none");
  }
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan, &made);
}

Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::run(const void* in, void* out, Stream stream, void* workspace) const {
  const State& state = *state_;
  require_placement(Placement::out_of_place, state.placement);
  if (state.passes.aligned().empty()) return;
  const DeviceGuard guard(state.device);
  require_accessible(in, "input", state.device);
  require_accessible(out, "output", state.device);
  const std::uint64_t bytes = workspace_bytes();
  if (bytes > 0 && workspace != nullptr) require_accessible(workspace, "workspace", state.device);
  const StreamMemory own(workspace == nullptr ? bytes : 0, state.device, stream);
  state.passes.of(addresses(in, out))
      .launch({.in = in, .out = out, .workspace = workspace == nullptr ? own.data() : workspace}, stream);
}

void Executor::run(void* data, Stream stream, void* workspace) const {
  const State& state = *state_;
  require_placement(Placement::in_place, state.placement);
  if (state.passes.aligned().empty()) return;
  const DeviceGuard guard(state.device);
  require_accessible(data, "array", state.device);
  const std::uint64_t bytes = workspace_bytes();
  require_lent(workspace, bytes);
  if (bytes > 0) require_accessible(workspace, "workspace", state.device);
  state.passes.of(address(data))
      .launch({.in = data, .out = data, .workspace = bytes > 0 ? workspace : nullptr}, stream);
}

std::uint64_t Executor::workspace_bytes() const { return state_->passes.aligned().workspace_bytes(); }

std::uint64_t Executor::schedule_bytes() const {
  const PlanSchedule* const schedule = state_->passes.schedule();
  return schedule == nullptr ? 0 : schedule->bytes();
}

schedule::IndexSchedule Executor::schedule() const {
  if (state_->passes.schedule() == nullptr) {
    fail(ErrorCode::unsupported, "fetch the schedule", "a plan that needs none", "a plan with a schedule",
         "make the plan again instead, it costs nothing");
  }
  const DeviceGuard guard(state_->device);
  return state_->passes.schedule()->fetched();
}

std::vector<KernelResources> Executor::resources() const {
  const DeviceGuard guard(state_->device);
  return state_->passes.aligned().resources();
}

}  // namespace faro::cuda
