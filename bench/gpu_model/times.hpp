// Predicted times beside measured ones: explain's, from counts and a calibration made just before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/plan/calibration.hpp"

namespace faro::bench::gpu_model {

struct TimeRow {
  std::string spec;
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;  // of each of the two arrays
  double predicted_us = 0;
  double measured_us = 0;  // the median of several runs

  double error() const { return predicted_us / measured_us - 1; }
};

/// Times the maps of the benchmark, and maps without a tile, at every width and size. Arrays that do not fit
/// the device's memory are left out. Errors: ErrorCode::device.
std::vector<TimeRow> measure_times(const Calibration& calibration);

/// Markdown: the rates, and a line for each size and width.
std::string calibration_table(const Calibration& calibration);
std::string time_table(const std::vector<TimeRow>& rows);

}  // namespace faro::bench::gpu_model
