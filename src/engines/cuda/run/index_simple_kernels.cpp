#include "engines/cuda/run/index_simple_kernels.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/run/index_one_pass.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/error.hpp"
#include "kernels/cyclic.hpp"
#include "kernels/partition_params.hpp"
#include "kernels/runs.hpp"
#include "kernels/window_params.hpp"

namespace faro::cuda {
namespace {

struct WindowPass : OnePass::State {
  WindowPass(const DeviceWindow& window, Direction applied, const kernels::WindowShape& shape)
      : State(shape.unit_bytes), params(kernels::make_window_params(shape)), shifts(window.shift.data()) {
    const bool backwards = applied == Direction::gather;
    const bool direct = params.shared_bytes == 0;
    const auto unit = static_cast<int>(shape.unit_bytes);
    single = loaded(window_kernel(unit, backwards, false, direct), params.shared_bytes, Carveout::needed);
    if (!direct && kernels::window_has_vectors(shape)) {
      vectors = loaded(window_kernel(unit, backwards, true, false), params.shared_bytes, Carveout::needed);
    }
  }

  void launch(const void* in, void* out, Stream stream) const override {
    const Address from = split(in);
    const Address to = split(out);
    kernels::WindowParams now = params;
    now.in = {.begin = from.skew, .end = from.skew + params.in.end};
    now.out_skew = to.skew;
    const KernelEntry& entry = vectors && to.skew == 0 ? *vectors : single;
    launch_blocks(entry, now, now.first_block, now.blocks, 1, stream, from.base, to.base, shifts);
  }
  std::vector<KernelEntry> entries() const override { return {vectors ? *vectors : single}; }

  kernels::WindowParams params;
  const std::uint16_t* shifts;
  KernelEntry single;
  std::optional<KernelEntry> vectors;
};

struct RunsPass : MovedPass<kernels::RunsParams> {
  using MovedPass::MovedPass;

  void run(const KernelEntry& entry, kernels::RunsParams& params, Stream stream, const std::byte* in,
           const std::byte* out) const override {
    constexpr std::uint64_t per_block = std::uint64_t{kernels::kRunsThreads} * kernels::kRunsVectors;
    launch_blocks(entry, params, params.first_vector, faro::detail::ceil_div(params.vectors(), per_block),
                  per_block, stream, in, out, begins, froms,
                  static_cast<const std::uint64_t*>(firsts.data()));
  }
  std::uint64_t table_bytes() const override { return sorted.bytes() + sources.bytes() + firsts.bytes(); }

  const std::uint64_t* begins = nullptr;
  const std::uint64_t* froms = nullptr;
  DeviceBuffer<std::uint64_t> sorted;   // forwards only: targets in order,
  DeviceBuffer<std::uint64_t> sources;  // and what goes there
  DeviceBuffer<std::uint64_t> firsts;
};

}  // namespace

OnePass nothing(std::uint64_t element_bytes) {
  return OnePass(std::make_shared<CopyPass>(kernels::units_of_element(element_bytes).unit_bytes, 0));
}

void OnePass::launch(const void* in, void* out, Stream stream) const {
  require_aligned(addresses(in, out), state_->unit_bytes);
  state_->launch(in, out, stream);
}

std::vector<KernelResources> OnePass::resources() const {
  std::vector<KernelResources> all;
  for (const KernelEntry& entry : state_->entries()) all.push_back(resources_of(entry));
  return all;
}

std::uint64_t OnePass::table_bytes() const { return state_->table_bytes(); }

OnePass make_cyclic_pass(const Cyclic& cyclic, std::uint64_t element_bytes, std::uint64_t batch) {
  if (cyclic.count == 0 || batch == 0) return nothing(element_bytes);
  faro::detail::require_countable(cyclic.count, element_bytes, batch);
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  const std::uint64_t array_bytes = cyclic.count * element_bytes;
  auto pass = std::make_shared<MovedPass<kernels::CyclicParams>>(unit);
  pass->variants.push_back(
      {.params = {.in = {.begin = 0, .end = array_bytes * batch},
                  .out = {.begin = 0, .end = array_bytes * batch},
                  .array_bytes = device::Division64(array_bytes),
                  .shift_bytes = cyclic.shift * element_bytes,
                  .element_bytes = device::Division64(element_bytes),
                  .first_vector = 0},
       .entry = loaded(cyclic_kernel(static_cast<int>(unit), cyclic.reversed, element_bytes != unit), 0,
                       Carveout::needed),
       .unit_bytes = unit});
  return OnePass(std::move(pass));
}

OnePass make_window_pass(const DeviceWindow& window, Direction applied, std::uint64_t element_bytes,
                         std::uint64_t batch) {
  if (window.count == 0 || batch == 0) return nothing(element_bytes);
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  const kernels::WindowShape shape{.count = window.count,
                                   .batch = batch,
                                   .window = window.window,
                                   .unit_bytes = static_cast<std::uint32_t>(unit),
                                   .element_units = static_cast<std::uint32_t>(element_bytes / unit),
                                   .backwards = applied == Direction::gather};
  return OnePass(std::make_shared<WindowPass>(window, applied, shape));
}

OnePass make_runs_pass(const DeviceRuns& runs, Direction applied, std::uint64_t element_bytes,
                       std::uint64_t batch, int device) {
  if (runs.count == 0 || batch == 0) return nothing(element_bytes);
  faro::detail::require_countable(runs.count, element_bytes, batch);
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  const std::uint64_t number = runs.target.size();
  const std::uint64_t array_bytes = runs.count * element_bytes;
  const std::uint64_t stretches = kernels::run_stretches(runs.count);
  const Stream stream;
  auto pass = std::make_shared<RunsPass>(unit);
  if (applied == Direction::scatter) {
    pass->sorted = DeviceBuffer<std::uint64_t>(number, device);
    pass->sources = DeviceBuffer<std::uint64_t>(number, device);
    const std::uint64_t bytes = sort_runs_bytes(number);
    const StreamMemory memory(bytes, device, stream);
    sort_runs(runs.target.data(), runs.source.data(), number, pass->sorted.data(), pass->sources.data(),
              memory.data(), bytes, stream);
    pass->begins = pass->sorted.data();
    pass->froms = pass->sources.data();
  } else {
    pass->begins = runs.source.data();
    pass->froms = runs.target.data();
  }
  pass->firsts = DeviceBuffer<std::uint64_t>(stretches + 1, device);
  find_first_runs(pass->begins, number, stretches, pass->firsts.data(), stream);
  check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", "sort runs");
  pass->variants.push_back(
      {.params = {.in = {.begin = 0, .end = array_bytes * batch},
                  .out = {.begin = 0, .end = array_bytes * batch},
                  .array_bytes = device::Division64(array_bytes),
                  .element_bytes = device::Division64(element_bytes),
                  .runs = number,
                  .first_vector = 0},
       .entry = loaded(runs_kernel(static_cast<int>(unit)), kernels::kRunsSharedBytes, Carveout::needed),
       .unit_bytes = unit});
  return OnePass(std::move(pass));
}

}  // namespace faro::cuda
