// What is asked of the memory machines and what they answer, in JSON: the command prints it with --json,
// faro.h gives it away, and the site's planner shows it (docs/guide/json.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capi/author_requests.hpp"
#include "faro/machine/timeline.hpp"
#include "programs/simulation.hpp"

namespace faro::capi {

/// What is told about either, a program or a trace.
struct SimulationResult {
  machine::MachineOptions machine;
  machine::MachineReport report;
  machine::Timeline timeline;
  std::uint64_t n = 0;
  std::optional<programs::Simulation> simulation;  // of a program
};

struct SimulationAsked {
  std::string program;
  std::string file;  // of a trace
  bool direct = false;
  bool timeline = false;
};

Json simulation_json(const SimulationResult& result, const SimulationAsked& asked);

struct Simulated {
  SimulationResult result;
  SimulationAsked asked;
};

/// Runs what faro_simulate() is asked for, a JSON object. Errors: those of Request and programs::simulate.
Simulated simulate_asked(const char* request);

}  // namespace faro::capi
