// Arrays on a device, as those who queue work on them need them: whether one can be read there, and one for
// a while. No CUDA header is needed.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::cuda {

/// Errors: ErrorCode::value for memory other than the device's own or managed memory, naming the array by its
/// `role`. Pinned memory of the host could be read by a kernel, but a line at a time over the bus.
void require_accessible(const void* array, const char* role, int device);

/// The ordinal that `device` stands for, kCurrentDevice included. Errors: ErrorCode::device without CUDA.
int ordinal_of(int device);

/// Whether what is queued there becomes part of a graph. Errors: ErrorCode::device.
bool is_captured(Stream stream);

/// Memory of a device from here to the end of its scope, in the order of a stream: work that is queued on
/// `stream` in between may use it. A 64th of the device's memory stays with the process for those to come.
class StreamMemory {
 public:
  /// Errors: ErrorCode::device for less free memory. `bytes` 0: none, data() is null.
  StreamMemory(std::uint64_t bytes, int device, Stream stream);
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory();

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  [[maybe_unused]] int device_;  // not read in a build without CUDA
  [[maybe_unused]] Stream stream_;
};

}  // namespace faro::cuda
