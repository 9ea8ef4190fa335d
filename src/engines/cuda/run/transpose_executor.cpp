// The CUDA engine's transposition in place: the plan's launches, group of arrays after group.
#include <algorithm>
#include <cstddef>
#include <string>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/kernels/transpose_kernels.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "engines/cuda_transpose.hpp"
#include "faro/error.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {
namespace {

constexpr std::uint64_t kWorkspaceAlignment = kernels::kC2rVectorBytes;

struct Step {
  detail::GpuTransposeLaunch launch;
  KernelEntry entry;
};

}  // namespace

struct TransposeExecutor::State {
  int device = 0;
  detail::GpuTranspose plan = {};
  std::vector<Step> steps = {};

  explicit State(const TransposePlan& given)
      : device(given.target().device),
        plan(detail::plan_gpu_transpose(given.rectangle(), detail::gpu_transpose_limits(given.target()))) {
    FARO_CHECK(plan.workspace_bytes() == given.workspace_bytes());
    for (const detail::GpuPass& pass : detail::sweep_passes(plan)) {
      for (const detail::GpuKernel& kernel : pass.kernels) {
        const auto& launch = std::get<detail::GpuTransposeLaunch>(kernel.params);
        steps.push_back({.launch = launch, .entry = loaded(transpose_kernel(launch, plan.unit_bytes))});
      }
    }
  }

  void run(std::byte* data, std::byte* scratch, Stream stream) const {
    const std::uint64_t array_bytes = plan.rectangle.count() * plan.rectangle.element_bytes;
    std::byte* rows = scratch == nullptr ? nullptr
                                         : scratch + plan.arrays_at_once * plan.scratch_elements() *
                                                         plan.rectangle.element_bytes;
    const bool whole = plan.form == detail::GpuTransposeForm::whole;
    const std::uint64_t group = whole ? plan.rectangle.arrays : plan.arrays_at_once;
    for (std::uint64_t first = 0; first < plan.rectangle.arrays; first += group) {
      const std::uint64_t arrays = std::min(group, plan.rectangle.arrays - first);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        const std::uint64_t blocks = step.launch.blocks_of_array * (whole ? 1 : arrays);
        launch(step, blocks, data + first * array_bytes, scratch, rows, stream, first > 0 || i > 0);
      }
    }
  }

 private:
  void launch(const Step& step, std::uint64_t blocks, std::byte* array, std::byte* scratch, std::byte* rows,
              Stream stream, bool begun) const {
    detail::GpuTransposeLaunch given = step.launch;
    const std::uint64_t skew_bytes = address(array) % kernels::kC2rVectorBytes;
    if (detail::set_skew(given, static_cast<std::uint32_t>(skew_bytes / plan.unit_bytes)))
      array -= skew_bytes;
    void* params = std::visit(
        [](auto& p) -> void* {
          if constexpr (std::is_same_v<std::decay_t<decltype(p)>, detail::GpuHugeStep>) {
            return &p.params;
          } else {
            return &p;
          }
        },
        given.params);
    void* arguments[] = {params, &array, &scratch, &rows};
    cuda::launch(step.entry, blocks, arguments, stream,
                 {.operation = "transpose in place", .begun = begun, .in_place = true});
  }
};

TransposeExecutor::TransposeExecutor(const TransposePlan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan);
}

TransposeExecutor::TransposeExecutor(TransposeExecutor&&) noexcept = default;
TransposeExecutor& TransposeExecutor::operator=(TransposeExecutor&&) noexcept = default;
TransposeExecutor::~TransposeExecutor() = default;

void TransposeExecutor::run(void* data, void* workspace, Stream stream) const {
  const State& state = *state_;
  if (state.steps.empty()) return;
  const DeviceGuard guard(state.device);
  require_accessible(data, "data", state.device);
  constexpr const char* remedy = "begin where an element begins, in an allocation of its own";
  require_aligned(address(data), state.plan.unit_bytes, {.what = "an array", .remedy = remedy});
  const std::uint64_t needed = state.plan.workspace_bytes();
  require_lent(workspace, needed);
  if (needed > 0) {
    require_accessible(workspace, "workspace", state.device);
    require_aligned(address(workspace), kWorkspaceAlignment, {.what = "a workspace", .remedy = remedy});
  }
  state.run(static_cast<std::byte*>(data), needed > 0 ? static_cast<std::byte*>(workspace) : nullptr, stream);
}

std::vector<KernelResources> TransposeExecutor::resources() const {
  const DeviceGuard guard(state_->device);
  std::vector<KernelResources> all;
  for (const Step& step : state_->steps) all.push_back(resources_of(step.entry));
  return all;
}

}  // namespace faro::cuda
