// Scaled blocks on a device (kernels/quantize_box.hpp): boxes of both ways, their tables on the device and
// the kernels, compiled with the library or by NVRTC.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <memory>
#include <string>

#include "faro/stream.hpp"
#include "plan/block_plan.hpp"

namespace faro::cuda {

/// Cheap to move; run by many threads at once.
class BlockExecutor {
 public:
  /// Errors: ErrorCode::device without such a device.
  BlockExecutor(const faro::detail::BlockPlan& plan, int device);
  BlockExecutor(BlockExecutor&&) noexcept;
  BlockExecutor& operator=(BlockExecutor&&) noexcept;
  ~BlockExecutor();

  /// Both are queued. Arrays are the device's or managed, the wide one aligned to its numbers. Errors:
  /// ErrorCode::value for other memory or alignments; ErrorCode::device, also where a kernel must be compiled
  /// and NVRTC is not found. Cost: the first time milliseconds, and up to a second where a kernel is compiled
  /// that is not kept yet.
  void quantize(const void* wide, void* data, void* scales, Stream stream) const;
  void dequantize(const void* data, const void* scales, void* wide, Stream stream) const;

  /// Of quantizing arrays that are aligned to 16 bytes.
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
