#include "engines/cuda/index/index_cuda_device.hpp"

#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr std::uint64_t kSmallBytes = std::uint64_t{4} << 20;  // not worth asking for
constexpr unsigned kDefaultSharedBytes = 48U << 10;

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

CudaDevice::CudaDevice(int device, const char* operation)
    : device_(device), operation_(operation), guard_(device) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", operation_);
}

CudaDevice::~CudaDevice() {
  static_cast<void>(cudaStreamSynchronize(stream_));
  for (const Event& event : events_) static_cast<void>(cudaEventDestroy(event.event));
  static_cast<void>(cudaStreamDestroy(stream_));
  static_cast<void>(cudaGetLastError());
}

void CudaDevice::require_memory(std::uint64_t bytes, const std::string& what) const {
  if (bytes < kSmallBytes) return;
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo", operation_);
  if (bytes <= free_bytes) return;
  fail(ErrorCode::device, operation_,
       bytes_text(free_bytes) + " of free memory on device " + std::to_string(device_),
       bytes_text(bytes) + " for " + what, "free memory of the device, or use engine cpu");
}

void CudaDevice::fill(void* to, int byte, std::uint64_t bytes) const {
  if (bytes == 0) return;
  check(cudaMemsetAsync(to, byte, bytes, stream_), "cudaMemsetAsync", operation_);
}

void CudaDevice::send(void* to, const void* from, std::uint64_t bytes) const {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync", operation_);
  wait();
}

void CudaDevice::fetch(void* to, const void* from, std::uint64_t bytes) const {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync", operation_);
  wait();
}

void CudaDevice::wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", operation_); }

void CudaDevice::launch(const void* function, std::uint64_t blocks, unsigned threads, unsigned shared_bytes,
                        void** arguments) const {
  if (blocks == 0) return;
  require_grid(blocks, operation_, "larger chunks");
  const KernelEntry entry{.function = function,
                          .threads = static_cast<int>(threads),
                          .shared_bytes = static_cast<int>(shared_bytes)};
  // What needs no more than any kernel may take is not asked for at every launch.
  const bool large = shared_bytes > kDefaultSharedBytes;
  cuda::launch(large ? loaded(entry, Carveout::driver) : entry, blocks, arguments, stream_,
               {.operation = operation_});
}

void CudaDevice::step(const char* name) {
  if (!times_) return;
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate", operation_);
  events_.push_back({name, event});
  check(cudaEventRecord(event, stream_), "cudaEventRecord", operation_);
}

std::vector<CudaDevice::Step> CudaDevice::steps() const {
  wait();
  std::vector<Step> steps;
  for (std::size_t i = 1; i < events_.size(); ++i) {
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, events_[i - 1].event, events_[i].event), "cudaEventElapsedTime",
          operation_);
    steps.push_back({events_[i].name, static_cast<double>(elapsed)});
  }
  return steps;
}

EntryView entries_on_device(const Indexed& indexed, const char* operation) {
  if (indexed.on_host()) {
    fail(ErrorCode::value, operation, "an index array of the host", "one in the memory of a device",
         "cuda::to_device() copies it");
  }
  return {.data = indexed.device_entries(),
          .count = indexed.count(),
          .bytes = indexed.index_type().bytes,
          .is_signed = indexed.index_type().is_signed ? 1 : 0};
}

}  // namespace faro::cuda
