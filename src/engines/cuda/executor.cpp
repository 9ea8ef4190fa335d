// The CUDA engine's executor: what may be wrong with its arrays is refused here; Program does the rest.
#include "engines/cuda/availability.hpp"
#include "engines/cuda/calls.hpp"
#include "engines/cuda/device_arrays.hpp"
#include "engines/cuda/program.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

struct Executor::State {
  int device;
  Program program;
};

Executor::Executor(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  static_cast<void>(affine(plan.problem().permutation, "run tiles"));
  require_available();
  const int device = plan.target().device;
  const DeviceGuard guard(device);
  state_ = std::make_unique<State>(State{device, Program(plan)});
}

Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::run(const void* in, void* out, Stream stream) const {
  if (state_->program.empty()) return;
  const DeviceGuard guard(state_->device);
  require_accessible(in, "input", state_->device);
  require_accessible(out, "output", state_->device);
  state_->program.launch(in, out, stream);
}

std::vector<KernelResources> Executor::resources() const {
  const DeviceGuard guard(state_->device);
  return state_->program.resources();
}

}  // namespace faro::cuda
