// A kernel from its address to its launch: the only place that sets a kernel's attributes and starts it.
//
//     const KernelEntry kernel = loaded(tile_kernel(tile));             // once a plan; throws
//     launch(kernel, blocks, arguments, stream, {.pass = 0, .passes = 2});   // any number of times
//
// A kernel's attributes belong to its function on a device, and so to all plans and threads at once; a
// launch's belong to the launch. A plan that set the limit of dynamic shared memory to its own need would
// take away what another thread's plan was promised. So a function's attributes get values that depend on
// nothing but the function and the device, and what a launch wants otherwise goes with the launch:
//
//     limit of dynamic shared memory     the function's: all that the device gives a block
//     carve-out                          the function's: all for shared memory, or the driver's choice;
//                                        the launch's, where Carveout::needed leaves the rest to the cache
//
// Nothing is remembered, so that a device that was reset is no special case: loading again costs
// microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engines/cuda/kernels/kernels.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/gpu_kernel.hpp"

namespace faro::cuda {

using faro::detail::Carveout;

/// The kernel made ready on the current device: loaded now rather than at the first launch, which may be
/// inside a capture; allowed entry.shared_bytes, and whatever other launches of it want. A kernel without
/// dynamic shared memory keeps the driver's carve-out. Requires: entry.function and entry.threads (the
/// function is checked). Errors: ErrorCode::device.
KernelEntry loaded(KernelEntry entry, Carveout carveout = Carveout::needed);

/// Whether the current device launches it before the kernel ahead has ended: KernelEntry::early may be set.
/// Errors: ErrorCode::device. Cost: a microsecond.
bool launches_early(const void* function);

/// The resources of a kernel that is loaded.
KernelResources resources_of(const KernelEntry& entry);

/// What an error says of a launch that failed.
struct LaunchWords {
  const char* operation = "run";
  std::size_t pass = 0;    // from 0,
  std::size_t passes = 0;  // of so many; 0: no pass is named
  bool begun = false;      // earlier launches of the same call are queued
  bool in_place = false;
};

/// Queues a grid of `blocks`. `arguments`: one pointer a parameter, read before this returns.
/// Requires: a loaded kernel, the current device being the same; 1 to kMaxGridBlocks blocks.
/// Errors: ErrorCode::device, naming the call and what had been queued.
void launch(const KernelEntry& entry, std::uint64_t blocks, void** arguments, Stream stream,
            const LaunchWords& words = {});

/// Queues a copy within the device. Errors: as launch().
void launch_copy(void* to, const void* from, std::uint64_t bytes, Stream stream,
                 const LaunchWords& words = {});

/// Errors: ErrorCode::unsupported for more blocks than a grid may have.
void require_grid(std::uint64_t blocks, const std::string& operation, const char* remedy);

/// The most dynamic shared memory that the current device gives a block. Errors: ErrorCode::device.
std::uint64_t shared_bytes_of_device();

}  // namespace faro::cuda
