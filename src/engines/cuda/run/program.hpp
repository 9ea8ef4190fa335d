// A plan as launches: for each pass the kernels that can run it, with their parameters and grids, made once.
//
//     pass of kind   kernel, arrays aligned to 16 bytes       kernel, arrays aligned to a unit
//     copy           the driver's                             the driver's
//     segments       one vector of 16 bytes a thread          one unit a thread
//     tile           Launch::tile, as the planner chose       the target's first tile of vectors of one unit
//     direct         one unit a thread                        one unit a thread
//
// Executor is a Program behind the checks of its arrays; staging, whose arrays are its own, uses it directly
// and shifts where each piece's elements go.
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

class Program {
 public:
  /// Loads the kernels. Requires: a plan for this engine (checked), whose device is the calling thread's
  /// current one (unchecked). Errors: ErrorCode::device for a failed call.
  explicit Program(const Plan& plan);

  /// Of an empty batch.
  bool empty() const { return steps_.empty(); }

  /// Queues out[pi(x) ^ target_shift] = in[x] and returns, x and target_shift in the plan's units. Allocates
  /// nothing; may be called from many threads at once.
  /// Requires: as Executor::run, alignment being the only thing checked here; the plan's device is the
  /// current one; target_shift keeps every array in itself, and is 0 for a copy and within longer vectors
  /// (checked). Errors: as Executor::run.
  void launch(const void* in, void* out, Stream stream, std::uint64_t target_shift = 0) const;

  /// As Executor::resources(), of the kernels for aligned arrays. The plan's device must be the current one.
  std::vector<KernelResources> resources() const;

 private:
  struct Kernel {
    KernelEntry entry;
    detail::GpuKernel launch;
    int vector_bits = 0;  // units, log2, that the params' complement counts in
  };
  struct Step {
    std::uint64_t offset = 0;  // of the pass's arrays, in bytes
    std::uint64_t bytes = 0;
    std::vector<Kernel> kernels;  // widest accesses first; none for a copy
  };

  // The first kernel for which `addresses`, those of both arrays ORed, are aligned.
  static const Kernel& choose(const Step& step, std::uintptr_t addresses);
  void launch(std::size_t index, const std::byte* in, std::byte* out, Stream stream,
              std::uint64_t target_shift) const;

  std::vector<Step> steps_;  // one a pass
};

}  // namespace faro::cuda
