// What the tests of GPU plans share: the devices, and plans for them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/plan/plan.hpp"

namespace faro::testing {

/// Large and small shared memory, and a measured device.
inline std::vector<Target> gpu_targets() {
  return {cuda::target_of_capability(9, 0), cuda::target_of_capability(8, 0),
          cuda::target_of_capability(8, 6)};
}

inline Plan gpu_plan(Affine map, std::uint64_t element_bytes, std::uint64_t batch = 1,
                     Target target = cuda::target_of_capability(9, 0)) {
  return {Problem{.permutation = std::move(map), .element_bytes = element_bytes, .batch = batch},
          std::move(target)};
}

}  // namespace faro::testing
