#include "engines/cuda/run/program.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/error.hpp"
#include "kernels/affine_blocked_params.hpp"
#include "kernels/affine_segments_params.hpp"
#include "kernels/affine_tile_params.hpp"
#include "plan/planners.hpp"

namespace faro::cuda {
namespace {

std::uint64_t& complement_of(kernels::AffineTileParams& params) { return params.complement; }
std::uint64_t& complement_of(kernels::AffineBlockedParams& params) { return params.tile.complement; }
std::uint64_t& complement_of(kernels::AffineSegmentsParams& params) { return params.complement; }

}  // namespace

Program::Program(const Plan& plan) : unit_bytes_(plan.unit_bytes()) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  const int unit_bits = std::countr_zero(unit_bytes_);
  std::uint64_t offset = 0;
  for (const Pass& pass : plan.passes()) {
    Step step{.offset = offset, .bytes = pass.bytes_read, .kernels = {}};
    if (pass.kind != PassKind::copy) {
      FARO_CHECK(pass.launch.has_value());
      const Launch& launch = *pass.launch;
      const int vector_bits = std::countr_zero(static_cast<unsigned>(launch.vector_bytes)) - unit_bits;
      if (launch.tile) {
        add_tile(step, pass, pass.tile, *launch.tile);
      } else {
        add_segments(step, pass, vector_bits);
      }
      FARO_CHECK(step.kernels.front().blocks == launch.blocks);
      if (vector_bits > 0) add_unaligned(step, pass);
    }
    offset += pass.bytes_read;
    steps_.push_back(std::move(step));
  }
}

void Program::add_unaligned(Step& step, const Pass& pass) {
  if (const auto& compiled = pass.launch->unaligned_tile) {
    add_tile(step, pass, detail::make_compiled_tile(pass.map, *compiled), *compiled);
  } else {
    add_segments(step, pass, 0);
  }
}

void Program::add_tile(Step& step, const Pass& pass, const layout::Tile& tile,
                       const kernels::CompiledTile& compiled) {
  Kernel kernel{.entry = tile_kernel(compiled),
                .params = {},
                .blocks = pass.arrays << tile.block_bits(),
                .alignment = static_cast<std::uint64_t>(compiled.shape.vector_bytes())};
  if (compiled.blocked) {
    kernel.params = kernels::make_affine_blocked_params(tile, compiled.shape, pass.arrays);
  } else {
    kernel.params = kernels::make_affine_tile_params(tile, compiled.shape, pass.arrays);
  }
  add(step, kernel);
}

void Program::add_segments(Step& step, const Pass& pass, int vector_bits) {
  const kernels::AffineSegmentsParams params =
      kernels::make_affine_segments_params(pass.map, vector_bits, pass.arrays);
  const std::uint64_t vector_bytes = unit_bytes_ << vector_bits;
  add(step, {.entry = segments_kernel(vector_bytes),
             .params = params,
             .blocks = params.blocks(),
             .alignment = vector_bytes,
             .vector_bits = vector_bits});
}

void Program::add(Step& step, const Kernel& kernel) {
  step.kernels.push_back(kernel);
  step.kernels.back().entry = loaded(kernel.entry);
}

const Program::Kernel& Program::choose(const Step& step, std::uintptr_t addresses) {
  require_aligned(addresses, step.kernels.back().alignment);
  const auto kernel = std::find_if(step.kernels.begin(), step.kernels.end(),
                                   [&](const Kernel& k) { return addresses % k.alignment == 0; });
  require_grid(kernel->blocks, "run", "split the batch");
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
    complement_of(params) ^= target_shift >> kernel.vector_bits;
    void* arguments[] = {&params, &in, &out};
    cuda::launch(kernel.entry, kernel.blocks, arguments, stream, words);
  };
  std::visit(launch_with, kernel.params);
}

std::vector<KernelResources> Program::resources() const {
  std::vector<KernelResources> all;
  for (const Step& step : steps_) {
    all.push_back(step.kernels.empty() ? KernelResources{} : resources_of(step.kernels.front().entry));
  }
  return all;
}

}  // namespace faro::cuda
