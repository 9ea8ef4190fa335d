// What it takes to measure a plan on a GPU without CUDA's headers: arrays in its memory, its plain copy, the
// naive kernel, and its clock.
//
//     cuda::DeviceArray in(bytes, device), out(bytes, device);
//     in.upload(host);
//     cuda::StreamClock clock(device);
//     const double ms = clock.milliseconds(3, [&](Stream s) { executor.run(in.data(), out.data(), s); });
//
// In a build without CUDA every constructor refuses with ErrorCode::device, "cuda: not built".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "faro/engines/cuda.hpp"
#include "faro/plan/plan.hpp"
#include "faro/problem/target.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// The versions of the driver and of the runtime that is linked, as "13.0"; empty where there is none. Never
/// throws.
struct Versions {
  std::string driver;
  std::string runtime;
};
Versions versions();

/// Bytes of a device's memory, aligned to at least 256, returned when destroyed.
class DeviceArray {
 public:
  /// Errors: ErrorCode::device without that device or so much free memory.
  explicit DeviceArray(std::uint64_t bytes, int device = kCurrentDevice);
  DeviceArray(DeviceArray&&) noexcept;
  DeviceArray& operator=(DeviceArray&&) noexcept;
  ~DeviceArray();

  std::byte* data() const;
  std::uint64_t size() const;

  /// size() bytes from or to host memory; returns when they have arrived. Errors: ErrorCode::device.
  void upload(const void* from) { upload(from, size()); }
  void download(void* to) const { download(to, size()); }
  /// The first `bytes`. Requires: at most size() (unchecked).
  void upload(const void* from, std::uint64_t bytes);
  void download(void* to, std::uint64_t bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Queues the driver's copy within a device, the one that everything is measured against. Errors:
/// ErrorCode::device.
void copy(const void* in, void* out, std::uint64_t bytes, Stream stream = {});

/// Queues a copy between any two arrays that the device can reach. Errors: ErrorCode::device.
void copy_between(const void* from, void* to, std::uint64_t bytes, int device, Stream stream);

/// The naive kernel, one thread an element with every column of the matrix looked at: the floor of a
/// benchmark, never what a plan does.
class NaiveExecutor {
 public:
  /// Errors: as faro::plan; ErrorCode::unsupported for more blocks than a launch may have.
  explicit NaiveExecutor(const Problem& problem, int device = kCurrentDevice);
  NaiveExecutor(NaiveExecutor&&) noexcept;
  NaiveExecutor& operator=(NaiveExecutor&&) noexcept;
  ~NaiveExecutor();

  /// Requires: both arrays hold total_bytes(problem) of the device's memory, aligned to min(element, 16)
  /// bytes, without overlap (unchecked). Errors: ErrorCode::device for a failed launch.
  void run(const void* in, void* out, Stream stream = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Times work by the device's clock, on a stream of its own.
class StreamClock {
 public:
  explicit StreamClock(int device = kCurrentDevice);
  StreamClock(StreamClock&&) noexcept;
  StreamClock& operator=(StreamClock&&) noexcept;
  ~StreamClock();

  /// Calls `queue` `calls` times and gives the milliseconds from the beginning of the first to the end of
  /// the last: events on the stream, so that the host's part is counted only where the device waits for it.
  double milliseconds(int calls, const std::function<void(Stream)>& queue) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Measures what predicted times rest on: the plain copy, passes without a tile, and the tiles of every
/// width, each on maps of two kinds and at two sizes.
/// Errors: ErrorCode::device without that device or 128 MiB of its memory.   Cost: 0.1 s; takes up to 2 GiB
/// of the device's memory while it runs, and leaves none.
Calibration calibrate(int device = kCurrentDevice);

}  // namespace faro::cuda
