// Rows moved on a device by a row plan for engine cuda (faro/plan/row_plan.hpp): entries and arrays lie there,
// everything is queued on a stream, and nothing waits for the host.
//
// What a run finds wrong with the entries is noted on the device, where check() finds it.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "faro/engines/cuda.hpp"
#include "faro/plan/row_plan.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// Arrays whose rows have one width, by the plan of that width.
struct RowGroup {
  const RowPlan* plan = nullptr;
  struct Arrays {
    const void* in = nullptr;
    void* out = nullptr;
  };
  std::span<const Arrays> arrays;
};

class RowExecutor {
 public:
  /// Errors: ErrorCode::value for entries that are not the device's or not aligned; ErrorCode::device.
  explicit RowExecutor(const RowPlan& plan);
  RowExecutor(RowExecutor&&) noexcept;
  RowExecutor& operator=(RowExecutor&&) noexcept;
  ~RowExecutor();

  /// Queues all groups, whose plans differ from this one's in the width only. `workspace`: of the plan's
  /// workspace_bytes(), aligned to 16; null: taken from the stream's pool. Requires: sizes, no overlap
  /// (unchecked). Errors: ErrorCode::value for memory that is not the device's, nothing is queued then;
  /// ErrorCode::device for a failed launch.
  void run(std::span<const RowGroup> groups, Stream stream, void* workspace) const;

  /// Waits for the stream. Errors: ErrorCode::value for entries that runs since the last check() found wrong.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
