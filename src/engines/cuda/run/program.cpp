#include "engines/cuda/run/program.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <variant>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

std::uint64_t& complement_of(kernels::AffineTileParams& params) { return params.complement; }
std::uint64_t& complement_of(kernels::AffineBlockedParams& params) { return params.tile.complement; }
std::uint64_t& complement_of(kernels::AffineSegmentsParams& params) { return params.complement; }

KernelEntry entry_of(const detail::GpuKernel& kernel) {
  if (const auto* const tile = std::get_if<detail::AffineTileKernel>(&kernel.id))
    return tile_kernel(tile->tile);
  return segments_kernel(std::get<detail::SegmentsKernel>(kernel.id).vector_bytes);
}

}  // namespace

Program::Program(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  const int unit_bits = std::countr_zero(plan.unit_bytes());
  std::uint64_t offset = 0;
  for (const Pass& pass : plan.passes()) {
    FARO_CHECK(pass.gpu != nullptr);
    Step step{.offset = offset, .bytes = pass.bytes_read, .kernels = {}};
    for (const detail::GpuKernel& kernel : pass.gpu->kernels) {
      const auto* const segments = std::get_if<detail::SegmentsKernel>(&kernel.id);
      // Tiles count in units, vectors in what a thread moves.
      const int vector_bits = segments == nullptr ? 0 : std::countr_zero(segments->vector_bytes) - unit_bits;
      step.kernels.push_back(
          {.entry = loaded(entry_of(kernel)), .launch = kernel, .vector_bits = vector_bits});
    }
    offset += pass.bytes_read;
    steps_.push_back(std::move(step));
  }
}

const Program::Kernel& Program::choose(const Step& step, std::uintptr_t addresses) {
  require_aligned(addresses, step.kernels.back().launch.in_alignment);
  const auto kernel = std::find_if(step.kernels.begin(), step.kernels.end(),
                                   [&](const Kernel& k) { return addresses % k.launch.in_alignment == 0; });
  require_grid(kernel->launch.blocks, "run", "split the batch");
  return *kernel;
}

void Program::launch(const void* in, void* out, Stream stream, std::uint64_t target_shift) const {
  const std::uintptr_t both = addresses(in, out);
  // Whatever can be refused is, before the first pass is queued.
  for (const Step& step : steps_) {
    if (step.kernels.empty()) {
      FARO_CHECK(target_shift == 0);
    } else {
      const Kernel& kernel = choose(step, both | step.offset);
      FARO_CHECK(target_shift % (std::uint64_t{1} << kernel.vector_bits) == 0);
    }
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    launch(i, static_cast<const std::byte*>(in) + steps_[i].offset,
           static_cast<std::byte*>(out) + steps_[i].offset, stream, target_shift);
  }
}

void Program::launch(std::size_t index, const std::byte* in, std::byte* out, Stream stream,
                     std::uint64_t target_shift) const {
  const Step& step = steps_[index];
  const LaunchWords words{.pass = index, .passes = steps_.size(), .begun = index > 0};
  if (step.kernels.empty()) {
    launch_copy(out, in, step.bytes, stream, words);
    return;
  }
  const Kernel& kernel = choose(step, addresses(in, out));
  const auto launch_with = [&](auto params) {  // a copy, of its own complement
    if constexpr (requires { complement_of(params); }) {
      complement_of(params) ^= target_shift >> kernel.vector_bits;
      void* arguments[] = {&params, &in, &out};
      cuda::launch(kernel.entry, kernel.launch.blocks, arguments, stream, words);
    } else {
      FARO_CHECK(false);  // a pass of another kind
    }
  };
  std::visit(launch_with, kernel.launch.params);
}

std::vector<KernelResources> Program::resources() const {
  std::vector<KernelResources> all;
  for (const Step& step : steps_) {
    all.push_back(step.kernels.empty() ? KernelResources{} : resources_of(step.kernels.front().entry));
  }
  return all;
}

}  // namespace faro::cuda
