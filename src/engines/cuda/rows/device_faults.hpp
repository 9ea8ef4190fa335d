// Where kernels note entries that are wrong, on a device, and where they are found.
#pragma once

#include <cuda_runtime_api.h>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "faro/stream.hpp"
#include "kernels/row_entries.hpp"

namespace faro::cuda {

class DeviceFaults {
 public:
  /// Faults of the current device. Errors: ErrorCode::device.
  DeviceFaults(int device, const char* operation) : operation_(operation), words_(1, device) {
    check(cudaMemset(words_.data(), kNoFaultByte, words_.bytes()), "cudaMemset", operation_);
  }

  kernels::RowFaults* data() const { return words_.data(); }

  /// Waits for the stream; what was noted since the last time.
  kernels::RowFaults take(Stream stream) const {
    kernels::RowFaults found;
    check(cudaMemcpyAsync(&found, words_.data(), sizeof(found), cudaMemcpyDeviceToHost, stream.handle()),
          "cudaMemcpyAsync", operation_);
    check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", operation_);
    const bool any = found.out_of_range != kernels::kNoFault || found.twice != kernels::kNoFault;
    if (any) {
      check(cudaMemsetAsync(words_.data(), kNoFaultByte, sizeof(found), stream.handle()), "cudaMemsetAsync",
            operation_);
    }
    return found;
  }

 private:
  static constexpr int kNoFaultByte = 0xff;
  const char* operation_;
  DeviceBuffer<kernels::RowFaults> words_;
};

}  // namespace faro::cuda
