// CUDA calls that cannot fail unnoticed, and the device they are made for.
//
//     const DeviceGuard guard(device);
//     check(cudaMalloc(&memory, bytes), "cudaMalloc", "stage an array");
//
// A failure is an Error that names the call and CUDA's own message, and is taken out of the runtime's "last
// error", so that the caller's own cudaGetLastError() does not meet it.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "faro/error.hpp"

namespace faro::cuda {

/// "cudaMalloc: out of memory"
inline std::string failure_text(const char* call, cudaError_t result) {
  return std::string(call) + ": " + cudaGetErrorString(result);
}

/// Errors: ErrorCode::device for anything but cudaSuccess; `operation` says what was being done.
inline void check(cudaError_t result, const char* call, const char* operation, const char* remedy = "") {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  fail(ErrorCode::device, operation, failure_text(call, result), "cudaSuccess", remedy);
}

/// Makes a device the calling thread's current one, and the former again at the end. Primary contexts only,
/// as in the whole CUDA runtime: where the devices differ, the former's is made if it did not exist.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : wanted_(device) {
    check(cudaGetDevice(&former_), "cudaGetDevice", "choose the device");
    if (former_ != wanted_) check(cudaSetDevice(wanted_), "cudaSetDevice", "choose the device");
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (former_ != wanted_ && cudaSetDevice(former_) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }

 private:
  int former_ = 0;
  int wanted_;
};

}  // namespace faro::cuda
