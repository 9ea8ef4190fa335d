// The device that work on index arrays runs on (index_work.hpp): kernels queued on a stream of its own, which
// is waited for before anything is returned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/index/index_entries.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/value_kernels.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "faro/permutation/indexed.hpp"

namespace faro::cuda {

class CudaDevice {
 public:
  /// `operation`: what errors say was being done.
  CudaDevice(int device, const char* operation);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice();

  template <typename T>
  using Buffer = DeviceBuffer<T>;

  /// Errors: ErrorCode::device, naming what is wanted and what is free.
  template <typename T>
  Buffer<T> buffer(std::uint64_t count) const {
    require_memory(count * sizeof(T), "an array of it");
    return Buffer<T>(count, device_);
  }
  /// Whether so much is free. Errors: as buffer().   Cost: nothing below a few MiB.
  void require_memory(std::uint64_t bytes, const std::string& what) const;

  void fill(void* to, int byte, std::uint64_t bytes) const;
  /// Small values only: `from` may be gone when this returns.
  void send(void* to, const void* from, std::uint64_t bytes) const;
  void fetch(void* to, const void* from, std::uint64_t bytes) const;
  void wait() const;

  template <typename Kernel>
  void run(Kernel kernel) const {
    void* arguments[] = {&kernel};
    launch(value_kernel<Kernel>(), kernel.blocks(), Kernel::kThreads, kernel.shared_bytes(), arguments);
  }

  /// From here on, step() notes the time.
  void keep_times() { times_ = true; }
  void step(const char* name);
  struct Step {
    const char* name;
    double milliseconds;
  };
  /// Waits. The times of each step() since keep_times().
  std::vector<Step> steps() const;

  int ordinal() const { return device_; }
  const char* operation() const { return operation_; }

 private:
  void launch(const void* function, std::uint64_t blocks, unsigned threads, unsigned shared_bytes,
              void** arguments) const;

  struct Event {
    const char* name;
    cudaEvent_t event;
  };
  int device_;
  const char* operation_;
  DeviceGuard guard_;
  cudaStream_t stream_ = nullptr;
  bool times_ = false;
  std::vector<Event> events_;
};

/// The entries of an array on a device. Errors: ErrorCode::value for one of the host.
EntryView entries_on_device(const Indexed& indexed, const char* operation);

}  // namespace faro::cuda
