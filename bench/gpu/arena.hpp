// Where the benchmark's arrays lie, and the check of what faro wrote there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faro/engines/cuda_measure.hpp"
#include "faro/plan/plan.hpp"

namespace faro::bench::gpu {

/// Two large arrays on the device, taken once. Smaller arrays are *slots* of them, one after another, so that
/// calls in a row can each have arrays that no cache holds yet.
class Arena {
 public:
  /// Draws the input. Errors: ErrorCode::value for more than the device has free.
  explicit Arena(std::uint64_t bytes);

  std::uint64_t bytes() const { return in_.size(); }
  const std::byte* in(std::uint64_t slot, std::uint64_t slot_bytes) const {
    return in_.data() + slot * slot_bytes;
  }
  std::byte* out(std::uint64_t slot, std::uint64_t slot_bytes) const {
    return out_.data() + slot * slot_bytes;
  }

  /// Poisons the outputs of the first `arrays` slots, so that what another contestant left cannot pass.
  void poison(std::uint64_t bytes) const;

  /// Holds every element of problem.batch slots, one array each, to the oracle. Waits.
  /// Errors: ErrorCode::verification.
  void verify(const Problem& problem) const;

 private:
  cuda::DeviceArray in_;
  cuda::DeviceArray out_;
  cuda::DeviceArray findings_;
};

/// The kernel of a plan's first pass in words: "tile of 64 KiB, segments of 256 bytes, 256 threads, blocked".
std::string kernel_text(const Plan& plan);

}  // namespace faro::bench::gpu
