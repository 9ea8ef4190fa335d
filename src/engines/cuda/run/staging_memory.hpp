// What pieces of host arrays travel in: memory of the device, pinned memory, and a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/runtime/calls.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

inline constexpr const char* kPrepare = "prepare to stage host arrays";
inline constexpr const char* kStage = "stage host arrays";

struct DeviceFree {
  void operator()(std::byte* memory) const { static_cast<void>(cudaFree(memory)); }
};
struct PinnedFree {
  void operator()(std::byte* memory) const { static_cast<void>(cudaFreeHost(memory)); }
};
using DeviceMemory = std::unique_ptr<std::byte, DeviceFree>;
using PinnedMemory = std::unique_ptr<std::byte, PinnedFree>;

inline DeviceMemory device_memory(std::uint64_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc", kPrepare,
        "grant less by StagingOptions::device_bytes, or free device memory");
  return DeviceMemory(static_cast<std::byte*>(memory));
}

inline PinnedMemory pinned_memory(std::uint64_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost", kPrepare,
        "too little host memory can be pinned; make smaller pieces by StagingOptions::piece_bytes");
  return PinnedMemory(static_cast<std::byte*>(memory));
}

class OwnStream {
 public:
  OwnStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", kPrepare);
  }
  OwnStream(OwnStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  OwnStream& operator=(OwnStream&&) = delete;
  ~OwnStream() {
    if (stream_ == nullptr) return;
    drain();
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", kStage); }
  /// Waits, whatever became of the work.
  void drain() const { static_cast<void>(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

inline std::uint64_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo", kPrepare);
  return free_bytes;
}

/// The error of a piece, and what had become of the output by then.
inline Error in_part(const Error& error, std::uint64_t written, std::uint64_t count) {
  ErrorReport report = error.report();
  report.operation = kStage;
  const std::string state = written == 0 ? "nothing has been written to the output"
                                         : "the output is written in part: " + std::to_string(written) +
                                               " of " + std::to_string(count) + " pieces";
  report.remedy = report.remedy.empty() ? state : report.remedy + "; " + state;
  return Error(std::move(report));
}

/// Calls queue(piece, slot) for each piece, and finish(piece, slot) when its stream is done, which is waited
/// for with the other slots' pieces queued behind it.
template <typename Slot, typename Queue, typename Finish>
void run_in_slots(const std::vector<Slot>& slots, std::uint64_t count, const Queue& queue,
                  const Finish& finish) {
  const std::uint64_t behind = slots.size() - 1;
  std::uint64_t written = 0;
  const auto abandon = [&] {  // no buffer may be in use when the next run begins
    for (const Slot& slot : slots) slot.stream.drain();
    static_cast<void>(cudaGetLastError());
  };
  try {
    for (std::uint64_t k = 0; k < count + behind; ++k) {
      if (k < count) queue(k, slots[k % slots.size()]);
      if (k < behind) continue;
      const Slot& slot = slots[(k - behind) % slots.size()];
      slot.stream.wait();
      finish(k - behind, slot);
      ++written;
    }
  } catch (const Error& error) {
    abandon();
    throw in_part(error, written, count);
  } catch (...) {
    abandon();
    throw;
  }
}

}  // namespace faro::cuda
