// The command line of cpu_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/io/buffer.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::bench {

/// How many maps of each family: the seeds are 1, 2, ….
struct MapCounts {
  int bit_reversal = 1;
  int transpose = 1;
  int random_bpc = 8;
  int random_bmmc = 16;
};

struct Options {
  std::uint64_t bytes = std::uint64_t{1} << 30;  // of each array, a power of two
  std::vector<std::uint64_t> widths{1, 2, 4, 8, 16};
  std::vector<io::PageKind> pages{io::PageKind::base, io::PageKind::huge};
  MapCounts maps;
  int rounds = 3;
  bool in_cache = true;
  std::string json_file;  // empty: none
  bool help = false;
  std::string command;  // as it was given
};

extern const char* const kUsage;

/// Errors: ErrorCode::usage for an option or a value that is not understood.
Options parse_options(int argc, const char* const* argv);

struct NamedMap {
  std::string spec;  // in the text grammar, "transpose(16384, 16384)"
  Affine map;
  bool timed_naively = false;  // the naive loop takes seconds; two maps show what it costs
};

/// The maps of `counts` on n bits.
std::vector<NamedMap> make_maps(const MapCounts& counts, int n);

/// "small" or "huge".
const char* name(io::PageKind pages);

}  // namespace faro::bench
