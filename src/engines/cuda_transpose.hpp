// The CUDA engine's transposition in place, of any rows x columns.
//
// Host-only C++, and there in every build; without CUDA it refuses with ErrorCode::device, "cuda: not built".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/plan/transpose_plan.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

class TransposeExecutor {
 public:
  /// Requires: a plan whose target is this engine (checked). Errors: ErrorCode::device.
  explicit TransposeExecutor(const TransposePlan& plan);
  TransposeExecutor(TransposeExecutor&&) noexcept;
  TransposeExecutor& operator=(TransposeExecutor&&) noexcept;
  ~TransposeExecutor();

  /// Queues the sweeps on `stream` and returns; allocates nothing; may be captured into a graph. `data`: of
  /// the plan's device, aligned to the largest power of two that divides the element's width (checked).
  /// `workspace`: plan.workspace_bytes() of the device, aligned to 16 bytes; null where that is 0 (checked).
  /// Errors: as cuda::Executor::run.
  void run(void* data, void* workspace, Stream stream = {}) const;

  /// One entry a launch.
  std::vector<KernelResources> resources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
