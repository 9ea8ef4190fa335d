// Arrays, the plain copy, the naive kernel and the clock of a device, for whoever measures.
#include <cuda_runtime_api.h>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/plan/plan.hpp"
#include "kernels/affine_params.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kAllocate = "allocate an array of the device";
constexpr const char* kTime = "time work on the device";

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate", kTime); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

struct DeviceArray::State {
  State(std::uint64_t size, int ordinal) : bytes(size), device(ordinal) {
    const DeviceGuard guard(device);
    if (bytes == 0) return;
    void* taken = nullptr;
    check(cudaMalloc(&taken, bytes), "cudaMalloc", kAllocate);
    memory = static_cast<std::byte*>(taken);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { static_cast<void>(cudaFree(memory)); }

  std::uint64_t bytes;
  int device;
  std::byte* memory = nullptr;
};

DeviceArray::DeviceArray(std::uint64_t bytes, int device)
    : state_(std::make_unique<State>(bytes, ordinal_of(device))) {}
DeviceArray::DeviceArray(DeviceArray&&) noexcept = default;
DeviceArray& DeviceArray::operator=(DeviceArray&&) noexcept = default;
DeviceArray::~DeviceArray() = default;

std::byte* DeviceArray::data() const { return state_->memory; }
std::uint64_t DeviceArray::size() const { return state_->bytes; }

void DeviceArray::upload(const void* from, std::uint64_t bytes) {
  const DeviceGuard guard(state_->device);
  check(cudaMemcpy(data(), from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy", "upload an array");
  // For pageable memory the call may return when all is on its way.
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", "upload an array");
}

void DeviceArray::download(void* to, std::uint64_t bytes) const {
  const DeviceGuard guard(state_->device);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", "download an array");
  check(cudaMemcpy(to, data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy", "download an array");
}

void copy(const void* in, void* out, std::uint64_t bytes, Stream stream) {
  check(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream.handle()), "cudaMemcpyAsync",
        "copy within the device");
}

struct NaiveExecutor::State {
  int device;
  KernelEntry entry;
  kernels::AffineNaiveParams params;
};

NaiveExecutor::NaiveExecutor(const Problem& problem, int device) {
  const int ordinal = ordinal_of(device);
  const Plan checked(problem, target(ordinal));
  const Affine map =
      direct_sum(Affine(checked.unit_bits_per_element()), affine(problem.permutation, "naive"));
  state_ = std::make_unique<State>(State{ordinal, naive_kernel(checked.unit_bytes()), {}});
  if (problem.batch == 0) return;
  state_->params = kernels::make_affine_naive_params(map, problem.batch, kNaiveThreadBits);
  require_grid(state_->params.blocks(), "prepare the naive kernel", "measure a smaller problem");
}

NaiveExecutor::NaiveExecutor(NaiveExecutor&&) noexcept = default;
NaiveExecutor& NaiveExecutor::operator=(NaiveExecutor&&) noexcept = default;
NaiveExecutor::~NaiveExecutor() = default;

void NaiveExecutor::run(const void* in, void* out, Stream stream) const {
  const std::uint64_t blocks = state_->params.blocks();
  if (blocks == 0) return;
  const DeviceGuard guard(state_->device);
  void* arguments[] = {&state_->params, &in, &out};
  launch(state_->entry, blocks, arguments, stream, {.operation = "run the naive kernel"});
}

struct StreamClock::State {
  explicit State(int ordinal) : device(ordinal) {
    const DeviceGuard guard(device);
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", kTime);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    static_cast<void>(cudaStreamSynchronize(stream));
    static_cast<void>(cudaStreamDestroy(stream));
  }

  int device;
  cudaStream_t stream = nullptr;
};

StreamClock::StreamClock(int device) : state_(std::make_unique<State>(ordinal_of(device))) {}
StreamClock::StreamClock(StreamClock&&) noexcept = default;
StreamClock& StreamClock::operator=(StreamClock&&) noexcept = default;
StreamClock::~StreamClock() = default;

double StreamClock::milliseconds(int calls, const std::function<void(Stream)>& queue) const {
  const DeviceGuard guard(state_->device);
  const Event begin;
  const Event end;
  check(cudaEventRecord(begin.get(), state_->stream), "cudaEventRecord", kTime);
  for (int call = 0; call < calls; ++call) queue(Stream(state_->stream));
  check(cudaEventRecord(end.get(), state_->stream), "cudaEventRecord", kTime);
  check(cudaEventSynchronize(end.get()), "cudaEventSynchronize", kTime);
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, begin.get(), end.get()), "cudaEventElapsedTime", kTime);
  return static_cast<double>(elapsed);
}

}  // namespace faro::cuda
