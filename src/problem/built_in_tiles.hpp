// Curves of affine passes on a CPU that come with faro.
#pragma once

#include "faro/problem/target.hpp"

namespace faro::detail {

/// Adds them, as cpu::tune_affine() would.
void add_built_in_tiles(IndexCalibration& calibration);

}  // namespace faro::detail
