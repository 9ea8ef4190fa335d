// The CUDA engine's executor of permutations that are not affine: what may be wrong with plan and arrays is
// refused here; the schedule is made by make_device_schedule(), and IndexProgram runs it.
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/index_program.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_index.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

// Wider elements fill a sector or more wherever they go: scattering them costs no more than gathering.
constexpr std::uint64_t kLeastScattered = 64;

IndexArrays arrays_of(const IndexPlan& plan) {
  return {.element_bytes = plan.problem().element_bytes, .batch = plan.problem().batch};
}

// The index array that the schedule is made from.
const Indexed& indexed_of(const IndexPlan& plan) {
  const Indexed* indexed = std::get_if<Indexed>(&plan.problem().permutation);
  if (indexed == nullptr) indexed = std::get_if<Indexed>(&plan.recognition().permutation);
  FARO_CHECK(indexed != nullptr);
  return *indexed;
}

void require_device(const Indexed& indexed, int device) {
  if (indexed.on_host() || *indexed.device() == device) return;
  fail(ErrorCode::value, "plan", "an index array on device " + std::to_string(*indexed.device()),
       "one of the host or of device " + std::to_string(device), "plan for that device");
}

DeviceIndexSchedule make_schedule(const IndexPlan& plan, const Indexed& indexed, int device) {
  require_device(indexed, device);
  const IndexMethod method = plan.chosen().method;
  if (method == IndexMethod::row_column || method == IndexMethod::row_column_5) {
    return upload(schedule::row_column_schedule(indexed.on_host() ? indexed : to_host(indexed)), device);
  }
  return make_device_schedule(plan.chosen(), to_device(indexed, device), plan.recognition().displacement);
}

// Narrow elements are gathered even where the array says where they go: a sector that is read in part is
// cheaper than one that is written in part. Costs the inverse array, once, which more than one run must pay
// for; where it does not fit, nothing.
void prefer_gather(DeviceIndexSchedule& made, std::uint64_t element_bytes) {
  auto* direct = std::get_if<DeviceDirect>(&made.what);
  if (direct == nullptr || made.applied == Direction::gather || element_bytes >= kLeastScattered) return;
  try {
    direct->indexed = redirected(direct->indexed, Direction::gather);
    made.applied = Direction::gather;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device) throw;
  }
}

}  // namespace

struct IndexExecutor::State {
  int device = 0;
  std::optional<Indexed> source = {};                 // what the schedule was made from, where it is known
  std::optional<schedule::IndexSchedule> given = {};  // a direct one, which may be run another way round
  std::optional<DeviceIndexSchedule> schedule = {};
  std::optional<IndexProgram> program = {};

  explicit State(const IndexPlan& plan) : device(plan.target().device) {
    const IndexMethod method = plan.chosen().method;
    const IndexArrays arrays = arrays_of(plan);
    if (method == IndexMethod::axes || method == IndexMethod::cyclic) {
      program.emplace(faro::detail::solve(faro::detail::work_of(plan)), plan.count(), arrays);
      return;
    }
    source = indexed_of(plan);
    schedule = make_schedule(plan, *source, device);
    make_program(plan);
  }

  State(const IndexPlan& plan, const schedule::IndexSchedule& made) : device(plan.target().device) {
    if (made.count != plan.count()) {
      fail(ErrorCode::value, "plan", "a schedule of " + std::to_string(made.count) + " elements",
           "one of " + std::to_string(plan.count()) + ", as the plan's arrays have");
    }
    if (std::holds_alternative<schedule::DirectSchedule>(made.what)) given = made;
    schedule = upload(made, device);
    make_program(plan);
  }

  void make_program(const IndexPlan& plan) {
    const IndexArrays arrays = arrays_of(plan);
    if (plan.repeats() != 1) prefer_gather(*schedule, arrays.element_bytes);
    program.emplace(*schedule, arrays,
                    IndexProgramOptions{.as_published = plan.chosen().method == IndexMethod::row_column_5,
                                        .variant = std::nullopt});
  }
};

IndexExecutor::IndexExecutor(const IndexPlan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan);
}

IndexExecutor::IndexExecutor(const IndexPlan& plan, const schedule::IndexSchedule& schedule) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan, schedule);
}

IndexExecutor::IndexExecutor(IndexExecutor&&) noexcept = default;
IndexExecutor& IndexExecutor::operator=(IndexExecutor&&) noexcept = default;
IndexExecutor::~IndexExecutor() = default;

void IndexExecutor::run(const void* in, void* out, void* workspace, Stream stream) const {
  const IndexProgram& program = *state_->program;
  if (program.empty()) return;
  const DeviceGuard guard(state_->device);
  require_accessible(in, "input", state_->device);
  require_accessible(out, "output", state_->device);
  const std::uint64_t bytes = program.workspace_bytes();
  if (bytes > 0 && workspace != nullptr) require_accessible(workspace, "workspace", state_->device);
  const StreamMemory own(workspace == nullptr ? bytes : 0, state_->device, stream);
  program.launch(in, out, workspace == nullptr ? own.data() : workspace, stream);
}

std::uint64_t IndexExecutor::workspace_bytes() const { return state_->program->workspace_bytes(); }

std::uint64_t IndexExecutor::schedule_bytes() const {
  return (state_->schedule ? state_->schedule->bytes() : 0) + state_->program->table_bytes();
}

schedule::IndexSchedule IndexExecutor::schedule() const {
  if (!state_->schedule) {
    fail(ErrorCode::unsupported, "fetch the schedule", "a plan for axes or a cyclic shift, which needs none",
         "a plan with a schedule", "make the plan again instead, it costs nothing");
  }
  const DeviceGuard guard(state_->device);
  if (state_->given) return *state_->given;
  const auto host_source = [&] {
    return state_->source->on_host() ? *state_->source : to_host(*state_->source);
  };
  if (state_->source && std::holds_alternative<DeviceDirect>(state_->schedule->what)) {
    return schedule::direct_schedule(host_source());
  }
  schedule::IndexSchedule fetched = download(*state_->schedule);
  if (!state_->schedule->fingerprint && state_->source) {
    fetched.fingerprint = schedule::fingerprint(host_source());
  }
  return fetched;
}

std::vector<KernelResources> IndexExecutor::resources() const {
  const DeviceGuard guard(state_->device);
  return state_->program->resources();
}

}  // namespace faro::cuda
