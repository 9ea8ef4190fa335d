// Rows added with arithmetic, on a stream (engines/cuda_values.hpp): the queue of rows that are added, whose
// last kernel changes what it fetches.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/run/loaded_boxes.hpp"
#include "engines/cuda/run/number_arrays.hpp"
#include "engines/cuda/run/row_checks.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/value_program.hpp"
#include "engines/cuda_values.hpp"
#include "kernels/number_types.hpp"
#include "kernels/program_text.hpp"
#include "plan/row_partition.hpp"

namespace faro::cuda {
namespace {

using faro::detail::RowValues;

template <typename T>
std::string number_text() {
  return kernels::type_text(kernels::number_of<T>());
}
template <typename T>
std::string sum_text(const kernels::OwnSum<T>* /*type*/) {
  return fmt::format("OwnSum<{}>", number_text<T>());
}
template <typename T, typename Wide>
std::string sum_text(const kernels::WideSum<T, Wide>* /*type*/) {
  return fmt::format("WideSum<{}, {}>", number_text<T>(), number_text<Wide>());
}
template <typename T, typename Real>
std::string sum_text(const kernels::CompensatedSum<T, Real>* /*type*/) {
  return fmt::format("CompensatedSum<{}, {}>", number_text<T>(), number_text<Real>());
}

template <typename Sum>
std::string kernel_text(const Arithmetic& of, int each) {
  return fmt::format(
      "faro::kernels::SumRows<faro::kernels::{}, {}, faro::kernels::ChangedRows<{}, {}, {}, {}>>",
      sum_text(static_cast<const Sum*>(nullptr)), each, kernels::program_text(of),
      number_text<typename Sum::Stored>(), each, faro::detail::along_axes(of));
}

// By the numbers of a thread.
class LoadedSums {
 public:
  template <typename Sum, int kEach>
  const RuntimeKernel& get(const Arithmetic& of, int device) const {
    const std::lock_guard lock(mutex_);
    auto& kernel = kernels_[kEach];
    if (kernel == nullptr) {
      kernel = std::make_unique<const RuntimeKernel>(
          compile(kernel_source(kernel_text<Sum>(of, kEach)), device)->kernel(kValueKernelName, false));
    }
    return *kernel;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<const RuntimeKernel>> kernels_;
};

// A stream whose sums change what they fetch.
class ChangedStream {
 public:
  ChangedStream(Stream stream, const char* operation, const RowValues& plan, const LoadedSums& sums,
                const kernels::PlacedFactors& factors, int device)
      : queue_(stream, operation),
        stream_(stream),
        plan_(plan),
        sums_(sums),
        factors_(factors),
        device_(device) {}

  void fill(void* to, int byte, std::uint64_t bytes) { queue_.fill(to, byte, bytes); }
  template <typename Kernel>
  void run(const Kernel& kernel) {
    queue_.run(kernel);
  }
  template <typename Sum, int kEach>
  void run(const kernels::SumRows<Sum, kEach>& plain) {
    kernels::SumRows<Sum, kEach, kernels::RowFactors> kernel{.keys = plain.keys,
                                                             .items = plain.items,
                                                             .present = plain.present,
                                                             .pairs = plain.pairs,
                                                             .vectors = plain.vectors,
                                                             .outer = plain.outer,
                                                             .in_rows = plain.in_rows,
                                                             .out_rows = plain.out_rows,
                                                             .in = plain.in,
                                                             .out = plain.out,
                                                             .rows = {factors_}};
    void* arguments[] = {&kernel};
    sums_.get<Sum, kEach>(plan_.arithmetic, device_)
        .launch(plain.blocks(), static_cast<int>(plain.kThreads), 1, 0, arguments, stream_);
  }

 private:
  RowStream queue_;
  Stream stream_;
  const RowValues& plan_;
  const LoadedSums& sums_;
  const kernels::PlacedFactors& factors_;
  int device_;
};

}  // namespace

struct AddedRowExecutor::State {
  RowValues plan;
  int device;
  const char* operation;
  DeviceFaults faults;
  FactorsOfPlaces factors;
  LoadedSums sums;

  explicit State(const RowValues& of)
      : plan(of),
        device(plan.row_plan->target().device),
        operation(name(plan.move)),
        faults(device, operation),
        factors(plan.arithmetic, device) {
    require_entries(row_numbers(plan.move).data);
    detail::with_sum(add().number, add().sums, [&]<typename Sum>() {
      constexpr int kEach = 16 / static_cast<int>(sizeof(typename Sum::Stored));
      if (plan.numbers % kEach == 0) {
        static_cast<void>(sums.get<Sum, kEach>(plan.arithmetic, device));
      } else {
        static_cast<void>(sums.get<Sum, 1>(plan.arithmetic, device));
      }
    });
  }

  const Add& add() const { return std::get<Add>(plan.move); }
  void require_entries(const void* entries) const {
    const RowNumbers& numbers = row_numbers(plan.move);
    require_device_entries({entries, numbers.count, numbers.type}, operation, "entries", device);
  }
};

bool AddedRowExecutor::takes(const RowValues& plan) {
  return plan.numbers > 1 && plan.in_count() > 0 && plan.out_count() > 0;
}

AddedRowExecutor::AddedRowExecutor(const RowValues& plan) {
  FARO_CHECK(takes(plan));
  require_available();
  const DeviceGuard guard(plan.row_plan->target().device);
  state_ = std::make_unique<State>(plan);
}
AddedRowExecutor::AddedRowExecutor(AddedRowExecutor&&) noexcept = default;
AddedRowExecutor& AddedRowExecutor::operator=(AddedRowExecutor&&) noexcept = default;
AddedRowExecutor::~AddedRowExecutor() = default;

void AddedRowExecutor::run(const void* entries, const void* in, void* out, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  static_cast<void>(required_alignment(state.plan.arithmetic, in, nullptr, out, state.device));
  state.require_entries(entries);
  const RowPlan plan = state.plan.row_plan->with_entries_at(entries);
  const RowWorkspace workspace(nullptr, plan.workspace_bytes(), state.device, stream);
  ChangedStream queue(stream, state.operation, state.plan, state.sums, state.factors.get(), state.device);
  add_rows(queue, faro::detail::added_partition(state.add(), plan.layout()),
           {.entries = entries_of(plan.move()),
            .faults = state.faults.data(),
            .layout = plan.layout(),
            .number = state.add().number,
            .sums = state.add().sums,
            .in = in,
            .out = out},
           workspace.data());
}

void AddedRowExecutor::check(Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  require_in_range(state.operation, "an entry that names no row", state.faults.take(stream),
                   numbered_rows(state.plan.move));
}

std::string AddedRowExecutor::explain() const {
  return state_->plan.explain() + "changed         as their sums fetch them\n" + kCompiledByNvrtc +
         state_->plan.row_plan->explain() + "\n";
}

}  // namespace faro::cuda
