// Prices of what a pass over boxes does (axes_counts.hpp), and how a machine's own are found.
//
//     curves without factors     the prices that come with faro
//     `faro tune`                passes over drawn axes are timed, and each price is multiplied by what makes
//                                the priced times of its kind most like the measured ones
//
// A price that few of them tell apart from others stays near the one that comes with faro, times what all of
// the kind have in common.
#pragma once

#include <optional>
#include <vector>

#include "plan/cpu/cpu_pass.hpp"

namespace faro::detail {

/// Microseconds that a pass over boxes takes; nothing for another pass, and where no copy was measured.
/// Cost: microseconds.
std::optional<double> axes_us(const CpuPass& pass, const IndexCalibration& curves);

/// A pass that was timed on one thread.
struct TimedAxes {
  CpuAxes axes;
  double us = 0;
};

/// The factors by which the prices that come with faro tell these times best, in their logarithms.
/// `curves`: a copy of one thread. Kinds of which hardly any were timed have none.   Cost: some milliseconds.
std::vector<PriceFactor> fitted_prices(const std::vector<TimedAxes>& timed, const IndexCalibration& curves);

}  // namespace faro::detail
