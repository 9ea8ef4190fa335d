// The times of the offline permutation paper's algorithms, which need a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reproduce/offline_kernel.hpp"

namespace faro::reproduce {

/// An algorithm on a permutation by so many blocks, each on an array of its own.
struct OfflineContestant {
  PermuteWay way = PermuteWay::copy;
  std::span<const std::uint32_t> permutation;
  std::uint32_t blocks = 1;
};

struct OfflineDevice {
  std::string name;
  std::uint32_t multiprocessors = 0;
  std::uint32_t blocks_each = 0;  // that run side by side on one
};

/// Nothing where there is no GPU to measure on.
std::optional<OfflineDevice> offline_device();

/// Nanoseconds of one permutation of all blocks' arrays, per contestant: the difference of two launches over
/// the difference of their repeats, so that neither a launch nor device memory is in it. Contestants take
/// turns, and the median of their rounds counts. Every result is verified first.
/// Requires: offline_device() has a value.
/// Errors: ErrorCode::verification for a wrong result; ErrorCode::device.   Cost: about 50 ms a contestant.
std::vector<double> offline_times_ns(std::span<const OfflineContestant> contestants);

}  // namespace faro::reproduce
