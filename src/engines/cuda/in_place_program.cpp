#include "engines/cuda/in_place_program.hpp"

#include <cuda_runtime_api.h>

#include <bit>
#include <string>
#include <utility>
#include <variant>

#include "engines/cuda/calls.hpp"
#include "engines/cuda/in_place_kernels.hpp"
#include "engines/cuda/kernels.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kLoading = "load a kernel";

// Loads the kernel, now rather than at the first launch, which may be inside a capture. How much shared
// memory a launch takes is the pass's affair, and plans share kernels: each may take all that there is.
cudaFuncAttributes load(const void* function, std::uint64_t shared_bytes) {
  FARO_CHECK(function != nullptr);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes", kLoading);
  if (shared_bytes == 0) return attributes;
  int device = 0;
  int most = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", kLoading);
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute", kLoading);
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
        "cudaFuncSetAttribute", kLoading);
  // As many tiles at a time as fit: the first-level cache has no use, since nothing is read twice.
  check(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "cudaFuncSetAttribute", kLoading);
  return attributes;
}

// A target that was made by hand may promise what its device does not have.
void require_clusters() {
  int device = 0;
  int has_clusters = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", kLoading);
  check(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device), "cudaDeviceGetAttribute",
        kLoading);
  if (has_clusters != 0) return;
  throw Error({.code = ErrorCode::unsupported,
               .operation = kLoading,
               .got = "a plan for clusters of blocks",
               .wanted = "one for this device, which has none",
               .remedy = "plan for cuda::target()"});
}

// What the caller must know of a pass that failed: the earlier ones will run.
std::string queued_text(std::size_t failed) {
  if (failed == 0) return "nothing was queued: the array is as it was";
  return "the passes before it are queued, so the array is permuted in part";
}

[[noreturn]] void refuse_launch(cudaError_t result, std::size_t pass, std::size_t passes) {
  static_cast<void>(cudaGetLastError());
  throw Error({.code = ErrorCode::device,
               .operation = "run in place",
               .got = failure_text("cudaLaunchKernelExC", result) + ", for pass " + std::to_string(pass + 1) +
                      " of " + std::to_string(passes),
               .wanted = "cudaSuccess",
               .remedy = queued_text(pass)});
}

const void* kernel_of(const detail::InPlaceLaunch& launch) {
  if (launch.tile) return in_place_tile_kernel(*launch.tile);
  if (std::holds_alternative<kernels::AffineSwapParams>(launch.params))
    return swap_kernel(launch.access_bytes);
  FARO_CHECK(std::holds_alternative<kernels::AffineSmallParams>(launch.params));
  return small_kernel(launch.access_bytes);
}

}  // namespace

InPlaceProgram::InPlaceProgram(const Plan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cuda && plan.problem().placement == Placement::in_place);
  for (const Pass& pass : plan.passes()) {
    Step step{.offset = pass.offset, .kernels = {}};
    for (const detail::InPlaceLaunch& launch :
         detail::in_place_launches(pass, std::countr_zero(plan.unit_bytes()))) {
      const void* const function = kernel_of(launch);
      if (launch.cluster_blocks > 1) require_clusters();
      static_cast<void>(load(function, launch.shared_bytes));
      step.kernels.push_back({.function = function, .launch = launch});
    }
    steps_.push_back(std::move(step));
  }
}

const InPlaceProgram::Kernel& InPlaceProgram::choose(const Step& step, std::uintptr_t address) {
  for (const Kernel& kernel : step.kernels) {
    if (address % kernel.launch.access_bytes != 0) continue;
    if (kernel.launch.blocks <= kMaxGridBlocks) return kernel;
    throw Error(
        {.code = ErrorCode::unsupported,
         .operation = "run in place",
         .got = std::to_string(kernel.launch.blocks) + " blocks",
         .wanted = "at most " + std::to_string(kMaxGridBlocks),
         .remedy = kernel.launch.access_bytes < kernels::kMaxVectorBytes && &kernel != &step.kernels.front()
                       ? "align the array to 16 bytes, or split the batch"
                       : "split the batch"});
  }
  throw Error(
      {.code = ErrorCode::value,
       .operation = "run in place",
       .got = "an array aligned to " + std::to_string(address & ~(address - 1)) + " bytes",
       .wanted = "one aligned to " + std::to_string(step.kernels.back().launch.access_bytes) + " bytes",
       .remedy = ""});
}

void InPlaceProgram::launch(void* data, Stream stream) const {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  // Whatever can be refused is, before the first pass is queued.
  for (const Step& step : steps_) static_cast<void>(choose(step, address + step.offset));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    launch(i, static_cast<std::byte*>(data) + steps_[i].offset, stream);
  }
}

void InPlaceProgram::launch(std::size_t index, std::byte* data, Stream stream) const {
  const Kernel& kernel = choose(steps_[index], reinterpret_cast<std::uintptr_t>(data));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(kernel.launch.cluster_blocks);
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(kernel.launch.blocks));
  config.blockDim = dim3(static_cast<unsigned>(kernel.launch.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(kernel.launch.shared_bytes);
  config.stream = stream.handle();
  config.attrs = &cluster;
  config.numAttrs = kernel.launch.cluster_blocks > 1 ? 1 : 0;
  const auto launch_with = [&](auto params) {
    void* arguments[] = {&params, &data};
    return cudaLaunchKernelExC(&config, kernel.function, arguments);
  };
  const cudaError_t result = std::visit(launch_with, kernel.launch.params);
  if (result != cudaSuccess) refuse_launch(result, index, steps_.size());
}

std::vector<KernelResources> InPlaceProgram::resources() const {
  std::vector<KernelResources> all;
  for (const Step& step : steps_) {
    const Kernel& kernel = step.kernels.front();
    const cudaFuncAttributes attributes = load(kernel.function, kernel.launch.shared_bytes);
    KernelResources resources{.registers = attributes.numRegs, .local_bytes = attributes.localSizeBytes};
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resources.blocks_per_multiprocessor, kernel.function,
                                                        kernel.launch.threads,
                                                        static_cast<std::size_t>(kernel.launch.shared_bytes)),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "look at a kernel");
    all.push_back(resources);
  }
  return all;
}

}  // namespace faro::cuda
