// Networks on a GPU: every pass of a plan is one launch of the tile kernel (kernels/network_tile.hpp), which
// the run-time compiler makes for the plan's element, operator and tile.
//
//     CudaExecutor executor(plan, device);             // compiles: about half a second, once for each shape
//     executor.run(device_in, device_out, stream);     // queues the passes, returns at once
//
// Host-only C++; in a build without CUDA the constructor refuses with ErrorCode::device, "cuda: not built".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "faro/engines/cuda.hpp"
#include "faro/network/plan.hpp"
#include "faro/stream.hpp"

namespace faro::network {

class CudaExecutor {
 public:
  /// Errors: ErrorCode::device without CUDA, that device or NVRTC; ErrorCode::unsupported for elements past
  /// 16 bytes, tiles past the device's shared memory, a user's operator without text, or more than 2^31 - 1
  /// tiles; ErrorCode::value where a user's operator does not compile, with the compiler's message.
  explicit CudaExecutor(const Plan& plan, int device = cuda::kCurrentDevice);
  CudaExecutor(CudaExecutor&&) noexcept;
  CudaExecutor& operator=(CudaExecutor&&) noexcept;
  ~CudaExecutor();

  /// Queues the plan on `stream` and returns. May be called from many threads at once. Where the plan needs a
  /// workspace and none is lent, it is allocated and freed in the stream's order.
  /// Requires: arrays of plan.array_bytes() in memory that the device can access, aligned to the element;
  /// 16-byte alignment is faster (both checked). `in` and `out` do not overlap (unchecked here, checked by
  /// network::Executable). Errors: ErrorCode::value for such memory; ErrorCode::device for a failed call.
  void run(const void* in, void* out, Stream stream = {}, void* workspace = nullptr) const;

  /// Bytes that a lent workspace must have: plan.workspace_bytes(), or an array's size where a pass that
  /// changes the order has several operators.
  std::uint64_t workspace_bytes() const;

  /// How often a run sweeps the arrays: plan.passes().size(), and one more for every change of operator
  /// within a pass, since a kernel is made for one operator.
  std::size_t launches() const;

  /// What the kernels take, in the order of launches, as cuda::Executor::resources.
  std::vector<cuda::KernelResources> resources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::network
