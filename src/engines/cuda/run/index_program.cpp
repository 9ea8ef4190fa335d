#include "engines/cuda/run/index_program.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <variant>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/error.hpp"
#include "kernels/partition_params.hpp"

namespace faro::cuda {
namespace {

using faro::detail::GpuPass;
using faro::detail::PassWork;
using faro::detail::TableId;
using faro::detail::TableKind;

// The schedule's shape, which is all that passes are made from.
struct FormOf {
  bool as_published = false;

  decltype(PassWork::form) operator()(const DeviceDirect& direct) const {
    return faro::detail::DirectForm{.index_bytes = direct.indexed.index_type().bytes,
                                    .aligned = address(direct.indexed.device_entries()) % kVector == 0};
  }
  decltype(PassWork::form) operator()(const DeviceWindow& window) const {
    return faro::detail::WindowForm{window.window};
  }
  decltype(PassWork::form) operator()(const DeviceRuns& runs) const {
    return faro::detail::RunsForm{runs.target.size()};
  }
  decltype(PassWork::form) operator()(const DevicePartition& partition) const { return partition.shape; }
  decltype(PassWork::form) operator()(const DeviceRowColumn& matrix) const {
    return faro::detail::MatrixForm{
        .rows = matrix.rows, .columns = matrix.columns, .as_published = as_published};
  }
};

const void* table_of(const DeviceIndexSchedule& schedule, const TableId& id) {
  const auto level = [&]() -> const DevicePartitionLevel& {
    return std::get<DevicePartition>(schedule.what).levels[static_cast<std::size_t>(id.level)];
  };
  const auto matrix = [&]() -> const DeviceRowColumn& { return std::get<DeviceRowColumn>(schedule.what); };
  const auto* const partition = std::get_if<DevicePartition>(&schedule.what);
  switch (id.kind) {
    case TableKind::entries:
      return std::get<DeviceDirect>(schedule.what).indexed.device_entries();
    case TableKind::shifts:
      return std::get<DeviceWindow>(schedule.what).shift.data();
    case TableKind::places:
      return level().places.data();
    case TableKind::starts:
      return level().starts.data();
    case TableKind::offsets:
      return level().offsets.data();
    case TableKind::last:
      return partition != nullptr ? partition->last.data() : matrix().last.data();
    case TableKind::first:
      return matrix().first.data();
    case TableKind::middle:
      return matrix().middle.data();
    case TableKind::run_begins:
    case TableKind::run_froms:
    case TableKind::run_firsts:
      break;  // made beside the schedule
  }
  return nullptr;
}

}  // namespace

IndexProgram::IndexProgram(const DeviceIndexSchedule& schedule, const IndexArrays& arrays,
                           const IndexProgramOptions& options)
    : arrays_(arrays), count_(schedule.count) {
  if (count_ == 0 || arrays.batch == 0) return;
  const bool forwards = schedule.applied == Direction::scatter;
  const PassWork work{
      .count = count_,
      .element_bytes = arrays.element_bytes,
      .batch = arrays.batch,
      .way = forwards ? kernels::Way::forwards : kernels::Way::backwards,
      .form = std::visit(FormOf{options.as_published}, schedule.what),
      .shared_bytes = shared_bytes_of_device(),
      .level_variant = options.variant,
  };
  const auto* const runs = std::get_if<DeviceRuns>(&schedule.what);
  if (runs != nullptr) {
    int device = 0;
    cuda::check(cudaGetDevice(&device), "cudaGetDevice", "load a kernel");
    runs_ = RunTables(*runs, schedule.applied, device);
  }
  for (const GpuPass& pass : faro::detail::solve(work)) {
    std::vector<const void*> tables;
    for (const TableId& id : pass.tables) tables.push_back(table_of(schedule, id));
    if (runs != nullptr) tables = runs_.bound();
    steps_.emplace_back(pass, std::move(tables));
  }
}

IndexProgram::IndexProgram(const std::vector<GpuPass>& passes, std::uint64_t count, const IndexArrays& arrays)
    : arrays_(arrays), count_(count) {
  for (const GpuPass& pass : passes) steps_.emplace_back(pass, std::vector<const void*>());
}

std::uint64_t IndexProgram::workspace_bytes() const {
  const bool needed = std::any_of(steps_.begin(), steps_.end(), [](const LoadedPass& step) {
    return step.pass().target == PassBuffer::workspace;
  });
  return needed ? array_bytes() : 0;
}

std::uint64_t IndexProgram::table_bytes() const { return runs_.bytes(); }

void IndexProgram::check(const void* in, const void* out, const void* workspace) const {
  require_aligned(addresses(in, out), kernels::units_of_element(arrays_.element_bytes).unit_bytes);
  if (workspace_bytes() == 0) return;
  FARO_CHECK(workspace != nullptr);
  require_aligned(address(workspace), kVector, {.what = "a workspace"});
}

void IndexProgram::launch(const void* in, void* out, void* workspace, Stream stream) const {
  if (empty()) return;
  check(in, out, workspace);
  const bool turns = workspace_bytes() > 0;
  const std::uint64_t rounds = turns ? arrays_.batch : 1;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::byte* from = static_cast<const std::byte*>(in) + round * array_bytes();
    std::byte* const result = static_cast<std::byte*>(out) + round * array_bytes();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const bool to_workspace = steps_[i].pass().target == PassBuffer::workspace;
      std::byte* const to = to_workspace ? static_cast<std::byte*>(workspace) : result;
      steps_[i].launch(from, to, {.count = turns ? 1 : arrays_.batch, .bytes = array_bytes()}, stream,
                       {.pass = i, .passes = steps_.size(), .begun = round > 0 || i > 0});
      from = to;
    }
  }
}

std::vector<KernelResources> IndexProgram::resources() const {
  std::vector<KernelResources> all;
  for (const LoadedPass& step : steps_) {
    const std::vector<KernelResources> of_step = step.resources();
    all.insert(all.end(), of_step.begin(), of_step.end());
  }
  return all;
}

}  // namespace faro::cuda
