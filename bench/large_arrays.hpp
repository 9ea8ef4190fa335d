// Arrays far beyond the caches: faro, gather tile, naive and copy by turns on every map.
//
//     for each (pages, width)    try every gather tile on three maps (256 MiB), keep the two best
//       for each map             verify, then     round 1   faro  tile  tile'  copy  naive
//                                                 round 2   tile  tile'  copy  faro
//                                                 …         each round begins one further on
#pragma once

#include <vector>

#include "bench/options.hpp"
#include "bench/rows.hpp"

namespace faro::bench {

/// Rows of one map follow one another, and so do the maps of one (pages, width).
/// Errors: ErrorCode::verification where a result is wrong; ErrorCode::value where the arrays do not fit the
/// memory.
std::vector<Row> measure_large_arrays(const Options& options);

}  // namespace faro::bench
