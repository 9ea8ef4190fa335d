// The command line of gpu_bench.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/maps.hpp"

namespace faro::bench::gpu {

struct Options {
  std::vector<std::uint64_t> bytes{std::uint64_t{4} << 30, std::uint64_t{1} << 30, std::uint64_t{64} << 20};
  std::vector<std::uint64_t> widths{1, 2, 4, 8, 16};
  std::vector<std::uint64_t> small_bytes{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
  MapCounts maps;
  int rounds = 15;
  std::vector<std::string> out_files;  // .md or .json
  bool ladder = false;                 // the emitted rungs instead of all else
  bool in_place = false;               // maps in place instead of all else
  std::optional<std::size_t> tile;     // of kernels::kInPlaceTiles: that one kernel only
  std::string command;                 // as it was given
};

extern const char* const kUsage;

/// Errors: ErrorCode::usage for an option or a value that is not understood.
Options parse_options(const CommandLine& line);

}  // namespace faro::bench::gpu
