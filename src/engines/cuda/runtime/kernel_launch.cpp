#include "engines/cuda/runtime/kernel_launch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "engines/cuda/runtime/calls.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kLoadingKernel = "load a kernel";
constexpr const char* kLookingAtKernel = "look at a kernel";

int attribute_of_device(cudaDeviceAttr which) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", kLoadingKernel);
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute", kLoadingKernel);
  return value;
}

cudaFuncAttributes attributes_of(const void* function, const char* operation) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes", operation);
  return attributes;
}

void set(const void* function, cudaFuncAttribute which, int value) {
  check(cudaFuncSetAttribute(function, which, value), "cudaFuncSetAttribute", kLoadingKernel);
}

int blocks_of_multiprocessor(const KernelEntry& entry, const char* operation) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry.function, entry.threads,
                                                      static_cast<std::size_t>(entry.shared_bytes)),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor", operation);
  return blocks;
}

// CUDA knows carve-outs of launches since 12.6; before, all is for shared memory.
constexpr int kCarveoutsOfLaunches = 12060;

bool driver_knows_carveouts_of_launches() {
#if CUDART_VERSION >= 12060
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion", kLoadingKernel);
  return version >= kCarveoutsOfLaunches;
#else
  return false;
#endif
}

// In percent of a multiprocessor's shared memory.
int needed_percent(const KernelEntry& entry) {
  if (!driver_knows_carveouts_of_launches()) return kFunctionsCarveout;
  constexpr int multiprocessor_bytes = 228 << 10;
  constexpr int reserved_bytes = 1 << 10;  // by the driver, a block
  const int blocks = std::max(1, blocks_of_multiprocessor(entry, kLoadingKernel));
  const int wanted = blocks * (entry.shared_bytes + reserved_bytes);
  return std::min<int>(cudaSharedmemCarveoutMaxShared, wanted / (multiprocessor_bytes / 100) + 1);
}

// What the caller must know of a launch that failed: the earlier ones will run.
const char* queued_text(const LaunchWords& words) {
  if (!words.begun) {
    return words.in_place ? "nothing was queued: the array is as it was" : "nothing was queued";
  }
  return words.in_place ? "the passes before it are queued, so the array is permuted in part"
                        : "the passes before it are queued, so the output will be written in part";
}

void check_launch(cudaError_t result, const char* call, const LaunchWords& words) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  std::string got = failure_text(call, result);
  if (words.passes > 0) {
    got += ", for pass " + std::to_string(words.pass + 1) + " of " + std::to_string(words.passes);
  }
  fail(ErrorCode::device, words.operation, std::move(got), "cudaSuccess", queued_text(words));
}

// Attributes of one launch: at most three.
struct LaunchAttributes {
  explicit LaunchAttributes(const KernelEntry& entry) {
    if (entry.cluster_blocks > 1) {
      cudaLaunchAttribute& cluster = list[count++];
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = static_cast<unsigned>(entry.cluster_blocks);
      cluster.val.clusterDim.y = 1;
      cluster.val.clusterDim.z = 1;
    }
    if (entry.early) {
      cudaLaunchAttribute& early = list[count++];
      early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      early.val.programmaticStreamSerializationAllowed = 1;
    }
#if CUDART_VERSION >= 12060
    if (entry.carveout_percent != kFunctionsCarveout) {
      cudaLaunchAttribute& carveout = list[count++];
      carveout.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
      carveout.val.sharedMemCarveout = static_cast<unsigned>(entry.carveout_percent);
    }
#endif
  }

  cudaLaunchAttribute list[3] = {};
  unsigned count = 0;
};

}  // namespace

// Since 9.0, by code that waits, and captured in graphs since CUDA 12.3.
bool launches_early(const void* function) {
#if CUDART_VERSION >= 12030
  constexpr int driver_that_captures = 12030;
  constexpr int versions_that_wait = 90;
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion", kLoadingKernel);
  if (version < driver_that_captures) return false;
  const cudaFuncAttributes attributes = attributes_of(function, kLoadingKernel);
  return std::min(attributes.ptxVersion, attributes.binaryVersion) >= versions_that_wait;
#else
  static_cast<void>(function);
  return false;
#endif
}

KernelEntry loaded(KernelEntry entry, Carveout carveout) {
  FARO_CHECK(entry.function != nullptr);
  const cudaFuncAttributes attributes = attributes_of(entry.function, kLoadingKernel);
  // A target that was made by hand may promise what its device does not have.
  if (entry.cluster_blocks > 1 && attribute_of_device(cudaDevAttrClusterLaunch) == 0) {
    fail(ErrorCode::unsupported, kLoadingKernel, "a plan for clusters of blocks",
         "one for this device, which has none", "plan for cuda::target()");
  }
  if (entry.early) entry.early = launches_early(entry.function);
  if (entry.shared_bytes == 0) return entry;
  if (entry.shared_bytes > attributes.maxDynamicSharedSizeBytes) {
    // Whoever finds the limit too low sets the same one, so it never falls.
    const int most =
        static_cast<int>(shared_bytes_of_device()) - static_cast<int>(attributes.sharedSizeBytes);
    set(entry.function, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  }
  if (carveout == Carveout::driver) return entry;
  set(entry.function, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  if (carveout == Carveout::needed) entry.carveout_percent = needed_percent(entry);
  return entry;
}

KernelResources resources_of(const KernelEntry& entry) {
  const cudaFuncAttributes attributes = attributes_of(entry.function, kLookingAtKernel);
  return {.registers = attributes.numRegs,
          .blocks_per_multiprocessor = blocks_of_multiprocessor(entry, kLookingAtKernel),
          .local_bytes = attributes.localSizeBytes};
}

void launch(const KernelEntry& entry, std::uint64_t blocks, void** arguments, Stream stream,
            const LaunchWords& words) {
  const dim3 grid(static_cast<unsigned>(blocks));
  const dim3 block(static_cast<unsigned>(entry.threads));
  const auto shared_bytes = static_cast<std::size_t>(entry.shared_bytes);
  LaunchAttributes attributes(entry);
  if (attributes.count == 0) {
    check_launch(cudaLaunchKernel(entry.function, grid, block, arguments, shared_bytes, stream.handle()),
                 "cudaLaunchKernel", words);
    return;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream.handle();
  config.attrs = attributes.list;
  config.numAttrs = attributes.count;
  check_launch(cudaLaunchKernelExC(&config, entry.function, arguments), "cudaLaunchKernelExC", words);
}

void launch_copy(void* to, const void* from, std::uint64_t bytes, Stream stream, const LaunchWords& words) {
  check_launch(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.handle()), "cudaMemcpyAsync",
               words);
}

void require_grid(std::uint64_t blocks, const std::string& operation, const char* remedy) {
  if (blocks <= kMaxGridBlocks) return;
  fail(ErrorCode::unsupported, operation, std::to_string(blocks) + " blocks",
       "at most " + std::to_string(kMaxGridBlocks), remedy);
}

std::uint64_t shared_bytes_of_device() {
  return static_cast<std::uint64_t>(attribute_of_device(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

}  // namespace faro::cuda
