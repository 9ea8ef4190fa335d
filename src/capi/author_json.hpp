// JSON of what the authors of kernels ask for: layouts, source code, simulations. The command prints it with
// --json, and faro.h gives it away (docs/guide/json.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "faro/emit/emit.hpp"
#include "faro/layout/adviser.hpp"
#include "machine/timeline.hpp"
#include "programs/simulation.hpp"

namespace faro::capi {

using Json = nlohmann::ordered_json;

Json layout_json(const layout::Advice& advice);

Json emit_json(const Affine& map, const emit::Options& options, const emit::Source& source);

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

}  // namespace faro::capi
