// Predicted times beside measured ones: explain's, from counts and a calibration made just before.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/gpu_model/drawn.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/problem/target.hpp"
#include "faro/stream.hpp"

namespace faro::bench::gpu_model {

/// A measured time is the median of so many.
inline constexpr int kTimeRounds = 7;

/// The median of kTimeRounds, after one more. Errors: ErrorCode::device.
double median_us(const cuda::StreamClock& clock, const std::function<void(Stream)>& queue);

struct TimeRow {
  std::string family = "maps";
  std::string spec;
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;  // of each of the two arrays
  double predicted_us = 0;
  double measured_us = 0;  // the median of several runs

  std::string kernels = {};

  double error() const { return predicted_us / measured_us - 1; }
};

/// Times the maps of the benchmark, and maps without a tile, at every width and size. Arrays that do not fit
/// the device's memory are left out. Errors: ErrorCode::device.
std::vector<TimeRow> measure_times(const Calibration& calibration);

/// The same of drawn problems. What the device's memory cannot hold, or a family refuses, is left out, and
/// said in `left_out`.
std::vector<TimeRow> measure_drawn(const std::vector<DrawnProblem>& problems, const Calibration& calibration,
                                   std::string& left_out);

/// A line for each family: how many within 10%, the least, median and greatest error, and the worst three.
std::string drawn_table(const std::vector<TimeRow>& rows);
/// Every row.
std::string drawn_rows(const std::vector<TimeRow>& rows);

/// Markdown: the rates, and a line for each size and width.
std::string calibration_table(const Calibration& calibration);
std::string time_table(const std::vector<TimeRow>& rows);

}  // namespace faro::bench::gpu_model
