// The one thing of these tables that needs a GPU: how long the transposes of Table III take.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/shared_transpose.hpp"
#include "reproduce/matrix_access.hpp"

namespace faro::reproduce {

inline constexpr std::array kTransposeOrders{kernels::TransposeOrder::crsw, kernels::TransposeOrder::srcw,
                                             kernels::TransposeOrder::drdw,
                                             kernels::TransposeOrder::crsw_as_printed};

/// Of one transpose of a 32 x 32 matrix of 4-byte elements in shared memory, by one block of 1024 threads.
struct SharedTransposeTimes {
  std::string device;
  std::array<std::array<double, kLayouts2.size()>, kTransposeOrders.size()> ns = {};  // [order][layout]
};

/// Nothing where there is no GPU to measure on. `seed`: of the layouts' random numbers, several for a time.
/// Errors: ErrorCode::device for a GPU that is there and fails.   Cost: a few seconds.
std::optional<SharedTransposeTimes> measure_shared_transposes(std::uint64_t seed);

}  // namespace faro::reproduce
