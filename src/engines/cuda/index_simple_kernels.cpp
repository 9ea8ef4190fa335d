#include "engines/cuda/index_simple_kernels.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engines/cuda/calls.hpp"
#include "engines/cuda/device_arrays.hpp"
#include "engines/cuda/index_simple_entries.hpp"
#include "faro/error.hpp"
#include "faro/kernels/axes_tile_params.hpp"
#include "faro/kernels/cyclic.hpp"
#include "faro/kernels/runs.hpp"
#include "faro/kernels/window_params.hpp"
#include "faro/layout/axes_tile.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kLoading = "load a kernel";
constexpr std::uint64_t kVector = 16;

// An array's address as kernels take it, and what is left of it.
struct Address {
  const std::byte* base = nullptr;
  std::uint32_t skew = 0;
};

Address split(const void* array) {
  const auto skew = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(array) % kVector);
  return {.base = static_cast<const std::byte*>(array) - skew, .skew = skew};
}

bool aligned(const void* in, const void* out, std::uint64_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) % bytes == 0;
}

void check_total(std::uint64_t count, std::uint64_t element_bytes, std::uint64_t batch) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (most / element_bytes / count >= batch) return;
  throw Error({.code = ErrorCode::unsupported,
               .operation = "plan",
               .got = "more than 2^62 bytes",
               .wanted = "at most 2^62 bytes",
               .remedy = "split the batch"});
}

std::uint64_t unit_of_width(std::uint64_t element_bytes) {
  FARO_CHECK(element_bytes > 0);
  return std::min(kVector, element_bytes & (~element_bytes + 1));
}

// A kernel with its shared memory, loaded now rather than at the first launch, which may be captured.
KernelEntry loaded(KernelEntry entry, std::uint32_t shared_bytes) {
  FARO_CHECK(entry.function != nullptr);
  entry.shared_bytes = static_cast<int>(shared_bytes);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, entry.function), "cudaFuncGetAttributes", kLoading);
  if (entry.shared_bytes > attributes.maxDynamicSharedSizeBytes) {
    // The bound is the kernel's, not a launch's, and other passes may need more: it is the device's.
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice", kLoading);
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "cudaDeviceGetAttribute", kLoading);
    check(cudaFuncSetAttribute(entry.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               most - static_cast<int>(attributes.sharedSizeBytes)),
          "cudaFuncSetAttribute", kLoading);
  }
  if (entry.shared_bytes > 0) {
    // As much as eight blocks need; what is left is the first-level cache's, for runs that share sectors.
    constexpr int multiprocessor_bytes = 228 << 10;
    constexpr int reserved_bytes = 1 << 10;  // by the driver, a block
    const int wanted = 8 * (entry.shared_bytes + reserved_bytes);
    const int percent =
        std::min<int>(cudaSharedmemCarveoutMaxShared, wanted / (multiprocessor_bytes / 100) + 1);
    check(cudaFuncSetAttribute(entry.function, cudaFuncAttributePreferredSharedMemoryCarveout, percent),
          "cudaFuncSetAttribute", kLoading);
  }
  return entry;
}

// Launches of at most kMaxGridBlocks; `first` is the params' own field that says where a launch begins, in
// steps of `per_block`.
template <typename Params, typename... Pointers>
void launch_blocks(const KernelEntry& entry, Params& params, std::uint64_t& first, std::uint64_t blocks,
                   std::uint64_t per_block, Stream stream, Pointers... pointers) {
  for (std::uint64_t done = 0; done < blocks; done += kMaxGridBlocks) {
    first = done * per_block;
    const auto now = static_cast<unsigned>(std::min(kMaxGridBlocks, blocks - done));
    void* arguments[] = {&params, &pointers...};
    check(cudaLaunchKernel(entry.function, dim3(now), dim3(static_cast<unsigned>(entry.threads)), arguments,
                           static_cast<std::size_t>(entry.shared_bytes), stream.handle()),
          "cudaLaunchKernel", "run",
          done == 0 ? "nothing was queued" : "a part is queued, so the output will be written in part");
  }
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// Params whose arrays begin where the launch's do.
template <typename Params>
void place(Params& params, std::uint32_t in_skew, std::uint32_t out_skew) {
  params.in = {.begin = in_skew, .end = in_skew + params.in.end};
  params.out = {.begin = out_skew, .end = out_skew + params.out.end};
}

}  // namespace

struct OnePass::State {
  explicit State(std::uint64_t unit) : unit_bytes(unit) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  virtual void launch(const void* in, void* out, Stream stream) const = 0;
  virtual std::vector<KernelEntry> entries() const = 0;
  virtual std::uint64_t table_bytes() const { return 0; }

  std::uint64_t unit_bytes;
};

namespace {

// Nothing to do, or only to copy.
struct CopyPass : OnePass::State {
  CopyPass(std::uint64_t unit, std::uint64_t length) : State(unit), bytes(length) {}

  void launch(const void* in, void* out, Stream stream) const override {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream.handle()), "cudaMemcpyAsync",
          "run", "nothing was queued");
  }
  std::vector<KernelEntry> entries() const override { return {}; }

  std::uint64_t bytes;
};

struct AxesTilePass : OnePass::State {
  struct Variant {
    kernels::AxesTileParams params;
    KernelEntry entry;
  };

  AxesTilePass(const layout::UnitAxes& units, std::uint64_t unit, const layout::UnitAxes& wide,
               std::uint64_t wide_unit)
      : State(unit), vectors(variant(wide, wide_unit, true)), single(variant(units, unit, false)) {}

  static Variant variant(const layout::UnitAxes& axes, std::uint64_t unit, bool with_vectors) {
    layout::AxesTileLimits limits;
    limits.threads = kernels::kAxesTileThreads;
    limits.vectors = with_vectors;
    const layout::AxesTile tile = layout::choose_axes_tile(axes, static_cast<int>(unit), limits);
    const kernels::AxesTileParams params = kernels::make_axes_tile_params(tile);
    const KernelEntry entry =
        axes_tile_kernel(static_cast<int>(unit), tile.in.vector_units, tile.out.vector_units);
    return {.params = params, .entry = loaded(entry, params.shared_bytes())};
  }

  void launch(const void* in, void* out, Stream stream) const override {
    const Variant& chosen = aligned(in, out, kVector) ? vectors : single;
    kernels::AxesTileParams params = chosen.params;
    launch_blocks(chosen.entry, params, params.first_tile, params.tiles, 1, stream, in, out);
  }
  std::vector<KernelEntry> entries() const override { return {vectors.entry}; }

  Variant vectors;
  Variant single;
};

// Kernels that take any alignment to the unit: one for a wider unit where both arrays have it.
template <typename Params>
struct MovedPass : OnePass::State {
  struct Variant {
    Params params{};
    KernelEntry entry;
    std::uint64_t unit_bytes = 1;
  };

  using State::State;

  void launch(const void* in, void* out, Stream stream) const override {
    for (const Variant& variant : variants) {
      if (!aligned(in, out, variant.unit_bytes)) continue;
      const Address from = split(in);
      const Address to = split(out);
      Params params = variant.params;
      place(params, from.skew, to.skew);
      const auto threads = static_cast<std::uint64_t>(variant.entry.threads);
      run(variant.entry, params, ceil_div(params.vectors(), threads), stream, from.base, to.base);
      return;
    }
  }
  virtual void run(const KernelEntry& entry, Params& params, std::uint64_t blocks, Stream stream,
                   const std::byte* in, const std::byte* out) const {
    launch_blocks(entry, params, params.first_vector, blocks, static_cast<std::uint64_t>(entry.threads),
                  stream, in, out);
  }
  std::vector<KernelEntry> entries() const override { return {variants.front().entry}; }

  std::vector<Variant> variants;  // the widest first; the last is for the pass's own unit
};

struct WindowPass : OnePass::State {
  WindowPass(const DeviceWindow& window, Direction applied, const kernels::WindowShape& shape)
      : State(shape.unit_bytes), params(kernels::make_window_params(shape)), shifts(window.shift.data()) {
    const bool backwards = applied == Direction::gather;
    const bool direct = params.shared_bytes == 0;
    const auto unit = static_cast<int>(shape.unit_bytes);
    single = loaded(window_kernel(unit, backwards, false, direct), params.shared_bytes);
    if (!direct && kernels::window_has_vectors(shape)) {
      vectors = loaded(window_kernel(unit, backwards, true, false), params.shared_bytes);
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

  void run(const KernelEntry& entry, kernels::RunsParams& params, std::uint64_t blocks, Stream stream,
           const std::byte* in, const std::byte* out) const override {
    launch_blocks(entry, params, params.first_vector, blocks, static_cast<std::uint64_t>(entry.threads),
                  stream, in, out, begins, froms, static_cast<const std::uint64_t*>(firsts.data()));
  }
  std::uint64_t table_bytes() const override { return sorted.bytes() + sources.bytes() + firsts.bytes(); }

  const std::uint64_t* begins = nullptr;
  const std::uint64_t* froms = nullptr;
  DeviceBuffer<std::uint64_t> sorted;   // forwards only: targets in order,
  DeviceBuffer<std::uint64_t> sources;  // and what goes there
  DeviceBuffer<std::uint64_t> firsts;
};

OnePass nothing(std::uint64_t element_bytes) {
  return OnePass(std::make_shared<CopyPass>(unit_of_width(element_bytes), 0));
}

// The same axes with units as wide as the fastest axis allows where it stays.
layout::UnitAxes widen(layout::UnitAxes axes, std::uint64_t& unit) {
  while (unit < kVector && !axes.shape.empty() &&
         axes.order.back() == static_cast<int>(axes.shape.size()) - 1 && axes.shape.back() % 2 == 0) {
    axes.shape.back() /= 2;
    unit *= 2;
    if (axes.shape.back() == 1) {
      axes.shape.pop_back();
      axes.order.pop_back();
    }
  }
  return axes;
}

}  // namespace

void OnePass::launch(const void* in, void* out, Stream stream) const {
  if (!aligned(in, out, state_->unit_bytes)) {
    const auto address = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
    throw Error({.code = ErrorCode::value,
                 .operation = "run",
                 .got = "arrays aligned to " + std::to_string(address & (~address + 1)) + " bytes",
                 .wanted = "arrays aligned to " + std::to_string(state_->unit_bytes) + " bytes",
                 .remedy = ""});
  }
  state_->launch(in, out, stream);
}

std::vector<KernelResources> OnePass::resources() const {
  std::vector<KernelResources> all;
  for (const KernelEntry& entry : state_->entries()) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, entry.function), "cudaFuncGetAttributes", kLoading);
    KernelResources resources{.registers = attributes.numRegs, .local_bytes = attributes.localSizeBytes};
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resources.blocks_per_multiprocessor, entry.function,
                                                        entry.threads,
                                                        static_cast<std::size_t>(entry.shared_bytes)),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "look at a kernel");
    all.push_back(resources);
  }
  return all;
}

std::uint64_t OnePass::table_bytes() const { return state_->table_bytes(); }

OnePass make_axes_pass(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch) {
  if (axes.count() == 0 || batch == 0) return nothing(element_bytes);
  check_total(axes.count(), element_bytes, batch);
  const std::uint64_t unit = unit_of_width(element_bytes);
  const layout::UnitAxes units = layout::unit_axes(axes, element_bytes / unit, batch);
  std::uint64_t wide_unit = unit;
  const layout::UnitAxes wide = widen(units, wide_unit);
  if (units.shape.size() < 2) {
    return OnePass(std::make_shared<CopyPass>(unit, units.count() * unit));
  }
  if (!kernels::axes_rows_suit(wide, static_cast<int>(wide_unit))) {
    return OnePass(std::make_shared<AxesTilePass>(units, unit, wide, wide_unit));
  }
  auto pass = std::make_shared<MovedPass<kernels::AxesRowsParams>>(unit);
  const auto add = [&pass](const layout::UnitAxes& of, std::uint64_t width) {
    const int bytes = static_cast<int>(width);
    pass->variants.push_back({.params = kernels::make_axes_rows_params(of, bytes, 0, 0),
                              .entry = loaded(axes_rows_kernel(bytes), 0),
                              .unit_bytes = width});
  };
  if (wide_unit != unit) add(wide, wide_unit);
  add(units, unit);
  return OnePass(std::move(pass));
}

OnePass make_cyclic_pass(const Cyclic& cyclic, std::uint64_t element_bytes, std::uint64_t batch) {
  if (cyclic.count == 0 || batch == 0) return nothing(element_bytes);
  check_total(cyclic.count, element_bytes, batch);
  const std::uint64_t unit = unit_of_width(element_bytes);
  const std::uint64_t array_bytes = cyclic.count * element_bytes;
  auto pass = std::make_shared<MovedPass<kernels::CyclicParams>>(unit);
  pass->variants.push_back(
      {.params = {.in = {.begin = 0, .end = array_bytes * batch},
                  .out = {.begin = 0, .end = array_bytes * batch},
                  .array_bytes = device::Division64(array_bytes),
                  .shift_bytes = cyclic.shift * element_bytes,
                  .element_bytes = device::Division64(element_bytes),
                  .first_vector = 0},
       .entry = loaded(cyclic_kernel(static_cast<int>(unit), cyclic.reversed, element_bytes != unit), 0),
       .unit_bytes = unit});
  return OnePass(std::move(pass));
}

OnePass make_window_pass(const DeviceWindow& window, Direction applied, std::uint64_t element_bytes,
                         std::uint64_t batch) {
  if (window.count == 0 || batch == 0) return nothing(element_bytes);
  const std::uint64_t unit = unit_of_width(element_bytes);
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
  check_total(runs.count, element_bytes, batch);
  const std::uint64_t unit = unit_of_width(element_bytes);
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
  pass->variants.push_back({.params = {.in = {.begin = 0, .end = array_bytes * batch},
                                       .out = {.begin = 0, .end = array_bytes * batch},
                                       .array_bytes = device::Division64(array_bytes),
                                       .element_bytes = device::Division64(element_bytes),
                                       .runs = number,
                                       .first_vector = 0},
                            .entry = loaded(runs_kernel(static_cast<int>(unit)), 0),
                            .unit_bytes = unit});
  return OnePass(std::move(pass));
}

}  // namespace faro::cuda
