#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "engines/cuda_parts.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kRunPart = "run shards";

KernelEntry entry_on_few(const faro::detail::PartPass& pass) {
  const KernelEntry entry = part_tile_kernel_on_few(*pass.tile);
  FARO_CHECK(entry.function != nullptr);
  return loaded(entry, Carveout::shared);
}

KernelEntry entry_of(const faro::detail::PartPass& pass) {
  KernelEntry entry = pass.tile ? part_tile_kernel(*pass.tile) : part_vectors_kernel(pass.vector_bytes);
  FARO_CHECK(entry.function != nullptr && entry.threads == pass.threads);
  entry.shared_bytes = static_cast<int>(pass.shared_bytes);
  return loaded(entry, pass.shared_bytes > 0 ? Carveout::shared : Carveout::driver);
}

}  // namespace

struct PartExecutor::State {
  faro::detail::PartPass pass;
  int device = 0;
  std::uint64_t few_blocks = 0;  // 0: a block a tile
  KernelEntry entry;
};

PartExecutor::PartExecutor(const faro::detail::PartPass& pass, int device, int multiprocessors) {
  require_available();
  const DeviceGuard guard(device);
  const bool on_few = multiprocessors > 0 && pass.tile.has_value();
  state_ =
      std::make_unique<State>(State{.pass = pass,
                                    .device = device,
                                    .few_blocks = on_few ? static_cast<std::uint64_t>(multiprocessors) : 0,
                                    .entry = on_few ? entry_on_few(pass) : entry_of(pass)});
}

PartExecutor::PartExecutor(PartExecutor&&) noexcept = default;
PartExecutor& PartExecutor::operator=(PartExecutor&&) noexcept = default;
PartExecutor::~PartExecutor() = default;

const faro::detail::PartPass& PartExecutor::pass() const { return state_->pass; }

void PartExecutor::run(const void* in, std::span<std::byte* const> arrays, const Slices& slices,
                       Stream stream) const {
  const faro::detail::PartPass& pass = state_->pass;
  FARO_CHECK(arrays.size() <= static_cast<std::size_t>(kernels::kMostPartArrays));
  FARO_CHECK(slices.first + slices.count <= pass.slices());
  kernels::PartArrays to{};
  to.array_bytes_bits = pass.array_bytes_bits;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    // The number k is in the place, too.
    const auto begin = reinterpret_cast<std::uintptr_t>(arrays[k]) - (k << pass.array_bytes_bits);
    to.array[k] = reinterpret_cast<std::byte*>(begin);  // NOLINT(performance-no-int-to-ptr)
  }
  const DeviceGuard guard(state_->device);
  std::uint64_t first = (pass.blocks >> pass.slice_bits) * slices.first;
  std::uint64_t left = (pass.blocks >> pass.slice_bits) * slices.count;
  if (state_->few_blocks > 0) {
    std::uint64_t end = first + left;
    std::visit(
        [&](auto params) {
          void* arguments[] = {&params, &to, &first, &end, &in};
          launch(state_->entry, std::min(left, state_->few_blocks), arguments, stream,
                 {.operation = kRunPart});
        },
        pass.params);
    return;
  }
  while (left > 0) {
    const std::uint64_t blocks = std::min(left, kMaxGridBlocks);
    std::visit(
        [&](auto params) {
          void* arguments[] = {&params, &to, &first, &in};
          launch(state_->entry, blocks, arguments, stream, {.operation = kRunPart});
        },
        pass.params);
    first += blocks;
    left -= blocks;
  }
}

struct PeerView::State {
  int device = 0;
  LoadedPasses passes;
};

PeerView::PeerView(const Plan& plan, ViewShare share) {
  require_available();
  const DeviceGuard guard(plan.target().device);
  state_ =
      std::make_unique<State>(State{.device = plan.target().device, .passes = LoadedPasses(plan.passes())});
  if (share == ViewShare::all) return;
  // Shared memory that blocks do not use keeps others away: of two thirds two blocks fit, of more than a half
  // one.
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, plan.target().device),
        "cudaDeviceGetAttribute", kRunPart);
  constexpr int third_of_multiprocessor = 76 << 10;
  constexpr int half_of_multiprocessor = 120 << 10;
  const int wanted = share == ViewShare::over_links ? third_of_multiprocessor : half_of_multiprocessor;
  state_->passes.spread_out(static_cast<std::uint64_t>(std::min(wanted, most)));
}

PeerView::PeerView(PeerView&&) noexcept = default;
PeerView& PeerView::operator=(PeerView&&) noexcept = default;
PeerView::~PeerView() = default;

void PeerView::run(const void* in, void* out, Stream stream) const {
  const DeviceGuard guard(state_->device);
  state_->passes.launch({.in = in, .out = out, .workspace = nullptr}, stream);
}

namespace {

#if CUDART_VERSION >= 12050
// A share of a device's multiprocessors ("green context"), and the driver's functions for it.
class PartOfDevice {
 public:
  PartOfDevice(int device, int multiprocessors, int priority) {
    const auto resources = find<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
    const auto split = find<decltype(&cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount");
    const auto describe = find<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
    const auto create = find<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
    const auto start = find<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
    destroy_ = find<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy");
    if (!resources || !split || !describe || !create || !start || !destroy_) return;
    CUdevResource all{};
    CUdevResource part{};
    CUdevResource rest{};
    CUdevResourceDesc described{};
    unsigned int parts = 1;
    if (resources(device, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
        split(&part, &parts, &all, &rest, 0, static_cast<unsigned int>(multiprocessors)) != CUDA_SUCCESS ||
        describe(&described, &part, 1) != CUDA_SUCCESS ||
        create(&context_, described, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
      return;
    if (start(&stream_, context_, CU_STREAM_NON_BLOCKING, priority) != CUDA_SUCCESS) stream_ = nullptr;
  }
  PartOfDevice(const PartOfDevice&) = delete;
  PartOfDevice& operator=(const PartOfDevice&) = delete;
  ~PartOfDevice() {
    if (context_ != nullptr) static_cast<void>(destroy_(context_));
  }

  cudaStream_t stream() const { return stream_; }

 private:
  template <typename Function>
  static Function find(const char* name) {
    constexpr unsigned int driver_interface = 12050;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &function, driver_interface, cudaEnableDefault, &found) !=
        cudaSuccess)
      return nullptr;
    return reinterpret_cast<Function>(function);
  }

  decltype(&cuGreenCtxDestroy) destroy_ = nullptr;
  CUgreenCtx context_ = nullptr;
  CUstream stream_ = nullptr;
};
#else
class PartOfDevice {
 public:
  PartOfDevice(int /*device*/, int /*multiprocessors*/, int /*priority*/) {}
  static cudaStream_t stream() { return nullptr; }
};
#endif

}  // namespace

struct SideStream::State {
  int device = 0;
  std::unique_ptr<PartOfDevice> part;  // outlives the stream
  cudaStream_t stream = nullptr;
  cudaEvent_t before = nullptr;
  std::vector<cudaEvent_t> steps;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    steps.push_back(before);
    for (const cudaEvent_t event : steps) {
      if (event != nullptr && cudaEventDestroy(event) != cudaSuccess) static_cast<void>(cudaGetLastError());
    }
    if (stream != nullptr && cudaStreamDestroy(stream) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
};

SideStream::SideStream(std::unique_ptr<State> state) : state_(std::move(state)) {
  check(cudaEventCreateWithFlags(&state_->before, cudaEventDisableTiming), "cudaEventCreateWithFlags",
        kRunPart);
}

SideStream::SideStream(int device) : state_(std::make_unique<State>()) {
  require_available();
  state_->device = device;
  const DeviceGuard guard(device);
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange", kRunPart);
  check(cudaStreamCreateWithPriority(&state_->stream, cudaStreamNonBlocking, greatest),
        "cudaStreamCreateWithPriority", kRunPart);
  check(cudaEventCreateWithFlags(&state_->before, cudaEventDisableTiming), "cudaEventCreateWithFlags",
        kRunPart);
}

std::optional<SideStream> SideStream::on_few(int device, int multiprocessors) {
  require_available();
  const DeviceGuard guard(device);
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange", kRunPart);
  auto state = std::make_unique<State>();
  state->device = device;
  state->part = std::make_unique<PartOfDevice>(device, multiprocessors, least);
  state->stream = state->part->stream();
  if (state->stream == nullptr) return std::nullopt;
  return SideStream(std::move(state));
}

SideStream::SideStream(SideStream&&) noexcept = default;
SideStream& SideStream::operator=(SideStream&&) noexcept = default;
SideStream::~SideStream() = default;

Stream SideStream::stream() const { return state_->stream; }

void SideStream::follow(Stream other) {
  const DeviceGuard guard(state_->device);
  check(cudaEventRecord(state_->before, other.handle()), "cudaEventRecord", kRunPart);
  check(cudaStreamWaitEvent(state_->stream, state_->before, 0), "cudaStreamWaitEvent", kRunPart);
}

void SideStream::mark(std::size_t k) {
  const DeviceGuard guard(state_->device);
  while (state_->steps.size() <= k) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", kRunPart);
    state_->steps.push_back(event);
  }
  check(cudaEventRecord(state_->steps[k], state_->stream), "cudaEventRecord", kRunPart);
}

void SideStream::lead(Stream other, std::size_t k) {
  FARO_CHECK(k < state_->steps.size());
  const DeviceGuard guard(state_->device);
  check(cudaStreamWaitEvent(other.handle(), state_->steps[k], 0), "cudaStreamWaitEvent", kRunPart);
}

void copy_between(const void* from, void* to, std::uint64_t bytes, int device, Stream stream) {
  if (bytes == 0) return;
  const DeviceGuard guard(device);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.handle()), "cudaMemcpyAsync", kRunPart);
}

void copy_rows_between(const void* from, void* to, const CopiedRows& rows, int device, Stream stream) {
  if (rows.rows == 1) return copy_between(from, to, rows.row_bytes, device, stream);
  const DeviceGuard guard(device);
  check(cudaMemcpy2DAsync(to, rows.to_pitch_bytes, from, rows.from_pitch_bytes, rows.row_bytes, rows.rows,
                          cudaMemcpyDefault, stream.handle()),
        "cudaMemcpy2DAsync", kRunPart);
}

PinnedArray::~PinnedArray() {
  if (data_ != nullptr && cudaFreeHost(data_) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

std::byte* PinnedArray::of_bytes(std::uint64_t bytes) {
  if (bytes <= bytes_) return data_;
  if (data_ != nullptr) check(cudaFreeHost(data_), "cudaFreeHost", kRunPart);
  data_ = nullptr;
  bytes_ = 0;
  void* made = nullptr;
  check(cudaHostAlloc(&made, bytes, cudaHostAllocPortable), "cudaHostAlloc", kRunPart);
  data_ = static_cast<std::byte*>(made);
  bytes_ = bytes;
  return data_;
}

void finish(int device, Stream stream) {
  const DeviceGuard guard(device);
  check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", kRunPart);
}

bool is_done(int device, Stream stream) {
  const DeviceGuard guard(device);
  const cudaError_t result = cudaStreamQuery(stream.handle());
  if (result == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check(result, "cudaStreamQuery", kRunPart);
  return true;
}

}  // namespace faro::cuda
