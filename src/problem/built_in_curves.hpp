// The processors whose curves come with faro.
#pragma once

#include <cstdint>

#include "faro/problem/target.hpp"

namespace faro::detail {

enum class BuiltInCpu : std::uint8_t { zen4, xeon };

/// Adds its affine passes, as cpu::tune_affine() would.
void add_built_in_tiles(IndexCalibration& calibration, BuiltInCpu cpu);

/// What tells CPUs apart; sizes of 0 are not known.
struct CpuSizes {
  bool lines_in_registers = false;  // whether a register holds a line of 64 bytes
  std::uint64_t first_level_bytes = 0;
  std::uint64_t second_level_bytes = 0;
  std::uint64_t last_level_bytes = 0;
};

/// The curves of the CPU that is most like this one: registers as wide, then the fewest doublings from its
/// caches' sizes to these.
const IndexCalibration& built_in_near(const CpuSizes& sizes);

}  // namespace faro::detail
