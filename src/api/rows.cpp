#include "faro/rows.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "api/array_checks.hpp"
#include "api/planning.hpp"
#include "api/reused_rows.hpp"
#include "api/row_engine.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_rows.hpp"
#include "faro/error.hpp"
#include "permutation/route_checks.hpp"

namespace faro {
namespace {

std::string run_words(const RowPlan& plan) { return std::string("run ") + name(plan.move()); }

void require_rows_array(const RowPlan& plan, const char* which, const void* data, std::uint64_t bytes,
                        std::uint64_t wanted) {
  if (bytes != wanted) {
    fail(ErrorCode::value, run_words(plan), std::string(which) + " of " + std::to_string(bytes) + " bytes",
         std::to_string(wanted) + " bytes");
  }
  if (bytes > 0 && data == nullptr)
    fail(ErrorCode::value, run_words(plan), std::string("a null pointer as ") + which, "an array");
}

void require_row_arrays(const RowPlan& plan, std::span<const std::byte> in, std::span<std::byte> out) {
  require_rows_array(plan, "an input", in.data(), in.size(), plan.in_bytes());
  require_rows_array(plan, "an output", out.data(), out.size(), plan.out_bytes());
  detail::check_disjoint(run_words(plan).c_str(), detail::RunArray{"output", detail::laid(out)},
                         {{"input", detail::laid(in)}, {"entries", detail::laid(row_numbers(plan.move()))}});
  if (plan.target().engine != Engine::cuda)
    detail::check_on_host(in.data(), out.data(), "plan for engine cuda, with the entries on the device");
}

// No output may be what another column reads or writes.
void require_columns_apart(const RowPlan& plan, std::span<const RowColumn> columns) {
  if (columns.size() < 2) return;
  std::vector<detail::RunArray> outputs;
  std::vector<detail::RunArray> inputs;
  for (const RowColumn& column : columns) {
    outputs.push_back({"an output", detail::laid(column.out)});
    inputs.push_back({"an input of another column", detail::laid(column.in)});
  }
  detail::check_disjoint(run_words(plan).c_str(), outputs, inputs);
}

void require_row_workspace(const RowPlan& plan, const Workspace& workspace, std::uint64_t bytes,
                           std::span<const RowColumn> columns) {
  if (plan.target().engine != Engine::cuda)
    fail(ErrorCode::value, run_words(plan), "a workspace for engine cpu", "none");
  for (const RowColumn& column : columns) {
    for (const std::span<const std::byte> array : {column.in, std::span<const std::byte>(column.out)}) {
      detail::check_workspace(workspace, {.bytes = bytes, .on_gpu = true}, array.data(), array.data(),
                              array.size());
    }
  }
}

// Columns with rows of one width go together.
void run_groups(const cuda::RowExecutor& executor, std::span<const RowColumn> columns,
                const std::vector<RowPlan>& plans, void* workspace, Stream stream) {
  std::map<std::uint64_t, std::vector<cuda::RowGroup::Arrays>> arrays;
  std::map<std::uint64_t, const RowPlan*> of_width;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    of_width[columns[i].row_bytes] = &plans[i];
    arrays[columns[i].row_bytes].push_back({.in = columns[i].in.data(), .out = columns[i].out.data()});
  }
  std::vector<cuda::RowGroup> groups;
  groups.reserve(arrays.size());
  for (const auto& [width, of_it] : arrays) groups.push_back({.plan = of_width[width], .arrays = of_it});
  executor.run(groups, stream, workspace);
}

}  // namespace

Engine detail::engine_of_rows(const RowMove& move, Engine asked) {
  const bool on_device = cuda::is_device_memory(row_numbers(move).data);
  if (asked == Engine::automatic) return on_device ? Engine::cuda : Engine::cpu;
  if (asked == Engine::cpu && on_device)
    fail(ErrorCode::value, name(move), "entries in the memory of a device", "memory of the host",
         "engine cuda moves rows there");
  return asked;
}

ExecutableRows::ExecutableRows(RowPlan plan, const RowOptions& options) : plan_(std::move(plan)) {
  if (plan_.target().engine != Engine::cuda) return;
  on_device_ = std::make_shared<const cuda::RowExecutor>(plan_);
  if (options.reused) reused_ = detail::ReusedRows::of(plan_);
}

std::uint64_t ExecutableRows::workspace_bytes() const {
  return reused_ != nullptr ? std::max(reused_->workspace_bytes(), plan_.workspace_bytes())
                            : plan_.workspace_bytes();
}

std::string ExecutableRows::explain() const {
  return plan_.explain() + (reused_ != nullptr ? reused_->explain() : std::string());
}

// A column with rows of the plan's width goes by the schedule, others by the entries.
void ExecutableRows::run_on_device(std::span<const RowColumn> columns, const std::vector<RowPlan>& plans,
                                   void* workspace, Stream stream) const {
  if (reused_ == nullptr) return run_groups(*on_device_, columns, plans, workspace, stream);
  const cuda::StreamMemory own(workspace == nullptr ? workspace_bytes() : 0, plan_.target().device, stream);
  void* const lent = workspace == nullptr ? own.data() : workspace;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].row_bytes == plan_.layout().row_bytes) {
      reused_->run(columns[i].in.data(), columns[i].out.data(), lent, stream);
    } else {
      run_groups(*on_device_, columns.subspan(i, 1), {plans[i]}, lent, stream);
    }
  }
}

void ExecutableRows::run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream) const {
  // One array by the plan's own rows: nothing is put together for it.
  detail::check_stream(plan_.target().engine, stream);
  require_row_arrays(plan_, in, out);
  if (on_device_ == nullptr) return cpu::run_rows(plan_, in.data(), out.data());
  if (reused_ != nullptr) {
    const cuda::StreamMemory own(workspace_bytes(), plan_.target().device, stream);
    return reused_->run(in.data(), out.data(), own.data(), stream);
  }
  const cuda::RowGroup::Arrays arrays{.in = in.data(), .out = out.data()};
  const cuda::RowGroup group{.plan = &plan_, .arrays = std::span(&arrays, 1)};
  on_device_->run(std::span(&group, 1), stream, nullptr);
}

void ExecutableRows::run(std::span<const RowColumn> columns, Stream stream) const {
  detail::check_stream(plan_.target().engine, stream);
  std::vector<RowPlan> plans;
  plans.reserve(columns.size());
  for (const RowColumn& column : columns) {
    plans.push_back(column.row_bytes == plan_.layout().row_bytes ? plan_
                                                                 : plan_.with_rows_of(column.row_bytes));
    require_row_arrays(plans.back(), column.in, column.out);
  }
  require_columns_apart(plan_, columns);
  if (on_device_ != nullptr) return run_on_device(columns, plans, nullptr, stream);
  for (std::size_t i = 0; i < columns.size(); ++i)
    cpu::run_rows(plans[i], columns[i].in.data(), columns[i].out.data());
}

void ExecutableRows::run(std::span<const RowColumn> columns, Workspace workspace, Stream stream) const {
  std::vector<RowPlan> plans;
  plans.reserve(columns.size());
  for (const RowColumn& column : columns) {
    plans.push_back(plan_.with_rows_of(column.row_bytes));
    require_row_arrays(plans.back(), column.in, column.out);
  }
  require_columns_apart(plan_, columns);
  require_row_workspace(plan_, workspace, workspace_bytes(), columns);
  run_on_device(columns, plans, workspace.data, stream);
}

void ExecutableRows::check(Stream stream) const {
  detail::check_stream(plan_.target().engine, stream);
  if (on_device_ != nullptr) on_device_->check(stream);
}

ExecutableRows ExecutableRows::with_entries_at(const void* entries) const {
  if (on_device_ == nullptr) {
    fail(ErrorCode::unsupported, run_words(plan_), "other entries for engine cpu", "the entries of the plan",
         "plan_rows() checks them first");
  }
  on_device_->require_entries(entries);
  ExecutableRows made = *this;
  made.plan_ = plan_.with_entries_at(entries);
  made.reused_ = nullptr;
  return made;
}

ExecutableRows plan_rows(const RowMove& move, const RowLayout& layout, const RowOptions& options) {
  detail::check_threads(options.threads, "plan rows");
  const bool on_gpu = detail::engine_of_rows(move, options.engine) == Engine::cuda;
  return {RowPlan(move, layout, on_gpu ? cuda::target(options.device) : cpu::target(options.threads),
                  options.check),
          options};
}

}  // namespace faro
