// The maps that the benchmarks measure.
#pragma once

#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::bench {

/// How many maps of each family: the seeds are 1, 2, ….
struct MapCounts {
  int bit_reversal = 1;
  int transpose = 1;
  int random_bpc = 8;
  int random_bmmc = 16;
};

/// "bit_reversal,random_bmmc=4": absent families are left out. Errors: ErrorCode::usage.
MapCounts parse_maps(const Argument& argument);

struct NamedMap {
  std::string spec;  // in the text grammar, "transpose(16384, 16384)"
  Affine map;
  bool timed_naively = false;  // the CPU's naive loop takes seconds; two maps show what it costs
};

/// The maps of `counts` on n bits.
std::vector<NamedMap> make_maps(const MapCounts& counts, int n);

}  // namespace faro::bench
