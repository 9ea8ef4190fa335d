#include "engines/cuda/run/index_program.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/error.hpp"
#include "kernels/partition_in_global.hpp"

namespace faro::cuda {
namespace {

using kernels::ColumnsParams;
using kernels::DirectParams;
using kernels::PartitionParams;

constexpr const char* kLoading = "load a kernel";
Way way_of(Direction applied) { return applied == Direction::scatter ? Way::forwards : Way::backwards; }

constexpr const char* kFewerBlocks = "choose larger chunks, or split the batch";

}  // namespace

IndexProgram::IndexProgram(const DeviceIndexSchedule& schedule, const IndexArrays& arrays,
                           const IndexProgramOptions& options)
    : arrays_(arrays), units_(kernels::units_of_element(arrays.element_bytes)), count_(schedule.count) {
  if (count_ == 0 || arrays.batch == 0) return;
  shared_bytes_max_ = shared_bytes_of_device();
  const Way way = way_of(schedule.applied);
  const auto add_what = [&](const auto& what) {
    using What = std::decay_t<decltype(what)>;
    if constexpr (std::is_same_v<What, DeviceDirect>) add_direct(what, way);
    if constexpr (std::is_same_v<What, DevicePartition>) add_partition(what, way, options);
    if constexpr (std::is_same_v<What, DeviceRowColumn>) add_row_column(what, way, options);
    if constexpr (std::is_same_v<What, DeviceWindow>) {
      steps_.emplace_back(make_window_pass(what, schedule.applied, arrays.element_bytes, arrays.batch));
    }
    if constexpr (std::is_same_v<What, DeviceRuns>) {
      int device = 0;
      cuda::check(cudaGetDevice(&device), "cudaGetDevice", kLoading);
      steps_.emplace_back(make_runs_pass(what, schedule.applied, arrays.element_bytes, arrays.batch, device));
    }
  };
  std::visit(add_what, schedule.what);
  route();
}

IndexProgram::IndexProgram(OnePass pass, std::uint64_t count, const IndexArrays& arrays)
    : arrays_(arrays), units_(kernels::units_of_element(arrays.element_bytes)), count_(count) {
  if (count == 0 || arrays.batch == 0) return;
  steps_.emplace_back(std::move(pass));
  route();
}

void IndexProgram::add(const Kernel& kernel) {
  Kernel ready = kernel;
  ready.entry = loaded(kernel.entry);
  if (kernel.unaligned.function != nullptr) ready.unaligned = loaded(kernel.unaligned);
  require_grid(kernel.blocks, "run", kFewerBlocks);
  steps_.emplace_back(ready);
}

void IndexProgram::add_direct(const DeviceDirect& direct, Way way) {
  const int unit_bytes = static_cast<int>(units_.unit_bytes);
  const int index_bytes = direct.indexed.index_type().bytes;
  const DirectParams params{
      .count = count_,
      .arrays = arrays_.batch,
      .units = units_.units,
      .unit_bits = std::has_single_bit(units_.units) ? std::countr_zero(units_.units) : -1};
  const bool small = params.elements() * params.units < kernels::kSmallDirectUnits;
  const DirectKind kind_of_small =
      arrays_.batch == 1 && units_.units == 1 ? DirectKind::one : DirectKind::small;
  Kernel kernel{
      .entry = direct_kernel(unit_bytes, index_bytes, way, small ? kind_of_small : DirectKind::units),
      .params = params,
      .tables = {direct.indexed.device_entries()},
      .blocks = kernels::direct_blocks(params, 1, small ? 1 : kernels::kDirectUnitBatch)};
  const bool entries_aligned = address(direct.indexed.device_entries()) % kVector == 0;
  if (!small && entries_aligned && kernels::direct_vectors_fit(params, unit_bytes)) {
    kernel.unaligned = kernel.entry;
    kernel.unaligned_blocks = kernel.blocks;
    kernel.entry = direct_kernel(unit_bytes, index_bytes, way, DirectKind::vectors);
    kernel.blocks =
        kernels::direct_blocks(params, kernels::direct_vector(unit_bytes), kernels::kDirectVectorBatch);
  }
  add(kernel);
}

void IndexProgram::add_partition(const DevicePartition& partition, Way way,
                                 const IndexProgramOptions& options) {
  const int levels = partition.shape.levels();
  if (way == Way::forwards) {
    for (int level = 0; level < levels; ++level) add_level(partition, level, way, options);
  }
  add_chunks(partition.shape.chunk_elements(), partition.last, way);
  if (way == Way::backwards) {
    for (int level = levels - 1; level >= 0; --level) add_level(partition, level, way, options);
  }
}

void IndexProgram::add_row_column(const DeviceRowColumn& matrix, Way way,
                                  const IndexProgramOptions& options) {
  const bool forwards = way == Way::forwards;
  add_chunks(matrix.columns, forwards ? matrix.first : matrix.last, way);
  if (options.as_published) {
    // One array at a time, since there is but one workspace.
    const Axes transpose({matrix.rows, matrix.columns}, {1, 0});
    steps_.emplace_back(make_axes_pass(transpose, arrays_.element_bytes, 1));
    add_chunks(matrix.rows, matrix.middle, way);
    steps_.emplace_back(make_axes_pass(transpose.inverse(), arrays_.element_bytes, 1));
  } else {
    add_columns(matrix, way);
  }
  add_chunks(matrix.columns, forwards ? matrix.last : matrix.first, way);
}

void IndexProgram::add_level(const DevicePartition& partition, int level, Way way,
                             const IndexProgramOptions& options) {
  const int unit_bytes = static_cast<int>(units_.unit_bytes);
  const DevicePartitionLevel& tables = partition.levels[static_cast<std::size_t>(level)];
  const PartitionParams params = kernels::make_level_params(partition.shape, level, units_);
  const std::uint64_t shared = kernels::chunk_shared_bytes(params, units_.unit_bytes);
  Kernel kernel{.entry = {},
                .params = params,
                .tables = {tables.places.data(), tables.starts.data(), tables.offsets.data()},
                .blocks = params.chunks,
                .runs_written = way == Way::forwards};
  if (shared > shared_bytes_max_) {
    kernel.entry = level_in_global_kernel(unit_bytes, way);
    kernel.blocks = kernels::in_global_blocks(params);
  } else {
    const std::uint64_t run_units = std::uint64_t{params.chunk_elements} * units_.units / params.buckets;
    const int preferred = kernels::preferred_partition(run_units, units_.unit_bytes, shared);
    kernel.entry = level_kernel({.unit_bytes = unit_bytes, .single = units_.units == 1}, way,
                                options.variant.value_or(preferred));
    kernel.entry.shared_bytes = static_cast<int>(shared);
  }
  add(kernel);
}

void IndexProgram::add_chunks(std::uint64_t chunk_elements, const DeviceBuffer<std::uint16_t>& places,
                              Way way) {
  const int unit_bytes = static_cast<int>(units_.unit_bytes);
  const PartitionParams params =
      kernels::make_chunk_params(count_, static_cast<std::uint32_t>(chunk_elements), units_);
  // A short array that is alone in its chunk takes no more than it needs.
  const std::uint64_t shared = std::min(kernels::chunk_shared_bytes(params, units_.unit_bytes),
                                        (count_ * arrays_.element_bytes + kVector - 1) / kVector * kVector);
  Kernel kernel{
      .entry = {}, .params = params, .tables = {places.data()}, .blocks = params.chunks, .in_place = true};
  if (shared > shared_bytes_max_) {
    kernel.entry = chunk_in_global_kernel(unit_bytes, way);
    kernel.blocks = kernels::in_global_blocks(params);
    kernel.in_place = false;
  } else {
    kernel.entry = chunk_kernel({.unit_bytes = unit_bytes, .single = units_.units == 1}, way,
                                shared > kernels::kLargeChunkBytes);
    kernel.entry.shared_bytes = static_cast<int>(shared);
  }
  add(kernel);
}

void IndexProgram::add_columns(const DeviceRowColumn& matrix, Way way) {
  const int unit_bytes = static_cast<int>(units_.unit_bytes);
  ColumnsParams params{
      .rows = matrix.rows,
      .columns = matrix.columns,
      .strip = kernels::columns_strip(matrix.rows, matrix.columns, arrays_.element_bytes, shared_bytes_max_),
      .strips = 0,
      .units = units_.units};
  Kernel kernel{
      .entry = {}, .params = params, .tables = {matrix.middle.data()}, .in_place = params.strip > 0};
  if (params.strip > 0) {
    params.strips = (matrix.columns + params.strip - 1) / params.strip;
    kernel.params = params;
    kernel.blocks = params.strips;
    kernel.entry = columns_kernel(unit_bytes, way);
    kernel.entry.shared_bytes = static_cast<int>(params.strip * arrays_.element_bytes * matrix.rows);
  } else {
    kernel.blocks = (count_ * units_.units + kernels::kInGlobalThreads - 1) / kernels::kInGlobalThreads;
    kernel.entry = columns_in_global_kernel(unit_bytes, way);
  }
  add(kernel);
}

// Where each pass writes: backwards from the output, in place where a pass can.
void IndexProgram::route() {
  to_workspace_.assign(steps_.size(), false);
  for (std::size_t i = steps_.size(); i-- > 1;) {
    const Kernel* kernel = std::get_if<Kernel>(&steps_[i]);
    const bool in_place = kernel != nullptr && kernel->in_place;
    to_workspace_[i - 1] = in_place ? to_workspace_[i] : !to_workspace_[i];
  }
}

std::uint64_t IndexProgram::workspace_bytes() const {
  const bool needed = std::find(to_workspace_.begin(), to_workspace_.end(), true) != to_workspace_.end();
  return needed ? count_ * arrays_.element_bytes : 0;
}

std::uint64_t IndexProgram::table_bytes() const {
  std::uint64_t bytes = 0;
  for (const Step& step : steps_) {
    if (const auto* pass = std::get_if<OnePass>(&step)) bytes += pass->table_bytes();
  }
  return bytes;
}

void IndexProgram::check(const void* in, const void* out, const void* workspace) const {
  require_aligned(addresses(in, out), units_.unit_bytes);
  if (workspace_bytes() == 0) return;
  FARO_CHECK(workspace != nullptr);
  require_aligned(address(workspace), kVector, {.what = "a workspace"});
}

void IndexProgram::launch(const void* in, void* out, void* workspace, Stream stream) const {
  if (empty()) return;
  check(in, out, workspace);
  const bool turns = workspace_bytes() > 0;
  const std::uint64_t array_bytes = count_ * arrays_.element_bytes;
  const std::uint64_t rounds = turns ? arrays_.batch : 1;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::byte* from = static_cast<const std::byte*>(in) + round * array_bytes;
    std::byte* const result = static_cast<std::byte*>(out) + round * array_bytes;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      std::byte* const to = to_workspace_[step] ? static_cast<std::byte*>(workspace) : result;
      launch(step, from, to, turns ? 1 : arrays_.batch, stream, round > 0);
      from = to;
    }
  }
}

void IndexProgram::launch(std::size_t step, const std::byte* in, std::byte* out, std::uint64_t arrays,
                          Stream stream, bool begun) const {
  if (const auto* pass = std::get_if<OnePass>(&steps_[step])) {
    pass->launch(in, out, stream);
    return;
  }
  const Kernel& kernel = std::get<Kernel>(steps_[step]);
  if (std::holds_alternative<DirectParams>(kernel.params)) {
    launch_kernel(step, in, out, arrays, stream, begun);
    return;
  }
  const std::uint64_t array_bytes = count_ * arrays_.element_bytes;
  const std::uint64_t most = kMaxGridBlocks / kernel.blocks;
  for (std::uint64_t first = 0; first < arrays; first += most) {
    launch_kernel(step, in + first * array_bytes, out + first * array_bytes, std::min(most, arrays - first),
                  stream, begun || first > 0);
  }
}

void IndexProgram::launch_kernel(std::size_t step, const std::byte* in, std::byte* out, std::uint64_t arrays,
                                 Stream stream, bool begun) const {
  const Kernel& kernel = std::get<Kernel>(steps_[step]);
  KernelEntry entry = kernel.entry;
  std::uint64_t blocks = kernel.blocks * arrays;
  Kernel::Params params = kernel.params;
  if (auto* partition = std::get_if<PartitionParams>(&params)) {
    const std::byte* const runs = kernel.runs_written ? out : in;
    const std::uintptr_t chunks =
        kernel.in_place ? addresses(in, out) : address(kernel.runs_written ? in : out);
    if (chunks % kVector != 0) partition->vectors = 0;
    partition->run_skew = static_cast<std::uint32_t>(address(runs) % kernels::kLineBytes / units_.unit_bytes);
  } else if (std::holds_alternative<DirectParams>(params)) {
    blocks = kernel.blocks;
    const bool vectors = aligned(in, out, kVector);
    if (kernel.unaligned.function != nullptr && !vectors) {
      entry = kernel.unaligned;
      blocks = kernel.unaligned_blocks;
      require_grid(blocks, "run", kFewerBlocks);
    }
  }
  const auto launch_with = [&](auto& of_kernel) {
    const void* tables[3] = {kernel.tables[0], kernel.tables[1], kernel.tables[2]};
    void* arguments[] = {&of_kernel, &in, &out, &tables[0], &tables[1], &tables[2]};
    cuda::launch(entry, blocks, arguments, stream,
                 {.pass = step, .passes = steps_.size(), .begun = begun || step > 0});
  };
  std::visit(launch_with, params);
}

std::vector<KernelResources> IndexProgram::resources() const {
  std::vector<KernelResources> all;
  for (const Step& step : steps_) {
    if (const auto* pass = std::get_if<OnePass>(&step)) {
      const std::vector<KernelResources> of_pass = pass->resources();
      all.insert(all.end(), of_pass.begin(), of_pass.end());
      continue;
    }
    all.push_back(resources_of(std::get<Kernel>(step).entry));
  }
  return all;
}

}  // namespace faro::cuda
