// Entries that stay as they are (engines/cuda_rows.hpp): sorted once, then rows are taken, put and added by
// them.
#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <utility>

#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/device_faults.hpp"
#include "engines/cuda/rows/reused_steps.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/rows/segment_queue.hpp"
#include "engines/cuda/run/row_checks.hpp"
#include "engines/cuda/runtime/calls.hpp"

namespace faro::cuda {

std::optional<SortedRows> sorted_rows(const RowPlan& plan) {
  const char* const operation = name(plan.move());
  const RowNumbers& numbers = row_numbers(plan.move());
  const auto partition = faro::detail::row_partition(numbers.count, numbered_rows(plan.move()),
                                                     faro::detail::kPartitionDigitBits);
  if (partition.wide || numbers.count == 0) return std::nullopt;
  const int device = plan.target().device;
  const DeviceGuard guard(device);
  const DeviceFaults faults(device, operation);
  const DeviceArray workspace(partition.table_bytes() + 4 * partition.pairs_bytes(), device);
  RowStream queue({}, operation);
  WorkspaceQueue<RowStream> lent(queue, workspace.data(), workspace.size());
  PartitionSteps<RowStream, std::uint32_t> steps(lent, partition);
  KeyedEntries source;
  source.entries = entries_of(plan.move());
  source.faults = faults.data();
  const SortedItems<std::uint32_t> sorted = sort_items(lent, steps, partition, source);
  const kernels::RowFaults found = faults.take({});
  require_in_range(operation, "an entry that names no row", found, numbered_rows(plan.move()));
  std::uint64_t present = 0;
  check(cudaMemcpy(&present, sorted.present, sizeof(present), cudaMemcpyDeviceToHost), "cudaMemcpy",
        operation);
  if (present != numbers.count) return std::nullopt;
  const auto kept = [&](const std::uint32_t* words) {
    auto array = std::make_shared<const DeviceArray>(numbers.count * sizeof(*words), device);
    check(cudaMemcpy(array->data(), words, array->size(), cudaMemcpyDeviceToDevice), "cudaMemcpy", operation);
    return array;
  };
  SortedRows made{.keys = nullptr, .begins = nullptr, .items = kept(sorted.items)};
  if (std::holds_alternative<Put>(plan.move())) {
    FindTwice find;
    find.keys = sorted.keys;
    find.items = sorted.items;
    find.count = numbers.count;
    find.faults = faults.data();
    queue.run(find);
    require_distinct(operation, faults.take({}));
  }
  if (!std::holds_alternative<Add>(plan.move())) {
    made.keys = kept(sorted.keys);
  } else {
    const std::uint64_t rows = numbered_rows(plan.move());
    auto begins = std::make_shared<const DeviceArray>((rows + 1) * sizeof(std::uint32_t), device);
    BeginKeys<std::uint32_t> kernel;
    kernel.keys = sorted.keys;
    kernel.count = numbers.count;
    kernel.buckets = rows;
    kernel.begins = reinterpret_cast<std::uint32_t*>(begins->data());
    queue.run(kernel);
    made.begins = std::move(begins);
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", operation);
  return made;
}

namespace {

// Elements of 4 or 8 bytes, by keys that were sorted. `users`: the one of both that is not the engine's.
template <template <int> typename Step>
void move_sorted(const RowPlan& plan, const SortedRows& sorted, const void* in, void* out, const void* users,
                 const char* users_name, Stream stream, const char* operation) {
  const std::uint64_t width = plan.layout().row_bytes;
  FARO_CHECK(plan.layout().outer == 1 && (width == 4 || width == 8));
  const DeviceGuard guard(plan.target().device);
  require_accessible(users, users_name, plan.target().device);
  require_aligned(address(users), width, {.operation = operation});
  RowStream queue(stream, operation);
  const auto move_by = [&]<int kBytes>() {
    Step<kBytes> kernel;
    kernel.keys = reinterpret_cast<const std::uint32_t*>(sorted.keys->data());
    kernel.count = row_numbers(plan.move()).count;
    kernel.in = static_cast<const std::byte*>(in);
    kernel.out = static_cast<std::byte*>(out);
    queue.run(kernel);
  };
  width == 4 ? move_by.template operator()<4>() : move_by.template operator()<8>();
}

}  // namespace

void take_sorted(const RowPlan& plan, const SortedRows& sorted, const void* in, void* taken, Stream stream) {
  move_sorted<TakeSorted>(plan, sorted, in, taken, in, "input", stream, "take");
}

void put_sorted(const RowPlan& plan, const SortedRows& sorted, const void* values, void* out, Stream stream) {
  move_sorted<PutSorted>(plan, sorted, values, out, out, "output", stream, "put");
}

void add_sorted(const RowPlan& plan, const SortedRows& sorted, const void* values, void* out, Stream stream) {
  const Add& add = std::get<Add>(plan.move());
  const std::uint64_t width = bytes_of(add.number);
  FARO_CHECK(plan.layout().row_bytes == width && plan.layout().outer == 1 && (width == 4 || width == 8));
  const DeviceGuard guard(plan.target().device);
  require_accessible(out, "output", plan.target().device);
  require_aligned(address(out), width, {.operation = "add"});
  RowStream queue(stream, "add");
  detail::with_sum(add.number, add.sums, [&]<typename Sum>() {
    if constexpr (sizeof(typename Sum::Stored) >= sizeof(std::uint32_t)) {
      const auto sum_by = [&](auto kernel) {
        kernel.begins = reinterpret_cast<const std::uint32_t*>(sorted.begins->data());
        kernel.rows = add.rows;
        kernel.values = static_cast<const std::byte*>(values);
        kernel.out = static_cast<std::byte*>(out);
        queue.run(kernel);
      };
      if (add.to.count / add.rows >= SumLongSegments<Sum>::kLeastLength)
        return sum_by(SumLongSegments<Sum>());
      sum_by(SumSegments<Sum>());
    }
  });
}

}  // namespace faro::cuda
