#include "engines/cuda/run/index_simple_kernels.hpp"

#include <cuda_runtime_api.h>

#include <utility>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/run/loaded_pass.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "kernels/partition_params.hpp"
#include "kernels/runs.hpp"

namespace faro::cuda {

struct OnePass::State {
  LoadedPass pass;
  std::uint64_t unit_bytes = 1;
  RunTables tables = {};
};

namespace {

using faro::detail::GpuPass;
using faro::detail::PassWork;

// Nothing to do, or the pass that the solvers find for this.
GpuPass pass_of(const PassWork& work) {
  std::vector<GpuPass> passes = faro::detail::solve(work);
  return passes.empty() ? GpuPass{} : std::move(passes.front());
}

OnePass made(const PassWork& work, std::vector<const void*> tables = {}, RunTables owned = {}) {
  GpuPass pass = pass_of(work);
  if (pass.kernels.empty()) tables.clear();
  return OnePass(std::make_shared<const OnePass::State>(OnePass::State{
      LoadedPass(std::move(pass), std::move(tables)), work.units().unit_bytes, std::move(owned)}));
}

faro::detail::Way way_of(Direction applied) {
  return applied == Direction::scatter ? faro::detail::Way::forwards : faro::detail::Way::backwards;
}

}  // namespace

void OnePass::launch(const void* in, void* out, Stream stream) const {
  require_aligned(addresses(in, out), state_->unit_bytes);
  state_->pass.launch(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), {}, stream);
}

std::vector<KernelResources> OnePass::resources() const { return state_->pass.resources(); }

std::uint64_t OnePass::table_bytes() const { return state_->tables.bytes(); }

OnePass make_axes_pass(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                       const AxesVariant& variant) {
  return made(
      {.count = axes.count(), .element_bytes = element_bytes, .batch = batch, .form = axes, .axes = variant});
}

OnePass make_cyclic_pass(const Cyclic& cyclic, std::uint64_t element_bytes, std::uint64_t batch) {
  return made({.count = cyclic.count, .element_bytes = element_bytes, .batch = batch, .form = cyclic});
}

OnePass make_window_pass(const DeviceWindow& window, Direction applied, std::uint64_t element_bytes,
                         std::uint64_t batch) {
  return made({.count = window.count,
               .element_bytes = element_bytes,
               .batch = batch,
               .way = way_of(applied),
               .form = faro::detail::WindowForm{window.window}},
              {window.shift.data()});
}

OnePass make_runs_pass(const DeviceRuns& runs, Direction applied, std::uint64_t element_bytes,
                       std::uint64_t batch, int device) {
  const PassWork work{.count = runs.count,
                      .element_bytes = element_bytes,
                      .batch = batch,
                      .way = way_of(applied),
                      .form = faro::detail::RunsForm{runs.target.size()}};
  if (runs.count == 0 || batch == 0) return made(work);
  RunTables tables(runs, applied, device);
  std::vector<const void*> bound = tables.bound();
  return made(work, std::move(bound), std::move(tables));
}

RunTables::RunTables(const DeviceRuns& runs, Direction applied, int device) {
  const std::uint64_t number = runs.target.size();
  const std::uint64_t stretches = kernels::run_stretches(runs.count);
  const Stream stream;
  begins_ = runs.source.data();
  froms_ = runs.target.data();
  if (applied == Direction::scatter) {
    sorted_ = DeviceBuffer<std::uint64_t>(number, device);
    sources_ = DeviceBuffer<std::uint64_t>(number, device);
    const std::uint64_t bytes = sort_runs_bytes(number);
    const StreamMemory memory(bytes, device, stream);
    sort_runs(runs.target.data(), runs.source.data(), number, sorted_.data(), sources_.data(), memory.data(),
              bytes, stream);
    begins_ = sorted_.data();
    froms_ = sources_.data();
  }
  firsts_ = DeviceBuffer<std::uint64_t>(stretches + 1, device);
  find_first_runs(begins_, number, stretches, firsts_.data(), stream);
  check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", "sort runs");
}

}  // namespace faro::cuda
