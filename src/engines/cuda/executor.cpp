// The CUDA engine's executor: what may be wrong with its arrays is refused here; Program does the rest.
#include <cuda_runtime_api.h>

#include "engines/cuda/availability.hpp"
#include "engines/cuda/calls.hpp"
#include "engines/cuda/program.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

// The device's own memory, or managed memory. Pinned memory of the host could be read by a kernel, but a
// line at a time over the bus.
void require_accessible(const void* array, const char* role, int device) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, array), "cudaPointerGetAttributes", "run");
  if (attributes.type == cudaMemoryTypeManaged) return;
  const bool on_a_device = attributes.type == cudaMemoryTypeDevice;
  if (on_a_device && attributes.device == device) return;
  const std::string kind =
      on_a_device ? "a pointer to memory of device " + std::to_string(attributes.device) : "a host pointer";
  throw Error({.code = ErrorCode::value,
               .operation = "run",
               .got = kind + " as the " + role,
               .wanted = "memory that device " + std::to_string(device) + " can access",
               .remedy = on_a_device ? "plan for that device" : "use run_staged() or engine cpu"});
}

}  // namespace

struct Executor::State {
  int device;
  Program program;
};

Executor::Executor(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
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
