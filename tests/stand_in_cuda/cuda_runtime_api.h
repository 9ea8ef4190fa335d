// A stand-in for the part of CUDA's runtime that launches kernels: cuda_program_test and
// cuda_in_place_program_test include it in place of the real one. A kernel of cudaLaunchKernel is a host
// function that runs one block, one of cudaLaunchKernelExC a host function that runs a whole grid; streams
// are ignored.
#pragma once

#include <cstddef>
#include <cstring>

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9 };
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
};

struct dim3 {
  dim3() = default;
  explicit dim3(unsigned count) : x(count) {}
  unsigned x = 1;
};

struct CUstream_st;

enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore, cudaLaunchAttributeClusterDimension };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    struct {
      unsigned x;
      unsigned y;
      unsigned z;
    } clusterDim;
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

using Block = void (*)(void** arguments, unsigned block);

struct Grid {
  unsigned blocks;
  unsigned threads;         // a block
  unsigned cluster_blocks;  // 1 without clusters
  std::size_t shared_bytes;
};
using WholeGrid = void (*)(void** arguments, const Grid& grid);

inline bool has_clusters = true;
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
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int /*device*/) {
  *value = which == cudaDevAttrClusterLaunch ? static_cast<int>(stand_in::has_clusters) : 227 << 10;
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
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                       void** arguments) {
  const cudaError_t result = stand_in::next_call();
  if (result != cudaSuccess) return result;
  const bool clustered = config->numAttrs > 0 && config->attrs[0].id == cudaLaunchAttributeClusterDimension;
  reinterpret_cast<stand_in::WholeGrid>(const_cast<void*>(function))(
      arguments, {.blocks = config->gridDim.x,
                  .threads = config->blockDim.x,
                  .cluster_blocks = clustered ? config->attrs[0].val.clusterDim.x : 1,
                  .shared_bytes = config->dynamicSmemBytes});
  return cudaSuccess;
}
