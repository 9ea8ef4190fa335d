// A pass of a plan (plan/gpu/gpu_pass.hpp) made ready: its kernels found by their identity and loaded, its
// tables bound. Launching decides nothing but which of the alternatives the addresses allow.
//
//     patched at every launch     by
//     skews                       how far arrays begin past an aligned address, which pointers are rounded to
//     first tile, block, vector   launches of at most 2^31 - 1 blocks
//     vectors or units            the chunks' side of a level
//     arrays of a launch          where kernels count the blocks of one
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

class LoadedPass {
 public:
  /// Loads the kernels on the current device. `tables`: those of pass.tables, in their order; they must
  /// outlive this. Requires: a pass out of place, not affine (checked). Errors: ErrorCode::device for a
  /// failed call; ErrorCode::unsupported for an array of more blocks than a launch may have.
  LoadedPass(faro::detail::GpuPass pass, std::vector<const void*> tables);

  /// Arrays that follow one another.
  struct Arrays {
    std::uint64_t count = 1;
    std::uint64_t bytes = 0;  // of each
  };

  /// Queues the pass over these arrays: all that the pass was made for, or, where its kernels count the
  /// blocks of one, any number. Requires: the device is the current one. Errors: ErrorCode::value for
  /// misaligned arrays; ErrorCode::unsupported for more blocks than a launch may have; ErrorCode::device for
  /// a failed launch.
  void launch(const std::byte* in, std::byte* out, const Arrays& arrays, Stream stream,
              const LaunchWords& words = {}) const;

  const faro::detail::GpuPass& pass() const { return pass_; }
  /// Of the kernel for aligned arrays; nothing of a copy.
  std::vector<KernelResources> resources() const;

 private:
  const faro::detail::GpuKernel& choose(const std::byte* in, const std::byte* out, KernelEntry& entry) const;

  faro::detail::GpuPass pass_;
  std::vector<KernelEntry> entries_;  // of each kernel
  std::vector<const void*> tables_;
};

}  // namespace faro::cuda
