#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "engines/cuda_group.hpp"
#include "faro/error.hpp"
#include "kernels/group_values.hpp"

namespace faro::cuda {
namespace {

using faro::detail::GroupLaunch;
using faro::detail::GroupLaunches;
using kernels::GroupBlock;

constexpr const char* kRunningGroup = "run a group";

// More of them are copied: launches take longer then.
constexpr std::size_t kMostByLaunches = 4 * GroupAddresses::kMost;

void store_addresses(std::span<const void* const> addresses, const void** to, Stream stream) {
  if (addresses.size() > kMostByLaunches && !is_captured(stream)) {
    check(cudaMemcpyAsync(to, addresses.data(), addresses.size_bytes(), cudaMemcpyHostToDevice,
                          stream.handle()),
          "cudaMemcpyAsync", kRunningGroup);
    return;
  }
  const KernelEntry entry = store_addresses_kernel();
  for (std::size_t first = 0; first < addresses.size(); first += GroupAddresses::kMost) {
    GroupAddresses some;
    some.count = static_cast<std::uint32_t>(std::min(addresses.size() - first, GroupAddresses::kMost));
    some.first = static_cast<std::uint32_t>(first);
    for (std::uint32_t i = 0; i < some.count; ++i)
      some.address[i] = static_cast<const std::byte*>(addresses[first + i]);
    void* arguments[] = {&some, &to};
    launch(entry, 1, arguments, stream, {.operation = kRunningGroup, .begun = first > 0});
  }
}

// As the kernels of one array.
Carveout carveout_of(const GroupLaunch& launch) {
  return launch.family.kind == kernels::GroupFamily::Kind::tiles ? Carveout::shared : Carveout::needed;
}

// Launches that were captured: the host queues all of them in a microsecond, of kernels one in three.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
  ~LaunchGraph() {
    if (ready_ != nullptr) static_cast<void>(works(cudaGraphExecDestroy(ready_)));
  }

  /// What `queue(Stream)` queues. What cannot be captured is none, and errors are left to who launches it.
  template <typename Queue>
  void capture(const Queue& queue) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    if (!works(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return;
    if (works(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal))) {
      bool is_whole = true;
      try {
        queue(Stream(stream));
      } catch (const Error&) {
        is_whole = false;
      }
      is_whole = works(cudaStreamEndCapture(stream, &graph)) && is_whole;
      if (!is_whole || !works(cudaGraphInstantiate(&ready_, graph, 0))) ready_ = nullptr;
    }
    if (ready_ != nullptr && works(cudaGraphUpload(ready_, stream)))
      static_cast<void>(works(cudaStreamSynchronize(stream)));
    if (graph != nullptr) static_cast<void>(works(cudaGraphDestroy(graph)));
    static_cast<void>(works(cudaStreamDestroy(stream)));
  }

  /// False where there is none, or the stream is captured: no graph is launched then.
  bool launch(Stream stream) const {
    if (ready_ == nullptr || is_captured(stream)) return false;
    const std::lock_guard lock(mutex_);  // which a graph does not have
    check(cudaGraphLaunch(ready_, stream.handle()), "cudaGraphLaunch", kRunningGroup);
    return true;
  }

 private:
  static bool works(cudaError_t result) {
    if (result == cudaSuccess) return true;
    static_cast<void>(cudaGetLastError());
    return false;
  }

  mutable std::mutex mutex_;
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace

struct GroupExecutor::State {
  struct Loaded {
    KernelEntry entry;
    std::optional<RuntimeKernel> changes;  // instead
    std::uint64_t shared_bytes = 0;
    std::uint32_t held_bytes = 0;
    std::vector<std::byte> constant;  // parameters
    DeviceBuffer<GroupBlock> blocks;
    DeviceBuffer<kernels::RaggedBox> boxes;
    std::uint64_t grid = 0;
  };
  int device;
  std::uint64_t members;
  DeviceBuffer<std::byte> params;
  DeviceBuffer<const void*> kept;
  std::vector<Loaded> launches;
  LaunchGraph graph;  // of these by the addresses that are kept

  State(const GroupLaunches& of, std::uint64_t member_count, std::span<const void* const> addresses,
        const std::vector<RuntimeKernel>& changes, int on)
      : device(on),
        members(member_count),
        params(DeviceBuffer<std::byte>::of(of.params, on)),
        kept(DeviceBuffer<const void*>::of({addresses.begin(), addresses.end()}, on)) {
    for (const GroupLaunch& each : of.launches) {
      Loaded made{.entry = {},
                  .changes = std::nullopt,
                  .shared_bytes = each.shared_bytes,
                  .held_bytes = each.held_bytes,
                  .constant = each.constant,
                  .blocks = DeviceBuffer<GroupBlock>::of(each.blocks, on),
                  .boxes = DeviceBuffer<kernels::RaggedBox>::of(each.boxes, on),
                  .grid = each.grid};
      if (each.family.kind == kernels::GroupFamily::Kind::values) {
        made.changes = changes.at(each.family.changes);
      } else {
        made.entry = group_kernel(each.family);
        FARO_CHECK(made.entry.function != nullptr && made.entry.threads == each.threads);
        made.entry.shared_bytes = static_cast<int>(each.shared_bytes);
        made.entry.early = !launches.empty();  // launches of a group do not wait for one another
        made.entry = loaded(made.entry, carveout_of(each));
      }
      launches.push_back(std::move(made));
    }
    static_cast<void>(loaded(store_addresses_kernel()));
    if (kept.size() > 0) graph.capture([&](Stream stream) { launch_all(kept.data(), stream, false); });
  }

  void launch_all(const void* const* addresses, Stream stream, bool begun) const {
    kernels::GroupTable table{.addresses = reinterpret_cast<const std::byte* const*>(addresses),
                              .members = members};
    const std::byte* of_params = params.data();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Loaded& each = launches[i];
      const GroupBlock* blocks = each.blocks.data();
      table.count = each.blocks.size();
      table.held_bytes = each.held_bytes;
      table.boxes = each.boxes.data();
      if (each.changes) {
        kernels::GroupValues values{.table = table, .params = of_params, .blocks = blocks};
        void* arguments[] = {&values};
        each.changes->launch(each.grid, static_cast<int>(kernels::kValueThreads), 1, each.shared_bytes,
                             arguments, stream);
        continue;
      }
      const void* const given =
          each.constant.empty() ? &of_params : static_cast<const void*>(each.constant.data());
      void* arguments[] = {&table, const_cast<void*>(given), &blocks};
      launch(each.entry, each.grid, arguments, stream,
             {.operation = kRunningGroup, .pass = i, .passes = launches.size(), .begun = begun || i > 0});
    }
  }
};

GroupExecutor::GroupExecutor(const GroupLaunches& launches, std::uint64_t members,
                             std::span<const void* const> addresses,
                             const std::vector<RuntimeKernel>& changes, int device) {
  require_available();
  const DeviceGuard guard(device);
  state_ = std::make_unique<const State>(launches, members, addresses, changes, device);
}
GroupExecutor::GroupExecutor(GroupExecutor&&) noexcept = default;
GroupExecutor& GroupExecutor::operator=(GroupExecutor&&) noexcept = default;
GroupExecutor::~GroupExecutor() = default;

void GroupExecutor::run(Stream stream) const {
  const DeviceGuard guard(state_->device);
  FARO_CHECK(state_->kept.size() == 2 * state_->members);
  if (!state_->graph.launch(stream)) state_->launch_all(state_->kept.data(), stream, false);
}

void GroupExecutor::run(std::span<const void* const> addresses, const void** room, Stream stream) const {
  const DeviceGuard guard(state_->device);
  FARO_CHECK(addresses.size() == 2 * state_->members);
  const StreamMemory own(room == nullptr ? addresses.size_bytes() : 0, state_->device, stream);
  const void** const to = room == nullptr ? static_cast<const void**>(own.data()) : room;
  store_addresses(addresses, to, stream);
  state_->launch_all(to, stream, true);
}

void GroupExecutor::run_table(const void* const* addresses, Stream stream) const {
  const DeviceGuard guard(state_->device);
  require_accessible(addresses, "table of addresses", state_->device);
  state_->launch_all(addresses, stream, false);
}

std::uint64_t GroupExecutor::table_bytes() const {
  std::uint64_t bytes = state_->params.bytes() + state_->kept.bytes();
  for (const State::Loaded& each : state_->launches) bytes += each.blocks.bytes() + each.boxes.bytes();
  return bytes;
}

}  // namespace faro::cuda
