#include "engines/cuda/runtime/device_arrays.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "faro/engines/cuda.hpp"

namespace faro::cuda {

void require_accessible(const void* array, const char* role, int device) {
  if (is_memory_known()) return;
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, array), "cudaPointerGetAttributes", "run");
  if (attributes.type == cudaMemoryTypeManaged) return;
  const bool on_a_device = attributes.type == cudaMemoryTypeDevice;
  if (on_a_device && attributes.device == device) return;
  const std::string kind =
      on_a_device ? "a pointer to memory of device " + std::to_string(attributes.device) : "a host pointer";
  fail(ErrorCode::value, "run", kind + " as the " + role,
       "memory that device " + std::to_string(device) + " can access",
       on_a_device ? "plan for that device" : "use run_staged() or engine cpu");
}

int ordinal_of(int device) {
  require_available();
  if (device != kCurrentDevice) return device;
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice", "choose the device");
  return current;
}

namespace {

// A pool of each device, which keeps some of what it gave: the device's own gives all back whenever its work
// is waited for, and mapping 256 MB anew takes some 100 us.
cudaMemPool_t pool_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard lock(mutex);
  cudaMemPool_t& pool = pools[device];
  if (pool != nullptr) return pool;
  constexpr std::uint64_t kKeptPart = 64;  // of the memory
  std::size_t unused = 0;
  std::size_t all = 0;
  check(cudaMemGetInfo(&unused, &all), "cudaMemGetInfo", "run");
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {.type = cudaMemLocationTypeDevice, .id = device};
  cudaMemPool_t made = nullptr;
  check(cudaMemPoolCreate(&made, &properties), "cudaMemPoolCreate", "run");
  std::uint64_t kept = all / kKeptPart;
  check(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute",
        "run");
  return pool = made;
}

}  // namespace

bool is_captured(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream.handle(), &status), "cudaStreamIsCapturing", "run");
  return status != cudaStreamCaptureStatusNone;
}

StreamMemory::StreamMemory(std::uint64_t bytes, int device, Stream stream)
    : device_(device), stream_(stream) {
  if (bytes == 0) return;
  const DeviceGuard guard(device);
  constexpr const char* kRemedy = "lend a workspace, or split the batch";
  if (is_captured(stream)) {  // the memory is the graph's, and no pool is made meanwhile
    check(cudaMallocAsync(&data_, bytes, stream.handle()), "cudaMallocAsync", "run", kRemedy);
  } else {
    check(cudaMallocFromPoolAsync(&data_, bytes, pool_of(device), stream.handle()), "cudaMallocFromPoolAsync",
          "run", kRemedy);
  }
}

StreamMemory::~StreamMemory() {
  if (data_ == nullptr) return;
  try {
    const DeviceGuard guard(device_);
    if (cudaFreeAsync(data_, stream_.handle()) != cudaSuccess) static_cast<void>(cudaGetLastError());
  } catch (...) {
    return;  // the device is gone, and the memory with it
  }
}

}  // namespace faro::cuda
