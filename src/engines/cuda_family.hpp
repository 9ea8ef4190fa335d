// Calls of a family on a device (faro/family.hpp): one kernel for each part, queued on a stream.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <memory>
#include <string>

#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "plan/family_plan.hpp"

namespace faro::cuda {

/// Kernels of families on one device, those that calls have used so far kept ready.
class FamilyExecutor {
 public:
  /// Errors: ErrorCode::device.
  explicit FamilyExecutor(int device);
  ~FamilyExecutor();
  FamilyExecutor(const FamilyExecutor&) = delete;
  FamilyExecutor& operator=(const FamilyExecutor&) = delete;

  /// Requires: arrays that do not overlap (unchecked). Errors: ErrorCode::value for memory that is not the
  /// device's or not aligned; ErrorCode::device for a failed launch. Any number of threads at once.
  void run(const faro::detail::FamilyCall& call, const void* in, void* out, Stream stream) const;
  void run_on_device(const faro::detail::FamilyPlan& plan, const DeviceExtents& extents, const void* in,
                     void* out, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

/// What a call's first part is moved by, for a reader; arrays aligned to 32 bytes.
std::string explain_family(const faro::detail::FamilyCall& call);

}  // namespace faro::cuda
