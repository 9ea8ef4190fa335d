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
#include <optional>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/arithmetic.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/stream.hpp"
#include "kernels/value_factors.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

/// Of a pass whose numbers change as it reads them, or as it writes them (kernels/converting_memory.hpp). On
/// that side an array has numbers of another width than the pass moves: its address is given as if it had
/// those, and is found again before a launch,
///
///     address / bytes of a number * bytes of a moved one
///
/// so that offsets, alignments and skews of the pass hold as they stand.
struct PassChange {
  Arithmetic arithmetic;
  bool rounds_first = false;
  const kernels::PlacedFactors* factors = nullptr;
  int device = 0;

  std::uint64_t held_bytes() const { return bytes_of(rounds_first ? arithmetic.to : arithmetic.from); }
  std::uint64_t changed_bytes() const { return bytes_of(rounds_first ? arithmetic.from : arithmetic.to); }
  const std::byte* as_held(const void* array) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): there is nothing at that address
    return reinterpret_cast<const std::byte*>(address(array) / changed_bytes() * held_bytes());
  }
  const std::byte* as_it_is(const void* held) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address that as_held() was of
    return reinterpret_cast<const std::byte*>(address(held) / held_bytes() * changed_bytes());
  }
};

/// What a change needs besides, of all launches: what is added, and the whole output, where they are.
struct AddedArrays {
  const std::byte* addend = nullptr;
  const std::byte* out = nullptr;
};

/// What one launch of a pass reads and writes. In place, input and output are the one array.
struct PassArrays {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::byte* workspace = nullptr;  // of sweeps
  std::uint64_t count = 1;         // arrays that follow one another
  /// For affine passes out of place: out[pi(x) ^ target_shift] = in[x], in units. It keeps every array in
  /// itself, and is 0 for a copy and within longer vectors.
  std::uint64_t target_shift = 0;
  AddedArrays added = {};  // of a change
};

class LoadedPass {
 public:
  /// Loads the kernels on the current device. `tables`: those of pass->tables, in their order; they must
  /// outlive this. Errors: ErrorCode::device for a failed call.
  LoadedPass(std::shared_ptr<const faro::detail::GpuPass> pass, std::vector<const void*> tables);
  /// With numbers that change; compiles its kernels. Requires: can_change(*pass). Errors: also
  /// ErrorCode::device without NVRTC.
  LoadedPass(std::shared_ptr<const faro::detail::GpuPass> pass, std::vector<const void*> tables,
             const PassChange& change);

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
  // A kernel that changes numbers, at addresses as a pass has them.
  template <typename Params>
  void launch_changed(std::size_t kernel, Params params, const PassArrays& arrays, std::uint64_t planned,
                      Stream stream) const;

  std::vector<KernelEntry> entries_;        // of each kernel
  DeviceBuffer<std::uint64_t> exceptions_;  // of kind patch
  std::vector<const void*> tables_;
  std::optional<PassChange> change_;
  std::vector<RuntimeKernel> changed_;  // of each kernel, where numbers change
};

/// Whether all kernels of a pass can be those of a change: passes of index arrays.
bool can_change(const faro::detail::GpuPass& pass);

/// The function of a kernel of axes; what it is loaded for; and a launch of one with arrays for which it is
/// aligned. Requires: a kernel of axes out of place; the device is the current one. Errors:
/// ErrorCode::device.
const void* function_of(const faro::detail::GpuKernel& kernel);
KernelEntry load_kernel(const faro::detail::GpuKernel& kernel);
void launch_axes(const faro::detail::GpuKernel& kernel, const KernelEntry& entry, const void* in, void* out,
                 Stream stream, LaunchWords words);

}  // namespace faro::cuda
