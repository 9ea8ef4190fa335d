// A plan in place, ready to launch: the kernels of each pass (plan/gpu/gpu_pass.hpp), with their
// addresses. What program.hpp is to plans with two arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cuda/kernels/kernels.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/plan/plan.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

class InPlaceProgram {
 public:
  /// Loads the kernels. Requires: a plan in place for this engine (checked), whose device is the calling
  /// thread's current one (unchecked). Errors: ErrorCode::device for a failed call.
  explicit InPlaceProgram(const Plan& plan);

  /// Of an empty batch, or of the identity.
  bool empty() const { return steps_.empty(); }

  /// Queues data[b][pi(x)] = data[b][x] and returns. Allocates nothing; may be called from many threads at
  /// once. Requires: as Executor::run, alignment being the only thing checked here; the plan's device is the
  /// current one. Errors: as Executor::run.
  void launch(void* data, Stream stream) const;

  /// As Executor::resources(), of the kernels for aligned arrays. The plan's device must be the current one.
  std::vector<KernelResources> resources() const;

 private:
  struct Kernel {
    KernelEntry entry;
    detail::GpuKernel launch;
  };
  struct Step {
    std::uint64_t offset = 0;     // of the pass's arrays, in bytes
    std::vector<Kernel> kernels;  // widest accesses first
  };

  // The first kernel for which `address` is aligned.
  static const Kernel& choose(const Step& step, std::uintptr_t address);
  void launch(std::size_t index, std::byte* data, Stream stream) const;

  std::vector<Step> steps_;  // one a pass
};

}  // namespace faro::cuda
