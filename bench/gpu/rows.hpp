// What the sections of gpu_bench hand to its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/measure.hpp"

namespace faro::bench::gpu {

/// One contestant on one map.
struct Row {
  std::string spec;
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;  // of each of the two arrays
  std::string contestant;   // "faro", "cudaMemcpy", "vector copy", "scalar copy", "naive"
  std::string kernel;       // faro's
  bool beside = false;      // not one of the maps that the summary is over
  Timing timing;
};

/// Rows of one map follow one another; a map begins with its row of faro.
using Rows = std::vector<Row>;

/// Useful bytes, read and written, in 1e9 a second.
inline double gb_per_s(const Row& row) {
  return row.timing.median_ms > 0 ? 2.0 * static_cast<double>(row.bytes) / (row.timing.median_ms * 1e6) : 0;
}

}  // namespace faro::bench::gpu
