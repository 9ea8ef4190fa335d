// `faro simulate shards`: bytes over each level of links, and predicted time, for any number of ranks.
#pragma once

#include <string>

#include "cli/ranks.hpp"

namespace faro::cli {

struct SimulatedShards {
  std::string spec;
  std::string ranks;
  std::string topology;  // flat, islands or a file
  std::string element_bytes;
  CutOptions cuts;
  bool json = false;
};

/// Errors: ErrorCode::value for numbers, cuts and topologies that do not fit; ErrorCode::file.
void simulate_shards(const SimulatedShards& asked);

}  // namespace faro::cli
