// What faro::plan decides before anything is made for running: the engine, what an index array really is, and
// whether a schedule fits.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "faro/faro.hpp"

namespace faro::detail {

struct Decision {
  Plan plan;
  /// Why this engine: one line.
  std::string reason;
  /// options.index_schedule, inverted where the problem reads the array the other way; or null.
  std::shared_ptr<const schedule::IndexSchedule> schedule;
};

/// Errors: those of faro::plan.
Decision decide(const Problem& problem, const PlanOptions& options);

/// Errors: ErrorCode::value for fewer threads than 0 or more than kMaxThreads.
void check_threads(int threads, const char* operation);

}  // namespace faro::detail
