// A pass of a plan (plan/gpu/gpu_pass.hpp) made ready: its kernels found by their identity and loaded, its
// tables bound. Launching decides nothing but which of the alternatives the addresses allow.
//
//     kernels of                 take, after their params
//     two arrays                 input, output, the pass's tables
//     one array, in place        data
//     one array, sweeps          data, scratch, copied rows
//
//     added to the params        by
//     skews                      how far arrays begin past an aligned address, which pointers are rounded to
//     first tile, block, vector  launches of at most 2^31 - 1 blocks
//     vectors or units           the chunks' side of a level
//     complement                 where a piece of a larger array goes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

/// What one launch of a pass reads and writes. In place, input and output are the one array.
struct PassArrays {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::byte* workspace = nullptr;  // of sweeps
  std::uint64_t count = 1;         // arrays that follow one another
  /// For affine passes out of place: out[pi(x) ^ target_shift] = in[x], in units. It keeps every array in
  /// itself, and is 0 for a copy and within longer vectors.
  std::uint64_t target_shift = 0;
};

class LoadedPass {
 public:
  /// Loads the kernels on the current device. `tables`: those of pass->tables, in their order; they must
  /// outlive this. Errors: ErrorCode::device for a failed call.
  LoadedPass(std::shared_ptr<const faro::detail::GpuPass> pass, std::vector<const void*> tables);

  /// Whatever can be refused before the pass is queued. Errors: ErrorCode::value for misaligned arrays;
  /// ErrorCode::unsupported for more blocks than a launch may have.
  void check(const PassArrays& arrays) const;

  /// Queues the pass over these arrays: all that the pass was made for, or, where its kernels count the
  /// blocks of one, any number. Allocates nothing. Requires: check(arrays); the device is the current one.
  /// `words`: which pass it is. Errors: ErrorCode::device for a failed launch.
  void launch(const PassArrays& arrays, Stream stream, LaunchWords words = {}) const;

  /// Has blocks that use shared memory take at least so many bytes of it, so that few share a multiprocessor
  /// and leave room for another kernel's. At most what a device gives a block. Requires: the device is the
  /// current one.
  void spread_out(std::uint64_t shared_bytes);

  const faro::detail::GpuPass& pass() const { return *pass_; }
  /// Resources of the kernel for aligned arrays, the worst of a sweep's; zeros of a copy, which is the
  /// driver's.
  KernelResources resources() const;

 private:
  bool in_place() const { return pass_->source == PassBuffer::data; }
  std::size_t chosen(const PassArrays& arrays) const;
  void check_grid(std::size_t kernel, const PassArrays& arrays) const;
  void queue(std::size_t kernel, const PassArrays& arrays, std::uint64_t blocks, Stream stream,
             LaunchWords& words, std::uint64_t number = 0) const;

  std::shared_ptr<const faro::detail::GpuPass> pass_;
  void launch_value(const PassArrays& arrays, Stream stream, const char* operation) const;

  std::vector<KernelEntry> entries_;        // of each kernel
  DeviceBuffer<std::uint64_t> exceptions_;  // of kind patch
  std::vector<const void*> tables_;
};

/// The function of a kernel of axes; what it is loaded for; and a launch of one with arrays for which it is
/// aligned. Requires: a kernel of axes out of place; the device is the current one. Errors:
/// ErrorCode::device.
const void* function_of(const faro::detail::GpuKernel& kernel);
KernelEntry load_kernel(const faro::detail::GpuKernel& kernel);
void launch_axes(const faro::detail::GpuKernel& kernel, const KernelEntry& entry, const void* in, void* out,
                 Stream stream, LaunchWords words);

}  // namespace faro::cuda
