#include "engines/cuda/run/in_place_program.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/kernels/in_place_kernels.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

const void* function_of(const detail::KernelId& id) {
  if (const auto* const tile = std::get_if<detail::OrbitKernel>(&id)) return in_place_tile_kernel(tile->tile);
  if (const auto* const swap = std::get_if<detail::SwapKernel>(&id)) return swap_kernel(swap->access_bytes);
  return small_kernel(std::get<detail::SmallKernel>(id).element_bytes);
}

}  // namespace

InPlaceProgram::InPlaceProgram(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda && plan.problem().placement == Placement::in_place);
  for (const Pass& pass : plan.passes()) {
    FARO_CHECK(pass.gpu != nullptr);
    Step step{.offset = pass.offset, .kernels = {}};
    for (const detail::GpuKernel& kernel : pass.gpu->kernels) {
      const KernelEntry entry{.function = function_of(kernel.id),
                              .threads = kernel.threads,
                              .shared_bytes = static_cast<int>(kernel.shared_bytes),
                              .cluster_blocks = kernel.cluster_blocks};
      step.kernels.push_back({.entry = loaded(entry), .launch = kernel});
    }
    steps_.push_back(std::move(step));
  }
}

const InPlaceProgram::Kernel& InPlaceProgram::choose(const Step& step, std::uintptr_t address) {
  require_aligned(address, step.kernels.back().launch.in_alignment,
                  {.operation = "run in place", .what = "an array"});
  const auto kernel = std::find_if(step.kernels.begin(), step.kernels.end(),
                                   [&](const Kernel& k) { return address % k.launch.in_alignment == 0; });
  const bool narrow =
      kernel->launch.in_alignment < kernels::kMaxVectorBytes && kernel != step.kernels.begin();
  require_grid(kernel->launch.blocks, "run in place",
               narrow ? "align the array to 16 bytes, or split the batch" : "split the batch");
  return *kernel;
}

void InPlaceProgram::launch(void* data, Stream stream) const {
  // Whatever can be refused is, before the first pass is queued.
  for (const Step& step : steps_) static_cast<void>(choose(step, address(data) + step.offset));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    launch(i, static_cast<std::byte*>(data) + steps_[i].offset, stream);
  }
}

void InPlaceProgram::launch(std::size_t index, std::byte* data, Stream stream) const {
  const Kernel& kernel = choose(steps_[index], address(data));
  const LaunchWords words{.operation = "run in place",
                          .pass = index,
                          .passes = steps_.size(),
                          .begun = index > 0,
                          .in_place = true};
  const auto launch_with = [&](auto params) {
    void* arguments[] = {&params, &data};
    cuda::launch(kernel.entry, kernel.launch.blocks, arguments, stream, words);
  };
  std::visit(launch_with, kernel.launch.params);
}

std::vector<KernelResources> InPlaceProgram::resources() const {
  std::vector<KernelResources> all;
  for (const Step& step : steps_) {
    all.push_back(resources_of(step.kernels.front().entry));
  }
  return all;
}

}  // namespace faro::cuda
