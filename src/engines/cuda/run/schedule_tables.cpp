#include "engines/cuda/run/schedule_tables.hpp"

#include <cuda_runtime_api.h>

#include <variant>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "kernels/runs.hpp"

namespace faro::cuda {

using faro::detail::TableId;
using faro::detail::TableKind;

ScheduleTables::ScheduleTables(const DeviceIndexSchedule& schedule) : schedule_(&schedule) {
  const auto* const runs = std::get_if<DeviceRuns>(&schedule.what);
  if (runs != nullptr && schedule.count > 0) make_runs(*runs);
}

void ScheduleTables::make_runs(const DeviceRuns& runs) {
  constexpr const char* operation = "sort runs";
  const std::uint64_t number = runs.target.size();
  const std::uint64_t stretches = kernels::run_stretches(runs.count);
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", operation);
  const Stream stream;
  begins_ = runs.source.data();
  froms_ = runs.target.data();
  if (schedule_->applied == Direction::scatter) {
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
  check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", operation);
}

std::vector<const void*> ScheduleTables::of(const faro::detail::GpuPass& pass) const {
  std::vector<const void*> tables;
  tables.reserve(pass.tables.size());
  for (const TableId& id : pass.tables) tables.push_back(table(id));
  return tables;
}

const void* ScheduleTables::table(const TableId& id) const {
  const auto& what = schedule_->what;
  const auto level = [&]() -> const DevicePartitionLevel& {
    return std::get<DevicePartition>(what).levels[static_cast<std::size_t>(id.level)];
  };
  const auto matrix = [&]() -> const DeviceRowColumn& { return std::get<DeviceRowColumn>(what); };
  const auto* const partition = std::get_if<DevicePartition>(&what);
  switch (id.kind) {
    case TableKind::entries:
      return std::get<DeviceDirect>(what).indexed.device_entries();
    case TableKind::shifts:
      return std::get<DeviceWindow>(what).shift.data();
    case TableKind::run_begins:
      return begins_;
    case TableKind::run_froms:
      return froms_;
    case TableKind::run_firsts:
      return firsts_.data();
    case TableKind::run_sources:  // those of a CPU
    case TableKind::run_targets:
      break;
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
  }
  return nullptr;
}

}  // namespace faro::cuda
