// What is profiled: every kernel of the CUDA engine, one launch each, with what it is predicted to do.
//
//     tile        every compiled tile x bit reversal, transpose, random BPC, random BMMC
//     segments    whole segments in another order
//     direct      one thread an element, every width: what is left of batches, and small arrays
//     naive       the floor of the benchmarks
//     transpose   RAW, RAS and RAP in shared memory, every order, 4 and 8 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faro/machine/access_counts.hpp"

namespace faro::bench::gpu_model {

/// Bytes of the arrays that every case runs on.
inline constexpr std::uint64_t kArrayBytes = std::uint64_t{16} << 20;

struct Case {
  std::string kernel;
  std::string spec;  // the map, or the transpose
  std::uint64_t element_bytes = 0;
  machine::AccessCounts predicted;
  /// Launches one kernel, and waits for it. Requires: two arrays of kArrayBytes of the device's memory.
  std::function<void(const std::byte* in, std::byte* out)> launch;
};

/// All cases, in an order that never changes. Errors: ErrorCode::device without a GPU.
std::vector<Case> make_cases();

}  // namespace faro::bench::gpu_model
