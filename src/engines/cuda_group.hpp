// Groups on a device (kernels/group.hpp): the table of a group there, and its launches.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "faro/engines/runtime_compiler.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/group_launches.hpp"

namespace faro::cuda {

/// Cheap to move; run() may be called by many threads at once.
class GroupExecutor {
 public:
  /// `addresses`: of all inputs, then of all outputs, kept on the device; or none. `changes`: the kernels of
  /// launches of values, by GroupFamily::changes. Errors: ErrorCode::device. Cost: copies the table to the
  /// device, and waits.
  GroupExecutor(const faro::detail::GroupLaunches& launches, std::uint64_t members,
                std::span<const void* const> addresses, const std::vector<RuntimeKernel>& changes,
                int device);
  GroupExecutor(GroupExecutor&&) noexcept;
  GroupExecutor& operator=(GroupExecutor&&) noexcept;
  ~GroupExecutor();

  /// Queues all launches, by the addresses that are kept. Errors: ErrorCode::device for a failed launch,
  /// saying what was queued.
  void run(Stream stream) const;
  /// The same by others, 2 members of the host, which are brought to `room` on the device, or where that is
  /// null to memory of the stream: few of them, and those of a stream that is captured, as parameters of
  /// launches, so that nobody has to keep them.
  void run(std::span<const void* const> addresses, const void** room, Stream stream) const;
  /// The same by as many that lie on the device and are read when the launches run. Errors: also
  /// ErrorCode::value for memory that is not the device's.
  void run_table(const void* const* addresses, Stream stream) const;

  std::uint64_t table_bytes() const;  // on the device

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace faro::cuda
