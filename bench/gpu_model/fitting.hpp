// What the factors of costs (plan/gpu/pass_cost.hpp) are fitted to: times of drawn problems, and counts of
// their passes. Counting takes a tenth of a second a problem and needs no GPU, so times of hundreds of
// problems are measured where one is, and counted anywhere.
#pragma once

#include <string>
#include <vector>

#include "bench/gpu_model/drawn.hpp"

namespace faro::bench::gpu_model {

/// A line a problem: family, problem, element and array bytes, and the microseconds; of permutations without
/// a schedule that have several passes also those of each pass, run alone. What a family refuses has a line
/// on standard error. Errors: ErrorCode::device.
std::string clock_table(const std::vector<DrawnProblem>& problems);

/// A line a pass: the same columns, then kPassColumns by the rates of `target`. Runs on the host alone.
std::string count_table(const std::vector<DrawnProblem>& problems, const Target& target);

}  // namespace faro::bench::gpu_model
