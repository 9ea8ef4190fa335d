#include "faro/engines/runtime_compiler.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/compiled_cache.hpp"
#include "engines/cuda/host/module_cache.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/engines/cuda.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kLoading = "load a kernel compiled at run time";
constexpr int kDriverInterface = 12000;  // of CUDA 12.0, whose functions are all that is used here

void* entry_point(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &function, kDriverInterface, cudaEnableDefault, &found);
#else
  const cudaError_t result = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  check(result, "cudaGetDriverEntryPoint", kLoading);
  if (found == cudaDriverEntryPointSuccess && function != nullptr) return function;
  fail(ErrorCode::device, kLoading, std::string("a driver without ") + name,
       "a driver for CUDA 12.0 or later", "update the driver");
}

// The driver's own interface, asked of the runtime, so that nothing links to libcuda.
struct Driver {
  template <typename Function>
  static Function find(const char* name) {
    return reinterpret_cast<Function>(entry_point(name));
  }

  decltype(&cuModuleLoadData) load = find<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  decltype(&cuModuleUnload) unload = find<decltype(&cuModuleUnload)>("cuModuleUnload");
  decltype(&cuModuleGetFunction) get_function = find<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(&cuFuncGetAttribute) get_attribute = find<decltype(&cuFuncGetAttribute)>("cuFuncGetAttribute");
  decltype(&cuFuncSetAttribute) set_attribute = find<decltype(&cuFuncSetAttribute)>("cuFuncSetAttribute");
  decltype(&cuCtxGetCurrent) current_context = find<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent");
  decltype(&cuLaunchKernel) launch = find<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy =
      find<decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  decltype(&cuGetErrorString) error_text = find<decltype(&cuGetErrorString)>("cuGetErrorString");
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

void check_driver(CUresult result, const char* call, const std::string& operation, const char* remedy = "") {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (driver().error_text(result, &text) != CUDA_SUCCESS || text == nullptr) text = "an unknown error";
  fail(ErrorCode::device, operation, std::string(call) + ": " + text, "CUDA_SUCCESS", remedy);
}

// The device's context for the driver's calls, which, unlike the runtime's, do not make it current
// themselves.
class ContextGuard {
 public:
  explicit ContextGuard(int device) : guard_(device) {
    CUcontext current = nullptr;
    if (driver().current_context(&current) == CUDA_SUCCESS && current != nullptr) return;
    check(cudaSetDevice(device), "cudaSetDevice", "choose the device");
  }

 private:
  DeviceGuard guard_;
};

int device_attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute", kLoading);
  return value;
}

}  // namespace

// --- modules

struct RuntimeModule::State {
  int device = 0;
  CUmodule module = nullptr;
  std::map<std::string, std::string> lowered;
};

RuntimeModule::RuntimeModule(const CompiledText& compiled, int device) {
  require_available();
  const DeviceGuard guard(device);
  check(cudaFree(nullptr), "cudaFree",
        kLoading);  // makes the device's context, which the driver's calls need
  CUmodule module = nullptr;
  check_driver(driver().load(&module, compiled.code.c_str()), "cuModuleLoadData", kLoading,
               "an NVRTC that is newer than the driver may be the reason: FARO_NVRTC names another");
  state_ = std::make_unique<State>(State{.device = device, .module = module, .lowered = compiled.lowered});
}

// At the end of the process the driver may be gone already; then there is nothing to return.
RuntimeModule::~RuntimeModule() {
  if (state_ == nullptr) return;
  int former = 0;
  if (cudaGetDevice(&former) != cudaSuccess || cudaSetDevice(state_->device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  if (cudaDeviceSynchronize() != cudaSuccess) static_cast<void>(cudaGetLastError());
  static_cast<void>(driver().unload(state_->module));
  if (cudaSetDevice(former) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

int RuntimeModule::device() const { return state_->device; }

RuntimeKernel RuntimeModule::kernel(const std::string& name_or_expression, bool uses_shared_memory) const {
  const ContextGuard guard(state_->device);
  const auto lowered = state_->lowered.find(name_or_expression);
  const std::string& name = lowered == state_->lowered.end() ? name_or_expression : lowered->second;
  CUfunction function = nullptr;
  const CUresult result = driver().get_function(&function, state_->module, name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    fail(ErrorCode::value, kLoading, "kernel `" + name_or_expression + "`",
         "an extern \"C\" kernel of the text, or one of its name expressions");
  }
  check_driver(result, "cuModuleGetFunction", kLoading);
  RuntimeKernel kernel(shared_from_this(), function, name_or_expression);
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, state_->device);
  check_driver(driver().set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      most - static_cast<int>(kernel.static_shared_bytes())),
               "cuFuncSetAttribute", kLoading);
  if (uses_shared_memory) {
    check_driver(driver().set_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                        CU_SHAREDMEM_CARVEOUT_MAX_SHARED),
                 "cuFuncSetAttribute", kLoading);
  }
  return kernel;
}

// --- kernels

namespace {

CUfunction function_of(void* function) { return static_cast<CUfunction>(function); }

int attribute_of(void* function, CUfunction_attribute which) {
  int value = 0;
  check_driver(driver().get_attribute(&value, which, function_of(function)), "cuFuncGetAttribute", kLoading);
  return value;
}

}  // namespace

RuntimeKernel::RuntimeKernel(std::shared_ptr<const RuntimeModule> module, void* function, std::string name)
    : module_(std::move(module)), function_(function), name_(std::move(name)) {}

void RuntimeKernel::launch(std::uint64_t blocks, int threads_x, int threads_y,
                           std::uint64_t dynamic_shared_bytes, void** arguments, Stream stream) const {
  require_grid(blocks, "run `" + name_ + "`", "split the array");
  const ContextGuard guard(module_->device());
  check_driver(
      driver().launch(function_of(function_), static_cast<unsigned>(blocks), 1, 1,
                      static_cast<unsigned>(threads_x), static_cast<unsigned>(threads_y), 1,
                      static_cast<unsigned>(dynamic_shared_bytes), stream.handle(), arguments, nullptr),
      "cuLaunchKernel", "run `" + name_ + "`");
}

int RuntimeKernel::registers() const { return attribute_of(function_, CU_FUNC_ATTRIBUTE_NUM_REGS); }

std::uint64_t RuntimeKernel::local_bytes() const {
  return static_cast<std::uint64_t>(attribute_of(function_, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
}

std::uint64_t RuntimeKernel::static_shared_bytes() const {
  return static_cast<std::uint64_t>(attribute_of(function_, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
}

int RuntimeKernel::threads_per_block_max() const {
  return attribute_of(function_, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

int RuntimeKernel::blocks_per_multiprocessor(int threads, std::uint64_t dynamic_shared_bytes) const {
  const ContextGuard guard(module_->device());
  int blocks = 0;
  check_driver(driver().occupancy(&blocks, function_of(function_), threads,
                                  static_cast<std::size_t>(dynamic_shared_bytes)),
               "cuOccupancyMaxActiveBlocksPerMultiprocessor", "look at a kernel");
  return blocks;
}

// --- the cache

std::shared_ptr<const RuntimeModule> compile(const RuntimeSource& source, int device) {
  // Never destroyed: at the end of the process its modules would outlive the driver.
  static auto* const cache = new ModuleCache<RuntimeModule>(kMostCachedModules);
  const int ordinal = target(device).device;  // refuses a device that is not there
  return cache->get(std::to_string(ordinal) + " " + source.key(), [&] {
    const int major = device_attribute(cudaDevAttrComputeCapabilityMajor, ordinal);
    const int minor = device_attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
    return std::make_shared<const RuntimeModule>(compile_or_find(source, major, minor), ordinal);
  });
}

}  // namespace faro::cuda
