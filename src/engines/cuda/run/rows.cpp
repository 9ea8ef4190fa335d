// Rows moved on a stream (engines/cuda_rows.hpp): what may be wrong with the arrays is refused before anything
// is queued.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

// A fill's bytes, repeated to whole vectors; at least one, for there is always a pattern.
std::vector<std::byte> fill_pattern(const RowMove& move) {
  const auto* const take = std::get_if<Take>(&move);
  if (take == nullptr || take->fill.value.empty()) return std::vector<std::byte>(kVector);
  const std::vector<std::byte>& value = take->fill.value;
  std::vector<std::byte> pattern(fill_pattern_bytes(value.size()));
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = value[i % value.size()];
  return pattern;
}

constexpr int kNoFaultByte = 0xff;

}  // namespace

struct RowExecutor::State {
  int device;
  const char* operation;
  DeviceBuffer<std::byte> fill;
  DeviceBuffer<kernels::RowFaults> faults;
  std::uint64_t workspace_bytes;
  std::uint64_t rows;

  explicit State(const RowPlan& plan)
      : device(plan.target().device),
        operation(name(plan.move())),
        fill(DeviceBuffer<std::byte>::of(fill_pattern(plan.move()), device)),
        faults(1, device),
        workspace_bytes(plan.workspace_bytes()),
        rows(numbered_rows(plan.move())) {
    faro::cuda::check(cudaMemset(faults.data(), kNoFaultByte, faults.bytes()), "cudaMemset", operation);
    const RowNumbers& numbers = row_numbers(plan.move());
    if (numbers.count == 0) return;
    require_accessible(numbers.data, "entries", device);
    require_aligned(address(numbers.data), static_cast<std::uint64_t>(numbers.type.bytes),
                    {.operation = operation, .what = "entries"});
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
    for (const RowGroup::Arrays& arrays : group.arrays) {
      if (group.plan->in_bytes() > 0) require_accessible(arrays.in, "input", state.device);
      if (group.plan->out_bytes() > 0) require_accessible(arrays.out, "output", state.device);
    }
  }
  if (workspace != nullptr) require_accessible(workspace, "workspace", state.device);
  const StreamMemory own(workspace == nullptr ? state.workspace_bytes : 0, state.device, stream);
  RowStream queue(stream, state.operation);
  RowMoveQueue<RowStream> moves(
      queue,
      {.faults = state.faults.data(), .fill_pattern = state.fill.data(), .fill_bytes = state.fill.bytes()},
      static_cast<std::byte*>(workspace == nullptr ? own.data() : workspace));
  bool marked = false;
  for (const RowGroup& group : groups) {
    if (!marked) moves.mark(*group.plan);
    marked = true;
    for (std::size_t first = 0; first < group.arrays.size(); first += kernels::kMostRowArrays) {
      const std::size_t some = std::min<std::size_t>(group.arrays.size() - first, kernels::kMostRowArrays);
      moves.move(*group.plan, group.arrays.subspan(first, some));
    }
  }
}

void RowExecutor::check(Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  kernels::RowFaults found;
  faro::cuda::check(cudaMemcpyAsync(&found, state.faults.data(), sizeof(found), cudaMemcpyDeviceToHost,
                                    stream.handle()),
                    "cudaMemcpyAsync", state.operation);
  faro::cuda::check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", state.operation);
  const bool outside = found.out_of_range != kernels::kNoFault;
  if (!outside && found.twice == kernels::kNoFault) return;
  faro::cuda::check(cudaMemsetAsync(state.faults.data(), kNoFaultByte, sizeof(found), stream.handle()),
                    "cudaMemsetAsync", state.operation);
  if (outside) {
    fail(ErrorCode::value, state.operation,
         "an entry that names no row, at position " + std::to_string(found.out_of_range),
         state.rows == 0 ? "no entry: there are no rows" : "rows from 0 to " + std::to_string(state.rows - 1),
         "its row was left out");
  }
  fail(ErrorCode::value, state.operation,
       "a row that is named twice, once at position " + std::to_string(found.twice),
       "each row at most once", "add takes rows that repeat");
}

}  // namespace faro::cuda
