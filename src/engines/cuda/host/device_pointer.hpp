// Whether a pointer can be read by the CPU, asked of the CUDA driver only where the process has it.
//
// A CPU plan that is given device memory would end in a segmentation fault. The driver knows better, but
// neither must a process that uses no GPU load it, nor one that does be given a context by the question: so
// this looks for a libcuda that someone else has loaded, and asks it by cuPointerGetAttributes, which answers
// without a context. Works in builds without CUDA, too, since the memory may be another library's.
#pragma once

#include <cstdint>
#include <optional>

namespace faro::cuda {

/// While it is true, this thread's caller vouches for where arrays lie, and nobody asks the driver, which
/// takes about a microsecond a pointer. (Where that is not so, the process ends with a fault, or the device
/// with an error.)
inline bool& is_memory_known() noexcept {
  static thread_local bool known = false;
  return known;
}

/// Whether `pointer` is memory of a device, which the CPU cannot touch. Managed and pinned memory are not.
/// Cost: nothing but a look at the number of loaded libraries where the driver is not loaded. Never throws.
bool is_device_memory(const void* pointer) noexcept;

/// The number of the device whose memory it is, managed memory included; -1 for the host's, and where nobody
/// knows.
int device_of_memory(const void* pointer) noexcept;

/// What the driver knows of the allocation that a pointer of a device lies in.
struct DeviceAllocation {
  std::uintptr_t begin = 0;
  std::uint64_t number = 0;   // of no other allocation of the process, before or after
  bool is_shareable = false;  // other processes can open it, as memory of cudaMalloc
};
/// Nothing for the host's memory, and where nobody knows.
std::optional<DeviceAllocation> allocation_of(const void* pointer) noexcept;

}  // namespace faro::cuda
