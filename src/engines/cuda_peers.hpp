// One of several GPUs of a process, as the others see it: when its array is ready, and when it has copied.
//
// Everything is queued; nothing waits but streams for each other's events. In a build without CUDA the
// constructor refuses with ErrorCode::device, "cuda: not built".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "faro/stream.hpp"

namespace faro::cuda {

class PeerEnd {
 public:
  /// Lets `device` reach the memory of the others where the machine can; where it cannot, copies go through
  /// the host. Errors: ErrorCode::device for a device that is not there, or a failed call.
  PeerEnd(int device, const std::vector<int>& others);
  ~PeerEnd();
  PeerEnd(const PeerEnd&) = delete;
  PeerEnd& operator=(const PeerEnd&) = delete;

  int device() const;
  /// Whether kernels of each device can write into the memory of all others.
  bool reaches_all() const;

  /// What is queued on `stream` so far is what others may read behind wait_until_ready().
  void mark_ready(Stream stream);
  /// Later work of `stream`, of this device, waits for the other's mark. The mark has to have been made: the
  /// caller's threads see to that.
  void wait_until_ready(const PeerEnd& other, Stream stream) const;
  /// Queues a copy from a device to this one.
  void copy(const std::byte* from, int from_device, std::byte* to, std::uint64_t bytes, Stream stream) const;
  /// The same two for the copies themselves.
  void mark_copied(Stream stream);
  void wait_until_copied(const PeerEnd& other, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
