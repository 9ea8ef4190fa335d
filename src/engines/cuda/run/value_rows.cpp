// Rows taken and put with arithmetic, on a stream (engines/cuda_values.hpp).
#include <memory>
#include <utility>
#include <variant>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/rows/value_row_arguments.hpp"
#include "engines/cuda/run/loaded_boxes.hpp"
#include "engines/cuda/run/number_arrays.hpp"
#include "engines/cuda/run/row_checks.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/value_program.hpp"
#include "engines/cuda_values.hpp"

namespace faro::cuda {
namespace {

using faro::detail::RowValues;
using faro::detail::ValueAlignment;
using faro::detail::ValueRows;

// The kernel for arrays of some alignment, ready to run.
class LoadedRows {
 public:
  LoadedRows(const RowValues& plan, const ValueAlignment& alignment, int device)
      : rows_(faro::detail::make_value_rows(plan, alignment)),
        which_(row_value_kernel_of(plan, rows_)),
        kernel_(
            compiled_row_kernel(which_), [&] { return kernel_source(type_text(which_)); }, kValueKernelName,
            0, device, rows_.pass.threads) {}

  void launch(const RowValues& plan, const RowMemory& memory, const std::uint32_t* faulty,
              const ValueRowArrays& arrays, Stream stream) const {
    const auto go = [&]<typename Kernel>() {
      auto arguments = value_row_arguments<Kernel>(plan, rows_, memory, faulty, arrays);
      require_grid(rows_.pass.blocks, name(plan.move), "fewer rows at a time");
      kernel_.launch_blocks(rows_.pass.blocks, arguments, stream);
    };
    if (which_.arrays == 0) {
      const bool walks = rows_.vector_bytes_of(plan) < kernels::kLeastUnwalkedBytes;
      if (!walks) return go.template operator()<AnyValueRows>();
      if (which_.takes) return go.template operator()<AnyWalkedRows<kernels::RowDirection::take>>();
      return go.template operator()<AnyWalkedRows<kernels::RowDirection::put>>();
    }
    if (which_.arrays == 1) return go.template operator()<AnyValueElements<1>>();
    go.template operator()<AnyValueElements<kernels::kElementArrays>>();
  }

  bool at_run_time() const { return kernel_.at_run_time(); }

 private:
  ValueRows rows_;
  RowValueKernel which_;
  BoxKernel kernel_;
};

}  // namespace

struct RowValueExecutor::State {
  RowValues plan;
  int device;
  const char* operation;
  DeviceBuffer<std::byte> fill;
  DeviceFaults faults;
  FactorsOfPlaces factors;
  ByAlignment<LoadedRows> loaded;

  explicit State(const RowValues& of)
      : plan(of),
        device(plan.row_plan->target().device),
        operation(name(plan.move)),
        fill(DeviceBuffer<std::byte>::of(fill_pattern(plan.move), device)),
        faults(device, operation),
        factors(plan.arithmetic, device) {
    require_entries(row_numbers(plan.move).data);
    if (moves()) static_cast<void>(rows_for({}));
  }

  bool moves() const { return plan.outer * plan.moved_rows() > 0; }
  void require_entries(const void* entries) const {
    const RowNumbers& numbers = row_numbers(plan.move);
    require_device_entries({entries, numbers.count, numbers.type}, operation, "entries", device);
  }
  const LoadedRows& rows_for(const ValueAlignment& alignment) const {
    return loaded.get(alignment, [&] { return LoadedRows(plan, alignment, device); });
  }
};

RowValueExecutor::RowValueExecutor(const RowValues& plan) {
  require_available();
  const DeviceGuard guard(plan.row_plan->target().device);
  state_ = std::make_unique<State>(plan);
}
RowValueExecutor::RowValueExecutor(RowValueExecutor&&) noexcept = default;
RowValueExecutor& RowValueExecutor::operator=(RowValueExecutor&&) noexcept = default;
RowValueExecutor::~RowValueExecutor() = default;

void RowValueExecutor::run(const void* entries, const void* in, const void* addend, void* out,
                           Stream stream) const {
  const State& state = *state_;
  if (!state.moves()) return;
  const DeviceGuard guard(state.device);
  // Where there is nothing to read or to write, any array will do.
  if (state.plan.in_count() == 0) in = state.fill.data();
  if (state.plan.out_count() == 0) out = state.fill.data();
  const ValueAlignment alignment = required_alignment(state.plan.arithmetic, in, addend, out, state.device);
  state.require_entries(entries);
  const RowMemory memory{
      .faults = state.faults.data(), .fill_pattern = state.fill.data(), .fill_bytes = state.fill.bytes()};
  const RowWorkspace workspace(nullptr, state.plan.row_plan->workspace_bytes(), state.device, stream);
  const std::uint32_t* faulty = nullptr;
  if (std::holds_alternative<Put>(state.plan.move)) {
    RowStream queue(stream, state.operation);
    faulty = RowMoveQueue<RowStream>(queue, memory, workspace.data())
                 .mark(state.plan.row_plan->with_entries_at(entries));
  }
  state.rows_for(alignment).launch(state.plan, memory, faulty,
                                   {.entries = entries,
                                    .in = in,
                                    .out = out,
                                    .changes = {.addend = addend, .factors = state.factors.get()}},
                                   stream);
}

void RowValueExecutor::check(Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  const kernels::RowFaults found = state.faults.take(stream);
  require_in_range(state.operation, "an entry that names no row", found, numbered_rows(state.plan.move));
  require_distinct(state.operation, found);
}

std::string RowValueExecutor::explain() const {
  const State& state = *state_;
  const bool compiled = state.moves() && state.rows_for({}).at_run_time();
  return state.plan.explain() + faro::detail::told_value_rows(state.plan) +
         (compiled ? kCompiledByNvrtc : "");
}

}  // namespace faro::cuda
