// The devices of this machine, and each as a plan's target.
#include <cuda_runtime_api.h>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_table.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro_build_info.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kLookingAtDevices = "look at the devices";

constexpr double kKhzPerMhz = 1000;

// The architectures that are compiled begin here.
constexpr int kLeastMajor = 8;

std::string version_text(int version) {
  if (version == 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// A driver that is missing and one that is too old give the same error.
std::string reason_of_failure(cudaError_t result) {
  std::string text = failure_text("cudaGetDeviceCount", result);
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  static_cast<void>(cudaGetLastError());
  if (driver == 0) return "no driver: cudaGetDeviceCount found no libcuda.so.1";
  if (result == cudaErrorInsufficientDriver) {
    return "the driver is too old: it is for CUDA " + version_text(driver) + ", this build needs " +
           version_text(runtime) + " (" + text + ")";
  }
  if (result == cudaErrorNoDevice) return "no device (" + text + ")";
  return text;
}

int attribute(int ordinal, cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute", kLookingAtDevices);
  return value;
}

// All but the free memory, which changes.
Device read_device(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties", kLookingAtDevices);
  return {.ordinal = ordinal,
          .name = properties.name,
          .major = properties.major,
          .minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .clock_mhz = attribute(ordinal, cudaDevAttrClockRate) / kKhzPerMhz,
          .memory_bytes = properties.totalGlobalMem,
          .free_memory_bytes = 0,
          .l2_bytes = static_cast<std::uint64_t>(attribute(ordinal, cudaDevAttrL2CacheSize)),
          .shared_bytes_per_block = properties.sharedMemPerBlockOptin,
          .shared_bytes_per_multiprocessor = properties.sharedMemPerMultiprocessor};
}

std::vector<Device> read_devices() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount", kLookingAtDevices);
  std::vector<Device> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(read_device(ordinal));
  return all;
}

// Requires: CUDA is available. Reading costs milliseconds, so it is done once.
const std::vector<Device>& known_devices() {
  static const std::vector<Device> known = read_devices();
  return known;
}

const Device& known_device(int ordinal) {
  const std::vector<Device>& known = known_devices();
  if (ordinal >= 0 && ordinal < static_cast<int>(known.size())) {
    return known[static_cast<std::size_t>(ordinal)];
  }
  fail(
      ErrorCode::device, "choose the device", "device " + std::to_string(ordinal),
      known.size() == 1 ? "device 0, the only one" : "a device from 0 to " + std::to_string(known.size() - 1),
      "`faro info` lists them");
}

// 0 where another process has the device to itself.
std::uint64_t free_bytes(int ordinal) {
  std::size_t free = 0;
  std::size_t total = 0;
  try {
    const DeviceGuard guard(ordinal);
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", kLookingAtDevices);
  } catch (const Error&) {
    return 0;
  }
  return free;
}

std::string capability_text(const Device& device) {
  return std::to_string(device.major) + "." + std::to_string(device.minor);
}

bool any_usable(int count) {
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int major = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) == cudaSuccess) {
      if (major >= kLeastMajor) return true;
    } else {
      static_cast<void>(cudaGetLastError());
    }
  }
  return false;
}

}  // namespace

Status status() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) return {.available = false, .reason = reason_of_failure(result)};
  if (count == 0) return {.available = false, .reason = "no device"};
  if (!any_usable(count)) {
    return {.available = false,
            .reason = "no device of compute capability " + std::to_string(kLeastMajor) + ".0 or later"};
  }
  const char* const noun = count == 1 ? " device; " : " devices; ";
  return {.available = true, .reason = std::to_string(count) + noun + FARO_CUDA_STATUS};
}

std::vector<Device> devices() {
  if (!status().available) return {};
  std::vector<Device> all = known_devices();
  for (Device& device : all) device.free_memory_bytes = free_bytes(device.ordinal);
  return all;
}

Versions versions() {
  int driver = 0;
  int runtime = 0;
  for (const cudaError_t result : {cudaDriverGetVersion(&driver), cudaRuntimeGetVersion(&runtime)}) {
    if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
  return {.driver = version_text(driver), .runtime = version_text(runtime)};
}

Target target(int device) {
  require_available();
  int ordinal = device;
  if (device == kCurrentDevice) check(cudaGetDevice(&ordinal), "cudaGetDevice", "choose the device");
  const Device& known = known_device(ordinal);
  if (known.major < kLeastMajor) {
    fail(ErrorCode::device, "choose the device",
         known.name + ", of compute capability " + capability_text(known),
         "compute capability " + std::to_string(kLeastMajor) + ".0 or later", "use engine cpu");
  }
  Target made = device_target(device_entry(known.major, known.minor), known.shared_bytes_per_block);
  made.name = known.name;
  made.device = ordinal;
  made.multiprocessors = known.multiprocessors;
  return made;
}

}  // namespace faro::cuda
