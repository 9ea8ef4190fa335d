// A network's passes as the CPU engine runs them: decided here, before anything runs, and told to a reader.
//
//     sort of 2^24 keys, pass 1      layers 1 to 55 of a tile of 2^16 elements
//       visits                       16 to the tile's buffer, each of the layers that registers hold at once
//       threads                      2 share out 2^8 tiles, 256 KiB each, written past the caches
//       time                         at least that of a copy, by the measured curves: layers come on top
//
// Arrays of a batch that are much smaller than the caches are folded, several to a tile, so that the tile's
// fixed costs are shared. The engine (cpu_engine.hpp) runs what team_of() says; the visits are the chunks of
// cpu_chunks.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/network/plan.hpp"
#include "faro/problem/target.hpp"

namespace faro::network {

/// Who runs a pass, and how it is written.
struct CpuTeam {
  int fold_bits = 0;        // 2^fold_bits arrays are one tile
  int buffer_bits = 0;      // elements of a thread's buffer, at least those of a tile and the folded arrays
  std::uint64_t tiles = 0;  // of all arrays, to be shared out
  int threads = 1;
  bool streamed = false;  // written past the caches
};
CpuTeam team_of(const Plan& plan, const Pass& pass, const Target& target);

/// A pass on this machine's vectors.
struct CpuPassFacts {
  std::size_t pass = 0;  // of the plan
  std::size_t layers = 0;
  std::size_t visits = 0;  // to the buffer
  std::string kernel;      // in words
  CpuTeam team;
  std::uint64_t bytes_read = 0;  // of all arrays; as many are written
  std::uint64_t runs = 0;        // segments of tiles that are read, and as many written
  std::uint64_t lines = 0;       // of 64 bytes, likewise: arrays and segments are aligned to them
  std::optional<double> least_us = {};
};

/// In the order of passes. Times are those of a copy by target.index_calibration, or by the curves that are
/// built in.   Cost: milliseconds.
std::vector<CpuPassFacts> cpu_pass_facts(const Plan& plan, const Target& target);

/// Lines for each pass.
std::string explain(const Plan& plan, const std::vector<CpuPassFacts>& passes, const Target& target);

/// Whose curves the times are, in words.
std::string rates_of(const Target& target);

}  // namespace faro::network
