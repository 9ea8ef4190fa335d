// A stand-in for the part of CUDA's runtime that launches kernels: tests/engines/cuda/cuda_*program*_test.cpp
// include it in place of the real one. A kernel is a host function that runs a whole grid, or a value that
// does, by its address; streams are ignored. A launch that takes more shared memory than its kernel was
// allowed fails, as on a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#define CUDART_VERSION 13000

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorPeerAccessAlreadyEnabled = 704
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
enum cudaSharedCarveout { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100 };
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrClusterLaunch };
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice };

struct cudaFuncAttributes {
  int numRegs;
  std::size_t localSizeBytes;
  std::size_t sharedSizeBytes;
  int maxDynamicSharedSizeBytes;
  int ptxVersion;
  int binaryVersion;
};

struct dim3 {
  dim3() = default;
  explicit dim3(unsigned count) : x(count) {}
  unsigned x = 1;
};

struct CUstream_st;

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributePreferredSharedMemoryCarveout
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    struct {
      unsigned x;
      unsigned y;
      unsigned z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    unsigned sharedMemCarveout;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  CUstream_st* stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace stand_in {

struct Grid {
  unsigned blocks;
  unsigned threads;         // a block
  unsigned cluster_blocks;  // 1 without clusters
  std::size_t shared_bytes;
};
using WholeGrid = void (*)(void** arguments, const Grid& grid);
using Closure = std::function<void(void** arguments, const Grid& grid)>;

inline std::deque<Closure> closures;  // kept where they are
inline std::map<const void*, const Closure*> closure_at;

/// The address of a kernel that runs this.
inline const void* as_kernel(Closure closure) {
  const Closure& kept = closures.emplace_back(std::move(closure));
  closure_at[&kept] = &kept;
  return &kept;
}

inline constexpr int kSharedBytesMax = 227 << 10;     // a block
inline constexpr int kSharedBytesAtFirst = 48 << 10;  // until a kernel is allowed more
inline std::map<const void*, int> allowed_shared_bytes;

inline int& allowed(const void* function) {
  return allowed_shared_bytes.try_emplace(function, kSharedBytesAtFirst).first->second;
}

inline bool has_clusters = true;
inline std::atomic<int> calls = 0;  // copies and launches so far
inline int failing_call = -1;       // the number of the one that fails

inline cudaError_t next_call() {
  return calls++ == failing_call ? cudaErrorInvalidConfiguration : cudaSuccess;
}

}  // namespace stand_in

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "invalid configuration argument";
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int /*device*/) {
  *value = which == cudaDevAttrClusterLaunch ? static_cast<int>(stand_in::has_clusters)
                                             : stand_in::kSharedBytesMax;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int /*device*/) { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  *attributes = {32, 0, 0, stand_in::allowed(function), 90, 90};
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value > stand_in::kSharedBytesMax) return cudaErrorInvalidValue;
  stand_in::allowed(function) = value;
  return cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*function*/,
                                                                 int /*threads*/, std::size_t /*shared*/) {
  *blocks = 2;
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* out, const void* in, std::size_t bytes, cudaMemcpyKind /*kind*/,
                                   CUstream_st* /*stream*/) {
  const cudaError_t result = stand_in::next_call();
  if (result == cudaSuccess) std::memcpy(out, in, bytes);
  return result;
}
inline cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, CUstream_st* /*stream*/) {
  const cudaError_t result = stand_in::next_call();
  if (result == cudaSuccess) std::memset(to, byte, bytes);
  return result;
}
// Events: work is done when it is queued, so all that is left of them is whether they were recorded.
struct CUevent_st {
  std::atomic<int> recorded{0};
};
using cudaEvent_t = CUevent_st*;
inline constexpr unsigned cudaEventDisableTiming = 2;

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  *event = new CUevent_st;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, CUstream_st* /*stream*/) {
  ++event->recorded;
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(CUstream_st* /*stream*/, cudaEvent_t event, unsigned /*flags*/) {
  return event->recorded > 0 ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/) {
  *can = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
  return cudaErrorPeerAccessAlreadyEnabled;
}
inline cudaError_t cudaMemcpyPeerAsync(void* out, int /*to*/, const void* in, int /*from*/, std::size_t bytes,
                                       CUstream_st* stream) {
  return cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
}

namespace stand_in {

inline cudaError_t launch(const void* function, void** arguments, const Grid& grid) {
  const cudaError_t result = next_call();
  if (result != cudaSuccess) return result;
  if (grid.shared_bytes > static_cast<std::size_t>(allowed(function))) return cudaErrorInvalidValue;
  if (const auto closure = closure_at.find(function); closure != closure_at.end()) {
    (*closure->second)(arguments, grid);
  } else {
    reinterpret_cast<WholeGrid>(const_cast<void*>(function))(arguments, grid);
  }
  return cudaSuccess;
}

}  // namespace stand_in

inline cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, CUstream_st* /*stream*/) {
  return stand_in::launch(
      function, arguments,
      {.blocks = grid.x, .threads = block.x, .cluster_blocks = 1, .shared_bytes = shared});
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                       void** arguments) {
  stand_in::Grid grid{.blocks = config->gridDim.x,
                      .threads = config->blockDim.x,
                      .cluster_blocks = 1,
                      .shared_bytes = config->dynamicSmemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      grid.cluster_blocks = attribute.val.clusterDim.x;
    }
  }
  return stand_in::launch(function, arguments, grid);
}
