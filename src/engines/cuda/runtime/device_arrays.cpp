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

// Pools, one a device, that keep some of what they gave: the device's own gives all back whenever its work is
// waited for, and mapping 256 MB anew takes some 100 us.
class KeepingPools {
 public:
  // Null where there is no pool, or not enough memory.
  static void* allocate(std::uint64_t bytes, int device, Stream stream) {
    const std::lock_guard lock(mutex());
    cudaMemPool_t& pool = pools()[device];
    if (pool == nullptr) pool = make(device);
    if (pool == nullptr) return nullptr;
    void* data = nullptr;
    const cudaError_t error = cudaMallocFromPoolAsync(&data, bytes, pool, stream.handle());
    if (error == cudaSuccess) return data;
    static_cast<void>(cudaGetLastError());
    if (error != cudaErrorMemoryAllocation) pool = nullptr;  // the device was reset, and the pool with it
    return nullptr;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex made;
    return made;
  }
  static std::map<int, cudaMemPool_t>& pools() {
    static std::map<int, cudaMemPool_t> made;
    return made;
  }
  static cudaMemPool_t make(int device) {
    constexpr std::uint64_t kKeptPart = 64;  // of the memory
    std::size_t unused = 0;
    std::size_t all = 0;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {.type = cudaMemLocationTypeDevice, .id = device};
    cudaMemPool_t made = nullptr;
    if (cudaMemGetInfo(&unused, &all) != cudaSuccess ||
        cudaMemPoolCreate(&made, &properties) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    std::uint64_t kept = all / kKeptPart;
    static_cast<void>(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept));
    return made;
  }
};

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
  // While a graph is captured the memory is the graph's, and no pool is made.
  if (!is_captured(stream)) data_ = KeepingPools::allocate(bytes, device, stream);
  if (data_ != nullptr) return;
  check(cudaMallocAsync(&data_, bytes, stream.handle()), "cudaMallocAsync", "run",
        "lend a workspace, or split the batch");
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
