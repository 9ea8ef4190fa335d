// Rows moved, added, routed and combined on a stream (engines/cuda_rows.hpp): what may be wrong with the
// arrays is refused before anything is queued.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/device_faults.hpp"
#include "engines/cuda/rows/dispatch_queue.hpp"
#include "engines/cuda/rows/reused_steps.hpp"
#include "engines/cuda/rows/route_queue.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/rows/segment_queue.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/error.hpp"
#include "permutation/index_rows.hpp"
#include "permutation/route_checks.hpp"

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

void require_device_entries(const RowNumbers& numbers, const char* operation, const char* what, int device) {
  if (numbers.count == 0) return;
  require_accessible(numbers.data, what, device);
  require_aligned(address(numbers.data), static_cast<std::uint64_t>(numbers.type.bytes),
                  {.operation = operation, .what = what});
}

// A workspace that was lent, or one of the stream's pool.
class RowWorkspace {
 public:
  RowWorkspace(void* lent, std::uint64_t bytes, int device, Stream stream)
      : lent_(lent), own_(lent == nullptr ? bytes : 0, device, stream) {
    if (lent != nullptr && bytes > 0) require_accessible(lent, "workspace", device);
  }
  std::byte* data() const { return static_cast<std::byte*>(lent_ == nullptr ? own_.data() : lent_); }

 private:
  void* lent_;
  StreamMemory own_;
};

void require_in_range(const char* operation, const char* what, const kernels::RowFaults& found,
                      std::uint64_t rows) {
  if (found.out_of_range == kernels::kNoFault) return;
  fail(ErrorCode::value, operation, std::string(what) + ", at position " + std::to_string(found.out_of_range),
       rows == 0 ? "no entry: there are no rows" : "numbers from 0 to " + std::to_string(rows - 1),
       "it was left out");
}

void require_distinct(const char* operation, const kernels::RowFaults& found) {
  if (found.twice == kernels::kNoFault) return;
  fail(ErrorCode::value, operation,
       "a row that is named twice, once at position " + std::to_string(found.twice), "each row at most once",
       "add takes rows that repeat");
}

}  // namespace

// --- rows moved by a plan

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

// --- entries that stay as they are

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

// --- routing

struct RouteExecutor::State {
  int device;
  RowNumbers keys;
  RouteOptions options;
  faro::detail::RowPartition partition;
  std::uint64_t most_places;
  DeviceFaults faults;

  State(const RowNumbers& of, const RouteOptions& how, int ordinal)
      : device(ordinal),
        keys(of),
        options(how),
        partition(route_partition(of.count, how.buckets)),
        most_places(faro::detail::most_places(of.count, how)),
        faults(ordinal, "route") {
    require_device_entries(keys, "route", "keys", device);
  }
};

RouteExecutor::RouteExecutor(const RowNumbers& keys, const RouteOptions& options, int device) {
  faro::detail::require_route(keys, options);
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  state_ = std::make_unique<State>(keys, options, ordinal);
}

RouteExecutor::RouteExecutor(RouteExecutor&&) noexcept = default;
RouteExecutor& RouteExecutor::operator=(RouteExecutor&&) noexcept = default;
RouteExecutor::~RouteExecutor() = default;

std::uint64_t RouteExecutor::most_places() const { return state_->most_places; }
std::uint64_t RouteExecutor::workspace_bytes() const { return route_workspace_bytes(state_->partition); }

void RouteExecutor::run(const DeviceRoute& to, Stream stream, void* workspace) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  struct Wanted {
    const std::int64_t* array;
    const char* role;
    std::uint64_t size;
  };
  for (const Wanted& each :
       {Wanted{to.places, "places", state.keys.count}, Wanted{to.inverse, "inverse", state.most_places},
        Wanted{to.rows, "rows", state.most_places}, Wanted{to.offsets, "offsets", state.options.buckets + 1},
        Wanted{to.counts, "counts", state.options.buckets}}) {
    if (each.array == nullptr || each.size == 0) continue;
    require_accessible(each.array, each.role, state.device);
    require_aligned(address(each.array), sizeof(std::int64_t), {.operation = "route", .what = each.role});
  }
  const RowWorkspace lent(workspace, workspace_bytes(), state.device, stream);
  RowStream queue(stream, "route");
  route_items(queue, state.partition,
              {.keys = entries_of(
                   Add{.to = state.keys, .rows = state.options.buckets, .marker = state.options.marker}),
               .faults = state.faults.data(),
               .keys_per_row = state.options.keys_per_row,
               .multiple = state.options.multiple,
               .capacity = state.options.capacity.value_or(~std::uint64_t{0}),
               .most_places = state.most_places},
              to, lent.data());
}

void RouteExecutor::check(Stream stream) const {
  const DeviceGuard guard(state_->device);
  const kernels::RowFaults found = state_->faults.take(stream);
  require_in_range("route", "a key that is no bucket", found, state_->options.buckets);
}

// --- rows that are sent

struct DispatchExecutor::State {
  int device;
  Dispatch of;
  std::uint64_t row_bytes;
  DeviceFaults faults;
};

DispatchExecutor::DispatchExecutor(const Dispatch& of, std::uint64_t row_bytes, int device) {
  faro::detail::require_dispatch(of, row_bytes);
  for (const RowNumbers& numbers : {of.places, of.taken})
    faro::detail::require_row_move(Add{.to = numbers, .rows = of.rows});
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  require_device_entries(of.places, "dispatch", "places", ordinal);
  require_device_entries(of.taken, "dispatch", "rows taken", ordinal);
  state_ = std::make_unique<State>(State{
      .device = ordinal, .of = of, .row_bytes = row_bytes, .faults = DeviceFaults(ordinal, "dispatch")});
}

DispatchExecutor::DispatchExecutor(DispatchExecutor&&) noexcept = default;
DispatchExecutor& DispatchExecutor::operator=(DispatchExecutor&&) noexcept = default;
DispatchExecutor::~DispatchExecutor() = default;

void DispatchExecutor::run(const void* in, void* out, Stream stream) const {
  const State& state = *state_;
  const Dispatch& of = state.of;
  const DeviceGuard guard(state.device);
  if (of.places.count > 0) require_accessible(in, "input", state.device);
  if (of.rows > 0) require_accessible(out, "output", state.device);
  RowStream queue(stream, "dispatch");
  dispatch_rows(queue, {.places = entries_of(Add{.to = of.places, .rows = of.rows}),
                        .taken = entries_of(Add{.to = of.taken, .rows = of.places.count / of.keys_per_row}),
                        .faults = state.faults.data(),
                        .keys_per_row = of.keys_per_row,
                        .row_bytes = state.row_bytes,
                        .in = in,
                        .out = out});
}

void DispatchExecutor::check(Stream stream) const {
  const DeviceGuard guard(state_->device);
  const kernels::RowFaults found = state_->faults.take(stream);
  require_in_range("dispatch", "a place that is no row", found, state_->of.rows);
}

// --- ragged rows

struct SegmentsExecutor::State {
  int device;
  Segments segments;
  RowNumbers from;
  DeviceFaults faults;
};

SegmentsExecutor::SegmentsExecutor(const Segments& segments, const RowNumbers& from, int device) {
  constexpr const char* operation = "take segments";
  const std::uint64_t offsets = segments.offsets.count;
  if (offsets == 0 || segments.element_bytes == 0) {
    fail(ErrorCode::value, operation, "no offsets, or elements of 0 bytes",
         "one more than there are segments, and elements of at least a byte");
  }
  for (const auto& [numbers, rows] :
       {std::pair(segments.offsets, Indexed::kMaxCount), std::pair(from, offsets - 1)})
    faro::detail::require_row_move(Add{.to = numbers, .rows = rows});
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  require_device_entries(segments.offsets, operation, "offsets", ordinal);
  require_device_entries(from, operation, "segments", ordinal);
  state_ = std::make_unique<State>(State{
      .device = ordinal, .segments = segments, .from = from, .faults = DeviceFaults(ordinal, operation)});
}

SegmentsExecutor::~SegmentsExecutor() = default;

std::uint64_t SegmentsExecutor::workspace_bytes() const {
  return segments_workspace_bytes(state_->from.count);
}

void SegmentsExecutor::run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets,
                           Stream stream, void* workspace) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  if (!in.empty()) require_accessible(in.data(), "input", state.device);
  if (!out.empty()) require_accessible(out.data(), "output", state.device);
  if (offsets != nullptr) {
    require_accessible(offsets, "offsets", state.device);
    require_aligned(address(offsets), sizeof(*offsets), {.operation = "take segments", .what = "offsets"});
  }
  const RowWorkspace lent(workspace, workspace_bytes(), state.device, stream);
  RowStream queue(stream, "take segments");
  const std::uint64_t width = state.segments.element_bytes;
  kernels::RowEntries all = entries_of(Add{.to = state.segments.offsets, .rows = Indexed::kMaxCount});
  all.has_marker = 0;
  take_segments(
      queue,
      {.taken = {.from = entries_of(Add{.to = state.from, .rows = state.segments.offsets.count - 1}),
                 .offsets = all,
                 .in_elements = in.size() / width},
       .faults = state.faults.data(),
       .element_bytes = width,
       .out_elements = out.size() / width,
       .offsets = offsets,
       .in = in.data(),
       .out = out.data()},
      lent.data());
}

void SegmentsExecutor::check(Stream stream) const {
  const DeviceGuard guard(state_->device);
  const kernels::RowFaults found = state_->faults.take(stream);
  if (found.out_of_range != kernels::kNoFault) {
    fail(ErrorCode::value, "take segments",
         "a segment that there is none of, or whose offsets go down or past the input, at position " +
             std::to_string(found.out_of_range),
         "segments from 0 to " + std::to_string(state_->segments.offsets.count - 1) +
             " with offsets that never go down",
         "it was taken as empty");
  }
  if (found.twice == kernels::kNoFault) return;
  fail(ErrorCode::value, "take segments", "segments of " + std::to_string(found.twice) + " elements",
       "an output that they fit in", "those that did not were left out");
}

// --- rows that come back

struct CombineExecutor::State {
  int device;
  Combine of;
  std::uint64_t row_bytes;
  DeviceFaults faults;
};

CombineExecutor::CombineExecutor(const Combine& of, std::uint64_t row_bytes, int device) {
  faro::detail::require_combine(of, row_bytes);
  faro::detail::require_row_move(Add{.to = of.places, .rows = of.rows});
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  require_device_entries(of.places, "combine", "places", ordinal);
  if (!of.weights.empty()) {
    require_accessible(of.weights.data(), "weights", ordinal);
    require_aligned(address(of.weights.data()), sizeof(float), {.operation = "combine", .what = "weights"});
  }
  state_ = std::make_unique<State>(
      State{.device = ordinal, .of = of, .row_bytes = row_bytes, .faults = DeviceFaults(ordinal, "combine")});
}

CombineExecutor::CombineExecutor(CombineExecutor&&) noexcept = default;
CombineExecutor& CombineExecutor::operator=(CombineExecutor&&) noexcept = default;
CombineExecutor::~CombineExecutor() = default;

void CombineExecutor::run(const void* in, void* out, Stream stream) const {
  const State& state = *state_;
  const Combine& of = state.of;
  if (of.places.count == 0) return;
  const DeviceGuard guard(state.device);
  if (of.rows > 0) require_accessible(in, "input", state.device);
  require_accessible(out, "output", state.device);
  require_aligned(addresses(in, out), bytes_of(of.number), {.operation = "combine"});
  RowStream queue(stream, "combine");
  combine_rows(queue, of.number, of.sums,
               {.places = entries_of(Add{.to = of.places, .rows = of.rows}),
                .faults = state.faults.data(),
                .keys_per_row = of.keys_per_row,
                .weights = of.weights.empty() ? nullptr : of.weights.data(),
                .row_bytes = state.row_bytes,
                .in = in,
                .out = out});
}

void CombineExecutor::check(Stream stream) const {
  const DeviceGuard guard(state_->device);
  const kernels::RowFaults found = state_->faults.take(stream);
  require_in_range("combine", "a place that is no row", found, state_->of.rows);
}

}  // namespace faro::cuda
