// ExecutablePlan::run() of one array.
#include <optional>
#include <utility>

#include "api/array_checks.hpp"
#include "api/executable_state.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/faro.hpp"
#include "io/buffer.hpp"

namespace faro {
namespace {

// Memory for a run that is lent none: of the host, or of the device in the stream's order.
class OwnWorkspace {
 public:
  OwnWorkspace(std::uint64_t bytes, const Target& target, Stream stream) {
    if (target.engine == Engine::cuda) {
      on_device_.emplace(bytes, target.device, stream);
    } else if (bytes > 0) {
      on_host_.emplace(bytes);
    }
  }

  void* data() const {
    if (on_device_) return on_device_->data();
    return on_host_ ? on_host_->data() : nullptr;
  }

 private:
  std::optional<cuda::StreamMemory> on_device_;
  std::optional<io::Buffer> on_host_;
};

}  // namespace

void ExecutablePlan::run(void* data, std::uint64_t bytes, Stream stream) const {
  detail::check_array(*this, data, bytes, stream);
  if (bytes == 0) return;
  const OwnWorkspace workspace(workspace_bytes(), plan().target(), stream);
  run(data, bytes, {.data = workspace.data(), .bytes = workspace_bytes()}, stream);
}

void ExecutablePlan::run(void* data, std::uint64_t bytes, Workspace workspace, Stream stream) const {
  detail::check_array(*this, data, bytes, stream);
  if (bytes == 0) return;
  const bool on_gpu = engine() == Engine::cuda;
  detail::check_workspace(workspace, {.bytes = workspace_bytes(), .on_gpu = on_gpu}, data, data, bytes);
  void* const lent = workspace_bytes() > 0 ? workspace.data : nullptr;
  if (const auto* const on_device = state().as<cuda::Executor>()) return on_device->run(data, stream, lent);
  detail::check_workspace_on_host(lent);
  std::get<cpu::Executor>(state().executor).run_in_place(data, lent);
}

}  // namespace faro
