// What the sections of cpu_bench hand to its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/measure.hpp"

namespace faro::bench {

/// One contestant on one map.
struct Row {
  std::string spec;
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;  // of each of the two arrays
  std::string pages;        // "small" or "huge"
  std::string kernel;       // "faro", "gather tile", "naive" or "copy"
  std::string shape;        // of the gather tile
  Timing timing;
};

/// Useful bytes, read and written, in 1e9 a second.
inline double gb_per_s(const Row& row) {
  return row.timing.median_ms > 0 ? 2.0 * static_cast<double>(row.bytes) / (row.timing.median_ms * 1e6) : 0;
}

}  // namespace faro::bench
