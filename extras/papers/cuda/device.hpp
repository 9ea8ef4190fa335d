// What the kernels of papers need of CUDA's runtime: calls that cannot fail unnoticed, the device they are
// made for, and launches. For sources that include CUDA's headers themselves.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"

namespace faro::cuda::papers {

/// Errors: ErrorCode::device where status() says that there is no CUDA here, with its reason.
void require_cuda();

/// Errors: ErrorCode::device for anything but cudaSuccess, which is taken out of the runtime's last error.
void require(cudaError_t result, const char* call, const char* operation);

/// The ordinal that `device` stands for. Errors: ErrorCode::device without CUDA.
int ordinal(int device);

/// Makes a device the calling thread's current one, and the former again at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  int former_ = 0;
  int wanted_;
};

int attribute(cudaDeviceAttr which, int device, const char* operation);

/// A kernel and the sizes of its launches.
struct BlockKernel {
  const void* function = nullptr;
  int threads = 0;       // a block
  int shared_bytes = 0;  // a block, dynamic
};

/// Lets blocks of the current device have so much dynamic shared memory. Errors: ErrorCode::device.
void allow_shared_bytes(const BlockKernel& kernel, const char* operation);

int blocks_of_multiprocessor(const BlockKernel& kernel, const char* operation);

/// Queues a grid of `blocks`. `arguments`: one pointer a parameter, read before this returns. Errors:
/// ErrorCode::device.
void queue(const BlockKernel& kernel, std::uint64_t blocks, void** arguments, Stream stream,
           const char* operation);

/// Errors: ErrorCode::value for memory other than the device's own or managed memory, naming the array by its
/// `role`.
void require_on_device(const void* array, const char* role, int device, const char* operation);

}  // namespace faro::cuda::papers
