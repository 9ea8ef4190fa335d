#include "cuda/device.hpp"

#include <string>

#include "faro/error.hpp"

namespace faro::cuda::papers {

void require_cuda() {
  const Status now = status();
  if (now.available) return;
  fail(ErrorCode::device, "use the CUDA engine", "engine cuda", "an engine that can run here: cpu",
       "cuda: " + now.reason);
}

void require(cudaError_t result, const char* call, const char* operation) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  fail(ErrorCode::device, operation, std::string(call) + ": " + cudaGetErrorString(result), "cudaSuccess");
}

int ordinal(int device) {
  require_cuda();
  if (device != kCurrentDevice) return device;
  int current = 0;
  require(cudaGetDevice(&current), "cudaGetDevice", "choose the device");
  return current;
}

CurrentDevice::CurrentDevice(int device) : wanted_(device) {
  require(cudaGetDevice(&former_), "cudaGetDevice", "choose the device");
  if (former_ != wanted_) require(cudaSetDevice(wanted_), "cudaSetDevice", "choose the device");
}

CurrentDevice::~CurrentDevice() {
  if (former_ != wanted_ && cudaSetDevice(former_) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

int attribute(cudaDeviceAttr which, int device, const char* operation) {
  int value = 0;
  require(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute", operation);
  return value;
}

void allow_shared_bytes(const BlockKernel& kernel, const char* operation) {
  cudaFuncAttributes now{};
  require(cudaFuncGetAttributes(&now, kernel.function), "cudaFuncGetAttributes", operation);
  if (kernel.shared_bytes <= now.maxDynamicSharedSizeBytes) return;
  int device = 0;
  require(cudaGetDevice(&device), "cudaGetDevice", operation);
  // Whoever finds the limit too low sets the same one, so it never falls.
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, operation) -
                   static_cast<int>(now.sharedSizeBytes);
  require(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
          "cudaFuncSetAttribute", operation);
}

int blocks_of_multiprocessor(const BlockKernel& kernel, const char* operation) {
  int blocks = 0;
  require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, kernel.threads,
                                                        static_cast<std::size_t>(kernel.shared_bytes)),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor", operation);
  return blocks;
}

void queue(const BlockKernel& kernel, std::uint64_t blocks, void** arguments, Stream stream,
           const char* operation) {
  require(cudaLaunchKernel(kernel.function, dim3(static_cast<unsigned>(blocks)),
                           dim3(static_cast<unsigned>(kernel.threads)), arguments,
                           static_cast<std::size_t>(kernel.shared_bytes), stream.handle()),
          "cudaLaunchKernel", operation);
}

void require_on_device(const void* array, const char* role, int device, const char* operation) {
  cudaPointerAttributes attributes{};
  require(cudaPointerGetAttributes(&attributes, array), "cudaPointerGetAttributes", operation);
  if (attributes.type == cudaMemoryTypeManaged) return;
  if (attributes.type == cudaMemoryTypeDevice && attributes.device == device) return;
  const bool elsewhere = attributes.type == cudaMemoryTypeDevice;
  fail(ErrorCode::value, operation,
       (elsewhere ? "a pointer to memory of device " + std::to_string(attributes.device) : "a host pointer") +
           " as the " + role,
       "memory that device " + std::to_string(device) + " can access");
}

}  // namespace faro::cuda::papers
