// One transposition on a GPU: verified, then timed in turns with a copy of the same bytes.
#pragma once

#include <cstdint>
#include <string>

#include "faro/engines/cuda_measure.hpp"
#include "faro/plan/plan.hpp"

namespace faro::bench::gpu {

/// "7 of 300 x 500 of 4": arrays, rows, columns, bytes of an element.
std::string text_of(const Rectangle& shape);

struct TimedTransposition {
  double milliseconds = 0;  // medians
  double copy_milliseconds = 0;
  std::uint64_t sweeps = 0;
  std::uint64_t workspace_bytes = 0;

  /// Of the copy, in percent.
  double share() const;
};

class TranspositionClock {
 public:
  /// For shapes to `bytes`.
  TranspositionClock(std::uint64_t bytes, int rounds);

  /// Errors: ErrorCode::verification for an element elsewhere; as the plans and the device.
  TimedTransposition in_place(const Rectangle& shape);
  TimedTransposition out_of_place(const Rectangle& shape);

 private:
  template <typename Queue>
  void time(const Rectangle& shape, const Queue& queue, TimedTransposition& result);

  cuda::DeviceArray array_;
  cuda::DeviceArray other_;
  cuda::StreamClock clock_;
  int rounds_;
};

}  // namespace faro::bench::gpu
