// Plans of rows with arithmetic, together with the engine that runs them.
#include <algorithm>
#include <memory>
#include <string>
#include <variant>

#include "api/arithmetic_state.hpp"
#include "api/planning.hpp"
#include "api/row_engine.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/values/row_value_sweep.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_values.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/faro.hpp"
#include "faro/rows.hpp"
#include "permutation/route_checks.hpp"
#include "plan/row_values.hpp"

namespace faro {
namespace {

struct RowState : detail::DenseState {
  detail::RowValues plan;

  explicit RowState(const detail::RowValues& made) : plan(made) {
    set_counts(plan.arithmetic, plan.in_count(), plan.out_count());
    entries = detail::laid(row_numbers(plan.move));
  }
  std::uint64_t moved_bytes() const override { return plan.read_bytes() + plan.written_bytes(); }
};

struct HostRowState final : RowState {
  cpu::RowValueSweep sweep;

  explicit HostRowState(const detail::RowValues& made) : RowState(made), sweep(plan) {}
  std::string explain() const override { return plan.explain(); }
  void run(const cpu::ValueArrays& arrays, Stream /*stream*/) const override { sweep.run(arrays); }
  void run_by(const void* by, const cpu::ValueArrays& arrays, Stream /*stream*/) const override {
    cpu::RowValueSweep(plan.with_entries_at(by)).run(arrays);
  }
};

// By engine cuda.
struct DeviceRowState : RowState {
  DeviceRowState(const detail::RowValues& made, int where) : RowState(made) {
    device = where;
    on_device = true;
    keeps = true;
  }
  void run(const cpu::ValueArrays& arrays, Stream stream) const override {
    run_by(row_numbers(plan.move).data, arrays, stream);
  }
};

// What is taken or put is changed on its way.
struct DeviceMovedRows final : DeviceRowState {
  cuda::RowValueExecutor executor;

  DeviceMovedRows(const detail::RowValues& made, int where) : DeviceRowState(made, where), executor(plan) {}
  std::string explain() const override { return executor.explain(); }
  void run_by(const void* by, const cpu::ValueArrays& arrays, Stream stream) const override {
    executor.run(by, arrays.in, arrays.addend, arrays.out, stream);
  }
  void check_entries(Stream stream) const override { executor.check(stream); }
};

// The arithmetic of an array of rows that are added: factors along axes of a row, for they differ from row to
// row of no such plan.
Arithmetic of_added(const detail::RowValues& plan) {
  Arithmetic made = plan.arithmetic;
  const std::size_t rank = made.shape.size();
  const std::size_t first = std::min(made.scale.axis.value_or(rank), made.offset.axis.value_or(rank));
  std::uint64_t period = 1;
  for (std::size_t axis = first; axis < rank; ++axis) period *= made.shape[axis];
  made.shape.erase(made.shape.begin(), made.shape.begin() + static_cast<std::ptrdiff_t>(first));
  made.shape.insert(made.shape.begin(), period == 0 ? 0 : plan.in_count() / period);
  for (Coefficient* const of : {&made.scale, &made.offset})
    if (of->axis) *of->axis -= first - 1;
  return made;
}

struct DeviceSummedRows final : DeviceRowState {
  cuda::AddedRowExecutor executor;

  DeviceSummedRows(const detail::RowValues& made, int where) : DeviceRowState(made, where), executor(plan) {}
  std::string explain() const override { return executor.explain(); }
  void run_by(const void* by, const cpu::ValueArrays& arrays, Stream stream) const override {
    executor.run(by, arrays.in, arrays.out, stream);
  }
  void check_entries(Stream stream) const override { executor.check(stream); }
};

// Single numbers are changed first, in a sweep of their own: they travel with the keys that they are sorted
// by.
struct DeviceAddedRows final : DeviceRowState {
  Arithmetic changes_first;
  cuda::ValueExecutor changer;
  ExecutableRows adder;

  DeviceAddedRows(const detail::RowValues& made, int where)
      : DeviceRowState(made, where),
        changes_first(of_added(plan)),
        changer(detail::make_value_plan(detail::in_order(changes_first, plan.in_count()), changes_first,
                                        cpu::target(1)),
                where),
        adder(plan_rows(plan.move, plan.row_plan->layout(),
                        RowOptions{.engine = Engine::cuda, .device = where})) {}
  std::uint64_t scratch_bytes() const { return in_count * bytes_of(arithmetic.to); }
  std::string explain() const override {
    return "two sweeps      numbers are changed, then added, by way of " + std::to_string(scratch_bytes()) +
           " bytes of the device\n" + changer.explain() + adder.explain() + "\n";
  }
  void run_by(const void* by, const cpu::ValueArrays& arrays, Stream stream) const override {
    if (in_count == 0 || out_count == 0) return;
    const cuda::StreamMemory scratch(scratch_bytes(), device, stream);
    changer.run(arrays.in, nullptr, scratch.data(), stream);
    const std::span<const std::byte> changed(static_cast<const std::byte*>(scratch.data()), scratch_bytes());
    adder.with_entries_at(by).run(changed, {arrays.out, out_count * bytes_of(arithmetic.to)}, stream);
  }
  void check_entries(Stream stream) const override { adder.check(stream); }
};

}  // namespace

ExecutableArithmetic plan_rows(const RowMove& move, const RowLayout& layout, const Arithmetic& arithmetic,
                               const PlanOptions& options) {
  detail::check_threads(options.threads, "plan rows");
  const bool on_gpu = detail::engine_of_rows(move, options.engine) == Engine::cuda;
  const detail::RowValues made = detail::make_row_values(
      move, layout, arithmetic, on_gpu ? cuda::target(options.device) : cpu::target(options.threads));
  if (!on_gpu) return ExecutableArithmetic(std::make_unique<HostRowState>(made));
  const int device = made.row_plan->target().device;
  if (std::holds_alternative<Add>(move)) {
    if (cuda::AddedRowExecutor::takes(made) && cuda::nvrtc_status().available)
      return ExecutableArithmetic(std::make_unique<DeviceSummedRows>(made, device));
    return ExecutableArithmetic(std::make_unique<DeviceAddedRows>(made, device));
  }
  return ExecutableArithmetic(std::make_unique<DeviceMovedRows>(made, device));
}

}  // namespace faro
