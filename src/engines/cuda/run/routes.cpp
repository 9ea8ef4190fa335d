// Keys routed to buckets, rows that are sent by them and come back (engines/cuda_rows.hpp).

#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/dispatch_queue.hpp"
#include "engines/cuda/rows/route_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/run/row_checks.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "permutation/index_rows.hpp"
#include "permutation/route_checks.hpp"

namespace faro::cuda {

// --- keys and their buckets

struct RouteExecutor::State {
  int device;
  RowNumbers keys;
  RouteOptions options;
  faro::detail::RowPartition partition;
  std::uint64_t most_places;
  DeviceFaults faults;

  RouteWork work() const {
    return {.keys = entries_of(Add{.to = keys, .rows = options.buckets, .marker = options.marker}),
            .faults = faults.data(),
            .keys_per_row = options.keys_per_row,
            .multiple = options.multiple,
            .capacity = options.capacity.value_or(~std::uint64_t{0}),
            .most_places = most_places};
  }

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
std::uint64_t RouteExecutor::workspace_bytes() const {
  return routes_few(state_->work()) ? 0 : route_workspace_bytes(state_->partition);
}

void RouteExecutor::run(const DeviceRoute& to, const SentRows& sent, Stream stream, void* workspace) const {
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
  if (sent.row_bytes > 0 && state.keys.count > 0) require_accessible(sent.in, "input", state.device);
  if (sent.row_bytes > 0 && state.most_places > 0) require_accessible(sent.out, "output", state.device);
  const RowWorkspace lent(workspace, workspace_bytes(), state.device, stream);
  RowStream queue(stream, "route");
  route_and_send(queue, state.partition, state.work(), to, sent, lent.data());
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
