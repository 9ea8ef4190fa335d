// A stand-in for the part of CUDA's runtime that launches kernels: cuda_program_test includes it in place of
// the real one. A kernel is a host function that runs one block; streams are ignored.
#pragma once

#include <cstddef>
#include <cstring>

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9 };
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
enum cudaSharedCarveout { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100 };
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice };

struct cudaFuncAttributes {
  int numRegs;
  std::size_t localSizeBytes;
};

struct dim3 {
  explicit dim3(unsigned count) : x(count) {}
  unsigned x;
};

struct CUstream_st;

namespace stand_in {

using Block = void (*)(void** arguments, unsigned block);

inline int calls = 0;          // copies and launches so far
inline int failing_call = -1;  // the number of the one that fails

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
inline cudaError_t cudaSetDevice(int /*device*/) { return cudaSuccess; }
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* /*function*/) {
  *attributes = {32, 0};
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void* /*function*/, cudaFuncAttribute /*which*/,
                                        int /*value*/) {
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
inline cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 /*block*/, void** arguments,
                                    std::size_t /*shared*/, CUstream_st* /*stream*/) {
  const cudaError_t result = stand_in::next_call();
  if (result != cudaSuccess) return result;
  for (unsigned block = 0; block < grid.x; ++block) {
    reinterpret_cast<stand_in::Block>(const_cast<void*>(function))(arguments, block);
  }
  return cudaSuccess;
}
