// The CUDA engine's executor: what may be wrong with its arrays is refused here; Program does the rest.
#include <string>
#include <variant>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/run/in_place_program.hpp"
#include "engines/cuda/run/program.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

namespace {

using Programs = std::variant<Program, InPlaceProgram>;

Programs program_of(const Plan& plan) {
  if (plan.problem().placement == Placement::in_place) return InPlaceProgram(plan);
  return Program(plan);
}

[[noreturn]] void refuse_placement(const char* plan, const char* arrays) {
  fail(ErrorCode::value, "run", std::string("a plan ") + plan, std::string("one for ") + arrays,
       "set Problem::placement");
}

}  // namespace

struct Executor::State {
  int device;
  Programs program;
};

Executor::Executor(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  static_cast<void>(affine(plan.problem().permutation, "run tiles"));
  require_available();
  const int device = plan.target().device;
  const DeviceGuard guard(device);
  state_ = std::make_unique<State>(State{device, program_of(plan)});
}

Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::run(const void* in, void* out, Stream stream) const {
  const auto* const program = std::get_if<Program>(&state_->program);
  if (program == nullptr) refuse_placement("in place", "two arrays");
  if (program->empty()) return;
  const DeviceGuard guard(state_->device);
  require_accessible(in, "input", state_->device);
  require_accessible(out, "output", state_->device);
  program->launch(in, out, stream);
}

void Executor::run(void* data, Stream stream) const {
  const auto* const program = std::get_if<InPlaceProgram>(&state_->program);
  if (program == nullptr) refuse_placement("out of place", "one array");
  if (program->empty()) return;
  const DeviceGuard guard(state_->device);
  require_accessible(data, "array", state_->device);
  program->launch(data, stream);
}

std::vector<KernelResources> Executor::resources() const {
  const DeviceGuard guard(state_->device);
  return std::visit([](const auto& program) { return program.resources(); }, state_->program);
}

}  // namespace faro::cuda
