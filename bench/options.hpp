// The command line of cpu_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/maps.hpp"
#include "io/buffer.hpp"

namespace faro::bench {

struct Options {
  std::uint64_t bytes = std::uint64_t{1} << 30;  // of each array, a power of two
  std::vector<std::uint64_t> widths{1, 2, 4, 8, 16};
  std::vector<io::PageKind> pages{io::PageKind::base, io::PageKind::huge};
  MapCounts maps;
  int rounds = 3;
  bool in_cache = true;
  std::string json_file;  // empty: none
  std::string command;    // as it was given
};

extern const char* const kUsage;

/// Errors: ErrorCode::usage for an option or a value that is not understood.
Options parse_options(const CommandLine& line);

/// "small" or "huge".
const char* name(io::PageKind pages);

}  // namespace faro::bench
