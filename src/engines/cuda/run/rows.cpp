// Rows moved and added by a plan, on a stream (engines/cuda_rows.hpp): what may be wrong with the arrays is
// refused before anything is queued.
#include <algorithm>
#include <utility>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/run/row_checks.hpp"
#include "engines/cuda/runtime/calls.hpp"

namespace faro::cuda {

struct RowExecutor::State {
  int device;
  const char* operation;
  DeviceBuffer<std::byte> fill;
  DeviceFaults faults;
  std::uint64_t workspace_bytes;
  std::uint64_t rows;
  std::uint64_t entries;
  IndexType entry_type;

  explicit State(const RowPlan& plan)
      : device(plan.target().device),
        operation(name(plan.move())),
        fill(DeviceBuffer<std::byte>::of(fill_pattern(plan.move()), device)),
        faults(device, operation),
        workspace_bytes(plan.workspace_bytes()),
        rows(numbered_rows(plan.move())),
        entries(row_numbers(plan.move()).count),
        entry_type(row_numbers(plan.move()).type) {
    require_device_entries(row_numbers(plan.move()), operation, "entries", device);
  }

  void require_arrays(const RowPlan& plan, const RowGroup::Arrays& arrays) const {
    if (plan.in_bytes() > 0) require_accessible(arrays.in, "input", device);
    if (plan.out_bytes() > 0) require_accessible(arrays.out, "output", device);
    const auto* const add = std::get_if<Add>(&plan.move());
    if (add != nullptr)
      require_aligned(addresses(arrays.in, arrays.out), bytes_of(add->number), {.operation = operation});
  }

  void add(RowStream& queue, const RowPlan& plan, const RowGroup::Arrays& arrays,
           std::byte* workspace) const {
    const Add& add = std::get<Add>(plan.move());
    add_rows(queue, faro::detail::added_partition(add, plan.layout()),
             {.entries = entries_of(plan.move()),
              .faults = faults.data(),
              .layout = plan.layout(),
              .number = add.number,
              .sums = add.sums,
              .in = arrays.in,
              .out = arrays.out},
             workspace);
  }
};

RowExecutor::RowExecutor(const RowPlan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ = std::make_unique<State>(plan);
}

RowExecutor::RowExecutor(RowExecutor&&) noexcept = default;
RowExecutor& RowExecutor::operator=(RowExecutor&&) noexcept = default;
RowExecutor::~RowExecutor() = default;

void RowExecutor::run(std::span<const RowGroup> groups, Stream stream, void* workspace) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  for (const RowGroup& group : groups) {
    for (const RowGroup::Arrays& arrays : group.arrays) state.require_arrays(*group.plan, arrays);
  }
  const RowWorkspace lent(workspace, state.workspace_bytes, state.device, stream);
  RowStream queue(stream, state.operation);
  RowMoveQueue<RowStream> moves(
      queue,
      {.faults = state.faults.data(), .fill_pattern = state.fill.data(), .fill_bytes = state.fill.bytes()},
      lent.data());
  if (!groups.empty()) moves.mark(*groups.front().plan);
  for (const RowGroup& group : groups) {
    if (std::holds_alternative<Add>(group.plan->move())) {
      for (const RowGroup::Arrays& arrays : group.arrays) state.add(queue, *group.plan, arrays, lent.data());
      continue;
    }
    for (std::size_t first = 0; first < group.arrays.size(); first += kernels::kMostRowArrays) {
      const std::size_t some = std::min<std::size_t>(group.arrays.size() - first, kernels::kMostRowArrays);
      moves.move(*group.plan, group.arrays.subspan(first, some));
    }
  }
}

void RowExecutor::require_entries(const void* entries) const {
  require_device_entries({entries, state_->entries, state_->entry_type}, state_->operation, "entries",
                         state_->device);
}

void RowExecutor::check(Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  const kernels::RowFaults found = state.faults.take(stream);
  require_in_range(state.operation, "an entry that names no row", found, state.rows);
  require_distinct(state.operation, found);
}

}  // namespace faro::cuda
